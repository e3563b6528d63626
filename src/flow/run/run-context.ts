/** A run, and what the parts that execute it share. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { Lease } from '../../ledger/lease.ts';
import type { Run } from '../../ledger/runs.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Effects } from '../effects.ts';
import type { SplitEvent } from '../split/split-notices.ts';

export interface RunContext extends Effects {
  readonly warehouse: Warehouse;
  readonly definition: SyncDefinition;
  /** The run; with a chunk, only that chunk is executed. */
  readonly run: Run;
  readonly lease: Lease;
  /** The greatest age of an answer that can serve instead of a new one. */
  readonly maxAgeOf: MaxAgeOf;
  /** When the command began, if its syncs share unreadable answers that were received after that. */
  readonly invokedAt?: Date | undefined;
  /** Most pages of a walk; absent, all of them. */
  readonly maxPages?: number;
  /** Pages after which a walk pauses until the next invocation; absent, more than a day of the log should have. */
  readonly pauseAfterPages?: number | undefined;
  /** Called with the number of requests that paging and splitting added. */
  readonly onPlanned: (requests: number) => void;
  /** Called for each question that is split. */
  readonly onSplit?: ((split: SplitEvent) => void) | undefined;
}
