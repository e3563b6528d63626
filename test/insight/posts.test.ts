/** Posts in views: whose they are, and what their counts add up to. */
import { expect, it } from 'vitest';
import { select } from '../flow/rows.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { BEGAN, fill, machinery } from './cost-history.ts';

anyWarehouse('posts', (open) => {
  it('inside a profile count for the profile that was requested, once for all its names', async () => {
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

  it('of the photo-sharing network with counts beyond bigint in their sum have no engagement count, and rates', async () => {
    const warehouse = await open();
    const row = { _detail: 'full', ...machinery(BEGAN) };
    const huge = '9223372036854775807';
    await fill(warehouse, 'sluice.photoshare_users', [{ id: 'u', follower_count: huge, ...row }]);
    await fill(warehouse, 'sluice.photoshare_posts', [
      { id: 'a', user_id: 'u', like_count: huge, comment_count: huge, ...row },
    ]);
    expect(
      await select(warehouse, 'select engagement_count, engagement_rate from sluice.photoshare_post_overview'),
    ).toEqual([{ engagement_count: null, engagement_rate: 2 }]);
    expect(await select(warehouse, 'select engagement_rate from sluice.photoshare_user_overview')).toEqual([
      { engagement_rate: 2 },
    ]);
  });

  it('of the professional network show null for reactions beyond bigint, and the other counts', async () => {
    const warehouse = await open();
    const row = { urn_type: 'activity', _detail: 'full', ...machinery(BEGAN) };
    const huge = '9223372036854775807';
    await fill(warehouse, 'sluice.pronet_posts', [
      { ...row, urn_value: 'absurd', reactions_count: 3, comment_count: huge, share_count: huge },
      { ...row, urn_value: 'usual', reactions_count: 2, comment_count: 4, share_count: -1 },
    ]);
    const reactions = [
      ['absurd', 'like', 2],
      ['absurd', 'odd', huge],
      ['absurd', 'other', huge],
      ['usual', 'like', 2],
      ['usual', 'odd', 3],
    ];
    await fill(
      warehouse,
      'sluice.pronet_post_reactions',
      reactions.map(([post_urn_value, type, count], position) => ({
        post_urn_type: 'activity',
        post_urn_value,
        position,
        type,
        count,
      })),
    );
    expect(
      await select(
        warehouse,
        'select urn_value, reaction_count, other_reaction_count, like_count, engagement_count from sluice.pronet_post_overview order by 1',
      ),
    ).toEqual([
      {
        urn_value: 'absurd',
        reaction_count: null,
        other_reaction_count: null,
        like_count: '2',
        engagement_count: null,
      },
      { urn_value: 'usual', reaction_count: '5', other_reaction_count: '3', like_count: '2', engagement_count: '9' },
    ]);
  });

  it('are reposts also if the original is unknown', async () => {
    const warehouse = await open();
    const post = (urn_value: string, more: Readonly<Record<string, unknown>>) => ({
      urn_type: 'activity',
      urn_value,
      repost_urn_value: null,
      is_empty_repost: null,
      extra: null,
      _detail: 'full',
      ...machinery(BEGAN),
      ...more,
    });
    await fill(warehouse, 'sluice.pronet_posts', [
      post('a post', {}),
      post('another', { is_empty_repost: false, extra: { odd: 1, repost: {} } }),
      post('empty', { is_empty_repost: true }),
      post('known', { repost_urn_value: 'x' }),
      post('unnamed', { is_empty_repost: false, extra: { repost: { text: 'words' } } }),
    ]);
    const reposts = await select<{ urn_value: string; is_repost: boolean }>(
      warehouse,
      'select urn_value, is_repost from sluice.pronet_post_overview order by 1',
    );
    expect(reposts.map((it) => [it.urn_value, it.is_repost])).toEqual([
      ['a post', false],
      ['another', false],
      ['empty', true],
      ['known', true],
      ['unnamed', true],
    ]);
  });
});
