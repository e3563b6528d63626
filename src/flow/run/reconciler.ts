/** Resolves lost answers by the request log, with one read for all that wait. */
import { orAborted } from '../../async/or-aborted.ts';
import { DAY_MS } from '../../day.ts';
import { type LostAnswer, readLostAnswers, type SettledLostAnswer } from '../../ledger/failures/lost-answers.ts';
import { logReadStart } from '../../ledger/log-reads.ts';
import { readLogIdentifiers, type LogIdentifiers, toleranceMs } from '../../ledger/match-log.ts';
import { reconcileCosts } from '../../recovery/reconcile/reconcile.ts';
import type { Run } from '../../ledger/runs.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { LISTED_AFTER_MS } from '../../recovery/reconcile/loss-verdict.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { ResolveLostAnswers } from '../../recovery/reconcile/settle-lost-answers.ts';
import { deleteReadRows, type LogReadContext, readLog, type TimeRange } from './read-request-log.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/**
 * After a failed read, the log is not read for this long. Otherwise a run with many lost answers would wait for it each
 * time.
 */
const REST_MS = 300_000;
/** Most ranges per read; the oldest lost answers beyond stay unknown. */
const MOST_STRETCHES = 5;

/** Creates a resolver that shares log reads among the lost answers of a run. */
export function openReconciler(context: LogReadContext): ResolveLostAnswers {
  let last: Promise<unknown> = Promise.resolve();
  let pending:
    | { readonly all: Map<string, number | undefined>; readonly found: Promise<readonly SettledLostAnswer[]> }
    | undefined;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  const lookUp = async (
    all: Map<string, number | undefined>,
    signal: AbortSignal,
  ): Promise<readonly SettledLostAnswer[]> => {
    const ops = operationsOf(context.warehouse);
    const readOpen = () => retryTransient(() => readLostAnswers(ops, { requestIds: [...all.keys()] }), context);
    const open = await readOpen();
    const isPaused = context.now().getTime() < pausedUntilMs;
    if (!isPaused) await waitUntilListed(context, open, signal);
    // Later callers wait for the next read.
    pending = undefined;
    if (signal.aborted) return [];
    const lostAnswers = await readOpen();
    const identifiers = await retryTransient(() => readLogIdentifiers(context.warehouse), context);
    const stretches = stretchesOf(lostAnswers, identifiers);
    const [oldest] = stretches;
    if (!oldest) return [];
    if (!isPaused) {
      const isWhole = await readLog(context, stretches.slice(-MOST_STRETCHES), signal);
      if (!isWhole) pausedUntilMs = context.now().getTime() + REST_MS;
    }
    if (signal.aborted) return [];
    const { warehouse, now } = context;
    // With the verdicts: a process that dies before leaves the answers unresolved, so that the next one reads again.
    const onCommit = (db: Warehouse['db']) => deleteReadRows(context, db);
    return retryTransient(
      () => reconcileCosts(warehouse, { since: oldest.from, lostAttempts: all, now: now(), onCommit }),
      context,
    );
  };

  return async (doubtful, signal) => {
    if (signal.aborted) return [];
    if (pending === undefined) {
      const all = new Map<string, number | undefined>();
      const found = last.then(() => lookUp(all, signal));
      last = found.catch(() => undefined);
      pending = { all, found };
    }
    const { all, found } = pending;
    for (const [id, points] of doubtful) all.set(id, points);
    return (await found).filter(({ requestId }) => doubtful.has(requestId));
  };
}

/** Waits until the log must list the attempts; before that, a missing row may still appear. */
async function waitUntilListed(
  { now, sleep }: LogReadContext,
  lostAnswers: readonly LostAnswer[],
  signal: AbortSignal,
): Promise<void> {
  const newest = Math.max(...lostAnswers.map(({ sentAt }) => sentAt.getTime()));
  const waitMs = newest + LISTED_AFTER_MS - now().getTime();
  if (waitMs > 0 && waitMs <= LISTED_AFTER_MS) await orAborted(sleep(waitMs, signal), signal);
}

/** Each read estimates the service's clock anew, with small differences. */
const CLOCK_MS = 10_000;

/** The ranges of the log that must contain the attempts, oldest first. */
function stretchesOf(lostAnswers: readonly LostAnswer[], identifiers: LogIdentifiers): TimeRange[] {
  const marginMs = toleranceMs(identifiers) + CLOCK_MS;
  const offsetMs = identifiers.offsetMs ?? 0;
  const stretches: { from: Date; to: Date }[] = [];
  for (const { sentAt, noticedAt, timeoutMs } of lostAnswers.toSorted(
    (a, b) => a.sentAt.getTime() - b.sentAt.getTime(),
  )) {
    const sentMs = sentAt.getTime();
    const endedMs = Math.min(noticedAt.getTime(), sentMs + timeoutMs);
    const from = new Date(sentMs + offsetMs - marginMs);
    const to = new Date(Math.max(sentMs, endedMs) + offsetMs + marginMs);
    const before = stretches.at(-1);
    if (before && from <= before.to) before.to = to > before.to ? to : before.to;
    else stretches.push({ from, to });
  }
  return stretches;
}

/** Rows are completed after they begin, and ambiguous rows may become clear, so a day is checked again. */
const AGAIN_MS = DAY_MS;

/** Reconciles the log rows of a run with the ledger. */
export async function reconcileRun(
  warehouse: Warehouse,
  run: Pick<Run, 'id'>,
  context: RetryEffects & Pick<LogReadContext, 'now'>,
): Promise<void> {
  const start = await retryTransient(() => logReadStart(operationsOf(warehouse), run.id), context);
  const since = start && new Date(start.getTime() - AGAIN_MS);
  await retryTransient(() => reconcileCosts(warehouse, { since, now: context.now() }), context);
}
