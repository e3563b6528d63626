/** Removes forgotten entities from what arrives after their erasure: answers that are never loaded, and refusals. */
import type { Decision } from '../../extract/retry.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { withoutForgotten } from './answer-body.ts';
import { readForgotten } from './store.ts';

/** Returns the body without the entities that are forgotten now; undefined if there is nothing to remove. */
export async function redactedBody(ops: Ops, answer: StoredAnswer): Promise<Uint8Array | undefined> {
  const forgotten = await readForgotten(ops);
  return forgotten && withoutForgotten(answer, forgotten);
}

/** Returns the decision with a reason that the ledger may hold: the service can name an entity in it. */
export async function withoutForgottenNames(decision: Decision, ops: Ops, effects: RetryEffects): Promise<Decision> {
  if (decision.do !== 'retry' && decision.do !== 'fail' && decision.do !== 'stop') return decision;
  const forgotten = await retryTransient(() => readForgotten(ops), effects);
  return forgotten ? { ...decision, because: forgotten.scrub(decision.because) } : decision;
}
