/** What a command that ran syncs says of them: to people, to schedulers, and in the warehouse. */

export type RunState = 'running' | 'complete' | 'partial' | 'out_of_points' | 'failed' | 'interrupted' | 'abandoned';

/** Counts of one sync's run. Items obey `received = loaded + unchanged + superseded + quarantined`. */
export interface SyncSummary {
  readonly sync: string;
  readonly endpoint: string;
  readonly runId: string | null;
  readonly state: RunState;
  readonly exitCode: number;
  /** True when an interrupted run was taken up again. */
  readonly continued: boolean;
  /** Requests in the plan, those that paging added included. */
  readonly planned: number;
  /** Of them: served by a stored answer that is fresh enough. */
  readonly fresh: number;
  /** Of them: sent, each counted once however often it was tried. */
  readonly asked: number;
  /** Attempts, each of those of a request that was tried again. */
  readonly sent: number;
  /** Answers stored and loaded. */
  readonly answers: number;
  readonly received: number;
  readonly loaded: number;
  /** Of the loaded ones, those whose rows were there and said something else. */
  readonly changed: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  /** Inputs for which the service knows no entity. */
  readonly missing: number;
  /** Inputs that failed for good. */
  readonly failed: number;
  /** Requests whose outcome is unknown and stays listed. */
  readonly inDoubt: number;
  /** Slices of which more may exist than was returned, those whose answer could not be read included. */
  readonly truncated: number;
  /** Requests whose answer could not be read, those that are asked no more for it included. */
  readonly unreadable: number;
  /** Requests not sent when the run stopped: those that stay planned, and those skipped because their endpoint was given up. */
  readonly left: number;
  /** Points of the run so far: what the request log charged where that is known, else by the price book. */
  readonly points: number;
  /** Of a run that is continued, the points of this invocation, for which limits per run hold. */
  readonly pointsNow?: number;
  /** Where a limit in points is set: requests whose cost the request log has not confirmed, and what they count. */
  readonly unverified?: UnverifiedPoints;
  /** What the plan was quoted at before anything was sent, in points; null for a run that was not begun. */
  readonly quote: QuotedPoints | null;
  /** Attempts of this run whose answers were lost, each with what the request log says became of it. */
  readonly doubts: readonly LostAnswerSummary[];
  /** Slices of this run of which more may exist than was returned, at most 20. */
  readonly lowerBounds: readonly LowerBound[];
  /** What is missing because an answer could not be read, at most 20 requests. */
  readonly gaps: readonly Gap[];
  readonly tookMs: number;
  /** Why it ended as it did, when not complete. */
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
  /** Requests that it would send, those left out that paging and splitting may add. */
  readonly requests: number;
  /** Nine times in ten they cost from `low` to `high`. */
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** The most, paging and splitting left out. */
  readonly most: number;
  /** How sure: by guesses alone, by few rows of the log, or by many that agree. */
  readonly sure: 'guess' | 'some' | 'good';
  /** Rows of the log that tell. */
  readonly samples: number;
}

/** An attempt whose answer was lost. */
export interface LostAnswerSummary {
  readonly requestId: string;
  readonly attempt: number;
  /** The fields that tell the request from the others of its sync. */
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
  /** True where the answer could not be read, so that nothing is known of the slice. */
  readonly unreadable?: true;
}

/** A request whose answer could not be read. */
export interface Gap {
  /** The canonical request, without its `count`. */
  readonly filters: unknown;
  /** The fields that tell the request from the others of its sync. */
  readonly input: unknown;
  /** The answer, as it was stored. */
  readonly answerId: string;
  readonly reason: string;
  /** True when this run did not ask it any more: only `--refresh` does, until `max_age` has passed. */
  readonly failing: boolean;
}

export interface Summary {
  readonly exitCode: number;
  readonly syncs: readonly SyncSummary[];
  readonly tookMs: number;
}

/** What a run tells while it is under way. */
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
}

/** Something that a run has to tell apart from its counts. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly sync?: string;
}
