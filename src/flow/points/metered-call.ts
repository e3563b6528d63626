/** One request whose true cost the request log has yet to confirm, and what the rows of the log show about it. */
import type { LoggedCost } from '../../ledger/log-costs.ts';

/** A request whose attempts in this process the log has yet to confirm. */
export interface MeteredCall {
  readonly id: string;
  /** When its first attempt in this process was about to be sent. */
  readonly sentMs: number;
  /** What the log had for it before: charged points, and rows. */
  readonly before: { readonly points: number; readonly rows: number };
  /** Rows that the log had for it before its last attempt. */
  rowsBefore: number;
  /** Points that count against the limits for attempts that ended. */
  counted: number;
  /** Those of them for refused attempts (429, 503). They count until a reading shows no charge for them. */
  refused: number;
  inFlight: number;
  /** Attempts that must have a row in the log. */
  due: number;
  /** Attempts with lost answers that may have a row in the log. */
  lost: number;
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
export const newCall = (id: string, sentMs: number, before: MeteredCall['before']): MeteredCall => ({
  id,
  sentMs,
  before,
  rowsBefore: before.rows,
  counted: 0,
  refused: 0,
  inFlight: 0,
  due: 0,
  lost: 0,
  leastRows: before.rows + 1,
  mayCostLater: false,
  attempts: 0,
  isConfirmed: false,
  isGivenUp: false,
});

/** What must count for a call from now on. */
export interface ShownCost {
  readonly points: number;
  /** The log has a row for each attempt, so the points are its charge. */
  readonly isComplete: boolean;
  /** The log must still show a row. */
  readonly lacksRow: boolean;
}

/** Returns what the rows of the log show about a call; undefined if a later reading may show more. */
export function shownCost(
  { before, counted, due, lost, leastRows, mayCostLater }: MeteredCall,
  { charged, rows }: LoggedCost,
  isLast: boolean,
): ShownCost | undefined {
  if (charged === undefined) return undefined;
  const points = charged - before.points;
  const lacksRow = rows < leastRows;
  const isComplete = !lacksRow && rows >= before.rows + due + lost;
  if (!isLast && (!isComplete || (points === 0 && counted > 0 && mayCostLater))) return undefined;
  // The rows may be those of lost attempts, so they release nothing.
  return { points: isComplete ? points : Math.max(points, counted), isComplete, lacksRow };
}
