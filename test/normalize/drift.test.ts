/** Differences from the contract are counted by place and kind, without values. */
import { expect, it } from 'vitest';
import { batchOf } from '../support/loading.ts';

const drift = (items: unknown, endpoint = 'microblog.user') => {
  const request = endpoint === 'microblog.user' ? { user: 'x' } : { urn: { type: 'activity', value: 'x' }, count: 99 };
  return batchOf(endpoint, request, items).drift;
};
const valid = { rest_id: '1', internal_id: 'i', name: 'n', alias: 'a', url: 'u' };

it('drift counts each place once for every item that differs there', () => {
  const items = [
    { ...valid, new_field: 'secret' },
    { ...valid, new_field: 1 },
    { ...valid, name: {} },
    { ...valid, birthdate: { day: '31', era: 'x' } },
  ];
  expect(drift(items)).toEqual([
    { resource: 'MicroblogUser', path: 'new_field', kind: 'unknown field', count: 2, sampleType: 'string' },
    { resource: 'MicroblogUser', path: 'name', kind: 'wrong type', count: 1, sampleType: 'object' },
    { resource: 'MicroblogUser', path: 'birthdate.day', kind: 'wrong type', count: 1, sampleType: 'string' },
    { resource: 'MicroblogUser', path: 'birthdate.era', kind: 'unknown field', count: 1, sampleType: 'string' },
  ]);
  expect(JSON.stringify(drift(items))).not.toContain('secret');
});

it('drift shows a renamed field as one that is missing and one that is unknown', () => {
  const { alias, ...others } = valid;
  expect(drift([{ ...others, handle: alias }]).map(({ path, kind }) => [path, kind])).toEqual([
    ['alias', 'missing'],
    ['handle', 'unknown field'],
  ]);
});

it('drift names lists without positions, and a nested field by the field that contains it', () => {
  const post = { urn: { type: 'activity', value: '1' }, url: 'u' };
  const items = [
    {
      ...post,
      reactions: [{ type: 'like', count: 'x' }, 'odd', { glow: 1 }],
      repost: { ...post, odd: 1, author: { hat: true } },
      mentioned: [{ '@type': '@other' }],
    },
  ];
  expect(
    drift(items, 'pronet.post.reposts')
      .map(({ path, kind, sampleType }) => `${path} ${kind} ${sampleType}`)
      .toSorted(),
  ).toEqual([
    'mentioned.@type other @type string',
    'reactions wrong type string',
    'reactions.count wrong type string',
    'reactions.glow unknown field number',
    'repost.author.hat unknown field boolean',
    'repost.odd unknown field number',
  ]);
});

it('drift counts an element of a nested list that is no object, and not one that only lacks its key', () => {
  const items = [{ id: '1', alias: 'a', name: 'n', url: 'u', posts: ['x', null, { code: 'c' }, { id: '9' }] }];
  const { drift: found } = batchOf('photoshare.user', { user: 'x', with_posts: true }, items);
  expect(found).toEqual([
    { resource: 'PhotoshareUser', path: 'posts', kind: 'wrong type', count: 2, sampleType: 'string' },
  ]);
});

it('drift counts an entity that appears in two tables once', () => {
  const items = [
    {
      urn: { type: 'activity', value: '1' },
      url: 'u',
      author: { urn: { type: 'fsd_profile', value: '2' }, name: 7, odd: 1 },
    },
  ];
  expect(drift(items, 'pronet.post.reposts').map(({ path, count }) => [path, count])).toEqual([
    ['author.name', 1],
    ['author.odd', 1],
  ]);
});

it('drift counts an exact number sent as text, and text sent as a number, as values that differ', () => {
  expect(drift([{ ...valid, name: 7, follower_count: '9' }]).map(({ path, kind }) => `${path} ${kind}`)).toEqual([
    'name wrong type',
    'follower_count wrong type',
  ]);
  expect(drift([{ ...valid, follower_count: 9, description: null, location: '', created_at: 0 }])).toEqual([]);
});

it('drift stays small whatever the service sends', () => {
  const made = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`field ${index}`, index]));
  const found = drift([{ ...valid, ...made, [`${'x'.repeat(5000)}\ud83d\ude00`]: 1 }]);
  expect(found.length).toBeLessThanOrEqual(501);
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(2001);
  expect(found.find(({ path }) => path === '*')?.count).toBe(1501);
  expect(drift([{ ...valid, [`${'x'.repeat(199)}\ud83d\ude00`]: 1 }])[0]?.path).toBe(`${'x'.repeat(199)}\ufffd`);
});

it('an item may have more unknown fields than a call can take arguments', () => {
  const unknown = Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`k${index}`, index]));
  const { rejects, drift: found } = batchOf('microblog.user', { user: 'x' }, [{ ...valid, ...unknown }]);
  expect(rejects).toEqual([]);
  expect(found.length).toBeGreaterThan(0);
});
