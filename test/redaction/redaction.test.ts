/** Secrets are found in whatever way a text writes them, in a time that depends only on the length of the text. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../src/extract/failure.ts';
import { redactionOf } from '../../src/redaction/redaction.ts';
import { ENCODINGS, givesAway } from '../support/encodings.ts';
import { countOf } from '../support/long.ts';
import { slowdown } from '../support/slowdown.ts';

const TOKENS = [
  'tok-5f3a91c2-never-shown',
  'tok/+"<&\\-5f3a91c2',
  '5f_3a91c2%41neverSHOWN',
  'tk=ab12-5f3a91c2=ffnever',
  'eyJhbGciOiJIUzI1NiJ9.e30.Zm9v_b-r',
];

describe('a secret', () => {
  it.each(ENCODINGS)('is taken out %s', (_, encode) => {
    for (const token of TOKENS)
      for (const [before, after] of [
        ['', ''],
        ['the token ', ' is unknown'],
        ['{"detail":"', '"}'],
        ['key=', '&x=1'],
        ['x', '\\n'],
      ] as const) {
        const text = before + encode(token) + after;
        const left = redactionOf([token], '[secret]')(text);
        expect(left).toContain('[secret]');
        expect(givesAway(left, token) || givesAway(printable(left), token)).toBe(false);
        expect(left.length < 9 || left.startsWith(before.slice(0, -1))).toBe(true);
        expect(left.endsWith(after)).toBe(true);
      }
  });

  it('is taken out wherever it is and however often, in any two encodings one within the other', () => {
    const encodings = fc.constantFrom(...ENCODINGS.slice(0, 22).map(([, encode]) => encode));
    fc.assert(
      fc.property(
        fc.constantFrom(...TOKENS),
        fc.string(),
        encodings,
        encodings,
        fc.string(),
        (token, a, inner, outer, b) => {
          const left = redactionOf([token], '*')(`${a} ${outer(inner(token))} ${b} ${inner(token)}`);
          expect(givesAway(left, token)).toBe(false);
        },
      ),
      { numRuns: countOf(120, 300) },
    );
  });

  it('with = before two hex digits is found in quoted-printable text with other escapes within', () => {
    const inner = 'tk=ab12-5f3a91c2=ffnever'.replaceAll('-', '&hyphen;');
    const text = Array.from(inner, (it) => `=${it.charCodeAt(0).toString(16).toUpperCase()}`).join('');
    expect(redactionOf(TOKENS, '*')(`a ${text} b`)).toBe('a * b');
  });

  it('is the only thing that is taken out of a text', () => {
    const redact = redactionOf(TOKENS, '*');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.base64String(), (text, encoded) => {
        expect(redact(text)).toBe(text);
        expect(redact(encoded)).toBe(encoded);
      }),
    );
    const text = '{"a":"\\u002d%20&amp;=\\n C:\\\\x41","b":"dG9rLTVmM2E5MWM"}';
    expect(redact(text)).toBe(text);
    expect(redact(`${text}${TOKENS[0]}${text}`)).toBe(`${text}*${text}`);
  });

  it.each<[string, (token: string) => string]>([
    ['as a list of its bytes in decimal', (token) => JSON.stringify(Buffer.from(token))],
    ['as a list of its bytes in decimal, with blanks', (token) => [...Buffer.from(token)].join(', ')],
    [
      'as a list of its bytes in hex',
      (token) => [...Buffer.from(token)].map((it) => `0x${it.toString(16)}`).join(', '),
    ],
    ['in base64 of its form in an address', (token) => Buffer.from(encodeURIComponent(token)).toString('base64')],
    ['cut off at its end', (token) => token.slice(0, -1)],
    ['cut off after three quarters', (token) => token.slice(0, Math.ceil(token.length * 0.75))],
  ])('is taken out %s', (_, written) => {
    for (const token of TOKENS) {
      const text = `before ${written(token)} after`;
      const left = redactionOf([token], '[secret]')(text);
      expect(left).toMatch(/^before .*\[secret\].* after$/);
      expect(left).not.toContain(written(token));
    }
  });

  it('that begins like an address is removed only completely', () => {
    const redact = redactionOf(['postgres://sluice:secret-word@db.example.com:5432/warehouse'], '*');
    expect(redact('postgres://sluice:*@db.example.com')).toBe('postgres://sluice:*@db.example.com');
  });

  it('in JSON leaves JSON', () => {
    const [token = ''] = TOKENS;
    for (const [, encode] of ENCODINGS) {
      const text = JSON.stringify({ a: `x\\${encode(token)}"`, b: [encode(token)] });
      expect(() => JSON.parse(redactionOf([token], '[secret]')(text)) as unknown).not.toThrow();
    }
  });
});

describe('the time', () => {
  const [token = ''] = TOKENS;
  it.each([
    '\\',
    '%',
    '%25',
    '&amp;',
    '&#x0',
    '&#',
    '=',
    '=\r\n',
    '="',
    '"',
    ' ',
    'a',
    'A=',
    '0',
    '-',
    '\u001b[',
    '\u001b]',
    '\u0000',
    '[{',
    token.slice(0, -1),
    Buffer.from(token).toString('base64').slice(0, -2),
    Buffer.from(token).toString('hex').slice(0, -1),
    '\\u007',
    '\\u{0000',
    token,
  ])('grows with the length of %j, repeated', (unit) => {
    expect(slowdown((length) => unit.repeat(length / unit.length), redactionOf([token], '*'))).toBeLessThan(9);
  });
});
