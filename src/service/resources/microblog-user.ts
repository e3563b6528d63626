/** Profiles of the microblogging network. */
import { anything, epoch, fallback, boolean, integer, object, required, text, volatile } from '../field.ts';
import { resource } from '../resource.ts';

const off = (about: string) => fallback(boolean(about), false);
const none = (about: string) => fallback(integer(about), 0);

export const microblogUser = resource({
  name: 'MicroblogUser',
  tag: '@microblog_user',
  table: 'microblog_users',
  noun: 'user',
  about: 'Profiles of the microblogging network.',
  key: ['rest_id'],
  filters: ['alias'],
  names: { rest_id: 'id', alias: 'alias', url: 'url' },
  measures: [
    'follower_count',
    'following_count',
    'tweet_count',
    'listed_count',
    'favorites_count',
    'media_count',
    'highlighted_tweets_count',
    'user_seed_tweet_count',
    'creator_subscriptions_count',
  ],
  logged: true,
  fields: {
    internal_id: required(text('The network’s internal identifier.')),
    rest_id: required(text('Identifier of the profile.')),
    name: required(text('Displayed name.')),
    alias: required(text('Handle; it can change hands, so it is not an identifier.')),
    url: required(text('Address of the profile.')),
    description: text('Description that the profile gives of itself.'),
    location: text('Place as written on the profile.'),
    follower_count: integer('Number of followers; null if not reported.'),
    following_count: integer('Number of followed profiles; null if not reported.'),
    tweet_count: integer('Number of published messages; null if not reported.'),
    listed_count: integer('Number of lists with the profile; null if not reported.'),
    favorites_count: integer('Number of messages marked as favorites; null if not reported.'),
    media_count: integer('Number of messages with a picture or a video; null if not reported.'),
    image: volatile(text('Address of the portrait.')),
    banner_url: volatile(text('Address of the banner.')),
    verified: off('Whether the network vouches for the profile.'),
    verified_type: text('Kind of verification, such as business.'),
    is_blue_verified: off('Whether the profile has the paid check mark.'),
    created_at: epoch('Time when the profile was opened.'),
    professional: object(
      'Professional account.',
      {
        rest_id: text('Identifier of the professional account.'),
        professional_type: text('Type of professional account, such as creator.'),
        categories: anything('Categories of the professional account, as sent.'),
      },
      { tag: '@microblog_user_professional' },
    ),
    verification_info: object(
      'Verification.',
      {
        is_identity_verified: off('Whether the identity was verified.'),
        verified_since: text('Start of the verification, as written.'),
        reason_description: text('Reason for the verification, as written.'),
      },
      { tag: '@microblog_user_verification' },
    ),
    profile_urls: anything('Addresses on the profile, as sent.'),
    mentions: anything('Profiles that the description mentions, as sent.'),
    birthdate: object(
      'Birthdate.',
      {
        day: integer('Day of the month.'),
        month: integer('Month of the year.'),
        year: integer('Year.'),
        visibility: fallback(text('Audience of day and month.'), ''),
        year_visibility: fallback(text('Audience of the year.'), ''),
        timestamp: integer('Birthdate as an epoch, as sent.'),
      },
      { tag: '@microblog_user_birthdate' },
    ),
    is_profile_translatable: off('Whether the description can be translated.'),
    has_hidden_subscriptions: off('Whether subscriptions are hidden.'),
    can_highlight_tweets: off('Whether messages can be highlighted.'),
    premium_gifting_eligible: off('Whether a premium account can be given to the profile.'),
    highlighted_tweets_count: none('Number of highlighted messages.'),
    user_seed_tweet_count: none('Number of seed messages.'),
    creator_subscriptions_count: none('Number of subscribed creators.'),
  },
});
