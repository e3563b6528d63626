/** Tickets that admit calls while a limit in points is set, and the meter that issues them. */
import type { Outcome } from '../../extract/outcome.ts';
import type { Reservation } from '../../control/budget/reservations.ts';
import type { RunStop } from '../run/stop-controller.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';

/** The points reserved for a call, which a reading of the log may correct. */
export type Reserved = Pick<Reservation, 'points' | 'add'>;

/** Permission to make one call. */
export interface Ticket {
  /** Assigns the ticket to a request, with the points reserved for it. */
  readonly claim: (request: Pick<LedgerRequest, 'id' | 'attempts'>, reserved: Reserved) => Promise<void>;
  /** Reports that the call has ended. */
  readonly ended: (outcome: Outcome) => void;
  /**
   * Takes the expected cost of the call, and returns what to count until the log shows the cost. Only the first call
   * counts.
   */
  readonly settle: (points: number) => number;
  /** Reports that nothing was sent. */
  readonly cancel: () => void;
}

/** Why nothing may be bought. */
export type Refusal = RunStop;

export interface PointsMeter {
  /** Waits until a call may be made; undefined if the signal fires first. */
  readonly enter: (signal: AbortSignal) => Promise<Ticket | Refusal | undefined>;
  /** Reads the cost of ended calls; true if the log confirmed a cost that was unknown. */
  readonly verify: (signal: AbortSignal) => Promise<boolean>;
  /** The prices of calls, as far as known. */
  readonly prices: () => PriceBook;
  /** The most points that a call can cost. A call with a guessed price never counts as free. */
  readonly most: (points: number) => number;
  /** Reads all costs that are still unknown, at the end of a run. */
  readonly finish: (signal: AbortSignal) => Promise<void>;
}

/** The ticket of every call without a limit in points. */
export const UNMETERED: Ticket = {
  claim: () => Promise.resolve(),
  ended: () => undefined,
  settle: (points) => points,
  cancel: () => undefined,
};

/**
 * Assumed: a redirect or an error other than "no such entity" may or may not be charged, and may or may not be in the
 * log.
 */
export const mayCost = (status: number): boolean => status < 300 || status === 412;

/** Assumed: an input that the service refuses can be charged, and has a row in the log if the log has rows of errors. */
export const isInputError = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 412 && status !== 429;

/** The balance in the header of an answer; negative if the account is overdrawn. */
export const balanceIn = (header: string | undefined): number | undefined =>
  header !== undefined && /^-?\d{1,15}(?:\.\d+)?$/.test(header.trim()) ? Number(header) : undefined;
