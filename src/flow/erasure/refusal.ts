/** Removes forgotten names from the reasons that the service gives for refusing a request. */
import type { Decision } from '../../extract/retry.ts';
import { readForgotten } from './store.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** Returns the decision with a reason that the ledger may hold. */
export async function withoutForgottenNames(decision: Decision, ops: Ops, effects: RetryEffects): Promise<Decision> {
  if (decision.do !== 'retry' && decision.do !== 'fail' && decision.do !== 'stop') return decision;
  const forgotten = await retryTransient(() => readForgotten(ops), effects);
  return forgotten ? { ...decision, because: forgotten.scrub(decision.because) } : decision;
}
