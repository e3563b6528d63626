/** Views of posts with authors, counts and reactions, and of their relations. */
import { columnFrom, bigint, boolean, ratio, columnsOf, text, view, since, identifier, personal } from './view.ts';

const reactions = (type: string) =>
  bigint(`Number of reactions of type ${type}; null if reactions are not reported, or beyond bigint.`);
const post = {
  post_urn_type: columnFrom('pronet_posts', 'urn_type'),
  post_urn_value: columnFrom('pronet_posts', 'urn_value'),
};

/** SQL for the profile of each post by the requests that returned it: a post inside a profile does not name its author. */
export const photosharePostOwners = `(
      select o.post_id, min(o.user_id) as "user_id" from "photoshare_user_posts" o where o.user_id is not null group by o.post_id
    )`;

/** SQL for a sum of counts as bigint; null beyond its range, so that one absurd count does not make the view fail. */
const bigintOf = (sum: string): string => `case when ${sum} <= 9223372036854775807 then (${sum})::bigint end`;

export const postViews = [
  view(
    'pronet_post_overview',
    'Posts of the professional network with author, counts and reactions by type: one row per post.',
    ['urn_type', 'urn_value'],
    {
      ...columnsOf('pronet_posts', 'urn_type', 'urn_value', 'url', 'created_at', 'text', 'author_urn_type'),
      author_urn_value: columnFrom('pronet_posts', 'author_urn_value'),
      author_kind: text('Kind of author by the type of the URN: user (a person) or company (an organization).'),
      author_name: columnFrom('pronet_posts', 'author_name'),
      author_alias: columnFrom('pronet_posts', 'author_alias'),
      author_url: columnFrom('pronet_posts', 'author_url'),
      author_headline: columnFrom('pronet_posts', 'author_headline'),
      is_repost: boolean('Whether the post is a repost of another, also if the other is unknown.'),
      ...columnsOf('pronet_posts', 'is_empty_repost', 'repost_urn_type', 'repost_urn_value'),
      repost_author_name: personal(text('Name of the author of the reposted post; null if unknown.')),
      ...columnsOf('pronet_posts', 'comment_count', 'share_count'),
      reaction_count: bigint(
        'Number of reactions of all types, without hidden ones; null if reactions are not reported, or beyond bigint.',
      ),
      like_count: reactions('like'),
      praise_count: reactions('praise'),
      empathy_count: reactions('empathy'),
      interest_count: reactions('interest'),
      appreciation_count: reactions('appreciation'),
      entertainment_count: reactions('entertainment'),
      other_reaction_count: bigint(
        'Number of reactions of other types; null if reactions are not reported, or beyond bigint.',
      ),
      engagement_count: bigint(
        'Sum of reactions, comments and shares. Hidden and unreported numbers count as 0. Null beyond bigint.',
      ),
      mention_count: bigint('Number of people and organizations that the post mentions; null if not reported.'),
      image_count: bigint('Number of pictures of the post; null if not reported.'),
      has_video: boolean('Whether the post has a video.'),
      ...columnsOf('pronet_posts', 'article_title', 'article_url', 'document_title', 'event_title'),
      detail: text('Highest detail of any observation of the post so far: preview or full.'),
      ...since,
    },
    `
    select
      p.urn_type,
      p.urn_value,
      p.url,
      p.created_at,
      p.text,
      p.author_urn_type,
      p.author_urn_value,
      case
        when p.author_urn_type in ('fsd_company', 'company', 'school') then 'company'
        when p.author_urn_type is not null then 'user'
      end as "author_kind",
      coalesce(p.author_name, person.name, organization.name) as "author_name",
      coalesce(p.author_alias, person.alias, organization.alias) as "author_alias",
      coalesce(p.author_url, person.url, organization.url) as "author_url",
      coalesce(p.author_headline, person.headline, organization.headline) as "author_headline",
      p.repost_urn_value is not null or p.is_empty_repost is true or coalesce(p.extra -> 'repost' <> '{}', false) as "is_repost",
      p.is_empty_repost,
      p.repost_urn_type,
      p.repost_urn_value,
      repeated.author_name as "repost_author_name",
      p.comment_count,
      p.share_count,
      case when p.reactions_count is not null then ${bigintOf('r."all"')} end as "reaction_count",
      case when p.reactions_count is not null then ${bigintOf('r."like"')} end as "like_count",
      case when p.reactions_count is not null then ${bigintOf('r."praise"')} end as "praise_count",
      case when p.reactions_count is not null then ${bigintOf('r."empathy"')} end as "empathy_count",
      case when p.reactions_count is not null then ${bigintOf('r."interest"')} end as "interest_count",
      case when p.reactions_count is not null then ${bigintOf('r."appreciation"')} end as "appreciation_count",
      case when p.reactions_count is not null then ${bigintOf('r."entertainment"')} end as "entertainment_count",
      case when p.reactions_count is not null then ${bigintOf('r."other"')} end as "other_reaction_count",
      ${bigintOf('greatest(p.comment_count, 0)::numeric + greatest(p.share_count, 0) + r."all"')} as "engagement_count",
      p.mentioned_count as "mention_count",
      p.images_count as "image_count",
      p.video_url is not null as "has_video",
      p.article_title,
      p.article_url,
      p.document_title,
      p.event_title,
      p._detail as "detail",
      p._first_seen_at as "first_seen_at",
      p._changed_at as "changed_at"
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
  view(
    'pronet_post_repost_overview',
    'Posts and their reposts, both with author and time: one row per repost.',
    ['post_urn_type', 'post_urn_value', 'repost_urn_type', 'repost_urn_value'],
    {
      ...post,
      post_author_name: personal(
        text('Name of the author of the original post; null while the post itself is not loaded.'),
      ),
      post_created_at: columnFrom('pronet_posts', 'created_at'),
      repost_urn_type: text('URN type of the repost.'),
      repost_urn_value: identifier(text('URN value of the repost.')),
      position: bigint('Index in the answer, from 0.'),
      repost_author_urn_type: text('URN type of the repost’s author.'),
      repost_author_urn_value: identifier(text('URN value of the repost’s author.')),
      repost_author_name: personal(text('Name of the repost’s author.')),
      repost_created_at: columnFrom('pronet_posts', 'created_at'),
      repost_text: personal(text('Text that the repost adds.')),
      repost_comment_count: columnFrom('pronet_posts', 'comment_count'),
      repost_share_count: columnFrom('pronet_posts', 'share_count'),
    },
    `
    select
      b.post_urn_type,
      b.post_urn_value,
      p.author_name as "post_author_name",
      p.created_at as "post_created_at",
      b.repost_urn_type,
      b.repost_urn_value,
      b.position,
      r.author_urn_type as "repost_author_urn_type",
      r.author_urn_value as "repost_author_urn_value",
      r.author_name as "repost_author_name",
      r.created_at as "repost_created_at",
      r.text as "repost_text",
      r.comment_count as "repost_comment_count",
      r.share_count as "repost_share_count"
    from "pronet_post_reposts" b
    join "pronet_posts" r on r.urn_type = b.repost_urn_type and r.urn_value = b.repost_urn_value
    left join "pronet_posts" p on p.urn_type = b.post_urn_type and p.urn_value = b.post_urn_value`,
  ),
  view(
    'pronet_post_mention_overview',
    'Mentions in posts, with the post’s author and time: one row per mention.',
    ['post_urn_type', 'post_urn_value', 'position'],
    {
      ...post,
      position: columnFrom('pronet_post_mentions', 'position'),
      created_at: columnFrom('pronet_posts', 'created_at'),
      author_urn_type: columnFrom('pronet_posts', 'author_urn_type'),
      author_urn_value: columnFrom('pronet_posts', 'author_urn_value'),
      author_name: columnFrom('pronet_posts', 'author_name'),
      kind: columnFrom('pronet_post_mentions', 'kind'),
      mentioned_urn_type: text('URN type of the mentioned person or organization.'),
      mentioned_urn_value: identifier(text('URN value of the mentioned person or organization.')),
      mentioned_name: personal(
        text('Name of the mentioned person or organization as in the post, otherwise as in its own row.'),
      ),
      mentioned_headline: personal(text('Headline of the mentioned person or organization.')),
    },
    `
    select
      m.post_urn_type,
      m.post_urn_value,
      m.position,
      p.created_at,
      p.author_urn_type,
      p.author_urn_value,
      p.author_name,
      m.kind,
      m.urn_type as "mentioned_urn_type",
      m.urn_value as "mentioned_urn_value",
      coalesce(m.name, person.name, organization.name) as "mentioned_name",
      coalesce(person.headline, organization.headline) as "mentioned_headline"
    from "pronet_post_mentions" m
    join "pronet_posts" p on p.urn_type = m.post_urn_type and p.urn_value = m.post_urn_value
    left join "pronet_users" person on person.urn_type = m.urn_type and person.urn_value = m.urn_value
    left join "pronet_companies" organization
      on organization.urn_type = m.urn_type and organization.urn_value = m.urn_value`,
  ),
  view(
    'photoshare_post_overview',
    'Posts of the photo-sharing network with author, counts and engagement: one row per post.',
    ['id'],
    {
      ...columnsOf('photoshare_posts', 'id', 'code', 'url', 'created_at', 'type', 'text', 'user_id'),
      user_name: columnFrom('photoshare_posts', 'user_name'),
      user_alias: columnFrom('photoshare_posts', 'user_alias'),
      user_follower_count: bigint('Number of followers of the author; null while the profile itself is not loaded.'),
      ...columnsOf('photoshare_posts', 'like_count', 'comment_count', 'reshare_count', 'view_count'),
      engagement_count: bigint(
        'Sum of likes, comments and reshares. Hidden and unreported numbers count as 0. Null beyond bigint.',
      ),
      engagement_rate: ratio(
        'Likes and comments per follower of the author; null if one of the three is hidden or unknown.',
      ),
      media_count: bigint('Number of pictures and videos of the post; null if not reported.'),
      ...columnsOf('photoshare_posts', 'carousel_media_count', 'is_paid_partnership'),
      detail: text('Highest detail of any observation of the post so far: preview or full.'),
      ...since,
    },
    `
    select
      p.id,
      p.code,
      p.url,
      p.created_at,
      p.type,
      p.text,
      coalesce(p.user_id, owner.user_id) as "user_id",
      coalesce(p.user_name, u.name) as "user_name",
      coalesce(p.user_alias, u.alias) as "user_alias",
      u.follower_count as "user_follower_count",
      p.like_count,
      p.comment_count,
      p.reshare_count,
      p.view_count,
      ${bigintOf('greatest(p.like_count, 0)::numeric + greatest(p.comment_count, 0) + greatest(p.reshare_count, 0)')} as "engagement_count",
      case
        when p.like_count >= 0 and p.comment_count >= 0 and u.follower_count > 0
        then (p.like_count::numeric + p.comment_count)::double precision / u.follower_count
      end as "engagement_rate",
      p.media_count,
      p.carousel_media_count,
      p.is_paid_partnership,
      p._detail as "detail",
      p._first_seen_at as "first_seen_at",
      p._changed_at as "changed_at"
    from "photoshare_posts" p
    left join ${photosharePostOwners} owner on owner.post_id = p.id
    left join "photoshare_users" u on u.id = coalesce(p.user_id, owner.user_id)`,
  ),
  view(
    'photoshare_user_post_overview',
    'Posts that requests for a profile returned, with profile and post: one row per requested profile and post.',
    ['user_asked', 'post_id'],
    {
      ...columnsOf('photoshare_user_posts', 'user_asked', 'post_id', 'position', 'user_id'),
      user_alias: columnFrom('photoshare_users', 'alias'),
      user_name: columnFrom('photoshare_users', 'name'),
      user_follower_count: columnFrom('photoshare_users', 'follower_count'),
      post_url: columnFrom('photoshare_posts', 'url'),
      post_created_at: columnFrom('photoshare_posts', 'created_at'),
      post_type: columnFrom('photoshare_posts', 'type'),
      post_like_count: columnFrom('photoshare_posts', 'like_count'),
      post_comment_count: columnFrom('photoshare_posts', 'comment_count'),
      post_view_count: columnFrom('photoshare_posts', 'view_count'),
    },
    `
    select
      b.user_asked,
      b.post_id,
      b.position,
      coalesce(b.user_id, p.user_id) as "user_id",
      u.alias as "user_alias",
      u.name as "user_name",
      u.follower_count as "user_follower_count",
      p.url as "post_url",
      p.created_at as "post_created_at",
      p.type as "post_type",
      p.like_count as "post_like_count",
      p.comment_count as "post_comment_count",
      p.view_count as "post_view_count"
    from "photoshare_user_posts" b
    join "photoshare_posts" p on p.id = b.post_id
    left join "photoshare_users" u on u.id = coalesce(b.user_id, p.user_id)`,
  ),
];
