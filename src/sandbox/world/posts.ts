/** Posts of the professional network and their reposts. */
import type { Urn } from '../../service/names/urn.ts';
import { between, type Drawing, happens } from './draw.ts';
import type { Sign } from './images.ts';
import { KNOWN_POSTS } from './known.ts';
import type { Organizations } from './organizations.ts';
import type { People } from './people.ts';
import { type Party, partiesOf } from './party.ts';
import { contentsOf } from './post-content.ts';
import type { Wire } from '../wire.ts';

export interface Posts {
  readonly count: number;
  /** The post of an activity URN; undefined if there is none. */
  readonly find: (urn: Urn) => Post | undefined;
  /** The number of reposts of a post; reposts have no reposts. */
  readonly repostCount: (post: Post) => number;
  /** The reposts, newest first, at most `count`. */
  readonly reposts: (post: Post, count: number, sign: Sign) => Wire[];
  readonly item: (post: Post, sign: Sign) => Wire;
}

/** An original post, or the n-th repost of one. */
export interface Post {
  readonly index: number;
  readonly nth?: number;
}

const FIRST_ORIGINAL = 7_100_000_000_000_000_001n;
const FIRST_REPOST = 7_200_000_000_000_000_000n;
/** The difference between the number of an activity and that of its share. */
const TO_SHARE = 200_000_000_000_000_000n;
/** The number of identifiers for the reposts of one post. */
const ROOM = 1_000n;

const BEGIN = Date.UTC(2018, 0, 1) / 1000;
const SPAN_SECONDS = 6 * 365 * 86_400;

export function postsOf(draw: Drawing, count: number, people: People, companies: Organizations): Posts {
  const draws = { rest: draw('post rest'), repost: draw('repost rest') };
  const parties = partiesOf(people, companies);
  const ownWords = contentsOf(draw, 'post', parties);
  const repostWords = contentsOf(draw, 'repost', parties);

  const repostCount = ({ index, nth }: Post): number => {
    if (nth !== undefined) return 0;
    if (index < KNOWN_POSTS.length) return between(draws.rest(index), 6, 30);
    if (happens(draws.rest(index), 0.1)) return 0;
    return happens(draws.rest(index, 1), 0.03) ? between(draws.rest(index, 2), 60, 160) : draws.rest(index, 2) % 25;
  };
  const createdAt = ({ index, nth }: Post): number => {
    const original = BEGIN + (draws.rest(index, 3) % SPAN_SECONDS);
    // Later reposts have higher numbers, so the newest is the highest.
    return nth === undefined ? original : original + (nth + 1) * 5_400 + (draws.repost(index, nth * 16) % 5_000);
  };
  const authorOf = ({ index, nth }: Post): Party => {
    if (nth === undefined) return parties.at(draws.rest(index, 4), draws.rest(index, 5));
    return parties.other(authorOf({ index }), draws.repost(index, nth * 16 + 1), draws.repost(index, nth * 16 + 2));
  };

  const item = (post: Post, sign: Sign): Wire => {
    const value = activityOf(post);
    const share = String(BigInt(value) + TO_SHARE);
    const common = {
      '@type': '@pronet_user_post',
      urn: { type: 'activity', value },
      url: `https://pronet.example/feed/update/urn:li:activity:${value}/`,
      share_url: shareUrl(post, value),
      author: authorItem(authorOf(post), sign),
      created_at: createdAt(post),
      share_urn: { type: 'share', value: share },
    };
    if (post.nth === undefined) {
      return { ...common, is_empty_repost: null, repost: null, ...ownWords(post.index, value, sign) };
    }
    const silent = happens(draws.repost(post.index, post.nth * 16 + 3), 0.4);
    const words = silent ? EMPTY : repostWords(post.index * Number(ROOM) + post.nth, value, sign);
    return { ...common, is_empty_repost: silent, repost: item({ index: post.index }, sign), ...words };
  };
  const shareUrl = ({ index, nth }: Post, value: string): string | null =>
    happens(draws.rest(index, 6 + (nth ?? 0)), 0.1) ? null : `https://pronet.example/posts/${value}`;

  return {
    count,
    repostCount,
    item,
    reposts: (post, most, sign) =>
      Array.from({ length: Math.min(repostCount(post), most) }, (_, at) =>
        item({ index: post.index, nth: repostCount(post) - 1 - at }, sign),
      ),
    find: ({ type, value }) => {
      if (type !== 'activity' || !/^7\d{18}$/.test(value)) return undefined;
      const number = BigInt(value);
      const repeats = number >= FIRST_REPOST;
      const offset = number - (repeats ? FIRST_REPOST : FIRST_ORIGINAL);
      const index = Number(repeats ? offset / ROOM : offset);
      if (index < 0 || index >= count) return undefined;
      if (!repeats) return { index };
      const nth = Number(offset % ROOM);
      return nth < repostCount({ index }) ? { index, nth } : undefined;
    },
  };
}

const activityOf = ({ index, nth }: Post): string =>
  String(nth === undefined ? FIRST_ORIGINAL + BigInt(index) : FIRST_REPOST + BigInt(index) * ROOM + BigInt(nth));

/** The content of a repost without text of its own: null (unknown), not empty. */
const EMPTY: Wire = {
  images: null,
  video_url: null,
  text: null,
  comment_count: null,
  share_count: null,
  reactions: null,
  mentioned: null,
};

function authorItem(author: Party, sign: Sign): Wire {
  const { internalId, urn, name, alias, url, headline, picture } = author;
  return {
    '@type': '@pronet_user_post_user',
    internal_id: internalId,
    urn,
    name,
    alias,
    url,
    ...(headline !== null && { headline }),
    ...(picture !== null && { image: sign(picture) }),
  };
}
