/** Inputs of a window that ask the same question: the first has the watermark, and no other is requested. */
import type { SyncDefinition } from '../../config/definition.ts';
import { KeySet } from '../../plan/key-set.ts';
import { taskOf } from '../../plan/plan.ts';
import type { RequestBody } from '../../service/request-body.ts';

type AskingDefinition = Pick<SyncDefinition, 'endpoint' | 'request' | 'window'>;

/** The key of an input's question without the days of a window. */
export const questionKey = (definition: AskingDefinition, input: RequestBody): string =>
  taskOf(definition, { ...definition.request, ...input }, input, 0).requestKey;

/**
 * Returns a test that is true for the first input of each question, in the order of calls. Without a window all inputs
 * pass, since no watermark makes their requests differ.
 */
export function firstOfQuestion(definition: AskingDefinition): (input: RequestBody) => boolean {
  const questions = new KeySet();
  return (input) => definition.window === undefined || questions.add(questionKey(definition, input));
}
