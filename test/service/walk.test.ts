/** The walk through a log whose order and cursor edge are not documented, against every possible kind. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestBody } from '../../src/service/request-body.ts';
import type { PageStep } from '../../src/service/paging.ts';
import { instantText, microsOf } from '../../src/service/instant.ts';
import { logWalk } from '../../src/service/request-log/walk.ts';
import { countOf } from '../support/long.ts';

interface Row {
  readonly id: string;
  /** Microseconds since the log began. */
  readonly at: number;
}

interface Kind {
  readonly order: 'ascending' | 'descending';
  readonly edge: 'inclusive' | 'exclusive';
  /** Microseconds to which the service cuts a cursor (default: 1). */
  readonly unit?: number;
}

const KINDS: readonly (readonly [string, Kind])[] = (['ascending', 'descending'] as const).flatMap((order) =>
  (['inclusive', 'exclusive'] as const).map((edge) => [`${order}, ${edge}`, { order, edge }] as const),
);

const BEGAN = microsOf('2026-11-20T00:00:00.000000Z') ?? 0n;
const written = (at: number): string => instantText(BEGAN + BigInt(at));

/** A page of the log as a service of this kind gives it. */
function page(log: readonly Row[], { order, edge, unit = 1 }: Kind, request: RequestBody): unknown[] {
  const sent = typeof request['cursor'] === 'string' ? Number((microsOf(request['cursor']) ?? 0n) - BEGAN) : undefined;
  const cursor = sent === undefined ? undefined : Math.floor(sent / unit) * unit;
  const sign = order === 'ascending' ? 1 : -1;
  const isAfter = ({ at }: Row): boolean =>
    cursor === undefined || (edge === 'inclusive' ? sign * (at - cursor) >= 0 : sign * (at - cursor) > 0);
  return log
    .filter(isAfter)
    .toSorted((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : sign * (a.at - b.at)))
    .slice(0, Number(request['limit']))
    .map(({ id, at }) => ({ id, started_at: written(at) }));
}

interface Walked {
  readonly ids: readonly string[];
  readonly requests: readonly RequestBody[];
  readonly warnings: readonly string[];
}

/** Walks to the end, or fails when there is none. */
function walk(log: readonly Row[], kind: Kind, limit: number): Walked {
  const steps: PageStep[] = [];
  const warnings: string[] = [];
  const seen = new Set<string>();
  let open: readonly RequestBody[] = [{ limit }];
  while (open.length > 0) {
    expect(open).toHaveLength(1);
    expect(steps.length).toBeLessThanOrEqual((kind.unit === undefined ? 2 : 4) * log.length + 4);
    const request = open[0] as RequestBody;
    const items = page(log, kind, request);
    for (const item of items) seen.add((item as Row).id);
    steps.push({ request, items });
    const { requests, lowerBound } = logWalk.follow(steps, {});
    if (lowerBound !== undefined) warnings.push(lowerBound);
    open = requests;
  }
  return { ids: [...seen].toSorted(), requests: steps.map(({ request }) => request), warnings };
}

const logOf = (...instants: readonly number[]): Row[] =>
  instants.map((at, index) => ({ id: `r${String(index).padStart(3, '0')}`, at }));
const idsOf = (log: readonly Row[]): string[] => log.map(({ id }) => id).toSorted();

describe.each(KINDS)('a log that is %s', (_, kind) => {
  it('is read completely if no instant fills a page', () => {
    const logs = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 25 });
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 6 }), (instants, limit) => {
        const most = Math.max(0, ...instants.map((at) => instants.filter((it) => it === at).length));
        fc.pre(most < limit);
        const log = logOf(...instants);
        const walked = walk(log, kind, limit);
        expect(walked.ids).toEqual(idsOf(log));
        expect(walked.warnings).toEqual([]);
      }),
      { seed: 1, numRuns: countOf(150, 400) },
    );
  });

  it('loses rows only of instants that fill a page, and warns of each', () => {
    const logs = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 25 });
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), (instants, limit, apart) => {
        const log = logOf(...instants.map((at) => at * apart));
        const walked = walk(log, kind, limit);
        for (const { id, at } of log) {
          const isLost = !walked.ids.includes(id);
          if (isLost) expect(walked.warnings.join()).toContain(written(at));
        }
        const filling = log.filter(({ at }) => log.filter((it) => it.at === at).length >= limit);
        if (filling.length === 0) expect(walked.warnings).toEqual([]);
      }),
      { seed: 2, numRuns: countOf(200, 600) },
    );
  });

  it('has rows that tie across a page edge', () => {
    const log = logOf(1, 2, 3, 3, 3, 4, 5, 5, 6);
    const walked = walk(log, kind, 4);
    expect(walked.ids).toEqual(idsOf(log));
    expect(walked.warnings).toEqual([]);
  });

  it('has full pages of one instant: the walk steps over it and warns, also when it is the first', () => {
    for (const log of [
      logOf(3, 3, 3, 3, 3, 9),
      logOf(1, 3, 3, 3, 3, 3),
      logOf(3, 3, 3, 3, 3),
      logOf(3, 3, 3, 4, 4, 4, 5),
    ]) {
      const walked = walk(log, kind, 3);
      expect(walked.ids.filter((id) => log.find((row) => row.id === id)?.at !== 3)).toEqual(
        idsOf(log.filter(({ at }) => at !== 3)),
      );
      expect(walked.warnings.join()).toContain(written(3));
    }
  });

  it('has nothing, or a single row', () => {
    expect(walk([], kind, 3)).toMatchObject({ ids: [], warnings: [] });
    expect(walk(logOf(7), kind, 3)).toMatchObject({ ids: ['r000'], warnings: [] });
    expect(walk(logOf(7), kind, 1).ids).toEqual(['r000']);
  });
});

