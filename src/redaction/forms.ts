/** The forms in which to search for a secret, for each way of reading a text. */
import { unescaped } from './readings.ts';

/** Shorter values are not secrets, and redacting them would destroy every text. */
export const SHORTEST_SECRET = 4;
/** Shorter values would match encoded text by chance. */
const SHORTEST_ENCODED = 8;
/** Shorter values are words, and ignoring case or line ends would match other words. */
const SHORTEST_FOLDED = 12;
/** Shorter prefixes match by chance and reveal little. */
const SHORTEST_BEGINNING = 12;

/** Patterns by reading. They consist of literals with single characters around them, so each takes linear time. */
export interface Forms {
  readonly plain: readonly RegExp[];
  readonly joined: readonly RegExp[];
  readonly base64: readonly RegExp[];
  readonly hex: readonly RegExp[];
  /** The same forms as texts, to check quickly that none occurs. `folded`, `joined` and `hex` are in lower case. */
  readonly needles: Readonly<Record<'plain' | 'folded' | 'joined' | 'base64' | 'hex', readonly string[]>>;
  /** The shortest form. A text with fewer characters contains none. */
  readonly shortest: number;
}

/** The forms of these secrets; undefined without secrets. */
export function formsOf(secrets: readonly string[]): Forms | undefined {
  if (secrets.length === 0) return undefined;
  const all = secrets.flatMap(spellingsOf).filter(({ length }) => length >= SHORTEST_SECRET);
  const long = all.filter(({ length }) => length >= SHORTEST_FOLDED);
  const encoded = secrets.filter(({ length }) => length >= SHORTEST_ENCODED).map((secret) => Buffer.from(secret));
  const hex = encoded.map((bytes) => bytes.toString('hex'));
  const inAddresses = encoded.map((bytes) => Buffer.from(encodeURIComponent(bytes.toString())));
  const singleEncoded = [...encoded, ...inAddresses].flatMap(base64Cores);
  const beginnings = secrets.flatMap(beginningsOf);
  const encodedOnce = [...singleEncoded.map(({ text }) => text), ...hex, ...hex.map((text) => text.toUpperCase())];
  const cores = [...singleEncoded, ...encodedOnce.flatMap((text) => base64Cores(Buffer.from(text)))];
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

/** The spellings of a secret on its own: complete, as bytes, URL-encoded or decoded, and JSON-escaped. */
function spellingsOf(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  const bytes = Buffer.from(wellFormed).toString('latin1');
  const spellings = [secret, bytes, encodeURIComponent(wellFormed), encodeURI(wellFormed), decoded(secret)];
  const lists = secret.length < SHORTEST_ENCODED ? [] : numberLists(Buffer.from(wellFormed));
  return [...spellings.flatMap((it) => [it, JSON.stringify(it).slice(1, -1), unescaped(it)]), ...lists];
}

/** Its bytes as programs print them: in decimal, like a Buffer in JSON, and in hex. */
const numberLists = (bytes: Buffer): string[] => [
  [...bytes].join(','),
  [...bytes].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`).join(','),
];

/** Prefixes with at least half of the secret, as in a truncated text. None for addresses, since many begin alike. */
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

/** The base64 encoding of some bytes, at any position in a text. */
interface Core {
  /** The characters that depend on these bytes only. */
  readonly text: string;
  /** The same as a pattern, with the neighbouring characters that share bits with them, and with padding. */
  readonly pattern: string;
}

const ANY = '[A-Za-z0-9+/]?';

/** One core for each of the three positions in a base64 group where the bytes may begin. */
function base64Cores(bytes: Buffer): Core[] {
  return [0, 1, 2].map((before) => {
    const bits = (before + bytes.length) * 8;
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    const pattern = `${before === 0 ? '' : ANY}${RegExp.escape(text)}${bits % 6 === 0 ? '' : ANY}={0,2}`;
    return { text, pattern };
  });
}

/** One pattern for all texts, longest first: otherwise a shorter match would leave the end of a longer one. */
function anyOf(texts: readonly string[], flags: string): RegExp[] {
  const longestFirst = [...new Set(texts)].toSorted((a, b) => b.length - a.length);
  return texts.length === 0 ? [] : [new RegExp(longestFirst.map((it) => RegExp.escape(it)).join('|'), flags)];
}
