/** The run whose answers may lead to more requests. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { Run } from '../../ledger/runs.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { SplitEvent } from './split-notices.ts';

export interface FollowUpContext {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** The greatest age of an answer that can serve instead of a new one. */
  readonly maxAgeOf: MaxAgeOf;
  readonly now: () => Date;
  /** Most pages of a walk; absent, more than a day of the log can have. */
  readonly maxPages?: number;
  /** Called with the number of requests that paging and splitting added. */
  readonly onPlanned: (requests: number) => void;
  /** Called for each question that is split. */
  readonly onSplit?: (cut: SplitEvent) => void;
}
