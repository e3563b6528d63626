/** Views of the photo-sharing network count a post for its profile, also if only the request shows whose it is. */
import { expect, it } from 'vitest';
import { select } from '../flow/rows.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { BEGAN, fill, machinery } from './cost-history.ts';

eachWarehouse('posts inside a profile', (open) => {
  it('count for the profile that was requested, once for all its names', async () => {
    const warehouse = await open();
    const row = machinery(BEGAN);
    const user = { follower_count: 100, _detail: 'full', ...row };
    await fill(warehouse, 'sluice.photoshare_users', [
      { id: 'u', ...user },
      { id: 'v', ...user },
      { id: 'w', ...user },
    ]);
    const post = { comment_count: 0, _detail: 'preview', ...row };
    await fill(warehouse, 'sluice.photoshare_posts', [
      { id: 'named', user_id: 'v', like_count: 10, created_at: '2026-01-01T00:00:00Z', ...post },
      { id: 'inside', user_id: null, like_count: 30, created_at: '2026-01-02T00:00:00Z', ...post },
      { id: 'unknown', user_id: null, like_count: 50, created_at: '2026-01-03T00:00:00Z', ...post },
    ]);
    const returned = { position: 0, user_id: 'u', _answer_id: 1 };
    await fill(warehouse, 'sluice.photoshare_user_posts', [
      { ...returned, user_asked: 'u', post_id: 'inside' },
      { ...returned, user_asked: 'alias of u', post_id: 'inside' },
      // The post names another author than the profile that showed it.
      { ...returned, user_asked: 'u', post_id: 'named' },
      { ...returned, user_asked: 'somebody', post_id: 'unknown', user_id: null },
    ]);
    expect(
      await select(
        warehouse,
        `select id, loaded_post_count::int as posts, last_post_at, mean_like_count, engagement_rate
         from sluice.photoshare_user_overview order by id`,
      ),
    ).toEqual([
      { id: 'u', posts: 1, last_post_at: new Date('2026-01-02'), mean_like_count: 30, engagement_rate: 0.3 },
      { id: 'v', posts: 1, last_post_at: new Date('2026-01-01'), mean_like_count: 10, engagement_rate: 0.1 },
      { id: 'w', posts: 0, last_post_at: null, mean_like_count: null, engagement_rate: null },
    ]);
    expect(
      await select(
        warehouse,
        'select id, user_id, user_follower_count::int as followers, engagement_rate from sluice.photoshare_post_overview order by id',
      ),
    ).toEqual([
      { id: 'inside', user_id: 'u', followers: 100, engagement_rate: 0.3 },
      { id: 'named', user_id: 'v', followers: 100, engagement_rate: 0.1 },
      { id: 'unknown', user_id: null, followers: null, engagement_rate: null },
    ]);
  });
});
