/** Settles requests whose answers were lost: looks them up in the request log, and sends them again if the sync wants that. */
import type { SyncDefinition } from '../../config/definition.ts';
import { recordLosses, type SettledLostAnswer } from '../../ledger/failures/lost-answers.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { moveRequests } from '../../ledger/requests/states.ts';
import { isInScope } from '../../ledger/run-scope.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { type MissingSpools, missingSpoolError } from '../spool/find-spools.ts';
import { type RetryEffects, retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** Requests with lost answers, each with the reserved points per attempt if the run continues with it. */
export type ReservedPoints = ReadonlyMap<string, number | undefined>;

/**
 * Looks up the lost attempts of these requests in the request log, records the verdicts and the points in the ledger,
 * and returns the verdicts. Once the signal has fired, nothing is sent, and the attempts stay open.
 */
export type ResolveLostAnswers = (
  unresolved: ReservedPoints,
  signal: AbortSignal,
) => Promise<readonly SettledLostAnswer[]>;

/** The notice about one lost answer. */
export const lostAnswerNotice = (sync: string, because: string, again: boolean): Notice => ({
  level: 'warn',
  sync,
  message: again
    ? `an answer was lost (${because}); the request is sent again and may be charged twice`
    : `an answer was lost (${because}); the request stays in doubt`,
});

/** The notice about a request that was in flight when its run died, and whose run is not continued. */
export const abandonedAnswerNotice = (sync: string, id: string): Notice => ({
  level: 'warn',
  sync,
  message: `request ${id} of an abandoned run had no answer yet; it may have been charged`,
});

/** What settling needs besides the ledger. */
export interface SettleContext extends RetryEffects {
  readonly definition: SyncDefinition;
  readonly run: Run;
  readonly lease: Lease;
  /** Requests of abandoned runs whose answers never arrived. */
  readonly lost: readonly string[];
  /** Absent for syncs of the request log, since looking up their lost answers would lead to more log reads. */
  readonly resolveLost: ResolveLostAnswers | undefined;
  /** The run's spools that cannot be found and may hold answers to its requests. */
  readonly missing?: MissingSpools | undefined;
  /** Returns the most points that a request could cost. */
  readonly maxPointsOf: (request: RequestBody) => number;
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

/**
 * Settles requests that dead holders left in flight, by the sync's policy. `reconcile` resolves each in the log and
 * requeues those that this run can still send; `stop` leaves them listed. Each case produces a notice. Throws
 * a HeldError if the lease was lost, since the requests in flight may be those of the next holder.
 */
export async function settleOpenLostAnswers(ops: Ops, context: SettleContext, signal: AbortSignal): Promise<void> {
  const { definition, run, lease, lost, now, missing } = context;
  const loss = { at: now(), reason: 'its process ended before the answer came' };
  if (missing) {
    // These requests stay as sent: their answers may be in the missing spool, and sending again would pay twice.
    const { message } = missingSpoolError(definition.name, missing);
    context.onNotice({ level: 'warn', sync: definition.name, message });
  } else {
    const recordAll = async (tx: Ops): Promise<void> => {
      await assertLease(tx, lease);
      await recordLosses(tx, { part: run }, loss);
      await moveRequests(tx, run, ['sent'], 'in_doubt');
    };
    await retryTransaction(ops, recordAll, context);
  }
  const again = definition.inDoubt === 'reconcile';
  const listed = await retryTransient(() => inDoubt(ops, run), context);
  for (const { id } of listed)
    context.onNotice(lostAnswerNotice(definition.name, `request ${id} of an earlier invocation`, again));
  if (!again) return;
  await resolveAll(context, listed, lost, signal);
  // As planned requests, they would not be looked up again.
  if (signal.aborted) return;
  const planAgain = async (tx: Ops): Promise<void> => {
    await assertLease(tx, lease);
    await moveRequests(tx, run, ['in_doubt'], 'planned');
  };
  await retryTransaction(ops, planAgain, context);
}

/** Resolves the answers that a run lost and does not request again, also those of failed requests. */
export async function settleRemainingLostAnswers(ops: Ops, context: SettleContext, signal: AbortSignal): Promise<void> {
  if (context.definition.inDoubt === 'reconcile')
    await resolveAll(context, await retryTransient(() => unresolvedRequests(ops, context.run), context), [], signal);
}

const requestsOf = (ops: Ops, run: Run) =>
  ops.selectFrom('requests').select(['id', 'body']).where(isInScope(run)).orderBy('id');

const inDoubt = (ops: Ops, run: Run) => requestsOf(ops, run).where('state', '=', 'in_doubt').execute();

/** Requests in doubt, and failed ones with an answer that was not looked up: it was too large, or lost for the last time. */
const unresolvedRequests = (ops: Ops, run: Run) =>
  requestsOf(ops, run)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'in_doubt'),
        eb.and([
          eb('state', '=', 'failed'),
          eb.exists(
            eb
              .selectFrom('lost_answers as d')
              .select('d.attempt')
              .whereRef('d.request_id', '=', 'requests.id')
              .where('d.verdict', 'is', null),
          ),
        ]),
      ]),
    )
    .execute();

async function resolveAll(
  { resolveLost, maxPointsOf }: SettleContext,
  requests: readonly { readonly id: string; readonly body: RequestBody }[],
  others: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const unresolved = new Map<string, number | undefined>(requests.map(({ id, body }) => [id, maxPointsOf(body)]));
  for (const id of others) unresolved.set(id, undefined);
  if (unresolved.size > 0) await resolveLost?.(unresolved, signal);
}
