/** What a call gets from the limiter. */

/** Leave to have one call under way. */
export interface Slot {
  /**
   * Waits for the turn to start, which is a moment away at most. False, and nothing may be sent, when the signal fired
   * or the slot was lost, as to a process that stood still for longer than a heartbeat may be late.
   */
  readonly begin: (signal: AbortSignal) => Promise<boolean>;
  /** What the call before left to record, where others do that: nothing of the next may be committed sooner. */
  readonly pendingCommit: (by: Committer) => Promise<unknown> | undefined;
  /**
   * Says that the call is over, and what came of it recorded, or about to be: other processes wait for that. The next of
   * this process has the slot at once, and looks at what is owed.
   */
  readonly release: (about?: PendingCommit) => void;
}

/** A committer that commits in the order of the calls to it. */
export type Committer = object;

/** What came of a call is about to be recorded. */
export interface PendingCommit {
  readonly recorded: Promise<unknown>;
  readonly committer: Committer;
}

export interface Limiter {
  /** Waits for a slot. Rejects with the signal's reason when it fires first, or with the database's error. */
  readonly acquire: (signal: AbortSignal) => Promise<Slot>;
  /** Gives back what is held; to be called when every slot is released. */
  readonly close: () => Promise<void>;
}

export interface LimiterEffects {
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}
