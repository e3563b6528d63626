/** Writes the text of a migration file from the statements of a draft. */
import type { MigrationDraft } from './migration-draft.ts';
import type { Migration } from '../src/warehouse/migrate/migrations.ts';

/** The text of a migration file that runs these statements. `about` is its description, in one sentence. */
export function migrationText(
  about: string,
  schema: Migration['schema'],
  { statements, undo }: Pick<MigrationDraft, 'statements' | 'undo'>,
): string {
  return `/** ${about} */
import { type Kysely, sql } from 'kysely';

export const schema = '${schema}';

const UP = [
${list(statements)}];

const DOWN = [
${list(undo)}];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
`;
}

const list = (statements: readonly string[]): string => statements.map((it) => `  ${source(it)},\n`).join('');

/** The statement as a string literal, or as a template literal if it has line breaks, quotes or backslashes. */
const source = (statement: string): string =>
  /[\n'\\]/.test(statement)
    ? `\`${statement.replaceAll(/[`\\]|\$\{/g, '\\$&').replaceAll('\n', '\n  ')}\``
    : `'${statement}'`;

/** The greatest number among names of migrations. Numbers may have gaps, so their count is not it. */
export const lastNumber = (names: readonly string[]): number =>
  Math.max(0, ...names.map((name) => Number.parseInt(name, 10)));
