/** Entries of the quarantine after later answers to the same requests. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { select } from './rows.ts';
import { type Scene, sceneIn, service } from './scene.ts';

const BROKEN = 'no post';
const post = (id: string): object => ({ id, code: id, url: 'https://photos.example/p', image: 'i' });

/** The open entries as `sync position`, as every reader shows them. */
async function openIn({ warehouse }: Scene): Promise<readonly string[]> {
  const entries = await listQuarantine(warehouse, 10);
  const { syncs } = await readStatus(warehouse);
  const counts = await select<{ n: number }>(warehouse, 'select open_quarantine::int as n from sluice.sync_quality');
  expect(syncs.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(entries.length);
  expect(counts.reduce((sum, { n }) => sum + n, 0)).toBe(entries.length);
  return entries.map(({ sync, position }) => `${sync} ${position ?? 'all'}`);
}

anyWarehouse('an entry of the quarantine', (open) => {
  type Reply = { readonly body: unknown; readonly status?: number };
  const config = `${service()}
syncs:
  posts: { endpoint: photoshare.user.posts, request: { user: someone, count: 3 }, accept: { rejects: 100% } }
  others: { endpoint: photoshare.user.posts, request: { user: other, count: 3 }, accept: { rejects: 100% } }
`;
  /** A scene that synced a broken item or answer of each user, and a function that syncs `posts` with a further reply. */
  const sceneAfter = async (first: unknown) => {
    let reply: Reply = { body: first };
    const scene = await sceneIn(await open(), { respond: () => reply });
    await scene.sync(config);
    const answered = async (next: Reply): Promise<readonly string[]> => {
      reply = next;
      await scene.sync(config, { names: ['posts'] });
      return openIn(scene);
    };
    return { scene, answered };
  };

  it('of an item is resolved by a later complete answer to the same request without rejects', async () => {
    const { scene, answered } = await sceneAfter([post('1'), BROKEN]);
    expect(await openIn(scene)).toEqual(['others 1', 'posts 1']);

    expect(await answered({ body: 'null', status: 412 })).toEqual(['others 1', 'posts 1']);
    expect(await answered({ body: '<html>' })).toEqual(['posts all', 'others 1', 'posts 1']);
    // A full answer may leave the item out.
    expect(await answered({ body: ['1', '2', '3'].map(post) })).toEqual(['others 1', 'posts 1']);
    expect(await answered({ body: [BROKEN] })).toEqual(['posts 0', 'others 1', 'posts 1']);
    expect(await answered({ body: [post('1')] })).toEqual(['others 1']);
  });

  it('of a complete answer is resolved by a later answer to the same request that can be read', async () => {
    const { scene, answered } = await sceneAfter('<html>');
    expect(await openIn(scene)).toEqual(['others all', 'posts all']);
    expect(await answered({ body: [post('1'), BROKEN] })).toEqual(['posts 1', 'others all']);
  });

  it.each([{}, { rebuild: true }])(
    'stays resolved, since the same moment, after a replay of all answers: %j',
    async (how) => {
      const { scene, answered } = await sceneAfter([post('1'), BROKEN]);
      expect(await answered({ body: [post('1')] })).toEqual(['others 1']);
      const moments = () => select(scene.warehouse, 'select id, resolved_at from sluice_ops.quarantine order by id');
      const before = await moments();
      scene.clock.advance(60_000);

      expect(await scene.replay(how)).toMatchObject({ answers: 3, quarantined: 2 });

      expect(await openIn(scene)).toEqual(['others 1']);
      expect(await moments()).toEqual(before);
    },
  );
});
