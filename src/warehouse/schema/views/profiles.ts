/** Views of profiles and pages with computed rates and counts. */
import { photosharePostOwners } from './posts.ts';
import { bigint, boolean, integer, timestamp, ratio, columnsOf, text, view, since, personal } from './view.ts';

const counted_at = timestamp(
  'Reference time of the rates: receipt of the last answer that changed the profile or a count or, if later, of the first answer of the newest day with its counts. Equal answers later that day do not change it.',
);
const age_days = integer('Full days from the creation of the profile to counted_at; null if the creation is unknown.');

/** SQL for the host of an address, in lower case; null without one. A link may leave out the scheme: `//host/path`. */
const hostOf = (address: string): string =>
  `lower(substring(${address}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'))`;

export const profileViews = [
  view(
    'microblog_user_overview',
    'Profiles of the microblogging network with computed rates: one row per profile.',
    ['rest_id'],
    {
      ...columnsOf('microblog_users', 'rest_id', 'name', 'alias', 'url', 'description', 'location', 'created_at'),
      ...columnsOf('microblog_users', 'verified', 'verified_type', 'is_blue_verified'),
      ...columnsOf('microblog_users', 'follower_count', 'following_count', 'tweet_count', 'listed_count'),
      ...columnsOf('microblog_users', 'favorites_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio('Followers per followed profile; null if the profile follows none.'),
      followers_per_day: ratio(
        'Average number of new followers per day since the creation of the profile; null if that is unknown.',
      ),
      tweets_per_day: ratio(
        'Average number of messages per day since the creation of the profile; null if that is unknown.',
      ),
      listed_per_1000_followers: ratio('Number of lists with the profile per 1000 followers; null without followers.'),
      media_share: ratio('Pictures and videos per message, which may exceed 1; null without messages.'),
      profile_urls: personal(
        text('Addresses on the profile, separated by semicolons. An address that is an object is shown as its url.'),
      ),
      ...since,
    },
    `
    select
      u.rest_id,
      u.name,
      u.alias,
      u.url,
      u.description,
      u.location,
      u.created_at,
      u.verified,
      u.verified_type,
      u.is_blue_verified,
      u.follower_count,
      u.following_count,
      u.tweet_count,
      u.listed_count,
      u.favorites_count,
      u.media_count,
      t.counted_at,
      t.age_days,
      case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end as "followers_per_following",
      case when u.follower_count >= 0 and t.age_days >= 0 then u.follower_count::double precision / greatest(t.age_days, 1) end as "followers_per_day",
      case when u.tweet_count >= 0 and t.age_days >= 0 then u.tweet_count::double precision / greatest(t.age_days, 1) end as "tweets_per_day",
      case when u.listed_count >= 0 and u.follower_count > 0 then u.listed_count::double precision * 1000 / u.follower_count end as "listed_per_1000_followers",
      case when u.media_count >= 0 and u.tweet_count > 0 then u.media_count::double precision / u.tweet_count end as "media_share",
      (select string_agg(
          case jsonb_typeof(l.item)
            when 'string' then l.item #>> '{}'
            when 'object' then coalesce(l.item ->> 'expanded_url', l.item ->> 'url')
          end, '; ' order by l.position)
        from "microblog_user_profile_urls" l where l.user_rest_id = u.rest_id) as "profile_urls",
      u._first_seen_at as "first_seen_at",
      u._changed_at as "changed_at"
    from "microblog_users" u
    cross join lateral (
      select c.counted_at,
        case when c.counted_at >= u.created_at
          then floor(extract(epoch from c.counted_at - u.created_at) / 86400)::integer end as "age_days"
      from (select greatest(u._changed_at, (
        select d._seen_at from "fact_microblog_user_daily" d
        where d.user_rest_id = u.rest_id order by d.date desc limit 1)) as "counted_at") c
    ) t`,
  ),
  view(
    'photoshare_user_overview',
    'Profiles of the photo-sharing network with computed rates, some of them over their loaded posts: one row per profile.',
    ['id'],
    {
      ...columnsOf('photoshare_users', 'id', 'alias', 'name', 'url', 'description', 'category', 'is_private'),
      ...columnsOf('photoshare_users', 'is_verified', 'is_business', 'created_at', 'external_url', 'location_city'),
      ...columnsOf('photoshare_users', 'follower_count', 'following_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio('Followers per followed profile; null if the profile follows none.'),
      posts_per_day: ratio(
        'Average number of posts per day since the creation of the profile; null if that is unknown.',
      ),
      loaded_post_count: bigint('Number of posts of the profile in the warehouse.'),
      last_post_at: timestamp('Publication of the newest loaded post; null without posts.'),
      mean_like_count: ratio('Average number of likes of the loaded posts, without hidden numbers.'),
      mean_comment_count: ratio('Average number of comments on the loaded posts, without hidden numbers.'),
      engagement_rate: ratio('Average likes and comments per post and follower, over the loaded posts.'),
      detail: text('Highest detail of any observation of the profile so far: reference, preview or full.'),
      ...since,
    },
    `
    select
      u.id,
      u.alias,
      u.name,
      u.url,
      u.description,
      u.category,
      u.is_private,
      u.is_verified,
      u.is_business,
      u.created_at,
      u.external_url,
      u.location_city,
      u.follower_count,
      u.following_count,
      u.media_count,
      t.counted_at,
      t.age_days,
      case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end as "followers_per_following",
      case when u.media_count >= 0 and t.age_days >= 0 then u.media_count::double precision / greatest(t.age_days, 1) end as "posts_per_day",
      coalesce(p.posts, 0) as "loaded_post_count",
      p.last_at as "last_post_at",
      p.likes as "mean_like_count",
      p.comments as "mean_comment_count",
      case when u.follower_count > 0 then p.engagement / u.follower_count end as "engagement_rate",
      u._detail as "detail",
      u._first_seen_at as "first_seen_at",
      u._changed_at as "changed_at"
    from "photoshare_users" u
    cross join lateral (
      select c.counted_at,
        case when c.counted_at >= u.created_at
          then floor(extract(epoch from c.counted_at - u.created_at) / 86400)::integer end as "age_days"
      from (select greatest(u._changed_at, (
        select d._seen_at from "fact_photoshare_user_daily" d
        where d.user_id = u.id order by d.date desc limit 1)) as "counted_at") c
    ) t
    left join (
      select
        coalesce(l.user_id, owner.user_id) as "user_id",
        count(*) as "posts",
        max(l.created_at) as "last_at",
        (avg(l.like_count) filter (where l.like_count >= 0))::double precision as "likes",
        (avg(l.comment_count) filter (where l.comment_count >= 0))::double precision as "comments",
        (avg(l.like_count::numeric + l.comment_count) filter (where l.like_count >= 0 and l.comment_count >= 0))::double precision as "engagement"
      from "photoshare_posts" l
      left join ${photosharePostOwners} owner on owner.post_id = l.id
      group by 1
    ) p on p.user_id = u.id`,
  ),
  view(
    'web_page_overview',
    'Web pages with counts of their content: one row per requested address and set of content options.',
    ['page_key'],
    {
      ...columnsOf('web_pages', 'page_key', 'requested_url', 'url'),
      host: personal(text('Host of the page’s address, in lower case.')),
      is_redirected: boolean('Whether the page’s address differs from the requested one.'),
      ...columnsOf('web_pages', 'title', 'meta_description'),
      options: personal(text('Content options that differ from the service’s defaults, as JSON; {} for none.')),
      content_bytes: integer('Size of the cleaned content in UTF-8, in bytes.'),
      link_count: bigint('Number of links on the page; null if not requested.'),
      host_link_count: bigint('Number of links to the page’s own host; null if links are not requested.'),
      email_count: bigint('Number of e-mail addresses on the page; null if not requested.'),
      emails: personal(text('E-mail addresses on the page, separated by semicolons.')),
      phone_count: bigint('Number of phone numbers on the page; null if not requested.'),
      phones: personal(text('Phone numbers on the page, separated by semicolons.')),
      ...since,
    },
    `
    select
      p.page_key,
      p.requested_url,
      p.url,
      h.host,
      p.url <> p.requested_url as "is_redirected",
      p.title,
      p.meta_description,
      p.options::text as "options",
      octet_length(p.cleaned_html) as "content_bytes",
      p.links_count as "link_count",
      case when p.links_count is not null then (
        select count(*) from "web_page_links" l
        where l.page_key = p.page_key and (${hostOf('l.link')} = h.host or l.link !~ '^([a-zA-Z][a-zA-Z0-9+.-]*:|//)')
      ) end as "host_link_count",
      p.emails_count as "email_count",
      (select string_agg(l.email, '; ' order by l.position) from "web_page_emails" l where l.page_key = p.page_key) as "emails",
      p.phones_count as "phone_count",
      (select string_agg(l.phone, '; ' order by l.position) from "web_page_phones" l where l.page_key = p.page_key) as "phones",
      p._first_seen_at as "first_seen_at",
      p._changed_at as "changed_at"
    from "web_pages" p
    cross join lateral (select ${hostOf('coalesce(p.url, p.requested_url)')} as "host") h`,
  ),
];
