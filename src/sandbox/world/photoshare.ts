/**
 * Profiles of the photo-sharing network and their posts, which are the same in the profile and in the list of posts.
 */
import { between, type Drawing, happens, pick, scramble, skewed } from './draw.ts';
import { handleIn, handlesOf } from './handles.ts';
import type { Sign } from './images.ts';
import { KNOWN_ALIASES, KNOWN_COMPLETE_ALIAS } from './known.ts';
import { photosharePosts } from './photoshare-posts.ts';
import type { Wire } from '../wire.ts';
import { FIRST_NAMES, LAST_NAMES } from './words/people.ts';
import { PLACES } from './words/places.ts';
import { sentence } from './words/prose.ts';

export interface ProfileSwitches {
  readonly with_creation_date: boolean;
  readonly with_similar_users: boolean;
  readonly with_posts: boolean;
}

export interface Photoshare {
  readonly count: number;
  /** The index of the profile with this id, alias or address; undefined if there is none. */
  readonly find: (written: string) => number | undefined;
  /** The profile. Its suggestions vary with `answer`, the number of the answer. */
  readonly item: (index: number, switches: ProfileSwitches, sign: Sign, answer: number) => Wire;
  /** Posts, newest first, at most `count`, each with a preview of its user. */
  readonly posts: (index: number, count: number, sign: Sign) => Wire[];
}

const HOST = 'photoshare.example';
/** The number of recent posts in a profile. */
const RECENT_POSTS = 12;
const FIRST_ID = 2_000_000_000n;
const ID_STEP = 7_919n;
const OPENED = Date.UTC(2011, 0, 1) / 1000;

export function photoshareOf(draw: Drawing, count: number): Photoshare {
  const handles = handlesOf(draw('photoshare handle'), count);
  const rest = draw('photoshare rest');
  const prose = draw('photoshare prose');
  const suggested = draw('photoshare suggestions');
  const posts = photosharePosts(draw);

  const isPrivate = (index: number): boolean => index >= KNOWN_ALIASES.length && happens(rest(index, 30), 0.1);
  const postCount = (index: number): number => {
    if (index < KNOWN_ALIASES.length) return between(rest(index, 31), 15, 60);
    if (happens(rest(index, 32), 0.08)) return 0;
    return happens(rest(index, 33), 0.03) ? between(rest(index, 34), 150, 400) : rest(index, 34) % 60;
  };
  const shownPosts = (index: number): number => (isPrivate(index) ? 0 : postCount(index));

  const identity = (index: number, sign: Sign): Wire => ({
    id: idOf(index),
    name: `${pick(FIRST_NAMES, rest(index))} ${pick(LAST_NAMES, rest(index, 1))}`,
    alias: handles.of(index),
    url: `https://${HOST}/${handles.of(index)}/`,
    image: sign(`photoshare/portrait/${idOf(index)}.jpg`),
    is_verified: happens(rest(index, 2), 0.08),
    is_private: isPrivate(index),
  });

  const item = (index: number, switches: ProfileSwitches, sign: Sign, answer: number): Wire => {
    const drawn = (slot: number): number => rest(index, slot);
    const identified = identity(index, sign);
    const alias = handles.of(index);
    const complete = alias === KNOWN_COMPLETE_ALIAS;
    const hasPart = (slot: number, share: number): boolean => complete || happens(drawn(slot), share);
    const isBusiness = hasPart(3, 0.35);
    const mention = handles.of(drawn(4) % count);
    const silent = !complete && happens(drawn(9), 0.1);
    const tags = complete ? 2 : drawn(5) % 3;
    return {
      '@type': '@photoshare_user',
      ...identified,
      image: happens(drawn(6), 0.05) ? null : identified['image'],
      follower_count: skewed(drawn(7), 0, 3_000_000),
      following_count: skewed(drawn(8), 0, 4_000),
      media_count: postCount(index),
      description: silent ? null : `${sentence(prose, index)} @${mention}${' #coffee #trail'.slice(0, tags * 8)}`,
      is_business: isBusiness,
      created_at: switches.with_creation_date ? OPENED + (drawn(10) % (12 * 365 * 86_400)) : null,
      category: isBusiness ? pick(['Coffee shop', 'Outdoor gear', 'Laboratory', 'Photographer'], drawn(11)) : null,
      external_url: happens(drawn(12), 0.4) ? `https://site-${1 + (drawn(12) % 9)}.example/` : null,
      ...(isBusiness ? businessContact(drawn, alias) : NO_CONTACT),
      links: hasPart(18, 0.4) ? [shopLink(drawn(18))] : [],
      mentions: silent ? [] : [{ alias: mention, url: `https://${HOST}/${mention}/` }],
      hashtags: ['coffee', 'trail'].slice(0, tags).map((name) => ({ name })),
      pinned_channels: hasPart(19, 0.15) ? [{ title: 'Behind the scenes', subscriber_count: drawn(19) % 900 }] : [],
      ...(switches.with_similar_users && { similar_users: similar(index, sign, answer) }),
      ...(switches.with_posts && { posts: posts.recent(index, shownPosts(index), RECENT_POSTS, sign) }),
    };
  };

  /** Suggestions differ between answers. */
  function similar(index: number, sign: Sign, answer: number): Wire[] {
    const others = Array.from({ length: 5 }, (_, slot) => suggested(index ^ scramble(answer), slot) % count);
    return [...new Set(others)].filter((other) => other !== index).map((other) => identity(other, sign));
  }

  return {
    count,
    item,
    posts: (index, most, sign) => {
      const user = { '@type': '@photoshare_user_preview', ...identity(index, sign) };
      return posts.recent(index, shownPosts(index), most, sign).map((post) => ({ ...post, user }));
    },
    find: (written) => {
      const handle = handleIn(written, HOST);
      if (handle === undefined) return undefined;
      return /^\d+$/.test(handle) ? indexOf(handle, count) : handles.find(handle);
    },
  };
}

const idOf = (index: number): string => String(FIRST_ID + BigInt(index) * ID_STEP);

function indexOf(id: string, count: number): number | undefined {
  const offset = BigInt(id) - FIRST_ID;
  const index = Number(offset / ID_STEP);
  return offset >= 0n && index < count && idOf(index) === id ? index : undefined;
}

const phone = (drawn: number): string => `+49 30 ${String(1_000_000 + (drawn % 9_000_000))}`;

const shopLink = (drawn: number): Wire => ({
  title: 'Shop',
  url: `https://site-${1 + (drawn % 9)}.example/products`,
});

const NO_CONTACT: Wire = { email: null, whatsapp_number: null, phone: null };

const businessContact = (drawn: (slot: number) => number, alias: string): Wire => ({
  email: happens(drawn(13), 0.7) ? `hello@${alias.replaceAll('_', '-')}.example` : null,
  whatsapp_number: happens(drawn(14), 0.4) ? phone(drawn(15)) : null,
  phone: happens(drawn(16), 0.6) ? phone(drawn(17)) : null,
  location: location(drawn),
});

function location(drawn: (slot: number) => number): Wire {
  const place = pick(PLACES, drawn(20));
  return {
    '@type': '@photoshare_user_location',
    city_id: Number(place.geo),
    street: `${pick(['Main Street', 'Hafenstraße', 'Rue du Port', 'Market Lane'], drawn(21))} ${1 + (drawn(22) % 120)}`,
    city: place.city,
    zip: String(drawn(23) % 100_000).padStart(5, '0'),
    latitude: place.latitude,
    longitude: place.longitude,
  };
}
