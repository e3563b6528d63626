/** The steps of a request between which a process may die and another process can continue. */

/**
 * The points around the commits of `sent`, of `stored` and of a load. On either side of each commit, the next process
 * finds a different state.
 */
export type Checkpoint =
  | 'before_sent'
  | 'after_sent'
  | 'before_store'
  | 'after_store'
  | 'before_load_commit'
  | 'after_load_commit';

/** Called when a run reaches a checkpoint. The reliability tests kill the process there. */
export type OnCheckpoint = (point: Checkpoint) => void;
