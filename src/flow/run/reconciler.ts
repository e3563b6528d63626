/** Finds out in the request log what became of lost answers, one reading of it for all that wait. */
import { deleteRunRows } from '../../load/delete-run-rows.ts';
import { type LostAnswer, readLostAnswers, type SettledLostAnswer } from '../../ledger/lost-answers.ts';
import { standaloneLogReads, logReadStart } from '../../ledger/log-reads.ts';
import { readLogIdentifiers, type LogIdentifiers, toleranceMs } from '../../ledger/match-log.ts';
import { reconcileCosts } from '../../recovery/reconcile/reconcile.ts';
import type { Run } from '../../ledger/runs.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { LISTED_AFTER_MS } from '../../recovery/reconcile/loss-verdict.ts';
import { tokenRequest } from '../../service/resources/token-request.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { ResolveLostAnswers } from '../../recovery/reconcile/lost-answers.ts';
import { type LogReadContext, readLog, type TimeRange } from './read-request-log.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** A log that could not be read is left alone for so long, or a run that loses many answers would wait for it each time. */
const REST_MS = 300_000;
/** Stretches that are read at once: answers lost at more times than that are old ones, and unknown is told of them. */
const MOST_STRETCHES = 5;

/** Shares readings of the log among the lost answers of a run. */
export function openReconciler(context: LogReadContext): ResolveLostAnswers {
  let last: Promise<unknown> = Promise.resolve();
  let gathering:
    | { readonly all: Map<string, number | undefined>; readonly found: Promise<readonly SettledLostAnswer[]> }
    | undefined;
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  const lookUp = async (
    all: Map<string, number | undefined>,
    signal: AbortSignal,
  ): Promise<readonly SettledLostAnswer[]> => {
    const ops = operationsOf(context.warehouse);
    const openOnes = () => retryTransient(() => readLostAnswers(ops, { requestIds: [...all.keys()] }), context);
    const open = await openOnes();
    const rests = context.now().getTime() < restsUntilMs;
    if (!rests) await listed(context, open, signal);
    // Whoever comes later waits for the next reading.
    gathering = undefined;
    if (signal.aborted) return [];
    const doubts = await openOnes();
    const identifiers = await retryTransient(() => readLogIdentifiers(context.warehouse), context);
    const stretches = stretchesOf(doubts, identifiers);
    const [oldest] = stretches;
    if (!oldest) return [];
    if (!rests) {
      const isWhole = await readLog(context, stretches.slice(-MOST_STRETCHES), signal);
      if (!isWhole) restsUntilMs = context.now().getTime() + REST_MS;
    }
    if (signal.aborted) return [];
    const { warehouse } = context;
    const judged = await retryTransient(
      () => reconcileCosts(warehouse, { since: oldest.from, lostAttempts: all, now: context.now() }),
      context,
    );
    const { db, schema } = warehouse;
    const partial = { schema, table: tokenRequest.table, runs: standaloneLogReads(warehouse.ops) };
    await retryTransient(() => deleteRunRows(db, partial), context);
    return judged;
  };

  return async (doubtful, signal) => {
    if (signal.aborted) return [];
    if (gathering === undefined) {
      const all = new Map<string, number | undefined>();
      const found = last.then(() => lookUp(all, signal));
      last = found.catch(() => undefined);
      gathering = { all, found };
    }
    const { all, found } = gathering;
    for (const [id, points] of doubtful) all.set(id, points);
    return (await found).filter(({ requestId }) => doubtful.has(requestId));
  };
}

/** Waits until the log must list them: sooner, what is not there may come yet. */
async function listed(
  { now, sleep }: LogReadContext,
  doubts: readonly LostAnswer[],
  signal: AbortSignal,
): Promise<void> {
  const newest = Math.max(...doubts.map(({ sentAt }) => sentAt.getTime()));
  const waitMs = newest + LISTED_AFTER_MS - now().getTime();
  if (waitMs <= 0 || waitMs > LISTED_AFTER_MS) return;
  try {
    await sleep(waitMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The clock of the service is known anew after each reading, and a little differently. */
const CLOCK_MS = 10_000;

/** The stretches of the log in which the attempts must be, oldest first. */
function stretchesOf(doubts: readonly LostAnswer[], identifiers: LogIdentifiers): TimeRange[] {
  const marginMs = toleranceMs(identifiers) + CLOCK_MS;
  const offsetMs = identifiers.offsetMs ?? 0;
  const stretches: { from: Date; to: Date }[] = [];
  for (const { sentAt, noticedAt, timeoutMs } of doubts.toSorted((a, b) => a.sentAt.getTime() - b.sentAt.getTime())) {
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

/** Rows are completed after they began, and what was ambiguous may become clear: a day is gone through again. */
const AGAIN_MS = 24 * 3_600_000;

/** Reconciles with the ledger what a run read of the log. */
export async function reconcileRun(
  warehouse: Warehouse,
  run: Pick<Run, 'id'>,
  it: RetryEffects & Pick<LogReadContext, 'now'>,
): Promise<void> {
  const start = await retryTransient(() => logReadStart(operationsOf(warehouse), run.id), it);
  const since = start && new Date(start.getTime() - AGAIN_MS);
  await retryTransient(() => reconcileCosts(warehouse, { since, now: it.now() }), it);
}
