/** Sync definitions for tests of plans: a valid one of an endpoint, with the fields that matter. */
import type { SyncDefinition } from '../../src/config/definition.ts';
import { endpointNamed } from '../../src/service/catalog.ts';

/** A sync of that endpoint. */
export function syncOf(endpointName: string, said: Partial<SyncDefinition> = {}): SyncDefinition {
  const endpoint = endpointNamed(endpointName);
  if (!endpoint) throw new Error(`no endpoint ${endpointName}`);
  return {
    name: 'a',
    endpoint,
    request: {},
    forEach: undefined,
    window: undefined,
    splitBy: {},
    raiseCountTo: undefined,
    after: [],
    maxAgeMs: undefined,
    lookbackMs: 0,
    from: undefined,
    schedule: undefined,
    inDoubt: 'reconcile',
    acceptRejects: 0.01,
    budgetPerRun: undefined,
    tags: {},
    hash: 'h',
    windowHash: 'w',
    ...said,
  };
}
