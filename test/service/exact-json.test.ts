/** Numbers keep their digits and keys their characters, whatever was parsed before. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact } from '../../src/service/exact-json.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(20),
    fc.option(digits(20)),
    fc.option(fc.tuple(fc.constantFrom('e', 'E+', 'e-'), digits(3))),
  )
  .map(([sign, whole, fraction, exponent]) => {
    const start = sign + whole.replace(/^0+(?=\d)/, '');
    return start + (fraction === null ? '' : `.${fraction}`) + (exponent === null ? '' : exponent.join(''));
  });
const text = fc
  .oneof(
    fc.string(),
    number,
    fc.stringMatching(/^[0-9a-f]{8,24}$/),
    number.map((it) => `, ${it}`),
  )
  .map((it) => JSON.stringify(it));
const blanks = fc.constantFrom('', ' ', '\n\t');

const json = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    text,
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), blanks).map(([of, gap]) => `[${of.join(`,${gap}`)}]`),
    fc
      .tuple(fc.array(fc.tuple(text, blanks, tie('value')), { maxLength: 4 }))
      .map(([of]) => `{${of.map(([name, gap, value]) => `${name}:${gap}${value}`).join(',')}}`),
  ),
})).value;

/** If one number does not fit a double, every number is checked. */
const LONG = '1234567890123456789.5';

it('the parser checks every number that may lose digits', () => {
  fc.assert(
    fc.property(json, (value) => {
      const [looked] = parseExact(`[${value},${LONG}]`) as unknown[];
      expect(canonicalJson(parseExact(value))).toBe(canonicalJson(looked));
    }),
    { seed: 1, numRuns: 5_000 },
  );
});

it.each([
  ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', ['h', '"']],
  ['{"h":[],"\\\\":0}', '{"h":1,"\\u0000":{"n":12345678901234567890.5}}', ['h', '\0']],
  ['{"caf\\\\":0}', '{"caf\\u00e9" : 2}', ['café']],
  ['{"a\\\\":0}', '{"a\\n":"\\\\","a\\\\":[{"__proto__":true}]}', ['a\n', 'a\\']],
])('after %s, the keys of %s are read as they were sent', (before, text, keys) => {
  parseExact(before);
  expect(Object.keys(parseExact(text) as object)).toEqual(keys);
});

it('a text with escaped keys has the same value as one without', () => {
  fc.assert(
    fc.property(json, (value) => {
      const [first, second] = parseExact(`[${value},{"\\u0061":${value}}]`) as [unknown, { readonly a: unknown }];
      expect(canonicalJson(first)).toBe(canonicalJson(parseExact(value)));
      expect(canonicalJson(second)).toBe(canonicalJson(parseExact(`{"a":${value}}`)));
    }),
    { seed: 1, numRuns: 5_000 },
  );
});
