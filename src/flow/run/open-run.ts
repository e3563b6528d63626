/** The run of a sync: what earlier processes paid for, then the run itself, prepared and ready to execute. */
import { syncBudget } from '../../control/budget/budget.ts';
import { syncsAtWork } from '../../control/lease/syncs-at-work.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { abandonedAnswerNotice } from '../../recovery/reconcile/settle-lost-answers.ts';
import { abandonMissing, type MissingSpools, missingSpools } from '../../recovery/spool/find-spools.ts';
import { ingestSpooled } from '../../recovery/spool/spool.ts';
import { type EarlierPoints, pointsOfTried } from '../../ledger/log-costs.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { removeForgotten } from '../erasure/late-answer.ts';
import type { Invocation } from './invocation.ts';
import { forgottenNotice, type PreparedRun, prepareRun } from '../prepare/prepare.ts';
import { abandonLogReads } from './read-request-log.ts';
import { type OpenSegment, openSegment } from './segment.ts';
import { shareRun } from './share-run.ts';
import type { SyncLease } from './sync-lease.ts';
import type { SyncRun } from './sync-run.ts';

export interface OpenedRun extends PreparedRun, EarlierPoints {
  readonly segment: OpenSegment;
  /** Requests of abandoned runs whose answers never arrived. */
  readonly lost: readonly string[];
}

export interface RunStart {
  readonly startedAt: Date;
  readonly held: SyncLease;
  /** Spools of the sync's open runs that cannot be found. */
  readonly missing: readonly MissingSpools[];
}

/**
 * Stores the spooled answers of the sync, and those of syncs that no living process works on; returns the spools of the
 * sync that cannot be found. Call it under the sync's lease, so that no other process can spool more of its answers, and
 * before planning: a plan made without these answers would buy them again.
 */
export async function recoverPaidAnswers(
  { warehouse, effects, spools }: Invocation,
  { definition, options }: SyncRun,
): Promise<readonly MissingSpools[]> {
  const ops = operationsOf(warehouse);
  const { name: sync } = definition;
  const waiting = await spools.waiting();
  const spooled = new Set(waiting.flatMap(({ answers }) => answers.map((it) => it.sync)));
  const atWork = spooled.size > 0 ? await syncsAtWork(warehouse, effects) : new Set();
  const due = [...spooled].filter((it) => it === sync || !atWork.has(it));
  for (const files of waiting)
    for (const each of due) await ingestSpooled(ops, files, { sync: each }, { ...effects, removeForgotten });
  const { own } = spools;
  if (options.abandonSpool === true)
    await retryTransient(() => abandonMissing(ops, sync, { ...effects, ...(own && { own }) }), effects);
  return retryTransient(() => missingSpools(ops, { syncs: [sync] }, spools), effects);
}

/**
 * Continues the open run of the sync, or plans a new one, and settles what a dead process left in flight. Undefined if the
 * signal aborted before a new plan was complete.
 */
export async function openRun(
  invocation: Invocation,
  { definition, options, budget, rowCounter, onContinued, share, spans, expected }: SyncRun,
  { startedAt, held: { lease, signal }, missing }: RunStart,
): Promise<OpenedRun | undefined> {
  const { warehouse, config, effects } = invocation;
  const abandoning = { lease, newId: effects.newId, now: startedAt };
  await retryTransient(() => abandonLogReads(warehouse, definition, abandoning), effects);
  const prices = await retryTransient(() => readPrices(warehouse, config, definition), effects);
  const lost: string[] = [];
  const prepared = await prepareRun(warehouse, definition, {
    ...effects,
    options: { ...options, signal },
    lease,
    startedAt,
    prices,
    missing,
    ownSpool: invocation.spools.own,
    chunkSize: share?.chunkSize,
    expected,
    onLost: (id) => {
      lost.push(id);
      effects.onNotice(abandonedAnswerNotice(definition.name, id));
    },
  });
  if (!prepared) return undefined;
  const { run, forgotten, maxAgeOf } = prepared;
  if (forgotten > 0) effects.onNotice(forgottenNotice(definition.name, forgotten));
  spans?.setRunId(run.id);
  const segment = await openSegment(invocation, {
    definition,
    run,
    lease,
    budget: await syncBudget(warehouse, config.budget, definition, budget, effects),
    prices,
    maxAgeOf,
    invokedAt: options.invokedAt,
    requestLimit: options.limit,
    lost,
    rowCounter,
    spans,
  });
  if (run.continued || lost.length > 0) await segment.settle(signal);
  const pointsBefore = run.continued
    ? await retryTransient(() => pointsOfTried(warehouse, run.id), effects)
    : new Map<string, number>();
  if (run.continued) onContinued?.(run.id, { startedAt, pointsBefore });
  return { ...prepared, startedAt, segment, lost, pointsBefore };
}

/** Hands the chunks of a large run over to all workers; false when this process is to execute the run. */
export async function handOver(
  { warehouse, effects }: Invocation,
  { definition, share }: SyncRun,
  { run, covered, lost, startedAt, segment }: OpenedRun,
  { lease, signal, recordHandOver }: SyncLease,
): Promise<boolean> {
  if (!share || signal.aborted) return false;
  await segment.loadWaiting();
  const isShared = await shareRun(warehouse, { definition, run, lease, covered, lost, startedAt }, share, effects);
  if (isShared) recordHandOver();
  return isShared;
}
