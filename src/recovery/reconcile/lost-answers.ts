/** Requests that were sent and whose answers never arrived: they may have been paid for. */
import type { SyncDefinition } from '../../config/definition.ts';
import { recordLosses, type SettledLostAnswer } from '../../ledger/lost-answers.ts';
import { moveRequests } from '../../ledger/requests.ts';
import { isInScope } from '../../ledger/run-scope.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { type MissingSpools, missingSpoolError } from '../spool/find-spools.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** Requests whose answers were lost, with the points set aside for each attempt where the run goes on with them. */
export type ReservedPoints = ReadonlyMap<string, number | undefined>;

/**
 * Looks in the request log for lost attempts at these requests, records what became of each, in the ledger's points too,
 * and gives the verdicts. Once the signal has fired nothing is asked, and they stay open.
 */
export type ResolveLostAnswers = (
  doubtful: ReservedPoints,
  signal: AbortSignal,
) => Promise<readonly SettledLostAnswer[]>;

/** What is told of one lost answer. */
export const lostAnswerNotice = (sync: string, because: string, again: boolean): Notice => ({
  level: 'warn',
  sync,
  message: again
    ? `an answer was lost (${because}); it is asked again and may be paid twice`
    : `an answer was lost (${because}); the request stays in doubt`,
});

/** What is told of a request that was under way when a run died which is not continued. */
export const abandonedAnswerNotice = (sync: string, id: string): Notice => ({
  level: 'warn',
  sync,
  message: `request ${id} of a run that was given up had no answer yet; it may have been paid for`,
});

/** What settling needs besides the ledger. */
export interface SettleContext extends RetryEffects {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** Requests of runs that were given up whose answers never arrived. */
  readonly lost: readonly string[];
  /** Absent of the request log's own syncs: to look there for what was asked of it would lead to more of the same. */
  readonly resolveLost: ResolveLostAnswers | undefined;
  /** The spools of the run that cannot be found, and may hold answers to its requests. */
  readonly missing?: MissingSpools | undefined;
  /** The most points that a request could cost. */
  readonly maxPointsOf: (request: RequestBody) => number;
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

/**
 * Settles what holders that died left under way, by the sync's policy: `reconcile` finds out what became of it and asks
 * again what this run can still ask, `stop` leaves it listed. Each case is told.
 */
export async function settleOpenLostAnswers(ops: Ops, context: SettleContext, signal: AbortSignal): Promise<void> {
  const { definition, run, lost, now, missing } = context;
  const loss = { at: now(), reason: 'its process ended before the answer came' };
  if (missing) {
    // These requests stay as sent: their answers may be kept there, and asking again would pay twice.
    const { message } = missingSpoolError(definition.name, missing);
    context.onNotice({ level: 'warn', sync: definition.name, message });
  } else {
    await retryTransient(() => recordLosses(ops, { part: run }, loss), context);
    await retryTransient(() => moveRequests(ops, run, ['sent'], 'in_doubt'), context);
  }
  const again = definition.inDoubt === 'reconcile';
  const listed = await retryTransient(() => inDoubt(ops, run), context);
  for (const { id } of listed)
    context.onNotice(lostAnswerNotice(definition.name, `request ${id} was under way when its run died`, again));
  if (!again) return;
  await findOutAll(context, listed, lost, signal);
  // Planned, nobody would look for them again.
  if (signal.aborted) return;
  await retryTransient(() => moveRequests(ops, run, ['in_doubt'], 'planned'), context);
}

/** Finds out about the answers that a run lost and does not ask for any more. */
export async function settleRemainingLostAnswers(ops: Ops, context: SettleContext, signal: AbortSignal): Promise<void> {
  if (context.definition.inDoubt === 'reconcile')
    await findOutAll(context, await retryTransient(() => inDoubt(ops, context.run), context), [], signal);
}

const inDoubt = async (ops: Ops, run: Run) =>
  ops
    .selectFrom('requests')
    .select(['id', 'body'])
    .where(isInScope(run))
    .where('state', '=', 'in_doubt')
    .orderBy('id')
    .execute();

async function findOutAll(
  { resolveLost, maxPointsOf }: SettleContext,
  requests: readonly { readonly id: string; readonly body: RequestBody }[],
  others: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const doubtful = new Map<string, number | undefined>(requests.map(({ id, body }) => [id, maxPointsOf(body)]));
  for (const id of others) doubtful.set(id, undefined);
  if (doubtful.size > 0) await resolveLost?.(doubtful, signal);
}
