/** Removes forgotten entities from what arrives after their erasure: headers, answers that are never loaded, and refusals. */
import { sql } from 'kysely';
import type { Decision } from '../../extract/retry.ts';
import { replaceBody, type StoredAnswer } from '../../ledger/answers.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import { headersWithout, withoutForgotten } from './answer-body.ts';
import { readForgotten } from './store.ts';

/** Removes the entities that are forgotten now from a stored answer that is never loaded. */
export async function removeForgotten(ops: Ops, answer: StoredAnswer, at: Date): Promise<void> {
  const forgotten = await readForgotten(ops);
  if (!forgotten) return;
  const body = withoutForgotten(answer, forgotten);
  if (body) await replaceBody(ops, answer.id, body, at);
  await cleanHeaders(ops, [answer.id], forgotten);
}

/** Removes the names of forgotten entities from the headers of these answers. */
export async function cleanHeaders(ops: Ops, ids: readonly string[], forgotten: Forgotten): Promise<void> {
  const rows = await ops.selectFrom('answers').select(['id', 'headers']).where('id', '=', anyBigint(ids)).execute();
  for (const { id, headers } of rows) {
    const kept = headersWithout(headers, forgotten);
    if (kept === headers) continue;
    await ops
      .updateTable('answers')
      .set({ headers: sql`${JSON.stringify(kept)}::text::jsonb` })
      .where('id', '=', id)
      .execute();
  }
}

/** Returns the decision with a reason that the ledger may hold: the service can name an entity in it. */
export async function withoutForgottenNames(decision: Decision, ops: Ops, effects: RetryEffects): Promise<Decision> {
  if (decision.do !== 'retry' && decision.do !== 'fail' && decision.do !== 'stop') return decision;
  const forgotten = await retryTransient(() => readForgotten(ops), effects);
  return forgotten ? { ...decision, because: forgotten.scrub(decision.because) } : decision;
}
