/** The ways in which a text can be read: as it is, with its escapes undone, and joined over blanks. */
import { TERMINAL_SEQUENCE } from './terminal.ts';

/** One way to read a text. */
export interface TextReading {
  readonly as: 'plain' | 'joined' | 'base64' | 'hex';
  readonly text: string;
  /** For each character, where what it stands for begins and ends in the text itself; absent, at its own place. */
  readonly starts?: Uint32Array;
  readonly ends?: Uint32Array;
}

export type MappedText = Omit<TextReading, 'as'>;

/** Escapes within escapes of other kinds; of one kind, any number are undone at once. */
const MOST_ROUNDS = 5;

/** Above this, what is wrapped within an escape is not looked for: each way to read a text takes its time. */
const MOST_WRAPPED = 1_000_000;

/** The text, and what it is with its escapes undone; with the places of its characters when they are needed, which takes longer. */
export function* decodedForms(text: string, placed: boolean): Generator<MappedText> {
  const itself: MappedText = placed ? { text, ...ownPlaces(text.length) } : { text };
  yield itself;
  if (!ESCAPED.test(text)) return;
  const beginnings = [itself];
  // An escape too may be wrapped over lines.
  if (text.length <= MOST_WRAPPED && /\s/.test(text)) beginnings.push(joined(itself));
  // In mail, `=2D` is an escape; in an address, what follows `=` is a value.
  for (const beginning of beginnings)
    for (const escapes of MAIL.test(text) ? [ESCAPES, ESCAPES_AND_MAIL] : [ESCAPES])
      yield* roundsOf(beginning, escapes);
}

function* roundsOf(beginning: MappedText, escapes: RegExp): Generator<MappedText> {
  let read = beginning;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const unfolded = replaceAll(read, FOLDS, '');
    if (unfolded.text !== read.text) yield unfolded;
    const next = replaceAll(unfolded, escapes, undone);
    if (next.text !== unfolded.text) yield next;
    if (next.text === read.text) return;
    read = next;
  }
}

/** The ways in which a text may be read whose escapes are undone. */
export function* readingForms(state: MappedText): Generator<TextReading> {
  yield { ...state, as: 'plain' };
  const whole = joined(state);
  if (whole.text !== state.text) yield { ...whole, as: 'joined' };
  yield { ...replaceAll(whole, /[-_]/g, (it) => (it === '-' ? '+' : '/')), as: 'base64' };
  yield { ...apart(whole), as: 'hex' };
}

/** The text without blanks. */
export const joined = (read: MappedText): MappedText => replaceAll(read, /\s+/g, '');

/** The text without what stands between the bytes of a hex text. */
export const apart = (read: MappedText): MappedText => replaceAll(read, /[:-]+/g, '');

/** The text with every escape undone. */
export function unescaped(text: string): string {
  let read: MappedText = { text };
  for (let round = 0; round < MOST_ROUNDS; round += 1) read = replaceAll(read, ESCAPES, undone);
  return read.text;
}

/** In this order. Each alternative is linear and begins with a character of its own, so all of them together are. */
const UNITS = [
  // A backslash, or any number of them: \u002d \u{2d} \x2d \055 \/ \" \n
  String.raw`\\+(?:u\{0*[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[0-7]{1,3}|[^\\])?`,
  // %2D, %252D and %u002D
  String.raw`%(?:25)*(?:u[0-9a-f]{4}|[0-9a-f]{2})`,
  // &#45; &#x2d; &hyphen; and &amp;#45;
  String.raw`&(?:amp;)*(?:#x0*[0-9a-f]{1,6};?|#0*[0-9]{1,7};?|[a-z]{2,12};)`,
];
// One layer at a time: in `=3Dab`, `=ab` may be the secret's own.
const QUOTED_PRINTABLE = String.raw`=[0-9a-f]{2}`;
const ESCAPES = new RegExp(UNITS.join('|'), 'gi');
const ESCAPES_AND_MAIL = new RegExp([...UNITS, QUOTED_PRINTABLE].join('|'), 'gi');
const MAIL = /=[0-9a-f]{2}/i;

/** What takes no room in a line of text. */
const UNSEEN = String.raw`\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff`;
/** What is no part of a text: the end of a line of mail that goes on, what a terminal acts upon, what takes no room. */
const FOLDS = new RegExp(`${String.raw`=[ \t]{0,8}\r?\n`}|${TERMINAL_SEQUENCE}|[${UNSEEN}]`, 'g');
/** True of a text in which there may be any of these. */
const ESCAPED = new RegExp(`[\\\\%&=${UNSEEN}]`);

/** Names of characters that a secret in a header can have. */
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

/** What one of the units stands for. */
function undone(unit: string): string {
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
  // Backslashes at the end of the text stand for one.
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

function ownPlaces(length: number): Required<Pick<MappedText, 'starts' | 'ends'>> {
  const starts = new Uint32Array(length);
  const ends = new Uint32Array(length);
  for (let at = 0; at < length; at += 1) {
    starts[at] = at;
    ends[at] = at + 1;
  }
  return { starts, ends };
}

/** The text with each match replaced by no more characters than it has; these stand where the match was. */
function replaceAll(
  { text, starts, ends }: MappedText,
  pattern: RegExp,
  by: '' | ((match: string) => string),
): MappedText {
  if (!starts || !ends)
    return { text: typeof by === 'string' ? text.replaceAll(pattern, by) : text.replaceAll(pattern, by) };
  const parts: string[] = [];
  const [newStarts, newEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  let [at, length] = [0, 0];
  const keep = (upTo: number): void => {
    parts.push(text.slice(at, upTo));
    newStarts.set(starts.subarray(at, upTo), length);
    newEnds.set(ends.subarray(at, upTo), length);
    length += upTo - at;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    keep(index);
    at = index + match.length;
    const instead = by === '' ? by : by(match);
    parts.push(instead);
    newStarts.fill(starts[index] ?? 0, length, length + instead.length);
    newEnds.fill(ends[at - 1] ?? 0, length, length + instead.length);
    length += instead.length;
  }
  keep(text.length);
  return { text: parts.join(''), starts: newStarts.subarray(0, length), ends: newEnds.subarray(0, length) };
}
