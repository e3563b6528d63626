/** The greatest age of an answer: that of the input, else of the sync, and the smallest among equal requests. */
import { describe, expect, it } from 'vitest';
import type { SyncDefinition } from '../../src/config/definition.ts';
import { type MaxAgeOf, maxAgesOf, mayHaveInputAges } from '../../src/control/freshness/max-age.ts';
import type { Input } from '../../src/plan/input-row.ts';
import type { Inputs } from '../../src/plan/inputs.ts';
import { loadSync, problemsOf, unmarked } from '../config/written.ts';
import { syncOf } from './sync.ts';

const ages = (of: MaxAgeOf, ...names: readonly string[]): unknown[] => names.map((user) => of({ user })?.maxAgeMs);
const sync = (maxAgeMs: number | undefined): SyncDefinition => syncOf('photoshare.user', { maxAgeMs });
/** Inputs in blocks of two. */
const given = (inputs: readonly Input[]): Inputs => ({
  maySetAges: inputs.some(({ maxAgeMs }) => maxAgeMs !== undefined),
  async *blocks() {
    for (let start = 0; start < inputs.length; start += 2) yield inputs.slice(start, start + 2);
  },
});
const input = (user: string, maxAgeMs?: number, more: object = {}) => ({ fields: { user, ...more }, maxAgeMs });

describe('the age of an answer that serves', () => {
  it('is the input’s, else the sync’s', async () => {
    const inputs = [input('a', 1), input('b')];
    expect(ages(await maxAgesOf(sync(5), given(inputs)), 'a', 'b', 'c')).toEqual([1, 5, 5]);
    expect(ages(await maxAgesOf(sync(undefined), given(inputs)), 'a', 'b', 'c')).toEqual([1, undefined, undefined]);
    expect(ages(await maxAgesOf(sync(5), given([input('a')])), 'a')).toEqual([5]);
  });

  it('is the smallest among inputs with the same request, and no age is smaller than any', async () => {
    const defaults = { with_similar_users: true, timeout: 60 };
    const twice = [input('a', 7), input('a', 3, defaults), input('b', 7), input('b')];
    expect(ages(await maxAgesOf(sync(5), given(twice)), 'a', 'b')).toEqual([3, 5]);
    expect(ages(await maxAgesOf(sync(undefined), given(twice)), 'a', 'b')).toEqual([3, undefined]);
    expect((await maxAgesOf(sync(5), given(twice)))({ user: 'a', ...defaults })).toEqual({ maxAgeMs: 3 });
  });
});

describe('a config', () => {
  it('with ages in its inputs sends the same requests as one without', async () => {
    const of = (forEach: string) => loadSync(`  a: { endpoint: photoshare.user, for_each: ${forEach} }`);
    const [plain, aged] = [await of('[{ user: a }, { user: b }]'), await of('[{ user: a, max_age: 1d }, { user: b }]')];
    expect(aged.hash).toBe(plain.hash);
    expect(aged.forEach).toMatchObject([
      { from: 'list', rows: [{ user: 'a' }, { user: 'b' }], maxAgesMs: new Map([[0, 86_400_000]]) },
    ]);
    expect([plain, aged].map(mayHaveInputAges)).toEqual([false, true]);
    expect(mayHaveInputAges(await of('{ user: [a] }'))).toBe(false);
    expect(mayHaveInputAges(await of('{ user: { file: in.txt } }'))).toBe(false);
    expect(mayHaveInputAges(await of('{ user: { file: in.csv } }'))).toBe(true);
    expect(mayHaveInputAges(await of('{ query: select 1 }'))).toBe(true);
  });

  it.each([
    [
      '[{ user: a, max_age: «soon }]',
      'max_age is "soon"; allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w',
    ],
    [
      '[{ user: a, max_age: «7 }]',
      'max_age is 7; allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w',
    ],
    [
      '[{ user: a, max_age: «[1d] }]',
      'max_age is a list; allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w',
    ],
    ['[{ user: a, max_age: «0h }]', 'max_age is "0h"; leave it empty to use the max_age of the sync'],
    [
      '[«{ max_age: 1d }]',
      'an input is max_age alone; allowed is a mapping of request fields, or write for_each: { FIELD: [...] }',
    ],
    [
      '{ user: [a], «max_age: [1d] }',
      'max_age is not a request field; write it next to for_each, or in an input: [{ FIELD: VALUE, max_age: 1d }]',
    ],
  ])('of %s is refused', async (forEach, message) => {
    const { text, places } = unmarked(`  a: { endpoint: photoshare.user, for_each: ${forEach} }`);
    expect(await problemsOf(text)).toEqual([`${places[0]}: ${message}`]);
  });
});
