/**
 * Executes one chunk of a shared run in one worker, under a lease of its own within the sync's lease, which the run
 * holds. The worker that ends the last chunk concludes the run.
 */
import { EXIT, exitCodeOf, stopReasonOf } from '../../errors.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import {
  assertRunning,
  type ChunkOfRun,
  type ChunkStop,
  endChunk,
  firstStop,
  lockRun,
  recordConcluded,
  readChunk,
} from '../../ledger/chunks.ts';
import {
  acquireLease,
  assertLease,
  assertNoRebuild,
  CHUNK_LEASES,
  expiredForMs,
  type Lease,
  releaseLease,
  removeLeases,
  renewLease,
  syncLease,
} from '../../ledger/lease.ts';
import { moveRequests } from '../../ledger/requests/states.ts';
import { CONTINUED_WITHIN_MS, type Run } from '../../ledger/runs.ts';
import { allowSilence } from '../../warehouse/connect/idle-limit.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { deleteCounter } from '../../control/budget/spending-counters.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import { fillColumnsOnce } from '../fill/fill-columns.ts';
import { runChecks } from '../checks/run-checks.ts';
import { removeForgotten } from '../erasure/late-answer.ts';
import type { CheckResult } from '../../ledger/checks/check-results.ts';
import { concludeRun } from './conclude.ts';
import { keepLeaseAlive } from '../../control/lease/keep-lease-alive.ts';
import type { Invocation } from './invocation.ts';
import { chunkBudget, sharedRunCounter } from '../../control/budget/budget.ts';
import { refreshHash } from '../prepare/plan-hash.ts';
import { agesOfSharedRun } from '../prepare/ages-of-shared-run.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { openSegment } from './segment.ts';
import type { ChunkOrder } from './share-run.ts';
import type { RunStop } from './stop-controller.ts';
import { ingestSpooled } from '../../recovery/spool/spool.ts';
import { missingSpools } from '../../recovery/spool/find-spools.ts';
import { retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { NO_ROW_COUNTER } from './analyze-tables.ts';
import { holderOf } from '../../control/lease/holder.ts';

/** The result of a chunk in this worker. */
export type ChunkResult =
  /** The chunk is done; other chunks of the run are not. */
  | { readonly as: 'done' }
  /** It was the last chunk, and the run is concluded; the summary is absent if the run was concluded before. */
  | {
      readonly as: 'concluded';
      readonly exitCode: number;
      readonly state: string;
      readonly summary?: SyncSummary;
    }
  /** The run was taken over or has ended, so there is nothing to do. */
  | { readonly as: 'void' }
  /** This worker must not execute the run, for this reason. No worker has executed it for so long. */
  | { readonly as: 'outdated'; readonly because: string; readonly idleMs: number }
  /** The signal stopped the chunk; another worker continues it. */
  | { readonly as: 'stopped' };

/** Executes a chunk. Throws a HeldError if another worker executes it. */
export async function executeChunk(
  invocation: Invocation,
  definition: SyncDefinition,
  order: ChunkOrder,
  signal: AbortSignal,
): Promise<ChunkResult> {
  const { warehouse, effects } = invocation;
  const ops = operationsOf(warehouse);
  const { runId } = order;
  if (!(await fillColumnsOnce(warehouse, effects, signal))) return { as: 'stopped' };
  const found = await retryTransient(() => readChunk(ops, order), effects);
  // A worker that died after the end of the run did not enqueue what follows it.
  if (found?.state === 'concluded') return concludedBefore(found);
  const parent: Lease = { name: syncLease(definition.name), holder: '', token: order.token };
  if (found?.runState !== 'running') return { as: 'void' };
  const idleMs = await retryTransient(() => expiredForMs(ops, parent), effects);
  if (idleMs === undefined) return { as: 'void' };
  const because = outdatedBecause(definition, found.run, idleMs);
  if (because !== undefined) return { as: 'outdated', because, idleMs };
  if (!(await retryTransient(() => renewLease(ops, parent), effects))) return { as: 'void' };
  // The lease may have expired meanwhile, and a rebuild or an erasure relies on no run being active.
  await retryTransient(() => assertNoRebuild(ops), effects);
  const holder = holderOf(effects);
  const assertDue = async (tx: Ops): Promise<void> => {
    await assertRunning(tx, runId);
    await assertLease(tx, parent);
  };
  const own = await retryTransient(() => acquireLease(ops, leaseOfChunk(order), holder, false, assertDue), effects);
  const lease: Lease = { ...own, parent };
  await using held = keepLeaseAlive(ops, lease, effects.sleep, invocation.checkClock);
  const either = AbortSignal.any([signal, held.lost]);
  const chunk: HeldChunk = { definition, order, run: found.run, lease };
  const stop = found.state === 'open' ? await executeSegment(invocation, chunk, either) : undefined;
  if (stop === 'aborted') return held.lost.aborted ? { as: 'void' } : { as: 'stopped' };
  // A chunk that has ended stays as it is, but other chunks may still be open.
  const open = await retryTransaction(
    ops,
    async (tx) => {
      await assertLease(tx, lease);
      return endChunk(tx, order, stop, effects.now());
    },
    effects,
  );
  if (open > 0) return { as: 'done' };
  return await conclude(invocation, chunk, await checkSharedRun(invocation, chunk, either));
}

/**
 * Why no worker with this definition may work on the run; undefined if it may. Under another definition, it would send
 * removed requests, and would move watermarks over days that the run never requested.
 */
function outdatedBecause(definition: SyncDefinition, { definitionHash }: Run, idleMs: number): string | undefined {
  const hashes = [definition.hash, refreshHash(definition, {})];
  if (!hashes.includes(definitionHash)) return 'its run has another definition than the config';
  return idleMs >= CONTINUED_WITHIN_MS ? 'no worker executed its run for 24 hours' : undefined;
}

/**
 * Prefix of the leases of a run's chunks. Leases are removed at the end of a run, so a continued run would issue the
 * same fencing tokens again. The token of the sync's lease in the name prevents that, and keeps earlier workers from
 * removing new leases.
 */
const leasesOfChunks = ({ runId, token }: ChunkOrder): string => `${CHUNK_LEASES}${runId}:${token}:`;
const leaseOfChunk = (order: ChunkOrder): string => `${leasesOfChunks(order)}${order.chunk}`;

/** A chunk that this worker holds. */
interface HeldChunk {
  readonly definition: SyncDefinition;
  readonly order: ChunkOrder;
  /** The complete run. */
  readonly run: Run;
  /** The lease of the chunk, within the sync's lease. */
  readonly lease: Lease;
}

/** Executes the open requests of a chunk. If another chunk has stopped the run, only what was sent is settled. */
async function executeSegment(
  invocation: Invocation,
  { definition, run, lease, order }: HeldChunk,
  signal: AbortSignal,
): Promise<ChunkStop | undefined | 'aborted'> {
  const { warehouse, config, effects } = invocation;
  const ops = operationsOf(warehouse);
  const part = { ...run, chunk: String(order.chunk) };
  const segment = await openSegment(invocation, {
    definition,
    run: part,
    lease,
    budget: await chunkBudget(warehouse, config.budget, definition, order, effects),
    prices: await retryTransient(() => readPrices(warehouse, config, definition), effects),
    maxAgeOf: await agesOfSharedRun(invocation, definition, run),
    lost: [],
    // Autovacuum of the server refreshes statistics meanwhile.
    rowCounter: NO_ROW_COUNTER,
  });
  for (const files of await invocation.spools.waiting())
    await ingestSpooled(ops, files, { sync: definition.name, part }, { ...effects, removeForgotten });
  await segment.settle(signal);
  const before = await retryTransient(() => firstStop(ops, run.id), effects);
  const stop = before ? undefined : await segment.complete(signal);
  if (signal.aborted) return 'aborted';
  return stop ? { exitCode: exitCodeOf(stop.reason), because: stop.because, next: stop.next } : before;
}

/** Runs the checks of the shared run. Outside the transaction that concludes it, because they may take long. */
async function checkSharedRun(
  invocation: Invocation,
  chunk: HeldChunk,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  if (chunk.definition.checks === undefined) return [];
  const ops = operationsOf(invocation.warehouse);
  const stop = stopOf(await retryTransient(() => firstStop(ops, chunk.run.id), invocation.effects));
  return runChecks(invocation, { ...chunk, covered: chunk.order.covered, stop, signal });
}

const concludedBefore = ({ runExitCode, runState }: ChunkOfRun): ChunkResult => ({
  as: 'concluded',
  exitCode: runExitCode ?? EXIT.bug,
  state: runState,
});

const stopOf = (stop: ChunkStop | undefined): RunStop | undefined =>
  stop && { reason: stopReasonOf(stop.exitCode), because: stop.because, next: stop.next, forAll: false };

/** Concludes the run once; a later caller finds it ended. */
async function conclude(
  invocation: Invocation,
  chunk: HeldChunk,
  checks: readonly CheckResult[],
): Promise<ChunkResult> {
  const { order, lease } = chunk;
  const ops = operationsOf(invocation.warehouse);
  const end = await retryTransaction(
    ops,
    async (tx): Promise<ChunkResult> => {
      // The watermarks of a million inputs are computed before they are written.
      await allowSilence(tx);
      const state = await lockRun(tx, order.runId);
      const found = await readChunk(tx, order);
      if (found?.state === 'concluded') return concludedBefore(found);
      if (!found || state !== 'running') return { as: 'done' };
      await assertLease(tx, lease);
      const summary = await concludeSharedRun(tx, invocation, chunk, checks);
      await recordConcluded(tx, order);
      return { as: 'concluded', exitCode: summary.exitCode, state: summary.state, summary };
    },
    invocation.effects,
  );
  if (end.as === 'concluded') await cleanUpChunks(ops, order, lease);
  return end;
}

async function concludeSharedRun(
  ops: Ops,
  invocation: Invocation,
  { definition, order, run }: HeldChunk,
  checks: readonly CheckResult[],
): Promise<SyncSummary> {
  const { covered, lost, startedAt, continued } = order;
  const [missing] = await missingSpools(ops, run, invocation.spools);
  const stop = await firstStop(ops, run.id);
  // An error that concerns the complete endpoint leaves no request planned.
  if (stop?.exitCode === EXIT.rejects) await moveRequests(ops, run, ['planned'], 'skipped');
  return concludeRun(ops, invocation, {
    definition,
    run: { ...run, continued },
    covered,
    stop: stopOf(stop),
    startedAt: new Date(startedAt),
    pointsBefore: new Map(),
    lost,
    missing,
    checks,
    isLimited: definition.budgetPerRun !== undefined || Object.keys(invocation.config.budget).length > 0,
  });
}

/** Releases the sync's lease, and deletes what only this run used. If that fails, the leftovers are harmless. */
async function cleanUpChunks(ops: Ops, order: ChunkOrder, { parent }: Lease): Promise<void> {
  if (parent) await releaseLease(ops, parent).catch(() => undefined);
  await removeLeases(ops, leasesOfChunks(order)).catch(() => undefined);
  await deleteCounter(ops, sharedRunCounter(order)).catch(() => undefined);
}
