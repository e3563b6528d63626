/** Views of profiles and pages, with rates and counts worked out. */
import { bigint, boolean, integer, timestamp, ratio, since, columnsOf, text, view } from './view.ts';

const counted_at = timestamp(
  'Receipt of the last answer that changed the profile or a count or, if later, of the first that showed its counts on the newest day; one that says the same later that day does not move it. What rates are worked out for.',
);
const age_days = integer('Whole days from the profile’s opening to counted_at; null when it is not known.');

export const profileViews = [
  view(
    'microblog_user_overview',
    'Profiles of the microblogging network with rates worked out: one row a profile.',
    ['rest_id'],
    {
      ...columnsOf('microblog_users', 'rest_id', 'name', 'alias', 'url', 'description', 'location', 'created_at'),
      ...columnsOf('microblog_users', 'verified', 'verified_type', 'is_blue_verified'),
      ...columnsOf('microblog_users', 'follower_count', 'following_count', 'tweet_count', 'listed_count'),
      ...columnsOf('microblog_users', 'favorites_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio('Followers for each profile followed; null when it follows none.'),
      followers_per_day: ratio('Followers won each day since the profile was opened, on average.'),
      tweets_per_day: ratio('Messages published each day since the profile was opened, on average.'),
      listed_per_1000_followers: ratio('Lists that hold the profile, for each 1000 followers.'),
      media_share: ratio(
        'Pictures and videos for each message published; more than 1 where messages hold several. Null without messages.',
      ),
      profile_urls: text('Addresses on the profile, with semicolons between them; where they are objects, their url.'),
      ...since,
    },
  ),
  view(
    'photoshare_user_overview',
    'Profiles of the photo-sharing network with rates worked out, also from those of their posts that are loaded: one row a profile.',
    ['id'],
    {
      ...columnsOf('photoshare_users', 'id', 'alias', 'name', 'url', 'description', 'category', 'is_private'),
      ...columnsOf('photoshare_users', 'is_verified', 'is_business', 'created_at', 'external_url', 'location_city'),
      ...columnsOf('photoshare_users', 'follower_count', 'following_count', 'media_count'),
      counted_at,
      age_days,
      followers_per_following: ratio('Followers for each profile followed; null when it follows none.'),
      posts_per_day: ratio('Posts published each day since the profile was opened, on average.'),
      loaded_post_count: bigint('Posts of the profile in the warehouse.'),
      last_post_at: timestamp('When the newest of them was published.'),
      mean_like_count: ratio('Likes of these posts on average, hidden ones left out.'),
      mean_comment_count: ratio('Comments on these posts on average, hidden ones left out.'),
      engagement_rate: ratio('Likes and comments of a post for each follower, on average over these posts.'),
      detail: text('The most that was ever seen of it: reference, preview or full.'),
      ...since,
    },
  ),
  view(
    'web_page_overview',
    'Web pages with counts of what was found on them: one row for each address and set of content options asked for.',
    ['page_key'],
    {
      ...columnsOf('web_pages', 'page_key', 'requested_url', 'url'),
      host: text('Host of the page’s address, in lower case.'),
      is_redirected: boolean('Whether the page’s address differs from the one asked for.'),
      ...columnsOf('web_pages', 'title', 'meta_description'),
      options: text('Content options that differ from the service’s defaults, as JSON; {} for none.'),
      content_bytes: integer('Size of the cleaned content in UTF-8, in bytes.'),
      link_count: bigint('Links on the page; null when not asked for.'),
      host_link_count: bigint('Links to the page’s own host; null when links are not asked for.'),
      email_count: bigint('E-mail addresses on the page; null when not asked for.'),
      emails: text('E-mail addresses on the page, with semicolons between them.'),
      phone_count: bigint('Phone numbers on the page; null when not asked for.'),
      phones: text('Phone numbers on the page, with semicolons between them.'),
      ...since,
    },
  ),
];
