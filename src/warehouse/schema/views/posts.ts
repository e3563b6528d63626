/** Views of posts with authors, counts and reactions, and of their relations. */
import {
  bigint,
  boolean,
  columnFrom,
  columnsFrom,
  identifier,
  personal,
  ratio,
  selection,
  since,
  text,
} from './view.ts';

/** The URN of the post that a row refers to. */
const postOf = (alias: string) => ({
  post_urn_type: columnFrom('pronet_posts', 'urn_type', `${alias}.post_urn_type`),
  post_urn_value: columnFrom('pronet_posts', 'urn_value', `${alias}.post_urn_value`),
});

/** SQL for the profile of each post by the requests that returned it: a post inside a profile does not name its author. */
export const photosharePostOwners = `(
      select o.post_id, min(o.user_id) as "user_id" from "photoshare_user_posts" o where o.user_id is not null group by o.post_id
    )`;

/** SQL for a sum of counts as bigint; null beyond its range, so that one absurd count does not make the view fail. */
const bigintOf = (sum: string): string => `case when ${sum} <= 9223372036854775807 then (${sum})::bigint end`;

/** The column that counts the reactions of one type. */
const reactions = (type: string) =>
  bigint(
    `Number of reactions of type ${type}; null if reactions are not reported, or beyond bigint.`,
    `case when p.reactions_count is not null then ${bigintOf(`r."${type}"`)} end`,
  );

