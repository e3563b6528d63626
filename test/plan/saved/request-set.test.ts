/** The description of a set of requests: equal for equal sets, different otherwise, and honest about what differs. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameSet, onlyIn, RequestSet, SAMPLE } from '../../../src/plan/saved/request-set.ts';
import { digestOf } from '../../../src/service/canonical-json.ts';

const summaryOf = (names: Iterable<string>) => {
  const set = new RequestSet();
  for (const name of names) set.add(digestOf(name), () => name);
  return set.summary();
};
const numbers = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);

describe('the summary of a set of requests', () => {
  it('is the same in any order, and another one for any other set', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (one, other) => {
        expect(summaryOf(one)).toEqual(summaryOf(one.toReversed()));
        const isSame = new Set(one).symmetricDifference(new Set(other)).size === 0;
        expect(isSameSet(summaryOf(one), summaryOf(other))).toBe(isSame);
      }),
    );
  });

  it('of small sets shows exactly what differs', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (one, other) => {
        const [before, after] = [summaryOf(one), summaryOf(other)];
        expect(new Set(onlyIn(before, after))).toEqual(new Set(one).difference(new Set(other)));
        expect(new Set(onlyIn(after, before))).toEqual(new Set(other).difference(new Set(one)));
      }),
    );
  });

  it('of large sets has a limited size, shows some of many changes and never a wrong one', () => {
    const all = numbers(20 * SAMPLE);
    const others = all.filter((_, at) => at % 7 !== 0);
    const [before, after] = [summaryOf(all), summaryOf([...others, 'new'])];
    expect([before.sample.length, after.sample.length]).toEqual([SAMPLE, SAMPLE]);
    const removed = onlyIn(before, after);
    expect(removed.length).toBeGreaterThan(50);
    expect(removed.filter((it) => others.includes(it))).toEqual([]);
    expect(onlyIn(after, before).filter((it) => it !== 'new')).toEqual([]);
  });

  it('of large sets that differ in one request differs too', () => {
    const all = numbers(5 * SAMPLE);
    expect(isSameSet(summaryOf(all), summaryOf([...all.slice(1), 'new']))).toBe(false);
    expect(isSameSet(summaryOf(all), summaryOf(all.toReversed()))).toBe(true);
  });

  it('reads the text of a request only if the sample may have it', () => {
    const set = new RequestSet();
    let texts = 0;
    const textOf = (name: string) => (): string => {
      texts += 1;
      return name;
    };
    for (const name of numbers(50 * SAMPLE)) set.add(digestOf(name), textOf(name));
    expect(set.summary().count).toBe(50 * SAMPLE);
    expect(texts).toBeLessThan(10 * SAMPLE);
  });
});
