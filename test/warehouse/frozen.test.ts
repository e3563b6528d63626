import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { lastNumber } from '../../scripts/migration-file.ts';
import { FROZEN, frozenText, migrationFiles } from '../support/frozen.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

it('every migration is in the list that a build takes along', async () => {
  const listed = Object.keys(steps).map((name) => `${name}.ts`);
  expect(listed, 'list it in src/warehouse/migrate/migrations.ts').toEqual(await migrationFiles());
});

it('a drafted migration gets a number beyond every existing one, although numbers have gaps', async () => {
  expect(lastNumber(['0001_core', '0027_spools', '0004_vault'])).toBe(27);
  expect(lastNumber([])).toBe(0);
  expect(Object.keys(steps).at(-1)).toMatch(new RegExp(`^0*${lastNumber(Object.keys(steps))}_`));
});

it('no migration has changed since it was frozen; UPDATE_GOLDEN=1 freezes new ones', async () => {
  const frozen = (await readFile(FROZEN, 'utf8')).split('\n');
  const now = (await frozenText()).split('\n');
  if (UPDATE) await writeFile(FROZEN, now.map((line, place) => frozen.slice(0, -1)[place] ?? line).join('\n'));
  else expect(now).toEqual(frozen);
  expect(now.slice(0, frozen.length - 1)).toEqual(frozen.slice(0, -1));
});

it('a migration depends on nothing that may change: it imports only Kysely', async () => {
  for (const name of await migrationFiles()) {
    const text = await readFile(new URL(`../../migrations/${name}`, import.meta.url), 'utf8');
    expect(text.match(/from '.*'/g)).toEqual([`from 'kysely'`]);
    expect(text, 'say what the migration is for').not.toContain('Say what it is for.');
  }
});
