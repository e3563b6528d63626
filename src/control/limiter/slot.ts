/** What a call gets from the limiter. */

/** Permission to have one call in flight. */
export interface Slot {
  /**
   * Waits for the start time, which is at most a moment away. False if the signal fired or the slot was lost, and then
   * nothing may be sent. A process loses its slots if it was paused for longer than `SLOT_EXPIRES_MS`.
   */
  readonly begin: (signal: AbortSignal) => Promise<boolean>;
  /**
   * Returns the commit that the previous call in this slot still has to make through another committer; nothing of the
   * next call may be committed before.
   */
  readonly pendingCommit: (by: Committer) => Promise<unknown> | undefined;
  /**
   * Ends the call. Its outcome is recorded, or `pending` is the commit that will do so; other processes wait for it. The
   * next call of this process gets the slot immediately, and checks `pendingCommit`.
   */
  readonly release: (pending?: PendingCommit) => void;
}

/** A committer that commits in the order of calls. */
export type Committer = object;

/** The commit that will record the outcome of a call. */
export interface PendingCommit {
  readonly recorded: Promise<unknown>;
  readonly committer: Committer;
}

export interface Limiter {
  /** Waits for a slot. Rejects with the signal's reason if it fires first, or with the database's error. */
  readonly acquire: (signal: AbortSignal) => Promise<Slot>;
  /** Releases everything that is held; call it after every slot is released. */
  readonly close: () => Promise<void>;
}

export interface LimiterEffects {
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}
