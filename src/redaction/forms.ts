/** The forms in which a secret is looked for, for each way of reading a text. */
import { unescaped } from './readings.ts';

/** Shorter values are no secrets, and taking them out would shred every text. */
export const SHORTEST_SECRET = 4;
/** Shorter ones would be found by chance in what is encoded. */
const SHORTEST_ENCODED = 8;
/** Shorter ones are words, which another case or a line's end makes other words. */
const SHORTEST_FOLDED = 12;
/** Shorter beginnings of a secret are found by chance, and give little away. */
const SHORTEST_BEGINNING = 12;

/** Patterns by the reading that they are for: literals, and single characters beside them, so that each is linear. */
export interface Forms {
  readonly plain: readonly RegExp[];
  readonly joined: readonly RegExp[];
  readonly base64: readonly RegExp[];
  readonly hex: readonly RegExp[];
  /** The same as texts, for telling quickly that there are none: `folded`, `joined` and `hex` in small letters. */
  readonly needles: Readonly<Record<'plain' | 'folded' | 'joined' | 'base64' | 'hex', readonly string[]>>;
  /** No text of fewer characters holds any of them. */
  readonly shortest: number;
}

/** The forms of these secrets; undefined when there are none. */
export function formsOf(secrets: readonly string[]): Forms | undefined {
  if (secrets.length === 0) return undefined;
  const all = secrets.flatMap(writings).filter(({ length }) => length >= SHORTEST_SECRET);
  const long = all.filter(({ length }) => length >= SHORTEST_FOLDED);
  const encoded = secrets.filter(({ length }) => length >= SHORTEST_ENCODED).map((secret) => Buffer.from(secret));
  const hex = encoded.map((bytes) => bytes.toString('hex'));
  const inAddresses = encoded.map((bytes) => Buffer.from(encodeURIComponent(bytes.toString())));
  const once = [...encoded, ...inAddresses].flatMap(base64Cores);
  const beginnings = secrets.flatMap(beginningsOf);
  const within = [...once.map(({ text }) => text), ...hex, ...hex.map((text) => text.toUpperCase())];
  const cores = [...once, ...within.flatMap((text) => base64Cores(Buffer.from(text)))];
  const alphabets = (text: string): string[] => [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
  return {
    needles: {
      plain: unique([...all, ...beginnings]),
      folded: unique(long.map((it) => it.toLowerCase())),
      joined: unique(long.map((it) => withoutBlanks(it).toLowerCase())),
      base64: unique(cores.flatMap(({ text }) => alphabets(text))),
      hex,
    },
    plain: [...anyOf([...all, ...beginnings], 'g'), ...anyOf(long, 'gi')],
    joined: anyOf(long.map(withoutBlanks), 'gi'),
    base64: cores.length === 0 ? [] : [new RegExp(cores.map(({ pattern }) => pattern).join('|'), 'g')],
    hex: anyOf(hex, 'gi'),
    shortest: Math.min(...all.map(({ length }) => length)),
  };
}

/** The secret as it is written by itself: whole, as its bytes, encoded or decoded as addresses are, and as JSON has it. */
function writings(secret: string): string[] {
  const whole = secret.toWellFormed();
  const bytes = Buffer.from(whole).toString('latin1');
  const spellings = [secret, bytes, encodeURIComponent(whole), encodeURI(whole), decoded(secret)];
  const lists = secret.length < SHORTEST_ENCODED ? [] : numberLists(Buffer.from(whole));
  return [...spellings.flatMap((it) => [it, JSON.stringify(it).slice(1, -1), unescaped(it)]), ...lists];
}

/** Its bytes as programs print them: in decimal, as Node shows a Buffer in JSON, and in hex. */
const numberLists = (bytes: Buffer): string[] => [
  [...bytes].join(','),
  [...bytes].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`).join(','),
];

/** At least half of the secret, from its start: what a text that was cut off shows of it. An address begins like many others. */
function beginningsOf(secret: string): string[] {
  if (secret.includes('://')) return [];
  const shortest = Math.max(SHORTEST_BEGINNING, Math.ceil(secret.length / 2));
  return Array.from({ length: Math.max(0, secret.length - shortest) }, (_, n) => secret.slice(0, shortest + n));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, '');

/** What base64 makes of some bytes, wherever in a text they are. */
interface Core {
  /** The characters that these bytes alone decide. */
  readonly text: string;
  /** The same as a pattern, with the characters before and after that hold bits of them too, and what fills up the end. */
  readonly pattern: string;
}

const ANY = '[A-Za-z0-9+/]?';

/** One for each of the three places in a group at which the bytes may begin. */
function base64Cores(bytes: Buffer): Core[] {
  return [0, 1, 2].map((before) => {
    const bits = (before + bytes.length) * 8;
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    const pattern = `${before === 0 ? '' : ANY}${RegExp.escape(text)}${bits % 6 === 0 ? '' : ANY}={0,2}`;
    return { text, pattern };
  });
}

/** One pattern for all of these texts, the longest first: one that begins like a longer one would leave that one's end. */
function anyOf(texts: readonly string[], flags: string): RegExp[] {
  const longestFirst = [...new Set(texts)].toSorted((a, b) => b.length - a.length);
  return texts.length === 0 ? [] : [new RegExp(longestFirst.map((it) => RegExp.escape(it)).join('|'), flags)];
}
