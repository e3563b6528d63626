/** Handles that can be converted back to the index that they were made from. */
import { type Draw, pick } from './draw.ts';
import { KNOWN_ALIASES } from './known.ts';

export interface Handles {
  readonly of: (index: number) => string;
  /** The index of a handle; letter case matters. */
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

/** Handles for `count` entities; the well-known ones are first. */
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

/** The handle in a text: bare, with an @, or in an address on the network's host. */
export function handleIn(given: string, host: string): string | undefined {
  const written = given.trim();
  if (!/^https?:\/\//i.test(written)) return written.replace(/^@/, '');
  if (!URL.canParse(written)) return undefined;
  const { hostname, pathname } = new URL(written);
  return hostname.replace(/^www\./, '') === host ? /^\/([^/]+)\/?$/.exec(pathname)?.[1] : undefined;
}
