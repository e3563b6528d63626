/**
 * Writes the migrations that create the declared tables: `node test/support/write-migrations.ts`.
 * Only until they are frozen; from then on a change is a migration of its own.
 */
import { writeFileSync } from 'node:fs';
import { createTables, type DdlTable } from '../../src/warehouse/ddl.ts';
import { quoted } from '../../src/warehouse/identifier.ts';
import { operationsTables } from '../../src/warehouse/operations.ts';
import { tables } from '../../src/warehouse/table.ts';

function migration(about: string, schema: 'operations' | 'analyst', declared: readonly DdlTable[]): string {
  const up = createTables(declared);
  const down = declared.map((it) => `drop table ${quoted(it.name)}`).reverse();
  const list = (statements: readonly string[]): string => statements.map((it) => `  \`${it.replaceAll('\n', '\n  ')}\`,\n`).join('');
  return `/** ${about} */
import { type Kysely, sql } from 'kysely';

export const schema = '${schema}';

const UP = [
${list(up)}];

const DOWN = [
${list(down)}];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
`;
}

const write = (name: string, text: string): void => writeFileSync(new URL(`../../migrations/${name}.ts`, import.meta.url), text);

write('0001_operations', migration('The tables of the machinery: runs, the ledger, the vault and what is known of them.', 'operations', operationsTables));
write('0002_tables', migration('The tables for analysts, one for each resource, list and bridge.', 'analyst', tables));
