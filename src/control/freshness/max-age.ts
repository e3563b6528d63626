/** How old a stored answer may be that serves a request: as its input says, else as the sync does. */
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Input } from '../../plan/input-row.ts';
import { hasColumns } from '../../plan/input-rows.ts';
import { taskOf } from '../../plan/plan.ts';

/** By the fields of an input, in milliseconds; undefined when its requests are to be asked anew. */
export type MaxAgeOf = (fields: RequestBody) => number | undefined;

type Aged = Pick<SyncDefinition, 'endpoint' | 'request' | 'forEach' | 'maxAgeMs'>;

/** True when some input may have an age of its own. */
export const mayHaveInputAges = ({ forEach = [] }: Pick<Aged, 'forEach'>): boolean => forEach.some(bringsAges);

function bringsAges(source: InputSource): boolean {
  switch (source.from) {
    case 'list':
      return source.maxAgesMs !== undefined;
    case 'file':
      return hasColumns(source.path);
    case 'query':
      return true;
  }
}

/** The ages by these inputs. Inputs that ask the same get the smallest of theirs. */
export function maxAgesOf(definition: Aged, inputs: readonly Input[]): MaxAgeOf {
  if (inputs.every(({ maxAgeMs }) => maxAgeMs === undefined)) return () => definition.maxAgeMs;
  const ages = new Map<string, number | undefined>();
  const keyOf = (fields: RequestBody): string =>
    taskOf(definition, { ...definition.request, ...fields }, fields, 0).requestKey;
  for (const { fields, maxAgeMs = definition.maxAgeMs } of inputs) {
    const key = keyOf(fields);
    ages.set(key, ages.has(key) ? smaller(ages.get(key), maxAgeMs) : maxAgeMs);
  }
  return (fields) => {
    const key = keyOf(fields);
    return ages.has(key) ? ages.get(key) : definition.maxAgeMs;
  };
}

/** To be asked anew is the smallest of all. */
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);
