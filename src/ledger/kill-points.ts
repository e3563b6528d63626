/** The points of a request's life between which a process may die and another goes on. */

/**
 * Where a run is: around the commit that says `sent`, around the commit that says `stored`, and around the commit of a
 * load. On either side of each the next process finds something else.
 */
export type Checkpoint =
  | 'before_sent'
  | 'after_sent'
  | 'before_store'
  | 'after_store'
  | 'before_load_commit'
  | 'after_load_commit';

/** Told that a run has come to a checkpoint. The reliability bench ends the process there. */
export type OnCheckpoint = (point: Checkpoint) => void;
