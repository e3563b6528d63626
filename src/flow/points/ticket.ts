/** Tickets that let calls in while a limit in points is set, and who gives them. */
import type { Outcome } from '../../extract/outcome.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';

/** Leave to make one call. */
export interface Ticket {
  /** Says which call it is and how many points were set aside for it. */
  readonly claim: (request: LedgerRequest, points: number) => Promise<void>;
  /** Says that the call is over. */
  readonly answered: (outcome: Outcome) => void;
  /** Says what the call is expected to have cost; returns what to count until the log shows it. Only the first word counts. */
  readonly settle: (points: number) => number;
  /** Says that nothing was sent. */
  readonly leave: () => void;
}

/** Why nothing may be bought. */
export interface Refusal {
  readonly because: string;
  readonly next: string;
}

export interface PointsMeter {
  /** Waits until a call may be made; undefined when the signal fires first. */
  readonly enter: (signal: AbortSignal) => Promise<Ticket | Refusal | undefined>;
  /** Reads what ended calls cost; true when the log confirmed a cost that was not known. */
  readonly verify: (signal: AbortSignal) => Promise<boolean>;
  /** What calls cost by all that is known now. */
  readonly prices: () => PriceBook;
  /** The most that a call can cost, given what the prices say: one whose price is a guess is never taken for free. */
  readonly most: (points: number) => number;
  /** Reads what is still unknown, at the end of a run. */
  readonly finish: (signal: AbortSignal) => Promise<void>;
}

/** What calls have where no limit in points is set. */
export const FREE: Ticket = {
  claim: () => Promise.resolve(),
  answered: () => undefined,
  settle: (points) => points,
  leave: () => undefined,
};

/** Assumed: a redirect or an error other than "no such entity" may be charged or not, and may be in the log or not. */
export const mayCost = (status: number): boolean => status < 300 || status === 412;

/** The balance that an answer's header shows. */
export const balanceIn = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,15}(?:\.\d+)?$/.test(header.trim()) ? Number(header) : undefined;

/** Waits for the promise or the signal. */
export async function orFired(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const fired = Promise.withResolvers<void>();
  const fire = (): void => fired.resolve();
  signal.addEventListener('abort', fire, { once: true });
  await Promise.race([promise, fired.promise]);
  signal.removeEventListener('abort', fire);
}
