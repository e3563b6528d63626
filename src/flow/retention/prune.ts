/** Retention: removes old data that nothing needs, in small steps. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { assertNoRebuild } from '../../ledger/lease.ts';
import {
  countPrunable,
  countSpentRequests,
  deleteSpentRequests,
  type RetentionRule,
  type PrunedCounts,
  type PruneLimits,
  pruneSome,
  type BatchAfter,
} from './store.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { mayHaveInputAges } from '../../control/freshness/max-age.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

export interface PruneOptions {
  readonly olderThanMs: number;
  /** Also bodies of answers with quarantined items, which `quarantine retry` can then no longer load. */
  readonly quarantined: boolean;
  /** Report what would be removed, and remove nothing. */
  readonly dryRun: boolean;
}

export interface PruneEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly onProgress: (done: number, total: number) => void;
}

export interface PruneSummary extends PrunedCounts {
  readonly exitCode: number;
  readonly dryRun: boolean;
  /** Data that was received or planned before this time is old. */
  readonly before: string;
  /** Deleted rows of the ledger: requests that a stored answer served, or that were given up unsent. */
  readonly requests: number;
}

/** Rows per statement, so that no other session waits long for a lock. */
const MOST = 500;

/**
 * Removes the bodies of old answers, and rows of the ledger that no total counts. Syncs may run at the same time. If it
 * is stopped, completed steps stay. Throws a HeldError during a rebuild.
 */
export async function prune(
  warehouse: Warehouse,
  syncs: readonly SyncDefinition[],
  { olderThanMs, quarantined, dryRun }: PruneOptions,
  effects: PruneEffects,
  signal: AbortSignal,
): Promise<PruneSummary> {
  const now = effects.now();
  const before = new Date(now.getTime() - olderThanMs);
  const ops = operationsOf(warehouse);
  const limits: PruneLimits = { before, rules: keptFor(syncs, now), quarantined };
  const due = await retryTransient(() => countPrunable(ops, limits), effects);
  const summary = { dryRun, before: before.toISOString() };
  if (dryRun) {
    const requests = await retryTransient(() => countSpentRequests(ops, limits), effects);
    return { exitCode: EXIT.complete, ...summary, ...due, requests };
  }
  const sums = { answers: 0, bytes: 0, requests: 0 };
  const inBatches = async (removeSome: (batch: BatchAfter) => Promise<string | undefined>): Promise<void> => {
    for (let after: string | undefined = '0'; after !== undefined && !signal.aborted; )
      after = await removeSome({ after, limit: MOST });
  };
  await inBatches(async (batch) => {
    if (warehouse.kind === 'postgres') await assertNoRebuild(ops);
    const { answers, bytes, last } = await retryTransient(() => pruneSome(ops, limits, batch, now), effects);
    sums.answers += answers;
    sums.bytes += bytes;
    effects.onProgress(sums.answers, Math.max(sums.answers, due.answers));
    return last;
  });
  await inBatches(async (batch) => {
    const { requests, last } = await retryTransient(() => deleteSpentRequests(ops, before, batch), effects);
    sums.requests += requests;
    return last;
  });
  return { exitCode: EXIT.complete, ...summary, ...sums };
}

/** What the config's syncs still serve from stored answers, by endpoint. */
function keptFor(syncs: readonly SyncDefinition[], now: Date): RetentionRule[] {
  const byEndpoint = Map.groupBy(syncs, ({ endpoint }) => endpoint.name);
  return [...byEndpoint].map(([endpoint, of]) => ({
    endpoint,
    since: new Date(now.getTime() - Math.max(0, ...of.map(({ maxAgeMs = 0 }) => maxAgeMs))),
    newest: of.some(mayHaveInputAges),
  }));
}
