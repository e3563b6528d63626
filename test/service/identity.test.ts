/** What makes two requests the same, and what a request may hold. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestBody } from '../../src/service/request-body.ts';
import { catalog, endpointNamed } from '../../src/service/catalog.ts';
import { maxGuessedPoints, type Endpoint, pointsFor } from '../../src/service/endpoint.ts';
import { canonicalRequest, requestKeyOf } from '../../src/service/request-key.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import { fullRequest } from '../support/requests.ts';

const named = (name: string): Endpoint => endpointNamed(name) as Endpoint;
const keyOf = (name: string, body: RequestBody): string => requestKeyOf(name, canonicalRequest(named(name), body));

describe('the identity of a request', () => {
  it.each<[why: string, endpoint: string, a: RequestBody, b: RequestBody]>([
    [
      'a default written out',
      'webparser.parse',
      { url: 'https://a.example/' },
      { url: 'https://a.example/', remove_comments: true, min_text_block: 200 },
    ],
    ['another timeout', 'pronet.group', { group: 'g' }, { group: 'g', timeout: 1500 }],
    [
      'null and absent',
      'pronet.user.education',
      { urn: { type: 'fsd_profile', value: 'a' }, count: 1 },
      { urn: { type: 'fsd_profile', value: 'a' }, count: 1, alias: null },
    ],
    ['the order of fields', 'photoshare.user.posts', { user: 'u', count: 1 }, { count: 1, user: 'u' }],
    [
      'the order of a URN’s parts',
      'pronet.post.reposts',
      { urn: { type: 'activity', value: 'a' }, count: 1 },
      { urn: { value: 'a', type: 'activity' }, count: 1 },
    ],
    [
      'the order of forms',
      'sec.search.companies',
      { count: 1, forms: ['10-K', '-4', '10-Q'] },
      { count: 1, forms: ['10-Q', '10-K', '-4'] },
    ],
    [
      'a form named twice',
      'sec.search.companies',
      { count: 1, forms: ['10-K', '10-K'] },
      { count: 1, forms: ['10-K'] },
    ],
    [
      'the order of codes',
      'sec.search.companies',
      { count: 1, location_codes: ['NY', 'CA'] },
      { count: 1, location_codes: ['CA', 'NY'] },
    ],
    [
      'the order of tags',
      'webparser.parse',
      { url: 'https://a.example/', include_tags: ['b', 'a'] },
      { url: 'https://a.example/', include_tags: ['a', 'b'] },
    ],
    ['an empty name', 'sec.search.companies', { count: 1 }, { count: 1, entity_name: '' }],
  ])('is the same for %s', (_, endpoint, a, b) => {
    expect(keyOf(endpoint, a)).toBe(keyOf(endpoint, b));
  });

  it.each<[why: string, endpoint: string, a: RequestBody, b: RequestBody]>([
    ['another count', 'photoshare.user.posts', { user: 'u', count: 1 }, { user: 'u', count: 2 }],
    ['an alias of other case', 'photoshare.user', { user: 'u' }, { user: 'U' }],
    ['a switch', 'photoshare.user', { user: 'u' }, { user: 'u', with_posts: true }],
    ['no forms and none at all', 'sec.search.companies', { count: 1 }, { count: 1, forms: [] }],
    [
      'the order of places',
      'pronet.search.users',
      { count: 1, location: ['a', 'b'] },
      { count: 1, location: ['b', 'a'] },
    ],
    [
      'a place as URN and as name',
      'pronet.search.users',
      { count: 1, location: ['1'] },
      { count: 1, location: [{ type: 'geo', value: '1' }] },
    ],
  ])('differs for %s', (_, endpoint, a, b) => {
    expect(keyOf(endpoint, a)).not.toBe(keyOf(endpoint, b));
  });

  it('differs by endpoint', () => {
    expect(requestKeyOf('microblog.user', { user: 'u' })).not.toBe(requestKeyOf('photoshare.user', { user: 'u' }));
  });

  it('is 64 hexadecimal digits that never change, or every stored answer would be bought again', () => {
    const written =
      '["photoshare.user",{"user":"someone","with_creation_date":false,"with_posts":false,"with_similar_users":true}]';
    expect(keyOf('photoshare.user', { user: 'someone' })).toBe(createHash('sha256').update(written).digest('hex'));
  });

  it.each(catalog.map((it) => [it.name, it] as const))('of %s is kept by its own canonical body', (name, endpoint) => {
    const body = canonicalRequest(endpoint, fullRequest(endpoint, 1));
    expect(canonicalRequest(endpoint, body)).toEqual(body);
    expect(body).not.toHaveProperty('timeout');
    expect(
      keyOf(name, { ...fullRequest(endpoint, 1), ...('timeout' in endpoint.request.shape && { timeout: 20 }) }),
    ).toBe(keyOf(name, body));
  });
});

describe('canonical JSON', () => {
  it('is the same for equal values, whatever the order of their keys', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, inner]) => [key, shuffled(inner)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('keeps a key named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
  });

  it('refuses what is nested too deeply for Postgres', () => {
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(() => canonicalJson(nested(501))).toThrow(RangeError);
    expect(canonicalJson(nested(500))).toHaveLength(1000);
  });
});

describe('bounds of the contract', () => {
  const urn = (type: string) => ({ type, value: 'a' });
  it.each<[endpoint: string, body: RequestBody]>([
    ['token.requests', { limit: 0 }],
    ['token.requests', { limit: 101 }],
    ['token.requests', { start_time: 'yesterday' }],
    ['token.requests', { timeout: 300 }],
    ['webparser.parse', { url: 'http://a' }],
    ['webparser.parse', { url: `https://a.example/${'x'.repeat(2083)}` }],
    ['webparser.parse', { url: 'ftp://a.example/' }],
    ['webparser.parse', { url: 'https://a.example/', min_text_block: -1 }],
    ['webparser.parse', { url: 'https://a.example/', timeout: 19 }],
    ['webparser.parse', { url: 'https://a.example/', timeout: 1501 }],
    ['sec.search.companies', { count: 101 }],
    ['sec.search.companies', {}],
    ['sec.search.companies', { count: 1, date_from: '2024-02-30' }],
    ['sec.search.companies', { count: 1, date_to: '1/2/2024' }],
    ['pronet.post.reposts', { urn: urn('fsd_profile'), count: 1 }],
    ['pronet.post.reposts', { urn: urn('activity') }],
    ['pronet.search.users', { count: 1001 }],
    ['pronet.user.education', { urn: urn('activity'), count: 1 }],
    ['pronet.user.education', { urn: 'fsd_profile:a', count: 1 }],
    ['pronet.user.education', { urn: urn('fsd_profile'), count: 101 }],
    ['pronet.group', {}],
    ['microblog.user', { user: 'u', with_posts: true }],
    ['photoshare.user', { user: 1 }],
    ['photoshare.user.posts', { user: 'u' }],
  ])('%s refuses %j', (endpoint, body) => {
    expect(named(endpoint).request.safeParse(body).success).toBe(false);
  });

  it.each<[endpoint: string, body: RequestBody]>([
    ['token.requests', { limit: 100, cursor: '2026-11-20T10:00:00.123456Z', start_time: null }],
    ['webparser.parse', { url: 'http://a.b', timeout: 20, include_tags: null }],
    ['sec.search.companies', { count: 100, forms: ['-10-K/A'], date_from: '2024-02-29' }],
    ['pronet.search.users', { count: 1000, location: [urn('geo'), 'Berlin'] }],
    ['photoshare.user.posts', { user: 'u', count: 1_000_000 }],
  ])('%s takes %j', (endpoint, body) => {
    expect(named(endpoint).request.safeParse(body).success).toBe(true);
  });
});

describe('prices', () => {
  it('are for a call or for each started unit, and an empty answer costs a unit', () => {
    expect([0, 1, 10, 11, 25].map((returned) => pointsFor({ points: 2, per: 10 }, returned))).toEqual([2, 2, 2, 4, 6]);
    expect(pointsFor({ points: 3 }, 500)).toBe(3);
    expect(maxGuessedPoints({ points: 1, per: 12 }, { count: 100 })).toBe(9);
    expect(maxGuessedPoints({ points: 1, per: 12 }, {})).toBe(1);
  });
});
