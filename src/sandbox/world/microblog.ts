/** Profiles of the microblogging network. */
import { between, type Drawing, happens, pick, skewed } from './draw.ts';
import { handleIn, handlesOf } from './handles.ts';
import type { Sign } from './images.ts';
import { KNOWN_COMPLETE_ALIAS } from './known.ts';
import type { Wire } from '../wire.ts';
import { FIRST_NAMES, LAST_NAMES } from './words/people.ts';
import { PLACES } from './words/places.ts';
import { sentence } from './words/prose.ts';

export interface Microblog {
  readonly count: number;
  /** The index of the profile with this alias (in any letter case) or address; undefined if there is none. */
  readonly find: (written: string) => number | undefined;
  readonly item: (index: number, sign: Sign) => Wire;
}

const HOST = 'microblog.example';
const OPENED = Date.UTC(2008, 0, 1) / 1000;
const DAY = 86_400;

export function microblogOf(draw: Drawing, count: number): Microblog {
  const handles = handlesOf(draw('microblog handle'), count);
  const rest = draw('microblog rest');
  const prose = draw('microblog prose');

  const item = (index: number, sign: Sign): Wire => {
    const drawn = (slot: number): number => rest(index, slot);
    const alias = handles.of(index);
    const id = restIdOf(index);
    const mention = handles.of(drawn(2) % count);
    const complete = alias === KNOWN_COMPLETE_ALIAS;
    const talks = complete || happens(drawn(3), 0.3);
    const links = complete ? 2 : drawn(6) % 3;
    return {
      '@type': '@microblog_user',
      internal_id: Buffer.from(`User:${id}`).toString('base64'),
      rest_id: id,
      name: `${pick(FIRST_NAMES, drawn(0))} ${pick(LAST_NAMES, drawn(1))}`,
      alias,
      url: `https://${HOST}/${alias}`,
      description: happens(drawn(4), 0.1) ? null : `${sentence(prose, index)}${talks ? ` With @${mention}.` : ''}`,
      location: happens(drawn(5), 0.3) ? null : pick(PLACES, drawn(5)).city,
      follower_count: skewed(drawn(7), 0, 2_000_000),
      following_count: skewed(drawn(8), 0, 5_000),
      tweet_count: skewed(drawn(9), 1, 90_000),
      listed_count: happens(drawn(10), 0.05) ? null : skewed(drawn(10), 0, 4_000),
      favorites_count: skewed(drawn(11), 0, 120_000),
      media_count: happens(drawn(12), 0.05) ? null : skewed(drawn(12), 0, 9_000),
      image: happens(drawn(13), 0.05) ? null : sign(`microblog/portrait/${id}.jpg`),
      banner_url: happens(drawn(14), 0.3) ? null : sign(`microblog/banner/${id}.jpg`),
      ...verification(drawn),
      created_at: happens(drawn(15), 0.03) ? null : OPENED + (drawn(16) % (16 * 365)) * DAY + (drawn(17) % DAY),
      ...((complete || happens(drawn(18), 0.3)) && { professional: professional(drawn, id, complete) }),
      profile_urls: Array.from({ length: links }, (_, at) => profileUrl(alias, at, drawn(19))),
      mentions: talks ? [{ alias: mention, url: `https://${HOST}/${mention}` }] : [],
      ...(happens(drawn(20), 0.25) && { birthdate: birthdate(drawn) }),
      ...accountFeatures(drawn),
    };
  };

  return {
    count,
    item,
    find: (written) => {
      const handle = handleIn(written, HOST);
      return handle === undefined ? undefined : handles.find(handle.toLowerCase());
    },
  };
}

/** Nineteen digits, as in the real network: more than a double can hold. */
const restIdOf = (index: number): string => String(1_400_000_000_000_000_007n + BigInt(index) * 1_000_003n);

function verification(drawn: (slot: number) => number): Wire {
  const verified = happens(drawn(30), 0.08);
  const blue = happens(drawn(31), 0.2);
  const since = new Date(Date.UTC(2019, 0, 1) + (drawn(32) % 1_500) * DAY * 1000).toISOString();
  return {
    verified,
    // Assumed: the kinds of verification; the contract shows none.
    verified_type: verified ? pick(['Business', 'Government'], drawn(33)) : null,
    is_blue_verified: blue,
    ...((verified || blue) && {
      verification_info: {
        '@type': '@microblog_user_verification',
        is_identity_verified: happens(drawn(34), 0.3),
        verified_since: since,
        reason_description: verified ? 'The account belongs to an organization.' : 'The account has a subscription.',
      },
    }),
  };
}

const profileUrl = (alias: string, index: number, drawn: number): Wire => {
  const site = `site-${1 + ((drawn + index) % 9)}.example`;
  return { url: `https://short.example/${alias}-${index}`, expanded_url: `https://${site}/`, display_url: site };
};

const accountFeatures = (drawn: (slot: number) => number): Wire => ({
  is_profile_translatable: happens(drawn(21), 0.3),
  has_hidden_subscriptions: happens(drawn(22), 0.1),
  can_highlight_tweets: happens(drawn(23), 0.2),
  premium_gifting_eligible: happens(drawn(24), 0.5),
  highlighted_tweets_count: happens(drawn(23), 0.2) ? drawn(25) % 40 : 0,
  user_seed_tweet_count: happens(drawn(26), 0.1) ? drawn(26) % 9 : 0,
  creator_subscriptions_count: happens(drawn(27), 0.2) ? drawn(27) % 12 : 0,
});

const CATEGORIES: readonly Wire[] = [
  { id: 713, name: 'Science & Technology' },
  { id: 958, name: 'Entrepreneur' },
];

const professional = (drawn: (slot: number) => number, id: string, complete: boolean): Wire => ({
  '@type': '@microblog_user_professional',
  rest_id: String(BigInt(id) + 11n),
  professional_type: pick(['Creator', 'Business'], drawn(40)),
  categories: complete ? CATEGORIES : pick([[], CATEGORIES.slice(0, 1), CATEGORIES.slice(1)], drawn(41)),
});

function birthdate(drawn: (slot: number) => number): Wire {
  const [day, month, year] = [between(drawn(50), 1, 28), between(drawn(51), 1, 12), between(drawn(52), 1955, 2004)];
  return {
    '@type': '@microblog_user_birthdate',
    day,
    month,
    year,
    visibility: pick(['', 'Public', 'MutualFollow'], drawn(53)),
    year_visibility: pick(['', 'Self'], drawn(54)),
    timestamp: Date.UTC(year, month - 1, day) / 1000,
  };
}
