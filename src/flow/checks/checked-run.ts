/** A run while it is checked. */
import type { UnreadableSum } from '../../ledger/failures/unreadable-answers.ts';
import type { RunCounters } from '../../ledger/run-counters.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { FinishedRun } from '../run/finished-run.ts';

/** A run to check, with what the ledger counted. */
export interface CheckedRun extends FinishedRun {
  readonly warehouse: Warehouse;
  readonly counters: RunCounters;
  readonly unread: UnreadableSum;
  readonly now: Date;
  /** Stops a check that takes long. */
  readonly signal: AbortSignal;
}
