/** The order in which syncs run. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderSyncs } from '../../src/config/order.ts';
import { selectSyncs, selectSyncsWithDays } from '../../src/plan/order.ts';
import { syncOf } from './sync.ts';

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

  it('run grandparents first, also without the parents between', () => {
    const chain = [sync('groups', 'schools'), sync('schools', 'people'), sync('people')];
    expect(selectSyncs(chain, ['groups', 'people']).map(({ name }) => name)).toEqual(['people', 'groups']);
  });

  it('must be there', () => {
    expect(() => selectSyncs(syncs, ['shools'])).toThrow(
      '"shools" is not a sync of this config; did you mean "schools"? allowed: people, schools, pages',
    );
  });
});

describe('the syncs of a run with --from or --to', () => {
  const filings = syncOf('sec.search.companies', {
    name: 'filings',
    request: { count: 10 },
    window: { from: '2024-01-01', to: 'today' },
  });
  const fixed = syncOf('sec.search.companies', {
    name: 'fixed',
    request: { count: 10, date_from: '2024-01-01', date_to: '2024-01-31' },
  });
  const people = syncOf('pronet.search.users', { name: 'people', request: { count: 10 } });
  const log = syncOf('token.requests', { name: 'log' });
  const hour = syncOf('token.requests', { name: 'hour', request: { end_time: '2024-05-01T11:00:00Z' } });
  const TIMES = { start_time: '2024-05-01T10:00:00Z' };
  const inputs = syncOf('token.requests', { name: 'inputs', forEach: [{ from: 'list', rows: [TIMES], where: '1:1' }] });
  const all = [people, filings, fixed, log, hour, inputs];
  const DAYS = { from: '2024-02-01' };
  const select = (syncs: typeof all, wanted: readonly string[], days: object) => {
    const { selected, leftOut } = selectSyncsWithDays(syncs, wanted, days);
    return { selected: selected.map(({ name }) => name), leftOut };
  };

  it('are those whose requests the days change, and the others are left out', () => {
    expect(select(all, [], DAYS)).toEqual({
      selected: ['filings', 'log'],
      leftOut: ['people', 'fixed', 'hour', 'inputs'],
    });
    expect(select(all, [], { to: '2024-02-01' }).selected).toEqual(['filings', 'log']);
    expect(select(all, ['log', 'filings'], DAYS)).toEqual({ selected: ['filings', 'log'], leftOut: [] });
    expect(select(all, [], {})).toEqual({ selected: all.map(({ name }) => name), leftOut: [] });
    expect(select([], [], DAYS)).toEqual({ selected: [], leftOut: [] });
  });

  it('must take days if they are named, and one must if none is', () => {
    expect(() => select(all, ['filings', 'hour', 'people'], DAYS)).toThrow(
      '--from and --to have no effect on people, hour; allowed is a sync with a window, or one of the request log without fixed times',
    );
    expect(() => select([people], [], DAYS)).toThrow('--from and --to have no effect on people;');
  });
});
