/** Presence of posts that a profile contains: a profile with its recent posts shows them as well as a list of its posts. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { profile } from './names.ts';
import { select } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

const LIST = 'photos: { endpoint: photoshare.user.posts, request: { user: "1", count: 10 } }';
const PROFILE = 'people: { endpoint: photoshare.user, request: { user: "1", with_posts: true } }';
const POST = { id: '9', code: 'c', url: 'https://photos.example/p/9', image: 'https://images.example/9' };

anyWarehouse('a post in a profile', (open) => {
  it('is there while the newest answer to the profile contains it, and missing once no answer does', async () => {
    let items: readonly object[] = [];
    const scene = await sceneIn(await open(), { respond: () => ({ body: items }) });
    /** Requests with these items as the answer; returns the instant of the answer, and the presence of the post after it. */
    const ask = async (sync: string, next: readonly object[]) => {
      items = next;
      scene.clock.advance(60_000);
      expect(only(await scene.sync(`${service()}\nsyncs:\n  ${sync}\n`))).toMatchObject({ exitCode: 0, sent: 1 });
      const [row] = await select<{ at: Date; seen: Date; missing: Date | null }>(
        scene.warehouse,
        `select _last_seen_at as seen, _missing_since as missing, (select max(received_at) from sluice_ops.answers) as at
         from sluice.photoshare_posts_presence`,
      );
      return row;
    };

    await ask(LIST, [POST]);
    const inProfile = await ask(PROFILE, [{ ...profile('1', 'alice'), posts: [POST] }]);
    expect(inProfile).toMatchObject({ seen: inProfile?.at, missing: null });
    const listedLast = await ask(LIST, []);
    expect(listedLast).toMatchObject({ seen: inProfile?.at, missing: null });
    const gone = await ask(PROFILE, [{ ...profile('1', 'alice'), posts: [] }]);
    expect(gone).toMatchObject({ seen: inProfile?.at, missing: listedLast?.at });
  });
});
