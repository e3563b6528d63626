/** Handles that can be turned back into the index they were made from. */
import { type Draw, pick } from './draw.ts';
import { KNOWN_ALIASES } from './known.ts';

export interface Handles {
  readonly of: (index: number) => string;
  /** The index whose handle this is; letters count as they are. */
  readonly find: (handle: string) => number | undefined;
}

const ADJECTIVES =
  'quiet bright late early hidden golden wild gentle salty northern little brave slow rapid distant sunny misty plain velvet paper'.split(
    ' ',
  );
const NOUNS =
  'harbor meadow kitchen studio compass lantern orchard summit bakery garden signal anchor atlas sparrow valley engine notebook island thicket mill'.split(
    ' ',
  );

/** Handles for `count` entities; the well-known ones come first. */
export function handlesOf(draw: Draw, count: number): Handles {
  const of = (index: number): string =>
    KNOWN_ALIASES[index] ?? `${pick(ADJECTIVES, draw(index))}_${pick(NOUNS, draw(index, 1))}_${index}`;
  return {
    of,
    find: (handle) => {
      const known = KNOWN_ALIASES.indexOf(handle);
      const index = known >= 0 ? known : Number(/_(\d+)$/.exec(handle)?.[1] ?? Number.NaN);
      return index < count && of(index) === handle ? index : undefined;
    },
  };
}

/** The handle that people mean when they write it bare, with an @, or as an address on the network's host. */
export function handleIn(asked: string, host: string): string | undefined {
  const written = asked.trim();
  if (!/^https?:\/\//i.test(written)) return written.replace(/^@/, '');
  if (!URL.canParse(written)) return undefined;
  const { hostname, pathname } = new URL(written);
  return hostname.replace(/^www\./, '') === host ? /^\/([^/]+)\/?$/.exec(pathname)?.[1] : undefined;
}
