/** What a report tells, as plain values: read from the warehouse, then made into a page. */

export interface Report {
  readonly madeAt: Date;
  /** Schema that it was read from. */
  readonly schema: string;
  /** The UTC days of the charts, oldest first; the last is the day it was made. */
  readonly days: readonly string[];
  /** Absent while the service’s log of requests was never read. */
  readonly money?: Money;
  readonly syncs: readonly SyncState[];
  readonly coverage: readonly Coverage[];
  readonly truncated: readonly TruncatedSlice[];
  readonly growth: readonly TableGrowth[];
  readonly quality: readonly Quality[];
  readonly quarantine: Quarantine;
  readonly drift: readonly ReportedDrift[];
  readonly calls: readonly EndpointCalls[];
  readonly slowest: readonly SlowCall[];
}

/** What was spent by the service’s own log. */
export interface Money {
  /** Start of the newest logged request. */
  readonly readUpTo: Date;
  /** By what was spent in the days shown, the most first; those that were asked then. */
  readonly endpoints: readonly EndpointSpend[];
  /** Charged requests whose answer was an error, in the days shown. */
  readonly chargedFailures: { readonly requests: number; readonly points: number };
  /** One a token that tells its points left, those of this warehouse first. */
  readonly balances: readonly BalanceHistory[];
}

export interface EndpointSpend {
  readonly endpoint: string;
  readonly requests: number;
  readonly points: number;
  /** Points for each day shown. */
  readonly byDay: readonly number[];
}

export interface BalanceHistory {
  /** The service’s identifier of the token, which is no secret. */
  readonly token: string;
  readonly points: number;
  readonly at: Date;
  /** Points left at the end of each day shown; null where that is not known. */
  readonly byDay: readonly (number | null)[];
  /** Points a day of late; null while too little is known. */
  readonly pace: number | null;
  /** The UTC day on which the points run out at that pace; null when they don’t. */
  readonly runsOutOn: string | null;
}

/** Days before the newest request over which the pace is the mean; fewer when the log is younger. */
export const PACE_DAYS = 7;

export interface SyncState {
  readonly sync: string;
  readonly endpoint: string;
  readonly state: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly error: string | null;
  /** End of the newest run that asked all it had planned. */
  readonly refreshedAt: Date | null;
  readonly open: number;
  readonly inDoubt: number;
  readonly waiting: number;
  /** Runs in the days shown. */
  readonly runs: number;
  /** The worst state of a run for each day shown; null without a run. */
  readonly byDay: readonly (string | null)[];
}

export interface Coverage {
  readonly sync: string;
  readonly endpoint: string;
  readonly complete: number;
  readonly lowerBound: number;
  readonly open: number;
  readonly returned: number;
  readonly newestAt: Date;
}

/** A slice of which more may exist than came. */
export interface TruncatedSlice {
  readonly sync: string;
  readonly filters: string;
  readonly asked: number | null;
  readonly returned: number;
  readonly reason: string | null;
  readonly asOf: Date;
}

export interface TableGrowth {
  readonly table: string;
  /** Rows at the end of each day shown, by when each was first seen. */
  readonly byDay: readonly number[];
}

export interface Quality {
  readonly sync: string;
  readonly endpoint: string;
  readonly received: number;
  readonly loaded: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  readonly openQuarantine: number;
  readonly lastFailed: number;
  readonly lastMissing: number;
}

export interface Quarantine {
  /** Entries made on each day shown. */
  readonly byDay: readonly number[];
  /** Open ones, by what is wrong; the most first, and not all of them. */
  readonly reasons: readonly QuarantineReason[];
}

export interface QuarantineReason {
  readonly sync: string;
  readonly resource: string;
  readonly reason: string;
  readonly entries: number;
  readonly newestAt: Date;
}

export interface ReportedDrift {
  readonly resource: string;
  readonly path: string;
  readonly kind: string;
  readonly seen: number;
  readonly lastSeenAt: Date;
}

/** How long the calls of an endpoint took, in the days shown. */
export interface EndpointCalls {
  readonly endpoint: string;
  readonly calls: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly longestMs: number;
}

export interface SlowCall {
  readonly answerId: string;
  readonly sync: string;
  readonly endpoint: string;
  /** What was asked about; absent without inputs. */
  readonly input: string | null;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly receivedAt: Date;
}
