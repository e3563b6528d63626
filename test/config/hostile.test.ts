/** Files that are built to take long or to use all memory are refused immediately; no text makes the loader throw anything but a ConfigError. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/document/problem.ts';
import { countOf } from '../support/long.ts';
import { masked } from '../../src/config/document/source.ts';
import { HEAD, load, problemsIn } from './written.ts';

/** Two cores at work on other tests: far above what any of these takes, far below what a blown-up one would. */
const SOON_MS = 4_000;

const laughs = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...Array.from('bcdefghi').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(', ')}]`),
].join('\n');

describe('a hostile file', () => {
  it.each([
    ['of 50 MB', 'a'.repeat(50_000_000), /^the file has 50000000 bytes; at most 1000000 are allowed/],
    ['of aliases that multiply', laughs, /^aliases add more than 10000 values/],
    [
      'of an alias a thousand times',
      `a: &a [${'x,'.repeat(50)}]\nb: [${'*a,'.repeat(1000)}]`,
      /^aliases add more than 10000 values/,
    ],
    ['of a list that contains itself', 'a: &a [*a]', /^\*a contains itself$/],
    ['of a mapping that contains itself', 'a: &a { b: { c: *a } }', /^\*a contains itself$/],
    ['of open brackets', '['.repeat(900_000), /^values are nested more than 40 deep$/],
    ['of open braces', '{a: '.repeat(200_000), /^values are nested more than 40 deep$/],
    ['of dashes', '- '.repeat(100_000), /^values are nested more than 40 deep$/],
    [
      'of steps',
      Array.from({ length: 900 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
      /^values are nested more than 40 deep$/,
    ],
    ['41 deep', `${'['.repeat(41)}${']'.repeat(41)}`, /^values are nested more than 40 deep$/],
    ['of twenty thousand keys', Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n'), /^unknown key "k0"/],
    [
      'of twenty thousand keys in one line',
      `{${Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join(', ')}}`,
      /^unknown key "k0"/,
    ],
    ['of addresses without spaces', `[${'ftp://x'.repeat(100_000)}`, /./],
    ['of one word full of secrets', `a: ${'tok'.repeat(300_000)}`, /^unknown key "a"/],
    ['of nested defaults', `a: "${'${A:-'.repeat(100_000)}"`, /^values are nested more than 40 deep$/],
    ['of tabs', '\t'.repeat(900_000), /^the file is empty/],
  ])('%s', async (_, text, message) => {
    const begin = process.cpuUsage();
    const [first] = await problemsIn(text);
    expect(first?.message).toMatch(message);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1000).toBeLessThan(SOON_MS);
  });

  it('shows fifty problems and counts the rest', async () => {
    const error = (await load(
      `${HEAD}${Array.from({ length: 200 }, (_, at) => `  s${at}: { endpoint: nothing }`).join('\n')}\n`,
    ).catch((it: unknown) => it)) as ConfigError;
    expect(error.problems).toHaveLength(200);
    expect(error.message.split('\n')).toHaveLength(50 * 3 + 1);
    expect(error.message).toMatch(/\nand 150 more problems$/);
  });

  it('shows a part of a very long line', async () => {
    const [problem] = await problemsIn(
      `${HEAD}  a: { endpoint: pronet.group, for_each: { group: [${'"x", '.repeat(10_000)}"\\0"] } }\n`,
    );
    expect(problem?.excerpt.split('\n').every((line) => line.length < 140)).toBe(true);
    expect(problem?.excerpt.split('\n')[1]?.indexOf('^')).toBe(problem?.excerpt.split('\n')[0]?.indexOf('"\\0"'));
  });
});

describe('a line that is shown', () => {
  it.each([
    ['token: "ab#hush" # note', 'token: ****************'],
    ["password: 'ab # hush'", 'password: ***********'],
    ['token: $hush', 'token: *****'],
    ['token: ${T:-hush}', 'token: **********'],
    ['token: ${T}hush', 'token: ********'],
    ['token: ${T},hush', 'token: *********'],
    ['{ token: ${T}, url: x }', '{ token: ${T}, url: x }'],
    [`token:${' '.repeat(20)}hush`, `token:${' '.repeat(20)}****`],
    ['token: ${T} # note', 'token: ${T} # note'],
    ['{ token: "${T}", in_flight: 0 }', '{ token: "${T}", in_flight: 0 }'],
    ['webhook: https://hooks.example/hush', 'webhook: **************************'],
    ['- https://api.example/v1?a=1&api_key=hush&b', '- https://api.example/v1?a=1&api_key=******'],
    ['- postgres://db/x?sslmode=no&password=hu#sh', '- postgres://db/x?sslmode=no&password=*****'],
    ['authority: x', 'authority: *'],
  ])('%s hides what may be a secret, with its length', (line, shown) => {
    expect(masked(line)).toBe(shown);
  });

  it('and the message hide the query of an address', async () => {
    const error = await load(
      'service: { url: "https://api.example/?key=hush" }\nsyncs: { a: { endpoint: token.requests } }\n',
    ).catch((it: unknown) => String(it));
    expect(error).toContain('url is "https://api.example/?key=****"');
    expect(error).not.toContain('hush');
  });
});

describe('any text', () => {
  const settled = async (text: string): Promise<boolean> =>
    load(text, { A: 'a' }).then(
      () => true,
      (error: unknown) => error instanceof ConfigError,
    );
  const word = fc.constantFrom(
    'a',
    'b',
    ': ',
    ', ',
    '[',
    ']',
    '{',
    '}',
    '\n',
    '  ',
    '- ',
    '&a ',
    '*a',
    '"',
    "'",
    '|',
    '>',
    '#',
    '${A}',
    '${',
    '$$',
    '!!str ',
    '? ',
    '<<',
    '~',
    '%',
    '@',
    '\t',
    '---\n',
    '🜚',
    '\uD83D',
    '\\u0000',
  );

  it('loads or is refused with its place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 30 }), (words) => settled(words.join(''))),
      { numRuns: countOf(60, 150) },
    );
  });

  it('loads or is refused with its place as a sync', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 12 }), (words) =>
        settled(`${HEAD}  a: { endpoint: pronet.search.users, request: { count: 1 }, ${words.join('')} }`),
      ),
      { numRuns: countOf(60, 150) },
    );
  });

  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, 0, 1, -1, 1.5, true, 'x', '', '7d', '1%', 'today', '2024-01-01', 'urn:li:a:b'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          'type',
          'value',
          'file',
          'query',
          'column',
          'count',
          'forms',
          'date_from',
          'from',
          'to',
          'cron',
        ),
        tie('value'),
        { maxKeys: 3 },
      ),
    ),
  })).value;
  const key = fc.constantFrom(
    'request',
    'for_each',
    'window',
    'split_by',
    'after',
    'max_age',
    'lookback',
    'from',
    'schedule',
    'budget',
    'accept',
    'in_doubt',
  );

  it('of the right keys with any values loads or is refused with its place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('sec.search.companies', 'pronet.search.users', 'token.requests', 'pronet.user.education'),
        fc.dictionary(key, anything),
        (endpoint, sync) =>
          settled(
            JSON.stringify({
              service: { url: 'http://a.example' },
              warehouse: { url: 'embedded:x' },
              syncs: { a: { endpoint, ...sync } },
            }),
          ),
      ),
      { numRuns: countOf(120, 300) },
    );
  });
});
