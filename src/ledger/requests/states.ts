/** The states of requests: how each ends, or that it is planned again. */
import { sql } from 'kysely';
import type { Ops, RequestState } from '../../warehouse/connect/operations-db.ts';
import { assertLease, isLeaseHeld, type Lease } from '../lease.ts';
import { isInScope, type RunScope } from '../run-scope.ts';

/** The states of a request that is not settled; a settled request never changes. */
export const UNSETTLED_STATES: readonly RequestState[] = ['planned', 'sent', 'in_doubt'];

/** The end of a request without an answer to load, or its return to the plan. */
export interface Settlement {
  readonly state: Extract<RequestState, 'planned' | 'missing' | 'failed' | 'in_doubt' | 'skipped' | 'abandoned'>;
  readonly at: Date;
  readonly status?: number;
  readonly failureClass?: string;
  readonly error?: string;
  readonly next?: string;
  /** Reserved points that the attempt surely did not cost. */
  readonly pointsBack?: number;
  /** No byte of the attempt left, so it does not count. */
  readonly wasNotMade?: true;
  /** The identifier in an answer with an error. */
  readonly answeredId?: string | undefined;
}

const withAttempt = ({ at, status, answeredId }: Settlement) => sql<string>`
  coalesce(failed_attempts, '[]') || jsonb_build_array(jsonb_build_object('sent_at', sent_at,
    'answered_at', ${at.toISOString()}::timestamptz, 'status', ${status}::bigint, 'x_request_id', ${answeredId ?? null}::text))`;

/**
 * Records how a request ended, or that it is planned again. A request that was settled meanwhile stays as it is, and so
 * does one whose lease was taken over: its last attempt may be that of the new holder.
 */
export async function settleRequest(ops: Ops, lease: Lease, id: string, settlement: Settlement): Promise<void> {
  await ops
    .updateTable('requests')
    .set({
      state: settlement.state,
      finished_at:
        settlement.state === 'planned' || settlement.state === 'in_doubt' ? null : settlement.at.toISOString(),
      status: settlement.status === undefined ? null : String(settlement.status),
      failure_class: settlement.failureClass ?? null,
      error: settlement.error ?? null,
      next: settlement.next ?? null,
      points: sql`greatest(coalesce(points, 0) - ${String(settlement.pointsBack ?? 0)}::numeric, 0)`,
      attempts: sql`greatest(attempts - ${settlement.wasNotMade ? 1 : 0}, 0)`,
      // The next attempt replaces the time and the status of this one.
      ...(settlement.state === 'planned' &&
        settlement.status !== undefined && { failed_attempts: withAttempt(settlement) }),
    })
    .where('id', '=', id)
    .where('state', 'in', [...UNSETTLED_STATES])
    .where(isLeaseHeld(lease))
    .execute();
}

/**
 * Records that a stored answer serves a request that is planned, or that was in doubt and is not sent again now. Its lost
 * answers and points stay. Returns false if the lease was lost or the request changed.
 */
export async function recordFresh(ops: Ops, lease: Lease, id: string, answerId: string, at: Date): Promise<boolean> {
  const served = await ops
    .updateTable('requests')
    .set({ state: 'fresh', answer_id: answerId, finished_at: at.toISOString() })
    .where('id', '=', id)
    // Also true if it is already recorded, since the result of an earlier commit may have been lost.
    .where((eb) =>
      eb.or([
        eb('state', 'in', ['planned', 'in_doubt']),
        eb.and([eb('state', '=', 'fresh'), eb('answer_id', '=', answerId)]),
      ]),
    )
    .where(isLeaseHeld(lease))
    .returning('id')
    .executeTakeFirst();
  return served !== undefined;
}

/** Counts the requests of a run by state. */
export async function countByState(
  ops: Ops,
  scope: RunScope,
): Promise<Readonly<Partial<Record<RequestState, number>>>> {
  const rows = await ops
    .selectFrom('requests')
    .select(['state', sql<string>`count(*)`.as('n')])
    .where(isInScope(scope))
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}

/**
 * Moves all requests of a run in some states to another state, and returns their ids. Assert the lease of the run in the
 * same transaction.
 */
export async function moveRequests(
  ops: Ops,
  scope: RunScope,
  from: readonly RequestState[],
  to: RequestState,
): Promise<string[]> {
  const rows = await ops
    .updateTable('requests')
    .set({ state: to })
    .where(isInScope(scope))
    .where('state', 'in', [...from])
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Skips the planned requests of a run. Use a transaction. Throws a HeldError if the lease was lost. */
export async function skipPlanned(tx: Ops, lease: Lease, scope: RunScope): Promise<void> {
  await assertLease(tx, lease);
  await moveRequests(tx, scope, ['planned'], 'skipped');
}
