/** The ways in which a service may write a text that it quotes. */

type Encoding = readonly [name: string, encode: (text: string) => string];

const each = (of: (code: number) => string) => (text: string) =>
  Array.from(text, (it) => of(it.charCodeAt(0))).join('');
/** Escapes every third character, like a program that escapes only unusual ones. */
const some = (of: (code: number) => string) => (text: string) =>
  Array.from(text, (it, at) => (at % 3 === 1 ? of(it.charCodeAt(0)) : it)).join('');
const hex = (digits: number) => (code: number) => code.toString(16).padStart(digits, '0');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const wrapped = (text: string, every: number, by: string): string =>
  Array.from({ length: Math.ceil(text.length / every) }, (_, n) => text.slice(n * every, (n + 1) * every)).join(by);

/** Encodings that leave nothing of the text as it was, or only some of its characters. */
export const ENCODINGS: readonly Encoding[] = [
  ['as it is', (text) => text],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in JSON within JSON within JSON', (text) => JSON.stringify(JSON.stringify(JSON.stringify(text))).slice(7, -7)],
  ['as \\u002d', each((code) => `\\u${hex(4)(code)}`)],
  ['as \\u002D within JSON', each((code) => `\\\\u${hex(4)(code).toUpperCase()}`)],
  ['as \\u{2d}', each((code) => `\\u{${hex(1)(code)}}`)],
  ['as \\x2d', each((code) => `\\x${hex(2)(code)}`)],
  ['as \\x2d here and there', some((code) => `\\x${hex(2)(code)}`)],
  ['as \\055', each((code) => `\\${code.toString(8).padStart(3, '0')}`)],
  ['as %2D', each((code) => `%${hex(2)(code).toUpperCase()}`)],
  ['as %2d here and there', some((code) => `%${hex(2)(code)}`)],
  ['as %25252d', each((code) => `%2525${hex(2)(code)}`)],
  ['as %u002d', each((code) => `%u${hex(4)(code)}`)],
  ['as &#45;', each((code) => `&#${code};`)],
  ['as &#0045 without an end', some((code) => `&#0${code};`)],
  ['as &#x2D;', each((code) => `&#X${hex(2)(code).toUpperCase()};`)],
  ['as &amp;#45;', each((code) => `&amp;#${code};`)],
  [
    'with named entities',
    (text) => text.replaceAll('-', '&hyphen;').replaceAll('_', '&lowbar;').replaceAll('/', '&sol;'),
  ],
  ['as =2D', each((code) => `=${hex(2)(code).toUpperCase()}`)],
  ['as =2D here and there', some((code) => `=${hex(2)(code).toUpperCase()}`)],
  ['with soft line breaks', (text) => wrapped(text, 7, '=\r\n')],
  ['folded over lines', (text) => wrapped(text, 9, '\r\n ')],
  ['folded over lines, in JSON', (text) => wrapped(text, 9, '\\n')],
  ['in capitals', (text) => text.toUpperCase()],
  ['with colours of a terminal', (text) => wrapped(text, 5, '\u001b[31m')],
  ['with characters of no width', (text) => wrapped(text, 5, '\u200b')],
  ['with a character of none, as UTF-16', (text) => wrapped(text, 1, '\u0000')],
  ...[0, 1, 2].flatMap((before): Encoding[] => {
    const around = (text: string) => `${'u:'.padEnd(before + 3, 'x')}${text}, y`;
    return [
      [`in base64, ${before} characters further`, (text) => base64(around(text))],
      [`in base64 of addresses, ${before} further`, (text) => Buffer.from(around(text)).toString('base64url')],
      [`in base64 over lines, ${before} further`, (text) => wrapped(base64(around(text)), 11, '\r\n')],
      [`in base64 over lines in JSON, ${before} further`, (text) => wrapped(base64(around(text)), 11, '\\r\\n')],
      [`in base64 in an address, ${before} further`, (text) => encodeURIComponent(base64(around(text)))],
      [`in base64 of base64, ${before} further`, (text) => base64(`x${base64(around(text))}`)],
      [
        `in base64 in JSON with its slashes escaped, ${before} further`,
        (text) => base64(around(text)).replaceAll('/', '\\/'),
      ],
    ];
  }),
  ['in base64 without an end', (text) => base64(text).replaceAll('=', '')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in hex in capitals', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['in hex with colons', (text) => wrapped(Buffer.from(text).toString('hex'), 2, ':')],
  ['in hex with blanks', (text) => wrapped(Buffer.from(text).toString('hex'), 4, ' ')],
  ['in base64 of hex', (text) => base64(Buffer.from(text).toString('hex'))],
  ['in an address within JSON escapes', (text) => each((code) => `\\u${hex(4)(code)}`)(encodeURIComponent(text))],
  ['in entities within an address', (text) => encodeURIComponent(each((code) => `&#${code};`)(text))],
];

/** Whether something that reads the text, undoing what it finds, comes upon any 8 characters of the secret in a row. */
export function givesAway(text: string, secret: string): boolean {
  const pieces = Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8).toLowerCase());
  const seen = [text, text.replaceAll(/\s+/g, '')].flatMap((it) => [
    it,
    ...[0, 1, 2, 3].map((from) => Buffer.from(it.slice(from), 'base64').toString('latin1')),
    ...[0, 1].map((from) => Buffer.from(it.replaceAll(/[^0-9a-f]/gi, '').slice(from), 'hex').toString('latin1')),
  ]);
  return seen.some((it) => pieces.some((piece) => it.toLowerCase().includes(piece)));
}
