/** The input of one sync: what the caller wants, and what its process shares with other syncs. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { MeteredBudget } from '../../control/budget/local-budget.ts';
import type { SpendingCap } from '../../control/budget/spending-cap.ts';
import type { EarlierPoints } from '../../ledger/log-costs.ts';
import type { SavedPlan } from '../../plan/saved/saved-plan.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import type { ExpectedPlan } from '../saved-plan/expected-plan.ts';
import type { PlanOptions } from '../prepare/plan-hash.ts';
import type { RowCounter } from './analyze-tables.ts';
import type { ShareOptions } from './share-run.ts';
import type { RunStop } from './stop-controller.ts';

export interface SyncOptions {
  /** Syncs to run; empty means all. */
  readonly names: readonly string[];
  /** Ignore fresh answers and send every request. */
  readonly refresh: boolean;
  /** Send only the requests that failed in the last run of each sync. */
  readonly failed?: boolean | undefined;
  readonly failOnTruncated: boolean;
  /** Days, YYYY-MM-DD, that replace the window of the named syncs. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Most points that this invocation may spend. */
  readonly maxPoints?: number | undefined;
  /** Most points that all invocations with this cap may spend together. */
  readonly cap?: SpendingCap;
  /** Count answers as lost that may be in spools that cannot be found; `in_doubt` then decides about their requests. */
  readonly abandonSpool?: boolean;
  /** Most requests of each sync, as a sample; the runs never count as complete. */
  readonly limit?: number | undefined;
  /** Run exactly this plan. Its syncs, `refresh`, `from`, `to` and `limit` replace the options of these names. */
  readonly plan?: SavedPlan | undefined;
}

export interface SyncRun {
  readonly definition: SyncDefinition;
  readonly options: Omit<SyncOptions, 'names' | 'maxPoints' | 'cap' | 'plan'> & Pick<PlanOptions, 'invokedAt'>;
  readonly budget: MeteredBudget;
  readonly rowCounter: RowCounter;
  readonly onStop?: (stop: RunStop) => void;
  /** Called for a continued run, with what its requests had cost when this process began with it. */
  readonly onContinued?: (runId: string, earlier: EarlierPoints) => void;
  /** The saved plan that the run must have; absent, any plan is made. */
  readonly expected?: ExpectedPlan | undefined;
  /** Lets other workers take part in a large run; absent, this process executes it alone. */
  readonly share?: ShareOptions;
  readonly spans?: RunSpans;
}
