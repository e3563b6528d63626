import { describe, expect, it } from 'vitest';
import { sampledItems } from '../../src/sandbox/sample.ts';
import { catalog } from '../../src/service/catalog.ts';
import { fullRequest } from '../support/requests.ts';
import { normalize } from '../../src/normalize/normalize.ts';

describe('items of an endpoint that the world knows nothing of', () => {
  it.each(catalog.map(({ returns }) => [returns.name, returns] as const))('keep the contract of %s', (_, resource) => {
    const endpoint = catalog.find(({ returns }) => returns === resource);
    if (!endpoint) throw new Error('no endpoint');
    const request = { ...fullRequest(endpoint, 1), count: 3 };
    const items = sampledItems(resource, request);
    expect(items).toHaveLength(3);
    const batch = normalize(endpoint, { sync: 's', requestKey: 'k', request }, Buffer.from(JSON.stringify(items)));
    expect(batch.rejects).toEqual([]);
    expect(batch.drift).toEqual([]);
  });

  it('are the same for the same request and others for another', () => {
    const [resource] = catalog.map(({ returns }) => returns).filter(({ name }) => name === 'SecFiling');
    if (!resource) throw new Error('no resource');
    expect(sampledItems(resource, { count: 2 })).toEqual(sampledItems(resource, { count: 2 }));
    expect(sampledItems(resource, { count: 2 })).not.toEqual(sampledItems(resource, { count: 3 }));
    expect(sampledItems(resource, {})).toHaveLength(1);
  });
});
