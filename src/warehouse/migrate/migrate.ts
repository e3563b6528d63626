/** Migrates the warehouse's two schemas to the version of this code, or reverts the last migration. */
import { createHash } from 'node:crypto';
import { type Kysely, type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import type { Migration, MigrationResultSet, Migrator } from 'kysely/migration';
import { SchemaError, TransientError, UsageError } from '../../errors.ts';
import type { Warehouse } from '../connect/connect.ts';
import { dataLossOf, tableNames } from './data-loss.ts';
import { steps } from './migrations.ts';
import type { OperationsTables } from '../schema/operations.ts';
import { errorCode } from '../sql/errors.ts';

type Target = Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db' | 'isRemote'>;

/** The longest wait for another migration. */
const OTHER_WITHIN_MS = 60_000;
/**
 * The longest wait for a table lock in one attempt. It is short because later readers queue behind the waiting lock.
 */
const LOCK_WITHIN_MS = 1000;
const LOCK_ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';
/** Errors to retry: concurrent `create ... if not exists` of a process without the lock, and deadlocks with readers. */
const RACES = new Set(['23505', '42P06', '42P07', '40P01']);
const ATTEMPTS = 3;
/** The table in which the migration library records applied migrations. */
const APPLIED = 'kysely_migration';
const UNDEFINED_TABLE = '42P01';

export interface MigrationStatus {
  /** Every migration of this version, in order. */
  readonly steps: readonly { readonly name: string; readonly appliedAt: Date | null }[];
  /** Migrations in the warehouse that this version does not have. */
  readonly unknown: readonly string[];
  readonly state: 'empty' | 'older' | 'current' | 'newer';
}

/** The applied and the pending migrations. */
export async function migrationStatus({ db, ops }: Target): Promise<MigrationStatus> {
  try {
    return statusOf(await appliedSteps(db, ops));
  } catch (error) {
    // The table is missing only at the first start of a warehouse, so its existence is not checked in advance.
    if (errorCode(error) === UNDEFINED_TABLE) return statusOf(new Map());
    throw error;
  }
}

function statusOf(applied: ReadonlyMap<string, Date>): MigrationStatus {
  const names = Object.keys(steps).toSorted();
  const unknown = [...applied.keys()].filter((name) => !names.includes(name));
  const waiting = names.some((name) => !applied.has(name));
  const older = waiting ? 'older' : 'current';
  return {
    steps: names.map((name) => ({ name, appliedAt: applied.get(name) ?? null })),
    unknown,
    state: unknown.length > 0 ? 'newer' : applied.size === 0 ? 'empty' : older,
  };
}

async function appliedSteps(db: QueryExecutorProvider, ops: string): Promise<Map<string, Date>> {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${sql.table(`${ops}.${APPLIED}`)} order by name`.execute(db);
  return new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)]));
}

/**
 * The applied migrations, read inside a transaction. A failing statement would abort it, so this checks for the table
 * first.
 */
async function appliedBefore(trx: Transaction<OperationsTables>, ops: string): Promise<Map<string, Date>> {
  const { rows } = await sql`
    select from pg_class join pg_namespace n on n.oid = relnamespace
    where n.nspname = ${ops} and relname = ${APPLIED}`.execute(trx);
  return rows.length > 0 ? appliedSteps(trx, ops) : new Map();
}

/**
 * Applies all pending migrations and updates the comments, or reverts the last migration. Returns the names of these
 * migrations. Everything happens in one transaction. Throws a SchemaError if the warehouse is newer than this version,
 * and a UsageError if a reverted migration would delete rows.
 */
export async function migrate(warehouse: Target, direction: 'up' | 'down'): Promise<string[]> {
  return retried(() =>
    warehouse.db.transaction().execute(async (trx) => {
      await lock(trx, warehouse);
      const status = statusOf(await appliedBefore(trx, warehouse.ops));
      refuseNewer(status, warehouse);
      if (direction === 'down') return stepBack(trx, warehouse);
      for (const schema of [warehouse.ops, warehouse.schema]) await createSchema(trx, schema);
      const done = await run(trx, warehouse, (migrator) => migrator.migrateToLatest());
      const { applyComments } = await import('./comments.ts');
      await applyComments(trx, warehouse);
      return done;
    }),
  ).catch((error: unknown) => {
    throw toMigrationError(error, warehouse);
  });
}

/**
 * Takes the migration lock until the end of the transaction. If several migrators run, one works and the others then
 * find nothing to do.
 */
async function lock(trx: Transaction<OperationsTables>, { kind, schema }: Target): Promise<void> {
  if (kind === 'embedded') return;
  const key = createHash('sha256').update(`sluice migration of ${schema}`).digest().readBigInt64BE().toString();
  await sql`select set_config('lock_timeout', ${String(OTHER_WITHIN_MS)}, true), set_config('statement_timeout', '0', true)`.execute(
    trx,
  );
  await sql`select pg_advisory_xact_lock(${key}::bigint)`.execute(trx).catch((error: unknown) => {
    throw errorCode(error) === LOCK_NOT_AVAILABLE ? waitedFor('another migration', error) : error;
  });
  await sql`select set_config('lock_timeout', ${String(LOCK_WITHIN_MS)}, true)`.execute(trx);
}

/**
 * Creates the schema if it does not exist. The check comes first, because `create schema if not exists` requires a
 * right on the database even if the schema exists.
 */
async function createSchema(trx: Transaction<OperationsTables>, schema: string): Promise<void> {
  const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(trx);
  if (rows.length === 0) await sql`create schema if not exists ${sql.id(schema)}`.execute(trx);
}

async function stepBack(trx: Transaction<OperationsTables>, warehouse: Target): Promise<string[]> {
  const back = (): Promise<string[]> => run(trx, warehouse, (migrator) => migrator.migrateDown());
  const before = await tableNames(trx, warehouse);
  await sql`savepoint rehearsal`.execute(trx);
  await back();
  const after = await tableNames(trx, warehouse);
  await sql`rollback to savepoint rehearsal`.execute(trx);
  const loss = await dataLossOf(trx, before, after);
  if (loss.length > 0) {
    throw new UsageError(`Reverting the last migration would delete the data in ${loss.join(', ')}.`, {
      next: 'Nothing was changed. If you want that, back up the warehouse and delete the data first.',
    });
  }
  return back();
}

async function run(
  trx: Transaction<OperationsTables>,
  warehouse: Target,
  go: (migrator: Migrator) => Promise<MigrationResultSet>,
): Promise<string[]> {
  const { Migrator } = await import('kysely/migration');
  const provider = { getMigrations: () => migrationsFor(warehouse) };
  const { error, results } = await go(new Migrator({ db: trx, provider, migrationTableSchema: warehouse.ops }));
  if (error !== undefined) throw error instanceof Error ? error : new Error('the migrator failed', { cause: error });
  return (results ?? []).filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
}

/** The migrations for the library, each with the search path for its unqualified names. */
async function migrationsFor({ schema, ops }: Target): Promise<Record<string, Migration>> {
  const loaded = await Promise.all(Object.entries(steps).map(async ([name, load]) => [name, await load()] as const));
  return Object.fromEntries(
    loaded.map(([name, step]) => {
      const [own, other] = step.schema === 'operations' ? [ops, schema] : [schema, ops];
      // pg_temp comes last, because otherwise Postgres finds temporary tables of the session first.
      const path = sql`set local search_path to ${sql.id(own)}, ${sql.id(other)}, pg_temp`;
      const on =
        (work: (db: Kysely<unknown>) => Promise<void>) =>
        async (db: Kysely<unknown>): Promise<void> => {
          await path.execute(db);
          await work(db);
        };
      return [name, { up: on((db) => step.up(db)), down: on((db) => step.down(db)) }];
    }),
  );
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error) ?? '';
      const most = code === LOCK_NOT_AVAILABLE ? LOCK_ATTEMPTS : RACES.has(code) ? ATTEMPTS : 0;
      if (attempt >= most) throw error;
    }
  }
}

/** An error if this user cannot create the tables of an empty warehouse; undefined if they can. */
export async function missingRight(warehouse: Target): Promise<UsageError | undefined> {
  const { db, schema, ops } = warehouse;
  const { rows } = await sql<{ may: boolean }>`
    select bool_and(coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create'))) as may
    from unnest(array[${schema}, ${ops}]::text[]) as wanted(name) left join pg_namespace n on n.nspname = wanted.name`.execute(
    db,
  );
  return rows[0]?.may === true ? undefined : withoutRight('this user may not create the schemas or tables', warehouse);
}

const withoutRight = (what: string, { schema, ops }: Target, cause?: unknown): UsageError =>
  new UsageError(`The migration lacks a right: ${what}.`, {
    next: `Let the owner of the database run the migration, grant CREATE on the database, or create the schemas ${schema} and ${ops} and make this user their owner.`,
    cause,
  });

function toMigrationError(error: unknown, warehouse: Target): unknown {
  const { schema, ops } = warehouse;
  switch (errorCode(error)) {
    case '42501':
      return withoutRight((error as Error).message, warehouse, error);
    case LOCK_NOT_AVAILABLE:
      return waitedFor('sessions that use its tables', error);
    case '2BP01':
      return new UsageError(`Your own objects depend on objects that the migration drops: ${dependents(error)}.`, {
        next: 'Nothing was changed. Drop your objects, run the migration again, and recreate them.',
        cause: error,
      });
    case '0A000':
    case '42P16':
      return new SchemaError(
        `One of your own objects depends on an object that the migration changes: ${dependents(error)}.`,
        {
          next: 'Nothing was changed. Drop your object, run the migration again, and recreate it.',
          cause: error,
        },
      );
    case '42P07':
      return new SchemaError(
        `The schema contains another object with a name that Sluice needs: ${(error as Error).message}.`,
        {
          next: `Choose another warehouse.schema, or move the object out of ${schema} and ${ops}.`,
          cause: error,
        },
      );
    default:
      return error;
  }
}

const waitedFor = (whom: string, cause: unknown): TransientError =>
  new TransientError(`The migration waited about ${OTHER_WITHIN_MS / 1000} s for ${whom}.`, {
    next: 'Run the migration again when that has ended.',
    cause,
  });

/** The names of the dependent objects, from the lines of the error's detail. */
function dependents(error: unknown): string {
  const { message, detail } = error as { readonly message: string; readonly detail?: unknown };
  return typeof detail === 'string' && detail !== '' ? detail.replaceAll('\n', ', ') : message;
}

function refuseNewer({ unknown }: MigrationStatus, { schema }: Target): void {
  if (unknown.length === 0) return;
  throw new SchemaError(
    `The schema ${schema} is newer than this version of Sluice: it has the migrations ${unknown.join(', ')}.`,
    {
      next: 'Update Sluice on this machine to the version that migrated the schema.',
    },
  );
}

/**
 * Brings the schemas to this version: creates them in an empty warehouse, and migrates an embedded warehouse. Throws a
 * SchemaError (exit 8) if the schema of a server or of another process is older, or if any schema is newer.
 */
export async function ensureSchema(warehouse: Target): Promise<void> {
  const status = await migrationStatus(warehouse);
  refuseNewer(status, warehouse);
  if (warehouse.isRemote && status.state !== 'current') {
    throw new SchemaError('The process that owns the embedded warehouse has not migrated its schema to this version.', {
      next: 'Wait for it to end, or restart it with this version.',
    });
  }
  if (status.state === 'older' && warehouse.kind === 'postgres') {
    const waiting = status.steps.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);
    throw new SchemaError(
      `The schema ${warehouse.schema} is older than this version of Sluice: it lacks the migrations ${waiting.join(', ')}.`,
      {
        next: 'Run sluice migrate.',
      },
    );
  }
  const migrates = warehouse.kind === 'embedded' && !warehouse.isRemote;
  if (status.state !== 'current' || migrates) await migrate(warehouse, 'up');
}
