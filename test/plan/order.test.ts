/** The order in which syncs run. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderSyncs, selectSyncs } from '../../src/plan/order.ts';

const sync = (name: string, ...after: string[]) => ({ name, after });
const names = (syncs: readonly { readonly name: string }[]): string => syncs.map(({ name }) => name).join('');

describe('the order of syncs', () => {
  it.each([
    ['that need no order', [sync('c'), sync('a'), sync('b')], 'cab'],
    ['with parents behind', [sync('a', 'c'), sync('b'), sync('c')], 'cab'],
    ['in a chain', [sync('a', 'b'), sync('b', 'c'), sync('c')], 'cba'],
    ['in a diamond', [sync('d', 'b', 'c'), sync('b', 'a'), sync('c', 'a'), sync('a')], 'abcd'],
  ])('%s', (_, syncs, expected) => {
    expect(names(orderSyncs(syncs))).toBe(expected);
  });

  it('names a cycle', () => {
    expect(() => orderSyncs([sync('x'), sync('a', 'b'), sync('b', 'c', 'x'), sync('c', 'b')])).toThrow(
      'the syncs form a cycle: b after c after b',
    );
  });

  it('puts every parent first, and each sync once', () => {
    const graph = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { minLength: 1, maxLength: 10 }).map((parents) =>
      // Parents come from the syncs below, so there is no cycle; shuffled, so that their order doesn't help.
      parents.map((of, at) => sync(`s${at}`, ...of.filter((it) => it < at).map((it) => `s${it}`))),
    );
    fc.assert(
      fc.property(
        graph.chain((syncs) => fc.shuffledSubarray(syncs, { minLength: syncs.length })),
        (syncs) => {
          const order = orderSyncs(syncs).map(({ name }) => name);
          expect(order.toSorted()).toEqual(syncs.map(({ name }) => name).toSorted());
          for (const { name, after } of syncs)
            for (const parent of after) expect(order.indexOf(parent)).toBeLessThan(order.indexOf(name));
        },
      ),
    );
  });
});

describe('the syncs that are named', () => {
  const syncs = [sync('people'), sync('schools', 'people'), sync('pages')];

  it('are all when none is', () => {
    expect(selectSyncs(syncs, [])).toEqual(syncs);
  });

  it('run parents first, without parents that are not named', () => {
    expect(selectSyncs(syncs, ['schools', 'people']).map(({ name }) => name)).toEqual(['people', 'schools']);
    expect(selectSyncs(syncs, ['schools']).map(({ name }) => name)).toEqual(['schools']);
  });

  it('must be there', () => {
    expect(() => selectSyncs(syncs, ['shools'])).toThrow(
      '"shools" is not a sync of this config; did you mean "schools"? allowed: people, schools, pages',
    );
  });
});
