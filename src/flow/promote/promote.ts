/** Makes an unknown field a column: drafts its declaration and migration in a checkout of the project. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { PersonalData } from '../../service/model.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { CHANGED_COLUMNS } from '../../warehouse/migrate/changed-columns.ts';
import { ensureSchema, migrationStatus } from '../../warehouse/migrate/migrate.ts';
import { relationExists } from '../../warehouse/sql/relation-exists.ts';
import {
  chooseField,
  chooseTable,
  type ChosenField,
  chooseType,
  type DeclaredField,
  declaredField,
  type PromoteRequest,
} from './choose-field.ts';
import { extraExpression } from './extra-expression.ts';
import { fits } from './field-type.ts';
import { readUnknownFields, sampleValues } from './unknown-fields.ts';

export interface PromoteOptions extends PromoteRequest {
  /** The comment of the column; undefined drafts one. */
  readonly about: string | undefined;
  /** The root of the checkout; undefined in an installed package. */
  readonly checkout: string | undefined;
}

/** The script that changes the sources. Only a checkout contains it. */
const DRAFT = 'scripts/promote/draft-column.ts';

interface ColumnScript {
  readonly draftColumn: (checkout: string, chosen: ChosenField, about: string) => Promise<DraftedFiles>;
}

/** The files that were written, and what the migration leaves to the developer. */
export interface DraftedFiles {
  /** Paths below the root of the checkout. */
  readonly files: readonly string[];
  readonly statements: readonly string[];
  readonly undecided: readonly string[];
}

/** The drafted or declared column, and the steps that are left. */
export interface Promotion {
  /** `declared`: the field was a column before. */
  readonly state: 'drafted' | 'declared';
  readonly table: string;
  readonly field: string;
  readonly columns: readonly string[];
  readonly type: string;
  readonly personal: PersonalData | null;
  /** The written files, below the root of the checkout. */
  readonly files: readonly string[];
  /** The statements of the drafted migration. */
  readonly statements: readonly string[];
  /** Values that were looked at, and how many of them do not fit the type and stay in `extra`. */
  readonly sampled: { readonly values: number; readonly unfit: number };
  readonly notes: readonly string[];
  /** The next steps, in order; empty if nothing is left. */
  readonly next: readonly string[];
}

/**
 * Drafts the column of an unknown field, or says what is left to do for a declared one. Throws a UsageError for unknown
 * tables, fields and types, and outside of a checkout. Reads the warehouse and sends nothing to the service.
 */
export async function promote(warehouse: Warehouse, options: PromoteOptions): Promise<Promotion> {
  const at = chooseTable(options.table);
  const type = chooseType(options.type);
  const declared = declaredField(at, options.field, type);
  const known = { table: at.table.name, field: options.field, type: type.sql };
  if (declared) {
    const { columns } = declared;
    const next = await remainingSteps(warehouse, declared);
    return { state: 'declared', ...known, columns, personal: null, ...NOTHING, next };
  }
  await assertCountedDrift(warehouse);
  const chosen = chooseField(at, options, type, await readUnknownFields(warehouse));
  const values = await sampleValues(warehouse, chosen.unknown);
  if (options.checkout === undefined) throw notInCheckout(chosen);
  const unfit = values.filter((value) => fits(type.kind, value) === 'not').length;
  const { field, column } = chosen.unknown;
  const about = options.about ?? `Field ${field} as sent; the contract does not describe it.`;
  const { draftColumn } = (await import(pathToFileURL(join(options.checkout, DRAFT)).href)) as ColumnScript;
  const { files, statements, undecided } = await draftColumn(options.checkout, chosen, about);
  return {
    state: 'drafted',
    ...known,
    field,
    columns: type.kind === 'epoch' ? [column, `${column}_epoch`] : [column],
    personal: chosen.personal ?? null,
    files,
    statements,
    sampled: { values: values.length, unfit },
    notes: undecided.map((it) => `decide yourself: ${it}`),
    next: NEXT,
  };
}

/** Throws an error if the warehouse has no counts of unknown fields. It may lack the migrations of promoted fields. */
async function assertCountedDrift(warehouse: Warehouse): Promise<void> {
  const { state } = await migrationStatus(warehouse);
  if (state === 'empty')
    throw new UsageError('promote: the warehouse is empty, so no field is unknown', { next: 'Run sluice sync first.' });
  const isCounted = await relationExists(warehouse.db, warehouse.ops, CHANGED_COLUMNS);
  if (state === 'newer' || !isCounted) await ensureSchema(warehouse);
}

const NOTHING = { files: [], statements: [], sampled: { values: 0, unfit: 0 }, notes: [] };

const MIGRATE = 'sluice migrate';
const REPLAY = 'sluice replay';
const NEXT = [
  'npm run format && npm run docs',
  'UPDATE_GOLDEN=1 npx vitest run test/warehouse/frozen.test.ts test/warehouse/drift.test.ts',
  MIGRATE,
  REPLAY,
];

/** The commands that are left until the columns exist in the warehouse and are filled. */
async function remainingSteps(warehouse: Warehouse, { table, columns }: DeclaredField): Promise<readonly string[]> {
  const { state } = await migrationStatus(warehouse);
  if (state === 'older') return [MIGRATE, REPLAY];
  if (state !== 'current') return [];
  // The declaration is written first, so a process that was killed may have left it without a migration.
  if (!(await haveColumns(warehouse, table, columns))) return [`npm run migration:draft -- promote_${table}`, ...NEXT];
  const unfilled = await operationsOf(warehouse)
    .selectFrom('changed_columns')
    .select('column_name')
    .where('table_name', '=', table)
    .where('column_name', 'in', [...columns])
    .execute();
  return unfilled.length > 0 ? [REPLAY] : [];
}

async function haveColumns({ db, schema }: Warehouse, table: string, columns: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ readonly found: number }>`select count(*)::int as found from information_schema.columns
    where table_schema = ${schema} and table_name = ${table} and column_name = any(${columns}::text[])`.execute(db);
  return rows[0]?.found === columns.length;
}

/** An installed package has no sources to change. Until a version declares the field, an expression reads it. */
function notInCheckout({ unknown, type }: ChosenField): UsageError {
  const { at, path, column } = unknown;
  const query = `select ${extraExpression(path, type)} as ${column} from ${at.table.name}`;
  return new UsageError(
    'promote: this is an installed package. A column is part of the declarations, so it is added in a checkout of Sluice',
    {
      next: `Run the same command in a checkout, and install the version that you build there. Until then, query: ${query}`,
    },
  );
}