describe.each(KINDS)('a log that is %s and cuts cursors', (_, kind) => {
  it.each([1_000, 1_000_000])('to %i microseconds is read completely if two such units never fill a page', (unit) => {
    const logs = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 20 });
    fc.assert(
      fc.property(logs, fc.integer({ min: 2, max: 8 }), (instants, limit) => {
        const log = logOf(...instants.map((at) => (at * unit) / 10));
        const inUnit = (at: number): number => Math.floor(at / unit);
        const most = Math.max(0, ...log.map(({ at }) => log.filter((it) => inUnit(it.at) === inUnit(at)).length));
        fc.pre(2 * most < limit);
        const walked = walk(log, { ...kind, unit }, limit);
        expect(walked.ids).toEqual(idsOf(log));
        expect(walked.warnings).toEqual([]);
      }),
      { seed: 3, numRuns: countOf(120, 300) },
    );
  });

  it('to a minute is read completely, or the walk ends with the reason', () => {
    const log = logOf(...Array.from({ length: 12 }, (_row, index) => index * 7_000_000));
    const { ids, warnings } = walk(log, { ...kind, unit: 60_000_000 }, kind.order === 'ascending' ? 12 : 5);
    if (kind.order === 'ascending') expect([ids, warnings]).toEqual([idsOf(log), []]);
    else expect(warnings).toEqual([expect.stringContaining('the log returns no row near the cursor')]);
  });
});

it('a walk keeps the question and changes only the cursor', () => {
  const request = { limit: 2, start_time: '2026-11-19T00:00:00Z', end_time: '2026-11-21T00:00:00Z' };
  const items = page(logOf(1, 2, 3), { order: 'ascending', edge: 'inclusive' }, request);
  expect(logWalk.follow([{ request, items }], {})).toEqual({ requests: [{ ...request, cursor: written(1) }] });
});

it('a walk ends at a page without a readable row, and says that rows may follow', () => {
  for (const items of [[null], ['x'], [{}], [{ id: 1, started_at: written(1) }], [{ id: 'a', started_at: 'soon' }]]) {
    expect(logWalk.follow([{ request: { limit: 10 }, items }], {})).toEqual({
      requests: [],
      lowerBound: expect.stringMatching(/^no row of a page has a readable id and start/),
    });
  }
  expect(logWalk.follow([{ request: { limit: 10 }, items: [] }], {})).toEqual({ requests: [] });
  expect(logWalk.follow([], {})).toEqual({ requests: [] });
});

describe('instants', () => {
  it.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000000Z'],
    ['2026-11-20T10:00:00.1Z', '2026-11-20T10:00:00.100000Z'],
    ['2026-11-20T10:00:00.123456+02:00', '2026-11-20T08:00:00.123456Z'],
    ['2026-11-20T10:00:00.123456-0530', '2026-11-20T15:30:00.123456Z'],
    ['2026-11-20 10:00:00.123456789', '2026-11-20T10:00:00.123456Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
  ])('%s is read to the microsecond', (sent, at) => {
    const micros = microsOf(sent);
    expect(micros === undefined ? undefined : instantText(micros)).toBe(at);
  });

  it.each([
    '',
    'now',
    '2026-11-20',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20T10:00:00+99:99',
    '20261120T100000Z',
  ])('%j is none', (sent) => expect(microsOf(sent)).toBeUndefined());

  it('come back as they were written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }),
        (micros) => microsOf(instantText(micros)) === micros,
      ),
      { seed: 3, numRuns: countOf(200, 500) },
    );
  });
});
