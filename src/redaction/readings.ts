/** The ways to read a text: as it is, with its escapes decoded, and without blanks. */
import { TERMINAL_SEQUENCE } from './terminal.ts';

/** One way to read a text. */
export interface TextReading {
  readonly as: 'plain' | 'joined' | 'base64' | 'hex';
  readonly text: string;
  /** For each character, the start and end of its source in the original text. Absent if the positions are equal. */
  readonly starts?: Uint32Array;
  readonly ends?: Uint32Array;
}

export type MappedText = Omit<TextReading, 'as'>;

/** Levels of nested escapes of different kinds. Any number of levels of one kind is decoded at once. */
const MOST_ROUNDS = 5;

/** In longer texts, escapes that line breaks split are not searched, since each reading takes time. */
const MOST_WRAPPED = 1_000_000;

/** The text, and its forms with escapes decoded. Character positions are included on request, since they take time. */
export function* decodedForms(text: string, withPositions: boolean): Generator<MappedText> {
  const itself: MappedText = withPositions ? { text, ...ownPositions(text.length) } : { text };
  yield itself;
  if (!ESCAPED.test(text)) return;
  const initials = [itself];
  // Line breaks may also split an escape.
  if (text.length <= MOST_WRAPPED && /\s/.test(text)) initials.push(joined(itself));
  for (const initial of initials) {
    yield* roundsOf(initial);
    if (MAIL.test(text)) yield* mailRoundsOf(initial);
  }
}

/** The text after each round of decoding escapes. */
function* roundsOf(initial: MappedText): Generator<MappedText> {
  let current = initial;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = yield* decodedOnce(current, ESCAPES);
    if (next.text === current.text) return;
    current = next;
  }
}

/**
 * The same with the escapes of mail: in mail, `=2D` is an escape, and in a URL, the text after `=` is a value. A secret may
 * hold `=2D` itself, so after each round, the other escapes are also decoded alone.
 */
function* mailRoundsOf(initial: MappedText): Generator<MappedText> {
  let current = initial;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = yield* decodedOnce(current, ESCAPES_AND_MAIL);
    if (next.text === current.text) return;
    yield* roundsOf(next);
    current = next;
  }
}

function* decodedOnce(current: MappedText, escapes: RegExp): Generator<MappedText, MappedText> {
  const unfolded = replaceAll(current, FOLDS, '');
  if (unfolded.text !== current.text) yield unfolded;
  const next = replaceAll(unfolded, escapes, decodedUnit);
  if (next.text !== unfolded.text) yield next;
  return next;
}

/** The ways to read a text whose escapes are decoded. */
export function* readingForms(state: MappedText): Generator<TextReading> {
  yield { ...state, as: 'plain' };
  const withoutBlanks = joined(state);
  if (withoutBlanks.text !== state.text) yield { ...withoutBlanks, as: 'joined' };
  yield { ...replaceAll(withoutBlanks, /[-_]/g, (it) => (it === '-' ? '+' : '/')), as: 'base64' };
  yield { ...apart(withoutBlanks), as: 'hex' };
}

/** The text without blanks. */
export const joined = (read: MappedText): MappedText => replaceAll(read, /\s+/g, '');

/** The text without separators between hex bytes. */
export const apart = (read: MappedText): MappedText => replaceAll(read, /[:-]+/g, '');

/** The text with all escapes decoded. */
export function unescaped(text: string): string {
  let read: MappedText = { text };
  for (let round = 0; round < MOST_ROUNDS; round += 1) read = replaceAll(read, ESCAPES, decodedUnit);
  return read.text;
}

/**
 * In this order. Each alternative is linear and begins with a different character, so the complete pattern is linear.
 */
const UNITS = [
  // One or more backslashes, with an escape: \u002d \u{2d} \x2d \055 \/ \" \n
  String.raw`\\+(?:u\{0*[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[0-7]{1,3}|[^\\])?`,
  // %2D, %252D and %u002D
  String.raw`%(?:25)*(?:u[0-9a-f]{4}|[0-9a-f]{2})`,
  // &#45; &#x2d; &hyphen; and &amp;#45;
  String.raw`&(?:amp;)*(?:#x0*[0-9a-f]{1,6};?|#0*[0-9]{1,7};?|[a-z]{2,12};)`,
];
// Decoded one level at a time: in `=3Dab`, `=ab` may be part of the secret.
const QUOTED_PRINTABLE = String.raw`=[0-9a-f]{2}`;
const ESCAPES = new RegExp(UNITS.join('|'), 'gi');
const ESCAPES_AND_MAIL = new RegExp([...UNITS, QUOTED_PRINTABLE].join('|'), 'gi');
const MAIL = /=[0-9a-f]{2}/i;

