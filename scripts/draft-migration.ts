/**
 * Drafts a migration from what is declared and what the migrations so far create:
 * `node scripts/draft-migration.ts NAME`. What it can't decide it says; read what it wrote before you keep it.
 */
import { writeFile } from 'node:fs/promises';
import { migratedTables } from './migrated-tables.ts';
import { draftMigration } from './migration-draft.ts';
import { lastNumber, migrationText } from './migration-file.ts';
import { steps } from '../src/warehouse/migrate/migrations.ts';
import { operationsTables } from '../src/warehouse/schema/operations.ts';
import { tables } from '../src/warehouse/schema/tables.ts';
import { MIGRATIONS } from '../test/support/frozen.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [name = ''] = process.argv.slice(2);

if (/^[a-z][a-z0-9_]*$/.test(name)) {
  const live = await migratedTables();
  const areas = [
    { schema: 'operations', draft: draftMigration(live.operations, operationsTables) },
    { schema: 'analyst', draft: draftMigration(live.analyst, tables) },
  ] as const;
  const before = lastNumber(Object.keys(steps));
  let number = before;
  for (const { schema, draft } of areas) {
    for (const it of draft.undecided) say(`decide yourself: ${it}`);
    if (draft.statements.length === 0) continue;
    number += 1;
    const file = `${String(number).padStart(4, '0')}_${name}.ts`;
    await writeFile(new URL(file, MIGRATIONS), migrationText('Say what it is for.', schema, draft), { flag: 'wx' });
    say(
      `wrote migrations/${file}: read it, list it in src/warehouse/migrate/migrations.ts, then run UPDATE_GOLDEN=1 npx vitest run test/warehouse/frozen.test.ts test/warehouse/drift.test.ts`,
    );
  }
  if (number === before) say('no statement to write');
} else {
  say('give it a name of small letters, digits and _, such as add_headlines');
  process.exitCode = 2;
}
