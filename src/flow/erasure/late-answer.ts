/** Removes forgotten entities from answers that are stored and never loaded. */
import type { StoredAnswer } from '../../ledger/answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { withoutForgotten } from './answer-body.ts';
import { readForgotten } from './store.ts';

/** Returns the body without the entities that are forgotten now; undefined if there is nothing to remove. */
export async function redactedBody(ops: Ops, answer: StoredAnswer): Promise<Uint8Array | undefined> {
  const forgotten = await readForgotten(ops);
  return forgotten && withoutForgotten(answer, forgotten);
}