/** Invisible characters. */
const UNSEEN = String.raw`\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff`;
/** Characters that are not part of the text: soft line breaks of mail, terminal sequences, invisible characters. */
const FOLDS = new RegExp(`${String.raw`=[ \t]{0,8}\r?\n`}|${TERMINAL_SEQUENCE}|[${UNSEEN}]`, 'g');
/** Matches any text that may contain one of these. */
const ESCAPED = new RegExp(`[\\\\%&=${UNSEEN}]`);

/** HTML entity names of characters that can occur in a header's secret. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  tab: ' ',
  newline: ' ',
  excl: '!',
  num: '#',
  dollar: '$',
  percnt: '%',
  lpar: '(',
  rpar: ')',
  ast: '*',
  midast: '*',
  plus: '+',
  comma: ',',
  hyphen: '-',
  dash: '-',
  minus: '-',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  equals: '=',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  hat: '^',
  lowbar: '_',
  underbar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  rbrace: '}',
  shy: '',
  zwj: '',
  zwnj: '',
};
const BLANKS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

/** The character that an escape represents. */
function decodedUnit(unit: string): string {
  switch (unit[0]) {
    case '\\':
      return afterBackslashes(withoutLeading(unit, '\\'));
    case '%':
      return characterOf(unit.slice(/u[0-9a-f]{4}$/i.test(unit.slice(-5)) ? -4 : -2), 16);
    case '=':
      return characterOf(unit.slice(-2), 16);
    default:
      return entity(unit);
  }
}

function afterBackslashes(escape: string): string {
  if (escape.length > 1 && /^[ux]/i.test(escape)) return characterOf(escape.replaceAll(/[^0-9a-f]/gi, ''), 16);
  if (/^[0-7]/.test(escape)) return characterOf(escape, 8);
  // Backslashes at the end of the text represent one backslash.
  return escape === '' ? '\\' : (BLANKS[escape] ?? escape);
}

function entity(unit: string): string {
  const number = unit.lastIndexOf('#') + 1;
  if (number > 0) {
    const code = unit.slice(number).replace(';', '');
    return /^x/i.test(code) ? characterOf(code.slice(1), 16) : characterOf(code, 10);
  }
  return (
    NAMED[
      unit
        .slice(unit.lastIndexOf('&') + 1, -1)
        .split(';')
        .at(-1)
        ?.toLowerCase() ?? ''
    ] ?? unit
  );
}

function withoutLeading(text: string, character: string): string {
  let from = 0;
  while (text[from] === character) from += 1;
  return text.slice(from);
}

function characterOf(digits: string, base: number): string {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function ownPositions(length: number): Required<Pick<MappedText, 'starts' | 'ends'>> {
  const starts = new Uint32Array(length);
  const ends = new Uint32Array(length);
  for (let at = 0; at < length; at += 1) {
    starts[at] = at;
    ends[at] = at + 1;
  }
  return { starts, ends };
}

/** The text with each match replaced by at most as many characters. They get the position of the match. */
function replaceAll(
  { text, starts, ends }: MappedText,
  pattern: RegExp,
  by: '' | ((match: string) => string),
): MappedText {
  if (!starts || !ends)
    return { text: typeof by === 'string' ? text.replaceAll(pattern, by) : text.replaceAll(pattern, by) };
  const parts: string[] = [];
  const [newStarts, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  let [position, length] = [0, 0];
  const keep = (upTo: number): void => {
    parts.push(text.slice(position, upTo));
    newStarts.set(starts.subarray(position, upTo), length);
    newEnds.set(ends.subarray(position, upTo), length);
    length += upTo - position;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    keep(index);
    position = index + match.length;
    const replacement = by === '' ? by : by(match);
    parts.push(replacement);
    newStarts.fill(starts[index] ?? 0, length, length + replacement.length);
    newEnds.fill(ends[position - 1] ?? 0, length, length + replacement.length);
    length += replacement.length;
  }
  keep(text.length);
  return { text: parts.join(''), starts: newStarts.subarray(0, length), ends: newEnds.subarray(0, length) };
}
