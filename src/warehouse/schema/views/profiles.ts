/** Views of profiles and pages with computed rates and counts. */
import { photosharePostOwners } from './posts.ts';
import { bigint, boolean, columnsFrom, integer, personal, ratio, selection, since, text, timestamp } from './view.ts';

const counted_at = timestamp(
  'Reference time of the rates: receipt of the last answer that changed the profile or a count or, if later, of the first answer of the newest day with its counts. Equal answers later that day do not change it.',
  't.counted_at',
);
const age_days = integer(
  'Full days from the creation of the profile to counted_at; null if the creation is unknown.',
  't.age_days',
);

/** SQL for the reference time `t.counted_at` of the profile `u`, by its daily counts, and for `t.age_days`. */
const countedFrom = (table: string, ofUser: string): string => `cross join lateral (
      select c.counted_at,
        case when c.counted_at >= u.created_at
          then floor(extract(epoch from c.counted_at - u.created_at) / 86400)::integer end as "age_days"
      from (select greatest(u._changed_at, (
        select d._seen_at from "${table}" d
        where ${ofUser} order by d.date desc limit 1)) as "counted_at") c
    ) t`;

/** SQL for the host of an address, in lower case; null without one. A link may leave out the scheme: `//host/path`. */
const hostOf = (address: string): string =>
  `lower(substring(${address}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'))`;

export const profileViews = [
  selection(
    'microblog_user_overview',
    'Profiles of the microblogging network with computed rates: one row per profile.',
    ['rest_id'],
    {
      ...columnsFrom('u', 'microblog_users', 'rest_id', 'name', 'alias', 'url', 'description', 'location'),
      ...columnsFrom('u', 'microblog_users', 'created_at'),
      ...columnsFrom('u', 'microblog_users', 'verified', 'verified_type', 'is_blue_verified'),
      ...columnsFrom('u', 'microblog_users', 'follower_count', 'following_count', 'tweet_count', 'listed_count'),
      ...columnsFrom('u', 'microblog_users', 'favorites_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio(
        'Followers per followed profile; null if the profile follows none.',
        'case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end',
      ),
      followers_per_day: ratio(
        'Average number of new followers per day since the creation of the profile; null if that is unknown.',
        'case when u.follower_count >= 0 and t.age_days >= 0 then u.follower_count::double precision / greatest(t.age_days, 1) end',
      ),
      tweets_per_day: ratio(
        'Average number of messages per day since the creation of the profile; null if that is unknown.',
        'case when u.tweet_count >= 0 and t.age_days >= 0 then u.tweet_count::double precision / greatest(t.age_days, 1) end',
      ),
      listed_per_1000_followers: ratio(
        'Number of lists with the profile per 1000 followers; null without followers.',
        'case when u.listed_count >= 0 and u.follower_count > 0 then u.listed_count::double precision * 1000 / u.follower_count end',
      ),
      media_share: ratio(
        'Pictures and videos per message, which may exceed 1; null without messages.',
        'case when u.media_count >= 0 and u.tweet_count > 0 then u.media_count::double precision / u.tweet_count end',
      ),
      profile_urls: personal(
        text(
          'Addresses on the profile, separated by semicolons. An address that is an object is shown as its url.',
          `(select string_agg(
          case jsonb_typeof(l.item)
            when 'string' then l.item #>> '{}'
            when 'object' then coalesce(l.item ->> 'expanded_url', l.item ->> 'url')
          end, '; ' order by l.position)
        from "microblog_user_profile_urls" l where l.user_rest_id = u.rest_id)`,
        ),
      ),
      ...since('u'),
    },
    `
    from "microblog_users" u
    ${countedFrom('fact_microblog_user_daily', 'd.user_rest_id = u.rest_id')}`,
  ),
  selection(
    'photoshare_user_overview',
    'Profiles of the photo-sharing network with computed rates, some of them over their loaded posts: one row per profile.',
    ['id'],
    {
      ...columnsFrom('u', 'photoshare_users', 'id', 'alias', 'name', 'url', 'description', 'category', 'is_private'),
      ...columnsFrom('u', 'photoshare_users', 'is_verified', 'is_business', 'created_at', 'external_url'),
      ...columnsFrom('u', 'photoshare_users', 'location_city'),
      ...columnsFrom('u', 'photoshare_users', 'follower_count', 'following_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio(
        'Followers per followed profile; null if the profile follows none.',
        'case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end',
      ),
      posts_per_day: ratio(
        'Average number of posts per day since the creation of the profile; null if that is unknown.',
        'case when u.media_count >= 0 and t.age_days >= 0 then u.media_count::double precision / greatest(t.age_days, 1) end',
      ),
      loaded_post_count: bigint('Number of posts of the profile in the warehouse.', 'coalesce(p.posts, 0)'),
      last_post_at: timestamp('Publication of the newest loaded post; null without posts.', 'p.last_at'),
      mean_like_count: ratio('Average number of likes of the loaded posts, without hidden numbers.', 'p.likes'),
      mean_comment_count: ratio(
        'Average number of comments on the loaded posts, without hidden numbers.',
        'p.comments',
      ),
      engagement_rate: ratio(
        'Average likes and comments per post and follower, over the loaded posts.',
        'case when u.follower_count > 0 then p.engagement / u.follower_count end',
      ),
      detail: text('Highest detail of any observation of the profile so far: reference, preview or full.', 'u._detail'),
      ...since('u'),
    },
    `
    from "photoshare_users" u
    ${countedFrom('fact_photoshare_user_daily', 'd.user_id = u.id')}
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
  selection(
    'web_page_overview',
    'Web pages with counts of their content: one row per requested address and set of content options.',
    ['page_key'],
    {
      ...columnsFrom('p', 'web_pages', 'page_key', 'requested_url', 'url'),
      host: personal(text('Host of the page’s address, in lower case.', 'h.host')),
      is_redirected: boolean('Whether the page’s address differs from the requested one.', 'p.url <> p.requested_url'),
      ...columnsFrom('p', 'web_pages', 'title', 'meta_description'),
      options: personal(
        text('Content options that differ from the service’s defaults, as JSON; {} for none.', 'p.options::text'),
      ),
      content_bytes: integer('Size of the cleaned content in UTF-8, in bytes.', 'octet_length(p.cleaned_html)'),
      link_count: bigint('Number of links on the page; null if not requested.', 'p.links_count'),
      host_link_count: bigint(
        'Number of links to the page’s own host; null if links are not requested.',
        `case when p.links_count is not null then (
        select count(*) from "web_page_links" l
        where l.page_key = p.page_key and (${hostOf('l.link')} = h.host or l.link !~ '^([a-zA-Z][a-zA-Z0-9+.-]*:|//)')
      ) end`,
      ),
      email_count: bigint('Number of e-mail addresses on the page; null if not requested.', 'p.emails_count'),
      emails: personal(
        text(
          'E-mail addresses on the page, separated by semicolons.',
          `(select string_agg(l.email, '; ' order by l.position) from "web_page_emails" l where l.page_key = p.page_key)`,
        ),
      ),
      phone_count: bigint('Number of phone numbers on the page; null if not requested.', 'p.phones_count'),
      phones: personal(
        text(
          'Phone numbers on the page, separated by semicolons.',
          `(select string_agg(l.phone, '; ' order by l.position) from "web_page_phones" l where l.page_key = p.page_key)`,
        ),
      ),
      ...since('p'),
    },
    `
    from "web_pages" p
    cross join lateral (select ${hostOf('coalesce(p.url, p.requested_url)')} as "host") h`,
  ),
];
