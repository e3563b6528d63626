/** Posts of the photo-sharing network, by profile and number. */
import { between, type Drawing, happens, pick, scramble, skewed } from './draw.ts';
import type { Sign } from './images.ts';
import type { Wire } from '../wire.ts';
import { sentence } from './words/prose.ts';

export interface PhotosharePosts {
  /** The newest posts of a profile with `published` posts, newest first, at most `count`. */
  readonly recent: (user: number, published: number, count: number, sign: Sign) => Wire[];
}

const BEGIN = Date.UTC(2016, 0, 1) / 1000;
/** The number of identifiers per profile. */
const ROOM = 1_000;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

export function photosharePosts(draw: Drawing): PhotosharePosts {
  const rest = draw('photoshare post');
  const prose = draw('photoshare caption');

  const item = (user: number, nth: number, sign: Sign): Wire => {
    const at = user * ROOM + nth;
    const drawn = (slot: number): number => rest(at, slot);
    const type = pick(['photo', 'photo', 'video', 'carousel'], drawn(0));
    const pictures = type === 'carousel' ? between(drawn(1), 2, 6) : 1;
    const code = codeOf(at);
    return {
      '@type': '@photoshare_post',
      id: String(3_000_000_000_000_000_000n + BigInt(at) * 104_729n),
      code,
      url: `https://photoshare.example/p/${code}/`,
      image: sign(`photoshare/post/${code}/cover.jpg`),
      text: happens(drawn(2), 0.1) ? null : sentence(prose, at),
      created_at: happens(drawn(3), 0.01) ? null : BEGIN + nth * 500_000 + (drawn(4) % 400_000),
      // Hidden likes are reported as -1.
      like_count: happens(drawn(5), 0.04) ? -1 : skewed(drawn(5), 0, 90_000),
      comment_count: skewed(drawn(6), 0, 3_000),
      reshare_count: skewed(drawn(7), 0, 800),
      view_count: type === 'video' ? skewed(drawn(8), 10, 900_000) : null,
      type: happens(drawn(9), 0.02) ? null : type,
      media: happens(drawn(10), 0.05)
        ? []
        : Array.from({ length: pictures }, (_, n) => ({
            type: type === 'video' ? 'video' : 'photo',
            url: sign(`photoshare/post/${code}/${n}.${type === 'video' ? 'mp4' : 'jpg'}`),
            width: 1080,
            height: 1350,
          })),
      carousel_media_count: type === 'carousel' ? pictures : 0,
      is_paid_partnership: happens(drawn(11), 0.05),
    };
  };

  return {
    recent: (user, published, count, sign) =>
      Array.from({ length: Math.min(published, count) }, (_, at) => item(user, published - 1 - at, sign)),
  };
}

function codeOf(at: number): string {
  let rest = (BigInt(scramble(at)) << 32n) | BigInt(scramble(at ^ 0x5bd1e995));
  let code = 'C';
  for (let letter = 0; letter < 10; letter++) {
    code += LETTERS.charAt(Number(rest & 63n));
    rest >>= 6n;
  }
  return code;
}
