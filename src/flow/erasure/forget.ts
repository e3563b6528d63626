/**
 * Removes an entity from all stores of Sluice, and prevents later answers from bringing it back. `erase.ts` orders the steps
 * in the database, and `target.ts` finds the names to look for.
 */
import type { Transaction } from 'kysely';
import { EXIT, UsageError } from '../../errors.ts';
import { eraseIn, type ErasureResult, type ErasureOptions } from './erase.ts';
import { eraseFromSpool } from './spool.ts';
import type { ErasureTarget } from './target.ts';
import { acquireAll, assertNoOtherRuns, type HeldLeases } from '../../control/lease/exclusive.ts';
import { asOfSchemas } from '../as-of/schema.ts';
import { dropSchema, isKept } from '../rebuild/labelled-schema.ts';
import { leftRebuilds, removeRebuildIn } from '../rebuild/schema.ts';
import { toUserError } from '../../warehouse/connect/retry-transient.ts';
import { type ErasureCounts, readForgotten, recordSpooled } from './store.ts';
import { assertLease, COPY_LEASE, REBUILD_LEASE, syncLease } from '../../ledger/lease.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Spool } from '../../recovery/spool/files.ts';
import { type AllSpools, allSpools } from '../../recovery/spool/find-spools.ts';
import type { SpoolPlace } from '../../ledger/runs.ts';
import { removeDeletedValues } from '../../warehouse/connect/analyze.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OperationsTables } from '../../warehouse/schema/operations.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

export interface ForgetOptions extends Pick<ErasureOptions, 'mayReturn' | 'dryRun'> {
  readonly table: string;
  /** The values of the key columns, in order. */
  readonly key: readonly string[];
}

export interface ForgetEffects extends Pick<ErasureOptions, 'now' | 'newId' | 'onProgress'> {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The spool of this process. The spools that the ledger names are searched too. */
  readonly spool?: Spool;
  /** Folders of spools that an earlier version used, so the ledger may not name them. */
  readonly formerSpools?: readonly string[];
}

export interface ForgetSummary extends Omit<ErasureResult, 'search' | 'register'> {
  readonly exitCode: number;
  readonly dryRun: boolean;
  readonly table: string;
  /** Whether any trace of the entity was found. */
  readonly found: boolean;
  /** Answers in the spools that were found. */
  readonly spooled: number;
  /** Spools that cannot be found from here, and may hold answers about the entity. */
  readonly missingSpools: readonly SpoolPlace[];
  readonly comesAgain: boolean;
}

/** The tables whose rows can be forgotten. Owned rows are removed with their owner; charges are not entities. */
const forgettable = rootTables.filter(({ name, resource }) => !resource.owner && name !== LOG_TABLE);

/**
 * Returns the row that the arguments name, without surrounding blanks, line ends and byte order marks. Throws a
 * UsageError if the table does not hold entities, or if the number of key parts is wrong.
 */
export function targetOf(given: string, keyGiven: readonly string[]): ErasureTarget {
  const name = given.trim();
  const key = keyGiven.map((part) => part.trim());
  const table = forgettable.find((it) => it.name === name);
  const names = forgettable.map((it) => it.name).join(', ');
  if (!table) throw new UsageError(`forget: ${name} is not a table of entities.`, { next: `Name one of ${names}.` });
  if (key.length !== table.key.length || key.includes(''))
    throw new UsageError(
      `forget: the key of ${name} has ${table.key.length === 1 ? 'one part' : `${table.key.length} parts`}, ${key.length} given.`,
      { next: `Write sluice forget ${name} ${table.key.map((it) => it.toUpperCase()).join(' ')}.` },
    );
  return { table, key };
}

/**
 * Forgets an entity under all its names: in the tables and their history, the ledger, the quarantine, the stored
 * answers and the spool. Throws a HeldError while a sync, a replay in place or a rebuild is running. The changes in the
 * database are one transaction. The spool and the statistics of the tables follow it; a second call finishes what a crash left.
 */