export const postViews = [
  selection(
    'pronet_post_overview',
    'Posts of the professional network with author, counts and reactions by type: one row per post.',
    ['urn_type', 'urn_value'],
    {
      ...columnsFrom('p', 'pronet_posts', 'urn_type', 'urn_value', 'url', 'created_at', 'text', 'author_urn_type'),
      author_urn_value: columnFrom('pronet_posts', 'author_urn_value', 'p.author_urn_value'),
      author_kind: text(
        'Kind of author by the type of the URN: user (a person) or company (an organization).',
        `case
        when p.author_urn_type in ('fsd_company', 'company', 'school') then 'company'
        when p.author_urn_type is not null then 'user'
      end`,
      ),
      author_name: columnFrom('pronet_posts', 'author_name', 'coalesce(p.author_name, person.name, organization.name)'),
      author_alias: columnFrom(
        'pronet_posts',
        'author_alias',
        'coalesce(p.author_alias, person.alias, organization.alias)',
      ),
      author_url: columnFrom('pronet_posts', 'author_url', 'coalesce(p.author_url, person.url, organization.url)'),
      author_headline: columnFrom(
        'pronet_posts',
        'author_headline',
        'coalesce(p.author_headline, person.headline, organization.headline)',
      ),
      is_repost: boolean(
        'Whether the post is a repost of another, also if the other is unknown.',
        `p.repost_urn_value is not null or p.is_empty_repost is true or coalesce(p.extra -> 'repost' <> '{}', false)`,
      ),
      ...columnsFrom('p', 'pronet_posts', 'is_empty_repost', 'repost_urn_type', 'repost_urn_value'),
      repost_author_name: personal(
        text('Name of the author of the reposted post; null if unknown.', 'repeated.author_name'),
      ),
      ...columnsFrom('p', 'pronet_posts', 'comment_count', 'share_count'),
      reaction_count: bigint(
        'Number of reactions of all types, without hidden ones; null if reactions are not reported, or beyond bigint.',
        `case when p.reactions_count is not null then ${bigintOf('r."all"')} end`,
      ),
      like_count: reactions('like'),
      praise_count: reactions('praise'),
      empathy_count: reactions('empathy'),
      interest_count: reactions('interest'),
      appreciation_count: reactions('appreciation'),
      entertainment_count: reactions('entertainment'),
      other_reaction_count: bigint(
        'Number of reactions of other types; null if reactions are not reported, or beyond bigint.',
        `case when p.reactions_count is not null then ${bigintOf('r."other"')} end`,
      ),
      engagement_count: bigint(
        'Sum of reactions, comments and shares. Hidden and unreported numbers count as 0. Null beyond bigint.',
        bigintOf('greatest(p.comment_count, 0)::numeric + greatest(p.share_count, 0) + r."all"'),
      ),
      mention_count: bigint(
        'Number of people and organizations that the post mentions; null if not reported.',
        'p.mentioned_count',
      ),
      image_count: bigint('Number of pictures of the post; null if not reported.', 'p.images_count'),
      has_video: boolean('Whether the post has a video.', 'p.video_url is not null'),
      ...columnsFrom('p', 'pronet_posts', 'article_title', 'article_url', 'document_title', 'event_title'),
      detail: text('Highest detail of any observation of the post so far: preview or full.', 'p._detail'),
      ...since('p'),
    },
    `
    from "pronet_posts" p
    left join "pronet_users" person on person.urn_type = p.author_urn_type and person.urn_value = p.author_urn_value
    left join "pronet_companies" organization
      on organization.urn_type = p.author_urn_type and organization.urn_value = p.author_urn_value
    left join "pronet_posts" repeated on repeated.urn_type = p.repost_urn_type and repeated.urn_value = p.repost_urn_value
    cross join lateral (
      select
        coalesce(sum(l.count) filter (where lower(l.type) = 'like'), 0) as "like",
        coalesce(sum(l.count) filter (where lower(l.type) = 'praise'), 0) as "praise",
        coalesce(sum(l.count) filter (where lower(l.type) = 'empathy'), 0) as "empathy",
        coalesce(sum(l.count) filter (where lower(l.type) = 'interest'), 0) as "interest",
        coalesce(sum(l.count) filter (where lower(l.type) = 'appreciation'), 0) as "appreciation",
        coalesce(sum(l.count) filter (where lower(l.type) = 'entertainment'), 0) as "entertainment",
        coalesce(sum(l.count) filter (where lower(l.type) not in ('like', 'praise', 'empathy', 'interest', 'appreciation', 'entertainment') or l.type is null), 0) as "other",
        coalesce(sum(l.count), 0) as "all"
      from "pronet_post_reactions" l
      where l.post_urn_type = p.urn_type and l.post_urn_value = p.urn_value and l.count >= 0
    ) r`,
  ),
  selection(
    'pronet_post_repost_overview',
    'Posts and their reposts, both with author and time: one row per repost.',
    ['post_urn_type', 'post_urn_value', 'repost_urn_type', 'repost_urn_value'],
    {
      ...postOf('b'),
      post_author_name: personal(
        text('Name of the author of the original post; null while the post itself is not loaded.', 'p.author_name'),
      ),
      post_created_at: columnFrom('pronet_posts', 'created_at', 'p.created_at'),
      repost_urn_type: text('URN type of the repost.', 'b.repost_urn_type'),
      repost_urn_value: identifier(text('URN value of the repost.', 'b.repost_urn_value')),
      position: bigint('Index in the answer, from 0.', 'b.position'),
      repost_author_urn_type: text('URN type of the repost’s author.', 'r.author_urn_type'),
      repost_author_urn_value: identifier(text('URN value of the repost’s author.', 'r.author_urn_value')),
      repost_author_name: personal(text('Name of the repost’s author.', 'r.author_name')),
      repost_created_at: columnFrom('pronet_posts', 'created_at', 'r.created_at'),
      repost_text: personal(text('Text that the repost adds.', 'r.text')),
      repost_comment_count: columnFrom('pronet_posts', 'comment_count', 'r.comment_count'),
      repost_share_count: columnFrom('pronet_posts', 'share_count', 'r.share_count'),
    },
    `
    from "pronet_post_reposts" b
    join "pronet_posts" r on r.urn_type = b.repost_urn_type and r.urn_value = b.repost_urn_value
    left join "pronet_posts" p on p.urn_type = b.post_urn_type and p.urn_value = b.post_urn_value`,
  ),
  selection(
    'pronet_post_mention_overview',
    'Mentions in posts, with the post’s author and time: one row per mention.',
    ['post_urn_type', 'post_urn_value', 'position'],
    {
      ...postOf('m'),
      position: columnFrom('pronet_post_mentions', 'position', 'm.position'),
      created_at: columnFrom('pronet_posts', 'created_at', 'p.created_at'),
      author_urn_type: columnFrom('pronet_posts', 'author_urn_type', 'p.author_urn_type'),
      author_urn_value: columnFrom('pronet_posts', 'author_urn_value', 'p.author_urn_value'),
      author_name: columnFrom('pronet_posts', 'author_name', 'p.author_name'),
      kind: columnFrom('pronet_post_mentions', 'kind', 'm.kind'),
      mentioned_urn_type: text('URN type of the mentioned person or organization.', 'm.urn_type'),
      mentioned_urn_value: identifier(text('URN value of the mentioned person or organization.', 'm.urn_value')),
      mentioned_name: personal(
        text(
          'Name of the mentioned person or organization as in the post, otherwise as in its own row.',
          'coalesce(m.name, person.name, organization.name)',
        ),
      ),
      mentioned_headline: personal(
        text('Headline of the mentioned person or organization.', 'coalesce(person.headline, organization.headline)'),
      ),
    },
    `
    from "pronet_post_mentions" m
    join "pronet_posts" p on p.urn_type = m.post_urn_type and p.urn_value = m.post_urn_value
    left join "pronet_users" person on person.urn_type = m.urn_type and person.urn_value = m.urn_value
    left join "pronet_companies" organization
      on organization.urn_type = m.urn_type and organization.urn_value = m.urn_value`,
  ),
  selection(
    'photoshare_post_overview',
    'Posts of the photo-sharing network with author, counts and engagement: one row per post.',
    ['id'],
    {
      ...columnsFrom('p', 'photoshare_posts', 'id', 'code', 'url', 'created_at', 'type', 'text'),
      user_id: columnFrom('photoshare_posts', 'user_id', 'coalesce(p.user_id, owner.user_id)'),
      user_name: columnFrom('photoshare_posts', 'user_name', 'coalesce(p.user_name, u.name)'),
      user_alias: columnFrom('photoshare_posts', 'user_alias', 'coalesce(p.user_alias, u.alias)'),
      user_follower_count: bigint(
        'Number of followers of the author; null while the profile itself is not loaded.',
        'u.follower_count',
      ),
      ...columnsFrom('p', 'photoshare_posts', 'like_count', 'comment_count', 'reshare_count', 'view_count'),
      engagement_count: bigint(
        'Sum of likes, comments and reshares. Hidden and unreported numbers count as 0. Null beyond bigint.',
        bigintOf('greatest(p.like_count, 0)::numeric + greatest(p.comment_count, 0) + greatest(p.reshare_count, 0)'),
      ),
      engagement_rate: ratio(
        'Likes and comments per follower of the author; null if one of the three is hidden or unknown.',
        `case
        when p.like_count >= 0 and p.comment_count >= 0 and u.follower_count > 0
        then (p.like_count::numeric + p.comment_count)::double precision / u.follower_count
      end`,
      ),
      media_count: bigint('Number of pictures and videos of the post; null if not reported.', 'p.media_count'),
      ...columnsFrom('p', 'photoshare_posts', 'carousel_media_count', 'is_paid_partnership'),
      detail: text('Highest detail of any observation of the post so far: preview or full.', 'p._detail'),
      ...since('p'),
    },
    `
    from "photoshare_posts" p
    left join ${photosharePostOwners} owner on owner.post_id = p.id
    left join "photoshare_users" u on u.id = coalesce(p.user_id, owner.user_id)`,
  ),
  selection(
    'photoshare_user_post_overview',
    'Posts that requests for a profile returned, with profile and post: one row per requested profile and post.',
    ['user_asked', 'post_id'],
    {
      ...columnsFrom('b', 'photoshare_user_posts', 'user_asked', 'post_id', 'position'),
      user_id: columnFrom('photoshare_user_posts', 'user_id', 'coalesce(b.user_id, p.user_id)'),
      user_alias: columnFrom('photoshare_users', 'alias', 'u.alias'),
      user_name: columnFrom('photoshare_users', 'name', 'u.name'),
      user_follower_count: columnFrom('photoshare_users', 'follower_count', 'u.follower_count'),
      post_url: columnFrom('photoshare_posts', 'url', 'p.url'),
      post_created_at: columnFrom('photoshare_posts', 'created_at', 'p.created_at'),
      post_type: columnFrom('photoshare_posts', 'type', 'p.type'),
      post_like_count: columnFrom('photoshare_posts', 'like_count', 'p.like_count'),
      post_comment_count: columnFrom('photoshare_posts', 'comment_count', 'p.comment_count'),
      post_view_count: columnFrom('photoshare_posts', 'view_count', 'p.view_count'),
    },
    `
    from "photoshare_user_posts" b
    join "photoshare_posts" p on p.id = b.post_id
    left join "photoshare_users" u on u.id = coalesce(b.user_id, p.user_id)`,
  ),
];
