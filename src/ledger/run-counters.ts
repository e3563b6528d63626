/** The counters of a run: one list of their names, for the summary, the ledger and the tables that people read. */

/** Every counter at 0, in the order of the summary. Items obey `received = loaded + unchanged + superseded + quarantined`. */
export const ZERO_COUNTERS = {
  /** Requests in the plan, including those that paging added. */
  planned: 0,
  /** Planned requests that a fresh stored answer serves. */
  fresh: 0,
  /** Planned requests that were sent, each counted once. */
  asked: 0,
  /** Attempts, including retries. */
  sent: 0,
  /** Answers stored and loaded. */
  answers: 0,
  received: 0,
  loaded: 0,
  /** Loaded items whose rows existed with other values. */
  changed: 0,
  unchanged: 0,
  superseded: 0,
  quarantined: 0,
  /** Inputs whose entity the service does not know, by their answer, also a stored one that serves the input. */
  missing: 0,
  /** Inputs that failed permanently. */
  failed: 0,
  /** Requests whose outcome is unknown and that stay listed. */
  inDoubt: 0,
  /** Slices that are lower bounds, including those with unreadable answers. */
  truncated: 0,
  /** Requests with unreadable answers, including those that are not sent again because of that. */
  unreadable: 0,
  /** Requests not sent when the run stopped: still planned, or skipped because their endpoint was given up. */
  left: 0,
  /** Points of the run so far: as charged in the request log if known, otherwise by the price list. */
  points: 0,
};

/** The counters of a run, including all invocations of a continued run. */
export type RunCounters = Readonly<typeof ZERO_COUNTERS>;

/** The name of a counter. */
export type RunCounter = keyof RunCounters;
