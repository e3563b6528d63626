/** The summary of a command that ran syncs: for people, for schedulers and in the warehouse. */
import type { CheckResult } from './checks/check-results.ts';
import type { RunCounters } from './run-counters.ts';

export type RunState = 'running' | 'complete' | 'partial' | 'out_of_points' | 'failed' | 'interrupted' | 'abandoned';

/** The outcome of one sync's run, with its counters. */
export interface SyncSummary extends RunCounters {
  readonly sync: string;
  readonly endpoint: string;
  readonly runId: string | null;
  readonly state: RunState;
  readonly exitCode: number;
  /** True if an interrupted run was continued. */
  readonly continued: boolean;
  /** For a continued run, the points of this invocation, which the limits per run apply to. */
  readonly pointsNow?: number;
  /** If a limit in points is set: requests whose cost the log has not confirmed, with their counted points. */
  readonly unverified?: UnverifiedPoints;
  /** Slices of earlier runs that are lower bounds and on which this run relies; absent for none. */
  readonly earlierTruncated?: number;
  /** With `--limit`: the limit, and the number of requests that the run left out. */
  readonly limit?: { readonly requests: number; readonly leftOut: number };
  /** The quote of the plan before anything was sent, in points; null for a run that was not started. */
  readonly quote: QuotedPoints | null;
  /** The results of the sync's checks, in the order of the config. */
  readonly checks: readonly CheckResult[];
  /** Attempts of this run with lost answers, each with its outcome in the request log. */
  readonly lostAnswers: readonly LostAnswerSummary[];
  /** Slices of this run that are lower bounds, at most 20. */
  readonly lowerBounds: readonly LowerBound[];
  /** Requests with unreadable answers, at most 20. */
  readonly gaps: readonly Gap[];
  readonly tookMs: number;
  /** Why the run ended as it did; null if complete. */
  readonly error: string | null;
  /** What to do next, in one sentence. */
  readonly next: string | null;
}

/** Requests whose cost the request log has not confirmed. */
export interface UnverifiedPoints {
  readonly requests: number;
  /** By the price list. */
  readonly points: number;
}

/** Points that a plan may cost. */
export interface QuotedPoints {
  /** Requests that the plan would send, without those that paging and splitting may add. */
  readonly requests: number;
  /** The cost is from `low` to `high` nine times in ten. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** The most without paging and splitting. */
  readonly most: number;
  /** Confidence: from guesses alone, few log rows, or many that agree. */
  readonly confidence: 'guess' | 'some' | 'good';
  /** Number of log rows used. */
  readonly samples: number;
}

/** An attempt whose answer was lost. */
export interface LostAnswerSummary {
  readonly requestId: string;
  readonly attempt: number;
  /** The fields that distinguish the request from others of its sync. */
  readonly input: unknown;
  readonly sentAt: string;
  readonly reason: string;
  readonly verdict: 'paid_and_lost' | 'not_charged' | 'not_sent' | 'unknown' | null;
  readonly points: number | null;
}

/** A slice that is a lower bound. */
export interface LowerBound {
  readonly filters: unknown;
  readonly returned: number;
  readonly reason: string;
  /** True if the answer was unreadable, so nothing is known about the slice. */
  readonly unreadable?: true;
}

/** A request with an unreadable answer. */
export interface Gap {
  /** The canonical request, without its `count`. */
  readonly filters: unknown;
  /** The fields that distinguish the request from others of its sync. */
  readonly input: unknown;
  /** The id of the stored answer. */
  readonly answerId: string;
  readonly reason: string;
  /** True if this run did not send the request again: only `--refresh` does, until `max_age` has passed. */
  readonly failing: boolean;
}

export interface Summary {
  readonly exitCode: number;
  readonly syncs: readonly SyncSummary[];
  readonly tookMs: number;
}

/** The progress of a run. */
export interface Progress {
  readonly sync: string;
  /** Requests ended and planned so far, in this run. */
  readonly done: number;
  readonly total: number;
  readonly rows: number;
  readonly points: number;
  readonly inFlight: number;
  /** When the oldest call in flight was sent. */
  readonly oldestSentAt: Date | undefined;
  /** Requests that wait before they are sent again. */
  readonly waiting: number;
  /** When the first of them is sent again. */
  readonly nextAttemptAt: Date | undefined;
  /** The statuses of their last attempts, without those that got no answer. */
  readonly waitStatuses: readonly number[];
}

/** A message of a run besides its counts. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly sync?: string;
}
