/** The greatest age of a stored answer that serves a request: from its input, otherwise from the sync. */
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import { type AnswerAge, readAnswerHistories } from '../../ledger/fresh-answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Inputs } from '../../plan/inputs.ts';
import { hasColumns } from '../../plan/input-rows.ts';
import { taskOf } from '../../plan/plan.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { learnedAgeMs } from './learned-age.ts';

/** The age by the fields of an input; undefined if its requests must always be sent. */
export type MaxAgeOf = (fields: RequestBody) => AnswerAge | undefined;

type Aged = Pick<SyncDefinition, 'endpoint' | 'request' | 'forEach' | 'maxAgeMs' | 'autoAge'>;

/** True if some input may set its own age. */
export const mayHaveInputAges = ({ forEach = [] }: Pick<Aged, 'forEach'>): boolean => forEach.some(maySetAges);

function maySetAges(source: InputSource): boolean {
  switch (source.from) {
    case 'list':
      return source.maxAgesMs !== undefined;
    case 'file':
      return hasColumns(source.path);
    case 'query':
      return true;
  }
}

/** The age by the key of a request, in milliseconds; undefined if the request must always be sent. */
export type AgeOfRequest = (requestKey: string) => number | undefined;

/**
 * Returns the ages of these inputs: their own, and that of the sync for the others. Inputs with the same request get the
 * smallest of their ages.
 */
export async function maxAgesOf(
  definition: Aged,
  inputs: Inputs,
  ageOfSync: AgeOfRequest = () => definition.maxAgeMs,
): Promise<MaxAgeOf> {
  const ages = new Map<string, number | undefined>();
  const keyOf = (fields: RequestBody): string =>
    taskOf(definition, { ...definition.request, ...fields }, fields, 0).requestKey;
  let hasOwnAge = false;
  if (inputs.maySetAges)
    for await (const block of inputs.blocks())
      for (const { fields, maxAgeMs: own } of block) {
        const key = keyOf(fields);
        const maxAgeMs = own ?? ageOfSync(key);
        hasOwnAge ||= own !== undefined && own !== definition.maxAgeMs;
        ages.set(key, ages.has(key) ? smaller(ages.get(key), maxAgeMs) : maxAgeMs);
      }
  if (!hasOwnAge && !definition.autoAge) return sameAge(definition);
  return (fields) => {
    const key = keyOf(fields);
    return answerAge(ages.has(key) ? ages.get(key) : ageOfSync(key));
  };
}

/** The age of the sync for all inputs. */
export function sameAge({ maxAgeMs }: Pick<Aged, 'maxAgeMs'>): MaxAgeOf {
  const age = answerAge(maxAgeMs);
  return () => age;
}

const answerAge = (maxAgeMs: number | undefined): AnswerAge | undefined =>
  maxAgeMs === undefined ? undefined : { maxAgeMs };

/** Returns the ages of the sync: the same for all requests, or learned from the answers to each. */
export async function agesOfSync(ops: Ops, { endpoint, maxAgeMs, autoAge }: Aged): Promise<AgeOfRequest> {
  if (!autoAge) return () => maxAgeMs;
  const histories = await readAnswerHistories(ops, endpoint.name);
  return (requestKey) => learnedAgeMs(histories.get(requestKey), autoAge);
}

/** Limits the ages to answers received after an instant, if there is one for the input. */
export const receivedAfter =
  (maxAgeOf: MaxAgeOf, instantOf: (fields: RequestBody) => Date | undefined): MaxAgeOf =>
  (fields) => {
    const age = maxAgeOf(fields);
    const instant = instantOf(fields);
    if (!age || !instant) return age;
    // An answer received in the millisecond of the instant may be from before it.
    const notBefore = Math.max(instant.getTime() + 1, age.notBefore?.getTime() ?? 0);
    return { ...age, notBefore: new Date(notBefore) };
  };

/** Undefined counts as the smallest. */
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);
