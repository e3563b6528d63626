/** Profiles and posts of the photo-sharing network, which contain each other. */
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
  identifier,
  personal,
} from '../field.ts';
import type { Bridge } from '../endpoint.ts';
import type { ObservationSpec, Resource } from '../model.ts';
import { resource } from '../resource.ts';

export const photoshareUser: Resource = resource({
  name: 'PhotoshareUser',
  tag: '@photoshare_user',
  table: 'photoshare_users',
  noun: 'user',
  topic: 'Photo-sharing network',
  about:
    'Profiles of the photo-sharing network: one row per profile, from profile answers and from posts that name profiles.',
  key: ['id'],
  shared: true,
  filters: ['alias'],
  identifiedBy: {
    id: 'name',
    alias: 'name',
    url: 'name',
    name: 'text',
    email: 'text',
    phone: 'text',
    whatsapp_number: 'text',
  },
  names: { id: 'id', alias: 'alias', url: 'url' },
  measures: ['follower_count', 'following_count', 'media_count'],
  fields: {
    id: identifier(required(text('Identifier of the profile.'))),
    alias: personal(required(text('Handle; it can change hands, so it is not an identifier.'))),
    name: personal(required(text('Displayed name.'))),
    url: personal(required(text('Address of the profile.'))),
    image: personal(volatile(text('Address of the portrait; signed and short-lived.'))),
    follower_count: fallback(integer('Number of followers; null if never reported.'), 0),
    following_count: fallback(integer('Number of followed profiles; null if never reported.'), 0),
    media_count: fallback(integer('Number of published posts; null if never reported.'), 0),
    description: personal(text('Description that the profile gives of itself.')),
    is_private: fallback(boolean('Whether only approved followers see the posts.'), false),
    is_verified: fallback(boolean('Whether the network vouches for the profile.'), false),
    is_business: fallback(boolean('Whether it is a business profile.'), false),
    created_at: onlyWith(
      epoch('Time when the profile was opened; null unless requested by with_creation_date.'),
      'with_creation_date',
    ),
    category: text('Line of business, as chosen by the profile.'),
    external_url: personal(text('Address that the profile points to.')),
    email: personal(text('Public e-mail address.')),
    whatsapp_number: personal(text('Public WhatsApp number.')),
    phone: personal(text('Public phone number.')),
    location: personal(
      object(
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
    ),
    links: personal(anything('Links on the profile, as sent.')),
    mentions: personal(anything('Profiles that the description mentions, as sent.')),
    hashtags: personal(anything('Hashtags in the description, as sent.')),
    pinned_channels: personal(anything('Channels pinned to the profile, as sent.')),
    similar_users: personal(
      volatile(
        onlyWith(anything('Profiles that the network suggests beside this one, as sent.'), 'with_similar_users'),
      ),
    ),
    posts: onlyWith(
      nestedList('Recent posts, if requested by with_posts.', 'preview', () => photosharePost),
      'with_posts',
    ),
  },
});

const observation: ObservationSpec = {
  detail: 'preview',
  resourceOf: () => photoshareUser,
  resources: () => [photoshareUser],
};

export const photosharePost: Resource = resource({
  name: 'PhotosharePost',
  tag: '@photoshare_post',
  table: 'photoshare_posts',
  noun: 'post',
  topic: 'Photo-sharing network',
  about: 'Posts of the photo-sharing network.',
  key: ['id'],
  shared: true,
  filters: ['created_at', 'code'],
  identifiedBy: { id: 'name', url: 'name', code: 'text' },
  measures: ['like_count', 'comment_count', 'reshare_count', 'view_count'],
  fields: {
    id: identifier(required(text('Identifier of the post.'))),
    code: personal(required(text('Short code in the post’s address; not unique over time.'))),
    url: personal(required(text('Address of the post.'))),
    image: personal(required(volatile(text('Address of the cover picture; signed and short-lived.')))),
    text: personal(text('Caption.')),
    created_at: epoch('Time of publication.'),
    like_count: fallback(integer('Number of likes; negative if hidden, null if never reported.'), 0),
    comment_count: fallback(integer('Number of comments; negative if hidden, null if never reported.'), 0),
    reshare_count: fallback(integer('Number of times the post was shared; null if never reported.'), 0),
    view_count: integer('Number of views of a video; null if never reported.'),
    user: object(
      'The profile that published the post.',
      {
        id: identifier(text('Identifier of the profile.')),
        name: personal(text('Displayed name.')),
        alias: personal(text('Handle.')),
        url: personal(text('Address of the profile.')),
        image: personal(volatile(text('Address of the portrait; signed and short-lived.'))),
        is_verified: fallback(boolean('Whether the network vouches for the profile.'), false),
        is_private: fallback(boolean('Whether only approved followers see the posts.'), false),
      },
      { tag: '@photoshare_user_preview', observation },
    ),
    type: text('Type of post, such as photo or video.'),
    media: personal(volatile(anything('Pictures and videos of the post, as sent.'))),
    carousel_media_count: fallback(integer('Number of pictures and videos of a post with several.'), 0),
    is_paid_partnership: fallback(boolean('Whether the post is marked as paid.'), false),
  },
});

/** The posts of each requested profile, from either endpoint. */
export const photoshareUserPosts: Omit<Bridge, 'lists'> = {
  table: 'photoshare_user_posts',
  about: 'Posts returned for each requested profile.',
  questionColumns: {
    user_asked: {
      about: 'The profile as requested: an identifier, an alias or an address.',
      personal: 'identifier',
      from: ({ request }) => String(request['user']),
    },
  },
  to: () => photosharePost,
  prefix: 'post',
  more: {
    user_id: {
      kind: 'text',
      about: 'Identifier of the profile; null if unknown.',
      personal: 'identifier',
      // Assumed: posts that were requested for a profile are its own. Inside a profile, a post can have another author.
      from: (post, item) => textOf(post === item ? post('user_id') : item('id')),
    },
  },
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
