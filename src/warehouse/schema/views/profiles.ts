/** Views of profiles and pages with computed rates and counts. */
import { bigint, boolean, integer, timestamp, ratio, since, columnsOf, text, view } from './view.ts';

const counted_at = timestamp(
  'Reference time of the rates: receipt of the last answer that changed the profile or a count or, if later, of the first answer of the newest day with its counts. Equal answers later that day do not change it.',
);
const age_days = integer('Full days from the creation of the profile to counted_at; null if the creation is unknown.');

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
      profile_urls: text(
        'Addresses on the profile, separated by semicolons. An address that is an object is shown as its url.',
      ),
      ...since,
    },
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
  ),
  view(
    'web_page_overview',
    'Web pages with counts of their content: one row per requested address and set of content options.',
    ['page_key'],
    {
      ...columnsOf('web_pages', 'page_key', 'requested_url', 'url'),
      host: text('Host of the page’s address, in lower case.'),
      is_redirected: boolean('Whether the page’s address differs from the requested one.'),
      ...columnsOf('web_pages', 'title', 'meta_description'),
      options: text('Content options that differ from the service’s defaults, as JSON; {} for none.'),
      content_bytes: integer('Size of the cleaned content in UTF-8, in bytes.'),
      link_count: bigint('Number of links on the page; null if not requested.'),
      host_link_count: bigint('Number of links to the page’s own host; null if links are not requested.'),
      email_count: bigint('Number of e-mail addresses on the page; null if not requested.'),
      emails: text('E-mail addresses on the page, separated by semicolons.'),
      phone_count: bigint('Number of phone numbers on the page; null if not requested.'),
      phones: text('Phone numbers on the page, separated by semicolons.'),
      ...since,
    },
  ),
];
