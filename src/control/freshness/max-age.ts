/** The greatest age of a stored answer that serves a request: from its input, otherwise from the sync. */
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Inputs } from '../../plan/inputs.ts';
import { hasColumns } from '../../plan/input-rows.ts';
import { taskOf } from '../../plan/plan.ts';

/** The age by the fields of an input, in milliseconds; undefined if its requests must always be sent. */
export type MaxAgeOf = (fields: RequestBody) => number | undefined;

type Aged = Pick<SyncDefinition, 'endpoint' | 'request' | 'forEach' | 'maxAgeMs'>;

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

/** Returns the ages of these inputs. Inputs with the same request get the smallest of their ages. */
export async function maxAgesOf(definition: Aged, inputs: Inputs): Promise<MaxAgeOf> {
  const ages = new Map<string, number | undefined>();
  const keyOf = (fields: RequestBody): string =>
    taskOf(definition, { ...definition.request, ...fields }, fields, 0).requestKey;
  let hasOwnAge = false;
  if (inputs.maySetAges)
    for await (const block of inputs.blocks())
      for (const { fields, maxAgeMs = definition.maxAgeMs } of block) {
        const key = keyOf(fields);
        hasOwnAge ||= maxAgeMs !== definition.maxAgeMs;
        ages.set(key, ages.has(key) ? smaller(ages.get(key), maxAgeMs) : maxAgeMs);
      }
  if (!hasOwnAge) return () => definition.maxAgeMs;
  return (fields) => {
    const key = keyOf(fields);
    return ages.has(key) ? ages.get(key) : definition.maxAgeMs;
  };
}

/** Undefined counts as the smallest. */
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);