export async function forget(
  warehouse: Warehouse,
  options: ForgetOptions,
  effects: ForgetEffects,
  signal: AbortSignal,
): Promise<ForgetSummary> {
  const target = targetOf(options.table, options.key);
  const ops = operationsOf(warehouse);
  const syncs = await ops.selectFrom('runs').select('sync').distinct().orderBy('sync').execute();
  await using held = await acquireAll(
    warehouse,
    [REBUILD_LEASE, COPY_LEASE, ...syncs.map(({ sync }) => syncLease(sync))],
    effects,
  );
  try {
    await assertNoOtherRuns(warehouse, ops, held);
    const work = { ...options, ...effects, signal };
    const { search, register, receipt, wasForgotten, ...counts } = await eraseOrLook(warehouse, target, work, held);
    const { found: spools, missing: missingSpools } = await spoolsOf(ops, effects);
    const earlier = wasForgotten ? await readForgotten(ops) : undefined;
    const erasure = { search, register, earlier, dryRun: options.dryRun };
    let spooled = 0;
    for (const spool of spools) spooled += await eraseFromSpool(ops, spool, erasure);
    if (receipt !== null) await recordSpooled(ops, receipt, spooled);
    const found = spooled > 0 || hasTraces(counts);
    if (!options.dryRun && (found || wasForgotten)) await removeDeletedValues(warehouse, signal);
    return {
      exitCode: found || wasForgotten ? EXIT.complete : EXIT.usage,
      dryRun: options.dryRun,
      table: target.table.name,
      found,
      wasForgotten,
      ...counts,
      spooled,
      missingSpools,
      comesAgain: options.mayReturn,
      receipt,
    };
  } catch (error) {
    if (errorCode(error) === SQL_STATE.foreignKeyViolation) throw referredTo(error);
    throw toUserError(error);
  }
}

const spoolsOf = async (ops: Ops, { spool, formerSpools = [] }: ForgetEffects): Promise<AllSpools> =>
  spool ? allSpools(ops, spool, formerSpools) : { found: [], missing: [] };

const referredTo = (cause: unknown): UsageError =>
  new UsageError(`forget: a table of yours refers to rows that would be removed: ${(cause as Error).message}.`, {
    next: 'Nothing was removed. Remove these references, or declare that foreign key with ON DELETE CASCADE.',
    cause,
  });

/**
 * Removes the copies of all rows that killed rebuilds left, and the schemas of earlier times, which can be loaded again
 * without the entity. Throws a UsageError if a copy cannot be removed because other objects use it.
 */
async function removeCopies(tx: Transaction<OperationsTables>, { schema, ops }: Warehouse): Promise<void> {
  const warehouse = { db: tx, schema, ops };
  for (const left of await leftRebuilds(warehouse))
    await removeRebuildIn(tx, warehouse, left).catch((error: unknown) => {
      throw inUse(error, `${left.name} holds copies of rows from a killed rebuild`);
    });
  for (const name of await asOfSchemas(warehouse))
    await dropSchema(tx, name).catch((error: unknown) => {
      throw inUse(error, `${name} holds rows as of an earlier time`);
    });
}

const inUse = (cause: unknown, what: string): unknown =>
  isKept(cause)
    ? new UsageError(`forget: ${what} and is in use.`, {
        next: 'Nothing was removed. Drop the objects that depend on it or were added to it, then run the command again.',
        cause,
      })
    : cause;

/** True if the database holds data of the entity. */
const hasTraces = ({ rows, answers, requests }: ErasureCounts): boolean =>
  answers + requests > 0 || Object.keys(rows).length > 0;

/** Rolls back the transaction of a dry run. */
class Undone extends Error {}

async function eraseOrLook(
  warehouse: Warehouse,
  target: ErasureTarget,
  work: ErasureOptions,
  { leases }: HeldLeases,
): Promise<ErasureResult> {
  let erased: ErasureResult | undefined;
  try {
    await warehouse.db.transaction().execute(async (tx) => {
      erased = await eraseIn(tx, warehouse, target, work);
      // Last, because no session can read these tables until the end of the transaction.
      if (!work.dryRun && hasTraces(erased)) await removeCopies(tx, warehouse);
      const ops = operationsOf({ db: tx, ops: warehouse.ops });
      for (const lease of leases) await assertLease(ops, lease);
      if (work.dryRun) throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  if (!erased) throw new Error('the erasure returned no result');
  return erased;
}
