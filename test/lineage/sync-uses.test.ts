/** What the answers of a sync feed, by the switches that its requests set. */
import { expect, it } from 'vitest';
import { feedsOfSync } from '../../src/lineage/sync-uses.ts';
import { configOf } from '../flow/scene.ts';

it('leaves out what the inputs switch off, also if it is on without them', async () => {
  const { syncs } = await configOf(
    `syncs:
  off: { endpoint: photoshare.user, for_each: [{ user: a, with_similar_users: false }, { user: b, with_similar_users: false }] }
  partly: { endpoint: photoshare.user, for_each: [{ user: a, with_similar_users: false }, { user: b }] }
  on: { endpoint: photoshare.user, for_each: { user: [a, b] } }
`,
    'http://127.0.0.1:9',
  );
  const fed = syncs.map((sync) => [
    sync.name,
    feedsOfSync(sync).some(({ onlyWith }) => onlyWith.includes('with_similar_users')),
  ]);
  expect(Object.fromEntries(fed)).toEqual({ off: false, partly: true, on: true });
});
