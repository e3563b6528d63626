/** Profiles and posts of the photo-sharing network, which hold each other. */
import {
  anything,
  epoch,
  fallback,
  boolean,
  integer,
  nestedList,
  number,
  object,
  onlyWith,
  required,
  text,
  volatile,
} from '../field.ts';
import type { Bridge } from '../endpoint.ts';
import type { Resource } from '../model.ts';
import { resource } from '../resource.ts';

export const photoshareUser: Resource = resource({
  name: 'PhotoshareUser',
  tag: '@photoshare_user',
  table: 'photoshare_users',
  noun: 'user',
  about: 'Profiles of the photo-sharing network: one row a profile, fed by profiles and by the posts that name them.',
  key: ['id'],
  shared: true,
  filters: ['alias'],
  names: { id: 'id', alias: 'alias', url: 'url' },
  measures: ['follower_count', 'following_count', 'media_count'],
  logged: true,
  fields: {
    id: required(text('Identifier of the profile.')),
    alias: required(text('Handle; changes hands, so it identifies nobody.')),
    name: required(text('Name as shown.')),
    url: required(text('Address of the profile.')),
    image: volatile(text('Address of the portrait; signed and short-lived.')),
    follower_count: fallback(integer('Followers.'), 0),
    following_count: fallback(integer('Profiles followed.'), 0),
    media_count: fallback(integer('Posts published.'), 0),
    description: text('What the profile says of itself.'),
    is_private: fallback(boolean('Whether only approved followers see the posts.'), false),
    is_verified: fallback(boolean('Whether the network vouches for the profile.'), false),
    is_business: fallback(boolean('Whether it is a business profile.'), false),
    created_at: onlyWith(epoch('When the profile was opened; asked for by with_creation_date.'), 'with_creation_date'),
    category: text('Line of business, as chosen by the profile.'),
    external_url: text('Address that the profile points to.'),
    email: text('Public e-mail address.'),
    whatsapp_number: text('Public WhatsApp number.'),
    phone: text('Public phone number.'),
    location: object(
      'Business address.',
      {
        city_id: integer('Identifier of the city.'),
        street: text('Street.'),
        city: text('City.'),
        zip: text('Postal code.'),
        latitude: number('Latitude in degrees.'),
        longitude: number('Longitude in degrees.'),
      },
      { tag: '@photoshare_user_location' },
    ),
    links: anything('Links on the profile, as sent.'),
    mentions: anything('Profiles that the description mentions, as sent.'),
    hashtags: anything('Hashtags in the description, as sent.'),
    pinned_channels: anything('Channels pinned to the profile, as sent.'),
    similar_users: volatile(
      onlyWith(anything('Profiles that the network suggests beside this one, as sent.'), 'with_similar_users'),
    ),
    posts: onlyWith(
      nestedList('Recent posts; asked for by with_posts.', 'preview', () => photosharePost),
      'with_posts',
    ),
  },
});

export const photosharePost: Resource = resource({
  name: 'PhotosharePost',
  tag: '@photoshare_post',
  table: 'photoshare_posts',
  noun: 'post',
  about: 'Posts of the photo-sharing network.',
  key: ['id'],
  shared: true,
  filters: ['created_at', 'code'],
  measures: ['like_count', 'comment_count', 'reshare_count', 'view_count'],
  fields: {
    id: required(text('Identifier of the post.')),
    code: required(text('Short code in the post’s address; not unique over time.')),
    url: required(text('Address of the post.')),
    image: required(volatile(text('Address of the cover picture; signed and short-lived.'))),
    text: text('Caption.'),
    created_at: epoch('When the post was published.'),
    like_count: fallback(integer('Likes; negative when hidden.'), 0),
    comment_count: fallback(integer('Comments; negative when hidden.'), 0),
    reshare_count: fallback(integer('Times the post was passed on.'), 0),
    view_count: integer('Views of a video.'),
    user: object(
      'Who published the post.',
      {
        id: text('Identifier of the profile.'),
        name: text('Name as shown.'),
        alias: text('Handle.'),
        url: text('Address of the profile.'),
        image: volatile(text('Address of the portrait; signed and short-lived.')),
        is_verified: fallback(boolean('Whether the network vouches for the profile.'), false),
        is_private: fallback(boolean('Whether only approved followers see the posts.'), false),
      },
      { tag: '@photoshare_user_preview', observation: { detail: 'preview', resourceOf: () => photoshareUser } },
    ),
    type: text('Type of post, such as photo or video.'),
    media: volatile(anything('Pictures and videos of the post, as sent.')),
    carousel_media_count: fallback(integer('Pictures and videos of a post that holds several.'), 0),
    is_paid_partnership: fallback(boolean('Whether the post is marked as paid.'), false),
  },
});

/** Which asked profile gave which post, from either endpoint. */
export const photoshareUserPosts: Omit<Bridge, 'lists'> = {
  table: 'photoshare_user_posts',
  about: 'Which profile, as asked, gave which post.',
  questionColumns: {
    user_asked: {
      about: 'The profile as it was asked for: an identifier, an alias or an address.',
      from: ({ request }) => String(request['user']),
    },
  },
  to: () => photosharePost,
  prefix: 'post',
  more: {
    user_id: {
      kind: 'text',
      about: 'Identifier of the profile, when known.',
      from: (post, item) => textOf(post['user_id']) ?? (post === item ? null : textOf(item['id'])),
    },
  },
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
