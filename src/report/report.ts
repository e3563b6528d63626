/** The data of a report as plain values, between reading the warehouse and rendering the page. */

export interface Report {
  readonly madeAt: Date;
  /** The schema that it was read from. */
  readonly schema: string;
  /** The UTC days of the charts, oldest first; the last is the day of the report. */
  readonly days: readonly string[];
  /** Absent if the request log was never read. */
  readonly money?: Money;
  readonly syncs: readonly SyncState[];
  /** The current checks that fail or could not run, those of severity error first. */
  readonly failingChecks: readonly ReportedCheck[];
  readonly coverage: readonly Coverage[];
  readonly truncated: readonly TruncatedSlice[];
  readonly growth: readonly TableGrowth[];
  readonly quality: readonly Quality[];
  readonly quarantine: Quarantine;
  readonly drift: readonly ReportedDrift[];
  readonly calls: readonly EndpointCalls[];
  readonly slowest: readonly SlowCall[];
}

/** Spending and balances according to the request log. */
export interface Money {
  /** Start of the newest logged request. */
  readonly readUpTo: Date;
  /** The endpoints with requests in the days shown, greatest spending first. */
  readonly endpoints: readonly EndpointSpend[];
  /** Charged requests that failed or whose answer was lost, in the days shown. */
  readonly chargedFailures: { readonly requests: number; readonly points: number };
  /** One entry for each token with a known balance, tokens of this warehouse first. */
  readonly balances: readonly BalanceHistory[];
}

export interface EndpointSpend {
  readonly endpoint: string;
  readonly requests: number;
  readonly points: number;
  /** Points on each day shown. */
  readonly byDay: readonly number[];
}

export interface BalanceHistory {
  /** The service’s identifier of the token, which is no secret. */
  readonly token: string;
  readonly points: number;
  readonly at: Date;
  /** Points left at the end of each day shown; null if unknown. */
  readonly byDay: readonly (number | null)[];
  /** Recent mean of points a day; null if too little is known. */
  readonly pace: number | null;
  /** The UTC day on which the points run out at that rate; null if they do not. */
  readonly runsOutOn: string | null;
}

/** The rate is the mean over this many days before the newest request, or over fewer if the log is younger. */
export const PACE_DAYS = 7;

export interface SyncState {
  readonly sync: string;
  readonly endpoint: string;
  readonly state: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly error: string | null;
  /** End of the newest run that sent all of its planned requests; null if there is none. */
  readonly refreshedAt: Date | null;
  readonly open: number;
  readonly inDoubt: number;
  readonly waiting: number;
  /** Runs in the days shown. */
  readonly runs: number;
  /** The worst state of a run on each day shown; null without a run. */
  readonly byDay: readonly (string | null)[];
}

export interface ReportedCheck {
  readonly sync: string;
  readonly name: string;
  /** `error` if its failure ends a run with exit code 4, otherwise `warn`. */
  readonly severity: string;
  readonly message: string;
  readonly allowed: string;
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

/** A slice that is a lower bound: more items may exist than the service returned. */
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
  /** The number of rows at the end of each day shown, by the day on which each row was first seen. */
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
  /** New entries on each day shown. */
  readonly byDay: readonly number[];
  /** Open entries by reason, most frequent first, at most 25 reasons. */
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

/** The durations of the calls of an endpoint in the days shown. */
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
  /** The input of the request; null if it has none. */
  readonly input: string | null;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly receivedAt: Date;
}
