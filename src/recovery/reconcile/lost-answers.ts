/** Requests that were sent and whose answers never arrived: they may have been paid for. */
import type { SyncDefinition } from '../../config/definition.ts';
import { recordLosses, type SettledDoubt } from '../../ledger/lost-answers.ts';
import { moveAll } from '../../ledger/requests.ts';
import { isOf } from '../../ledger/part.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/asked.ts';
import { type MissingSpools, missingSpoolError } from '../spool/find-spools.ts';
import { type Steady, steadily } from '../../warehouse/connect/retry-transient.ts';

/** Requests whose answers were lost, with the points set aside for each attempt where the run goes on with them. */
export type Doubtful = ReadonlyMap<string, number | undefined>;

/**
 * Looks in the request log for lost attempts at these requests, records what became of each, in the ledger's points too,
 * and gives the verdicts. Once the signal has fired nothing is asked, and they stay open.
 */
export type FindOut = (doubtful: Doubtful, signal: AbortSignal) => Promise<readonly SettledDoubt[]>;

/** What is told of one lost answer. */
export const doubtNotice = (sync: string, because: string, again: boolean): Notice => ({
  level: 'warn',
  sync,
  message: again
    ? `an answer was lost (${because}); it is asked again and may be paid twice`
    : `an answer was lost (${because}); the request stays in doubt`,
});

/** What is told of a request that was under way when a run died which is not continued. */
export const lostNotice = (sync: string, id: string): Notice => ({
  level: 'warn',
  sync,
  message: `request ${id} of a run that was given up had no answer yet; it may have been paid for`,
});

/** What settling needs besides the ledger. */
export interface Settling extends Steady {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** Requests of runs that were given up whose answers never arrived. */
  readonly lost: readonly string[];
  /** Absent of the request log's own syncs: to look there for what was asked of it would lead to more of the same. */
  readonly findOut: FindOut | undefined;
  /** The spools of the run that cannot be found, and may hold answers to its requests. */
  readonly missing?: MissingSpools | undefined;
  /** The most points that a request could cost. */
  readonly most: (request: RequestBody) => number;
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

/**
 * Settles what holders that died left under way, by the sync's policy: `reconcile` finds out what became of it and asks
 * again what this run can still ask, `stop` leaves it listed. Each case is told.
 */
export async function settleDoubts(ops: Ops, it: Settling, signal: AbortSignal): Promise<void> {
  const { definition, run, lost, now, missing } = it;
  const loss = { at: now(), reason: 'its process ended before the answer came' };
  if (missing) {
    // These requests stay as sent: their answers may be kept there, and asking again would pay twice.
    const { message } = missingSpoolError(definition.name, missing);
    it.onNotice({ level: 'warn', sync: definition.name, message });
  } else {
    await steadily(() => recordLosses(ops, { part: run }, loss), it);
    await steadily(() => moveAll(ops, run, ['sent'], 'in_doubt'), it);
  }
  const again = definition.inDoubt === 'reconcile';
  const listed = await steadily(() => inDoubt(ops, run), it);
  for (const { id } of listed)
    it.onNotice(doubtNotice(definition.name, `request ${id} was under way when its run died`, again));
  if (!again) return;
  await findOutAll(it, listed, lost, signal);
  // Planned, nobody would look for them again.
  if (signal.aborted) return;
  await steadily(() => moveAll(ops, run, ['in_doubt'], 'planned'), it);
}

/** Finds out about the answers that a run lost and does not ask for any more. */
export async function settleLeftOver(ops: Ops, it: Settling, signal: AbortSignal): Promise<void> {
  if (it.definition.inDoubt === 'reconcile')
    await findOutAll(it, await steadily(() => inDoubt(ops, it.run), it), [], signal);
}

const inDoubt = async (ops: Ops, run: Run) =>
  ops
    .selectFrom('requests')
    .select(['id', 'body'])
    .where(isOf(run))
    .where('state', '=', 'in_doubt')
    .orderBy('id')
    .execute();

async function findOutAll(
  { findOut, most }: Settling,
  requests: readonly { readonly id: string; readonly body: RequestBody }[],
  others: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const doubtful = new Map<string, number | undefined>(requests.map(({ id, body }) => [id, most(body)]));
  for (const id of others) doubtful.set(id, undefined);
  if (doubtful.size > 0) await findOut?.(doubtful, signal);
}
