/** `replay --rebuild`: fills new tables from all stored answers and brings the present ones to their rows. */
import { sql } from 'kysely';
import { acquireAll, assertNoOtherRuns, type HeldLeases } from '../../control/lease/exclusive.ts';
import { UsageError } from '../../errors.ts';
import { assertLease, REBUILD_LEASE, syncLease } from '../../ledger/lease.ts';
import { recordLoads } from '../../ledger/load-receipts.ts';
import { recordDeletion } from '../../ledger/log-reads.ts';
import { resolveReplaced } from '../../ledger/quarantine.ts';
import { recordReadSlices } from '../../ledger/failures/unreadable-answers.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { assertTablesPresent } from '../../warehouse/migrate/assert-schema.ts';
import { type FilledColumn, fillColumns } from '../fill/fill-columns.ts';
import { type IngestResult, resourceOf } from '../ingest/ingest.ts';
import { reparsedSlices } from '../ingest/read-slices.ts';
import { loadAgain, type ReplayCounts, type ReplayEffects } from '../replay/load-again.ts';
import { listStored, type AnswerToReplay } from '../replay/stored-answers.ts';
import { type GoneBodies, goneBodies } from '../retention/store.ts';
import { lockTables, mergeRebuilt } from './merge.ts';
import { LOCK_WITHIN_MS, withLockRetries } from './with-lock-retries.ts';
import { createRebuildSchema, type RebuildSchema, removeLeftRebuilds, removeRebuildSchema } from './schema.ts';
import { EMPTY_BODY } from '../../ledger/answers.ts';

const ALL = { names: [], quarantined: false };

/**
 * Rebuilds all tables in one transaction, and returns the counts with the answers that are left: all of them when the
 * signal aborted, as nothing has changed then. Throws a HeldError when a run of any sync is in progress, and a UsageError
 * when rows would be lost because bodies were pruned.
 */
export async function rebuildTables(
  warehouse: Warehouse,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<ReplayCounts & { readonly left: number; readonly filled: readonly FilledColumn[] }> {
  const ops = operationsOf(warehouse);
  const syncs = [...new Set((await listStored(ops, ALL)).map(({ sync }) => sync))].toSorted();
  await using held = await acquireAll(warehouse, [REBUILD_LEASE, ...syncs.map(syncLease)], effects);
  let area: RebuildSchema | undefined;
  try {
    await assertNoOtherRuns(warehouse, ops, held);
    // Under the leases, because an erasure would miss the values that it moves.
    const filled = await fillColumns(warehouse, effects, signal);
    // Listed again, because a run may have ended before the leases were held.
    const answers = await listStored(ops, ALL);
    const gone = await goneBodies(ops, ALL);
    if (gone) refuseLoss(gone);
    await assertTablesPresent(warehouse);
    await removeLeftRebuilds(warehouse);
    area = await createRebuildSchema(warehouse, effects.newId(), effects.now());
    const { rejecting, ...counts } = await fill(warehouse, ops, area, { answers, effects }, signal);
    const isFilled = counts.answers === answers.length;
    if (isFilled) await putInPlace(warehouse, area.name, held, rejecting, effects);
    return { ...counts, left: isFilled ? 0 : answers.length, filled };
  } finally {
    // The next rebuild removes a schema that cannot be removed now.
    if (area) await removeRebuildSchema(warehouse, area).catch(() => false);
  }
}

/** Loads the answers into the new schema, and keeps the results that have something for the quarantine. */
async function fill(
  warehouse: Warehouse,
  ops: Ops,
  { name: schema }: RebuildSchema,
  { answers, effects }: { readonly answers: readonly AnswerToReplay[]; readonly effects: ReplayEffects },
  signal: AbortSignal,
): Promise<ReplayCounts & { readonly rejecting: readonly IngestResult[] }> {
  const rejected = await answersWithRejects(ops);
  const rejecting: IngestResult[] = [];
  const onLoaded = (result: IngestResult): void => {
    const { answer, identity, batch, receipt } = result;
    if (batch.rejects.length === 0 && !rejected.has(answer.id)) return;
    // Without bodies and items, which would fill the memory.
    rejecting.push({
      answer: { ...answer, body: EMPTY_BODY },
      identity,
      batch: { ...batch, items: [], roots: new Map() },
      receipt,
    });
  };
  const counts = await loadAgain(
    warehouse,
    ops,
    answers,
    { ...effects, purpose: { kind: 'copy', schema }, onLoaded },
    signal,
  );
  return { ...counts, rejecting };
}

/** Refuses a rebuild whose tables would lack the rows of pruned bodies. */
function refuseLoss({ answers, from, to }: GoneBodies): never {
  throw new UsageError(
    `A rebuild would lose rows: the bodies of ${answers} stored answers, received from ${from} to ${to}, were pruned.`,
    { next: 'Run sluice replay without --rebuild: it loads what is there again and leaves other rows as they are.' },
  );
}

const answersWithRejects = async (ops: Ops): Promise<ReadonlySet<unknown>> =>
  new Set((await ops.selectFrom('quarantine').select('answer_id').distinct().execute()).map((it) => it.answer_id));

/** Makes the tables equal to the new rows, and records what could not be read, in one transaction. */
async function putInPlace(
  warehouse: Warehouse,
  from: string,
  { leases }: HeldLeases,
  rejecting: readonly IngestResult[],
  { now, sleep }: Pick<ReplayEffects, 'now' | 'sleep'>,
): Promise<void> {
  const merge = (): Promise<void> =>
    warehouse.db.transaction().execute(async (tx) => {
      const ops = operationsOf({ db: tx, ops: warehouse.ops });
      await sql`select set_config('lock_timeout', ${String(LOCK_WITHIN_MS)}, true)`.execute(tx);
      await lockTables(tx, warehouse.schema);
      for (const lease of leases) await assertLease(ops, lease);
      const loads = rejecting.map((it) => ({ ...it, resource: resourceOf(it.answer), settles: false }));
      await recordLoads(ops, loads, now());
      // An answer that can be read now replaces earlier ones.
      await resolveReplaced(ops, [...new Set(rejecting.map(({ answer }) => answer.sync))], now());
      await recordReadSlices(ops, reparsedSlices(rejecting));
      // No stored answer of a log read was loaded, so its rows go.
      await recordDeletion({ db: tx, ops: warehouse.ops }, now());
      await mergeRebuilt(tx, warehouse, from);
    });
  await withLockRetries('The rebuild', merge, sleep);
}
