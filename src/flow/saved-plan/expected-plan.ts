/** What a run of a saved plan must have. It is compared in the transaction that creates or continues the run. */
import { UsageError } from '../../errors.ts';
import { isSameSet } from '../../plan/saved/request-set.ts';
import type { SavedSync } from '../../plan/saved/saved-plan.ts';
import type { PlannedRequests } from '../forecast/planned-requests.ts';

const NEXT = 'Nothing was sent for it. Make a new plan with sluice plan --output FILE, and review it.';

/** The part of a saved plan that a run must have. */
export interface ExpectedPlan extends Pick<SavedSync, 'sync' | 'continues' | 'lastRun' | 'requests' | 'toSend'> {
  /** The newest answer when the plan was compared; newer answers are those of the same invocation. */
  readonly horizon: string;
}

/**
 * Throws a UsageError unless the run has the stopped run that the plan continues, or is new if the plan is, and no run of
 * the sync began since the plan was made.
 */
export function assertSameRun(
  { sync, continues, lastRun }: ExpectedPlan,
  openRunId: string | undefined,
  newestRunId: string | null,
): void {
  if (newestRunId !== lastRun)
    throw new UsageError(
      `${sync}: the newest run was ${lastRun ?? 'none'} and is now ${newestRunId ?? 'none'}; a plan is run once`,
      { next: NEXT },
    );
  if ((openRunId ?? null) === continues) return;
  throw new UsageError(
    `${sync}: the plan continues run ${continues ?? 'none'}, and the open run is ${openRunId ?? 'none'}`,
    { next: NEXT },
  );
}

/** Throws a UsageError unless the requests of a new run are those of the plan. */
export function assertSameRequests({ sync, requests, toSend }: ExpectedPlan, planned: PlannedRequests): void {
  const [all, sent] = [planned.all.summary(), planned.toSend.summary()];
  if (isSameSet(requests, all) && isSameSet(toSend, sent)) return;
  throw new UsageError(
    `${sync}: the requests changed while the plan ran: ${toSend.count} of ${requests.count} were to be sent, ${sent.count} of ${all.count} now`,
    { next: NEXT },
  );
}
