/** One request whose true cost the request log has yet to confirm, and what the rows of the log show about it. */
import type { Outcome } from '../../extract/outcome.ts';
import type { LoggedCost } from '../../ledger/log-costs.ts';
import type { Reserved } from './ticket.ts';

/** An attempt that ended. */
export interface EndedAttempt {
  readonly reserved: Reserved;
  readonly kind: Outcome['kind'];
  /** Points that count for it, against the limits of its reservation. */
  counted: number;
  /** It was refused (429, 503), and counts until a reading shows no charge for it. */
  isRefused: boolean;
}

/** A request whose attempts in this process the log has yet to confirm. */
export interface MeteredCall {
  readonly id: string;
  /** When its first attempt in this process was about to be sent. */
  readonly sentMs: number;
  /** Its place among the calls of this process. */
  readonly place: number;
  /** What the log had for it before: charged points, and rows. */
  readonly before: { readonly points: number; readonly rows: number };
  /** Rows that the log had for it before its last attempt. */
  rowsBefore: number;
  /** Attempts that ended, in order. */
  readonly ended: EndedAttempt[];
  inFlight: number;
  /** Attempts that must have a row in the log. */
  due: number;
  /** Attempts with lost answers that may have a row in the log. */
  lost: number;
  /** Attempts whose input the service refused: they have a row if the log has rows of errors. */
  inputErrors: number;
  /** The log confirms nothing with fewer rows. Rows from before an attempt are not its row. */
  leastRows: number;
  /** A row without a charge may get its cost later. */
  mayCostLater: boolean;
  /** Attempts in this process that began. */
  attempts: number;
  /** The log has shown its cost, which replaced all that counted for its attempts. */
  isConfirmed: boolean;
  /** The log did not confirm it in time, so the guess counts. */
  isGivenUp: boolean;
}

/** Creates a call before its first attempt in this process. */
export const newCall = ({ before, ...call }: Pick<MeteredCall, 'id' | 'sentMs' | 'place' | 'before'>): MeteredCall => ({
  ...call,
  before,
  rowsBefore: before.rows,
  ended: [],
  inFlight: 0,
  due: 0,
  lost: 0,
  inputErrors: 0,
  leastRows: before.rows + 1,
  mayCostLater: false,
  attempts: 0,
  isConfirmed: false,
  isGivenUp: false,
});

/** What has become of the call that a ticket let in. */
export type TicketState =
  | { readonly is: 'open' | 'canceled' }
  | { readonly is: 'sending'; readonly call: MeteredCall; readonly reserved: Reserved }
  | { readonly is: 'answered'; readonly call: MeteredCall; readonly attempt: EndedAttempt }
  | { readonly is: 'settled'; readonly points: number };

/** Points that count against the limits for attempts that ended. */
export const countedPoints = ({ ended }: Pick<MeteredCall, 'ended'>): number =>
  ended.reduce((sum, { counted }) => sum + counted, 0);

/** True if a reading has yet to show whether refused attempts were charged. */
export const hasRefused = ({ ended }: Pick<MeteredCall, 'ended'>): boolean => ended.some(({ isRefused }) => isRefused);

/** What must count for a call from now on. */
export interface ShownCost {
  readonly points: number;
  /** The log has a row for each attempt, so the points are its charge. */
  readonly isComplete: boolean;
  /** The log must still show a row. */
  readonly lacksRow: boolean;
}

/**
 * Returns what the rows of the log show about a call; undefined if a later reading may show more. `hasErrors` is false if
 * the log has no rows of errors.
 */
export function shownCost(
  call: MeteredCall,
  { charged, rows }: LoggedCost,
  { isLast, hasErrors }: { readonly isLast: boolean; readonly hasErrors: boolean },
): ShownCost | undefined {
  if (charged === undefined) return undefined;
  const { before, due, lost, inputErrors, leastRows, mayCostLater } = call;
  const counted = countedPoints(call);
  const points = charged - before.points;
  const lacksRow = rows < leastRows;
  const isComplete = !lacksRow && rows >= before.rows + due + lost + (hasErrors ? inputErrors : 0);
  if (!isLast && (!isComplete || (points === 0 && counted > 0 && mayCostLater))) return undefined;
  // The rows may be those of lost attempts, so they release nothing.
  return { points: isComplete ? points : Math.max(points, counted), isComplete, lacksRow };
}

/**
 * Changes what counts for a call. Its last attempt counts additional points. Points are released where they count: from
 * each attempt no more than it counts, and from the first one first. The call has changed when this returns its promise.
 */
export async function correctCall({ ended }: Pick<MeteredCall, 'ended'>, points: number): Promise<void> {
  let rest = points;
  const changed = (points > 0 ? ended.slice(-1) : ended).map((attempt) => {
    const part = Math.max(rest, -attempt.counted);
    attempt.counted += part;
    rest -= part;
    return { attempt, part };
  });
  for (const { attempt, part } of changed) if (part !== 0) await attempt.reserved.add(part);
}

/** Releases the points of refused attempts. The call has changed when this returns its promise. */
export async function releaseRefused({ ended }: Pick<MeteredCall, 'ended'>): Promise<void> {
  const refused = ended.filter(({ isRefused }) => isRefused);
  for (const attempt of refused) {
    attempt.isRefused = false;
    attempt.counted -= attempt.reserved.points;
  }
  for (const { reserved } of refused) await reserved.add(-reserved.points);
}
