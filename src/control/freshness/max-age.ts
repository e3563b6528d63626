/** The greatest age of a stored answer that serves a request: from its input, otherwise from the sync. */
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import { readAnswerHistories } from '../../ledger/fresh-answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Inputs } from '../../plan/inputs.ts';
import { hasColumns } from '../../plan/input-rows.ts';
import { taskOf } from '../../plan/plan.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { learnedAgeMs } from './learned-age.ts';

/** The age by the fields of an input, in milliseconds; undefined if its requests must always be sent. */
export interface MaxAgeOf {
  (fields: RequestBody): number | undefined;
  /** The instant before which no answer counts, whatever the age; absent or undefined if all answers count. */
  readonly notBefore?: (fields: RequestBody) => Date | undefined;
}

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
  if (!hasOwnAge && !definition.autoAge) return () => definition.maxAgeMs;
  return (fields) => {
    const key = keyOf(fields);
    return ages.has(key) ? ages.get(key) : ageOfSync(key);
  };
}

/** Returns the ages of the sync: the same for all requests, or learned from the answers to each. */
export async function agesOfSync(ops: Ops, { endpoint, maxAgeMs, autoAge }: Aged): Promise<AgeOfRequest> {
  if (!autoAge) return () => maxAgeMs;
  const histories = await readAnswerHistories(ops, endpoint.name);
  return (requestKey) => learnedAgeMs(histories.get(requestKey), autoAge);
}

/** Limits the ages, which count from `now`, to answers received after an instant. */
export const receivedAfter = (maxAgeOf: MaxAgeOf, instant: Date, now: Date): MaxAgeOf =>
  Object.assign((fields: RequestBody) => smaller(maxAgeOf(fields), now.getTime() - instant.getTime() - 1), {
    notBefore: () => new Date(instant.getTime() + 1),
  });

/** Increases the ages by the time since an instant. */
export const grownSince = (maxAgeOf: MaxAgeOf, since: Date, now: () => Date): MaxAgeOf =>
  Object.assign(
    (fields: RequestBody) => {
      const maxAgeMs = maxAgeOf(fields);
      return maxAgeMs === undefined ? undefined : maxAgeMs + now().getTime() - since.getTime();
    },
    { notBefore: (fields: RequestBody) => maxAgeOf.notBefore?.(fields) },
  );

/** Undefined counts as the smallest. */
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);
