/** Migrates the warehouse's two schemas to the version of this code, or reverts the last migration. */
import { hash } from 'node:crypto';
import { type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import { SchemaError, type UsageError } from '../../errors.ts';
import type { Warehouse } from '../connect/connect.ts';
import type { OperationsTables } from '../schema/operations.ts';
import { relationExists } from '../sql/relation-exists.ts';
import { type Applied, incompleteBefore, isBeforeBaseline, recordBaseline, withBaseline } from './carry-over.ts';
import { refuseDataLoss } from './data-loss.ts';
import { OTHER_WITHIN_MS, toMigrationError, waitedFor, withoutRight } from './errors.ts';
import { steps } from './migrations.ts';
import { runMigrations } from './run-migrations.ts';
import { viewsAreCurrent } from './views-current.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

type Target = Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db' | 'isRemote' | 'keepsSchema'>;

/**
 * The longest wait for a table lock in one attempt. It is short because later readers queue behind the waiting lock.
 */
const LOCK_WITHIN_MS = 1000;
const LOCK_ATTEMPTS = 60;
/** Errors to retry: concurrent `create ... if not exists` of a process without the lock, and deadlocks with readers. */
const RACES: ReadonlySet<string> = new Set([
  SQL_STATE.uniqueViolation,
  SQL_STATE.duplicateSchema,
  SQL_STATE.duplicateTable,
  SQL_STATE.deadlockDetected,
]);
const ATTEMPTS = 3;
/** The table in which the migration library records applied migrations. */
const APPLIED = 'kysely_migration';

export interface MigrationStatus {
  /** Every migration of this version, in order. */
  readonly steps: readonly { readonly name: string; readonly appliedAt: Date | null }[];
  /** Migrations in the warehouse that this version does not have. */
  readonly unknown: readonly string[];
  /** A schema is also older if it lacks views of this version or has them with other queries. */
  readonly state: 'empty' | 'older' | 'current' | 'newer';
}

/** The applied and the pending migrations. */
export async function migrationStatus(warehouse: Pick<Target, 'db' | 'schema' | 'ops'>): Promise<MigrationStatus> {
  const status = statusOf(await appliedMigrations(warehouse));
  if (status.state !== 'current') return status;
  return (await viewsAreCurrent(warehouse.db, warehouse)) ? status : { ...status, state: 'older' };
}

/** The applied migrations. The table is missing only at the first start, so its existence is not checked in advance. */
async function appliedMigrations({ db, ops }: Pick<Target, 'db' | 'ops'>): Promise<Applied> {
  try {
    return await recordedMigrations(db, ops);
  } catch (error) {
    if (errorCode(error) === SQL_STATE.undefinedTable) return new Map();
    throw error;
  }
}

/** The applied migrations, read inside a transaction, which a failing statement would abort. */
async function appliedInTransaction({ db, ops }: Pick<Target, 'db' | 'ops'>): Promise<Applied> {
  return (await relationExists(db, ops, APPLIED)) ? recordedMigrations(db, ops) : new Map();
}

async function recordedMigrations(db: QueryExecutorProvider, ops: string): Promise<Applied> {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${sql.table(`${ops}.${APPLIED}`)} order by name`.execute(db);
  return new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)]));
}

/** The status by the record of migrations alone. */
function statusOf(recorded: Applied): MigrationStatus {
  const applied = withBaseline(recorded);
  const names = Object.keys(steps).toSorted();
  const unknown = [...applied.keys()].filter((name) => !names.includes(name));
  const isNewer = unknown.length > 0 && !isBeforeBaseline(unknown);
  const older = unknown.length > 0 || names.some((name) => !applied.has(name)) ? 'older' : 'current';
  return {
    steps: names.map((name) => ({ name, appliedAt: applied.get(name) ?? null })),
    unknown,
    state: isNewer ? 'newer' : applied.size === 0 ? 'empty' : older,
  };
}

/** The error of a warehouse with migrations that this version does not have; undefined for any other. */
export function unknownMigrations({ unknown, state }: MigrationStatus, schema: string): SchemaError | undefined {
  if (unknown.length === 0) return undefined;
  if (state !== 'newer') return incompleteBefore(schema, unknown);
  return new SchemaError(
    `The schema ${schema} is newer than this version of Sluice: it has the migrations ${unknown.join(', ')}.`,
    {
      next: 'Update Sluice on this machine to the version that migrated the schema.',
    },
  );
}

function refuseUnknown(status: MigrationStatus, schema: string): void {
  const refusal = unknownMigrations(status, schema);
  if (refusal) throw refusal;
}

/**
 * Applies all pending migrations and updates views and comments, or reverts the last migration. Returns the names of
 * these migrations. Everything happens in one transaction. Throws a SchemaError if the warehouse is newer than this
 * version, and a UsageError if a reverted migration would delete rows.
 */
export async function migrate(warehouse: Target, direction: 'up' | 'down'): Promise<string[]> {
  return retried(() =>
    warehouse.db.transaction().execute(async (trx) => {
      await lock(trx, warehouse);
      const applied = await appliedInTransaction({ ...warehouse, db: trx });
      refuseUnknown(statusOf(applied), warehouse.schema);
      if (direction === 'down' && applied.size === 0) return [];
      for (const schema of [warehouse.ops, warehouse.schema]) await createSchema(trx, schema);
      await recordBaseline(trx, warehouse.ops, applied);
      const { keepingMaskedViews } = await import('../masking/keep-masked-views.ts');
      return keepingMaskedViews(trx, warehouse, () => migrateTables(trx, warehouse, direction));
    }),
  ).catch((error: unknown) => {
    throw toMigrationError(error, warehouse);
  });
}

/** Migrates the tables, then brings views, rights and comments to this version as far as the tables allow. */
async function migrateTables(
  trx: Transaction<OperationsTables>,
  warehouse: Target,
  direction: 'up' | 'down',
): Promise<string[]> {
  const [
    { applyViews, withViewsOutOfTheWay },
    { readViewRights, restoreViewRights },
    { applyComments },
    { releaseListKeys },
    { recordingChangedColumns },
  ] = await Promise.all([
    import('./views.ts'),
    import('./view-rights.ts'),
    import('./comments.ts'),
    import('./list-keys.ts'),
    import('./changed-columns.ts'),
  ]);
  const rights = await readViewRights(trx, warehouse.schema);
  const up = (): Promise<string[]> => runMigrations(trx, warehouse, (migrator) => migrator.migrateToLatest());
  const back = (): Promise<string[]> => runMigrations(trx, warehouse, (migrator) => migrator.migrateDown());
  const go = (work: () => Promise<string[]>) => withViewsOutOfTheWay(trx, warehouse.schema, work);
  if (direction === 'down') await refuseDataLoss(trx, warehouse, () => go(back));
  const done = await recordingChangedColumns(trx, warehouse, () => go(direction === 'up' ? up : back));
  await releaseListKeys(trx, warehouse);
  await applyViews(trx, warehouse, { mayLackTables: direction === 'down' });
  await restoreViewRights(trx, warehouse.schema, rights);
  await applyComments(trx, warehouse);
  return done;
}

/**
 * Takes the migration lock until the end of the transaction. If several migrators run, one works and the others then
 * find nothing to do.
 */
async function lock(trx: Transaction<OperationsTables>, { kind, schema }: Target): Promise<void> {
  if (kind === 'embedded') return;
  const key = hash('sha256', `sluice migration of ${schema}`, 'buffer').readBigInt64BE().toString();
  await sql`select set_config('lock_timeout', ${String(OTHER_WITHIN_MS)}, true), set_config('statement_timeout', '0', true)`.execute(
    trx,
  );
  await sql`select pg_advisory_xact_lock(${key}::bigint)`.execute(trx).catch((error: unknown) => {
    throw errorCode(error) === SQL_STATE.lockNotAvailable ? waitedFor('another migration', error) : error;
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

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error) ?? '';
      const most = code === SQL_STATE.lockNotAvailable ? LOCK_ATTEMPTS : RACES.has(code) ? ATTEMPTS : 0;
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

/**
 * Brings the schemas to this version: creates them in an empty warehouse, and migrates an embedded warehouse. Throws a
 * SchemaError (exit 8) if the schema of a server or of another process is older, if any schema is newer, and if the warehouse
 * keeps its schema and it is not current.
 */
export async function ensureSchema(warehouse: Target): Promise<void> {
  const status = await migrationStatus(warehouse);
  refuseUnknown(status, warehouse.schema);
  if (warehouse.isRemote && status.state !== 'current') {
    throw new SchemaError('The process that owns the embedded warehouse has not migrated its schema to this version.', {
      next: 'Wait for it to end, or restart it with this version.',
    });
  }
  if (status.state === 'older' && warehouse.kind === 'postgres') {
    const waiting = status.steps.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);
    const lacking = waiting.length > 0 ? `the migrations ${waiting.join(', ')}` : 'views of this version';
    throw new SchemaError(`The schema ${warehouse.schema} is older than this version of Sluice: it lacks ${lacking}.`, {
      next: 'Run sluice migrate.',
    });
  }
  if (warehouse.keepsSchema === true) {
    if (status.state === 'current') return;
    const found = status.state === 'empty' ? 'empty' : 'older than this version of Sluice';
    throw new SchemaError(`The warehouse is ${found}, and this command does not change its schema.`, {
      next: 'Run sluice migrate, then try again.',
    });
  }
  if (status.state !== 'current') await migrate(warehouse, 'up');
  else if (warehouse.kind === 'embedded' && !warehouse.isRemote) await updateComments(warehouse);
}

/** Comments can change without a migration. A complete migration that finds nothing to do takes ten times as long. */
async function updateComments(warehouse: Target): Promise<void> {
  const { applyComments } = await import('./comments.ts');
  await applyComments(warehouse.db, warehouse);
}
