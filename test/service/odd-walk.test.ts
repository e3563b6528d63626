/** The walk through logs with every oddity that the contract does not rule out: no row lost, and always an end. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countOf } from '../support/long.ts';
import { type Oddities, oddPage, type OddRow, textAt, walkThrough } from './odd-log.ts';

const rowsAt = (instants: readonly number[]): OddRow[] =>
  instants.map((at, index) => ({ id: `r${String(index).padStart(4, '0')}`, at }));
const idsOf = (rows: readonly OddRow[]): string[] => rows.map(({ id }) => id);

const orders = fc.record({
  order: fc.constantFrom('ascending' as const, 'descending' as const),
  edge: fc.constantFrom('inclusive' as const, 'exclusive' as const),
});
const LIMIT = 8;
/** The most rows that are written as one instant, or as so many instants in a row. */
function mostTies(rows: readonly OddRow[], digits: number, instants: number): number {
  const units = rows.map(({ at }) => Math.floor(at / 10 ** (6 - digits)));
  return Math.max(0, ...units.map((unit) => units.filter((it) => it >= unit && it < unit + instants).length));
}

/** True if starts both rise and fall. */
function isMixed(page: readonly unknown[]): boolean {
  const starts = page.map((row) => (row as { readonly started_at: string }).started_at);
  const steps = starts.slice(1).map((it, n) => (it > (starts[n] ?? '') ? 1 : it < (starts[n] ?? '') ? -1 : 0));
  return steps.includes(1) && steps.includes(-1);
}

describe('a walk', () => {
  it('finds every row, however instants are written, cursors read and pages sized', () => {
    const logs = fc.record({
      instants: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 40 }),
      apart: fc.constantFrom(1, 300, 1_000, 400_000),
      kind: orders,
      digits: fc.constantFrom(0 as const, 3 as const, 6 as const),
      cutsCursor: fc.boolean(),
      offset: fc.constantFrom('Z', '+02:00', '-09:30', ''),
      pageSize: fc.constantFrom(undefined, 3, 5),
      ignoresWindow: fc.boolean(),
      hasWindow: fc.boolean(),
      seed: fc.nat(1000),
    });
    fc.assert(
      fc.property(
        logs,
        ({ instants, apart, kind, digits, cutsCursor, offset, pageSize, ignoresWindow, hasWindow, seed }) => {
          const rows = rowsAt(instants.map((at) => at * apart));
          // A full page may hide further rows; if the cursor is truncated too, it includes the rows of the next instant.
          const readAgain = mostTies(rows, digits, 2);
          const size = pageSize ?? LIMIT;
          fc.pre((cutsCursor ? readAgain : mostTies(rows, digits, 1)) < size);
          const odd: Oddities = {
            ...kind,
            digits,
            cutsCursor,
            offset,
            ignoresWindow,
            ...(pageSize !== undefined && { pageSize }),
            shortBy: (reading) => ((reading * 7 + seed) % 5 === 0 ? Math.max(0, size - readAgain - 1) : 0),
          };
          // A log that writes fewer digits than it stores is requested in full units of what it writes.
          const [from, to] = [10 * apart, 30 * apart].map((at) => Math.floor(at / 1_000_000) * 1_000_000) as [
            number,
            number,
          ];
          const window = hasWindow ? { start_time: textAt(from), end_time: textAt(to) } : {};
          const due = hasWindow ? rows.filter(({ at }) => at >= from && at <= to) : rows;
          const { ids, warnings } = walkThrough(rows, odd, { limit: LIMIT, ...window }, 6 * rows.length + 8);
          expect(idsOf(due).filter((id) => !ids.has(id))).toEqual([]);
          expect(warnings).toEqual([]);
        },
      ),
      { seed: 11, numRuns: countOf(1500, 4000) },
    );
  });

  const KINDS = (['ascending', 'descending'] as const).flatMap((order) =>
    (['inclusive', 'exclusive'] as const).map((edge) => ({ order, edge })),
  );
  const SECOND = 1_000_000;
  const history = rowsAt(Array.from({ length: 50 }, (_, n) => n * SECOND));

  it.each(KINDS)('ends in a log that logs its own readings ($order, $edge)', (kind) => {
    const readings = (count: number): OddRow[] =>
      Array.from({ length: count }, (_, n) => ({
        id: `reading ${n}`,
        at: 60 * SECOND + n * 1000,
        endpoint: n % 2 === 0 ? '/token/requests' : 'token.requests',
      }));
    const earlier = [
      ...history,
      { id: 'earlier', at: 7_500_000, endpoint: 'https://service.example/token/requests?limit=1' },
    ];
    const { ids, requests } = walkThrough(earlier, { ...kind, grown: readings }, { limit: LIMIT }, 15);
    expect(idsOf(earlier).filter((id) => !ids.has(id))).toEqual([]);
    expect(requests.length).toBeLessThan(15);
    // Many in a row are history, also where a page has room for no others.
    const busy = [...history, ...readings(40), { id: 'last', at: 120 * SECOND }];
    expect(walkThrough(busy, { ...kind, pageSize: 5 }, { limit: LIMIT }, 60).ids.size).toBe(busy.length);
    // On full pages, only those are the walk's own that began after it.
    const later = walkThrough(busy, kind, { limit: 3 }, 200, textAt(200 * SECOND));
    expect(later.ids.size).toBe(busy.length);
    const own = walkThrough(history, { ...kind, grown: readings }, { limit: 3 }, 100, textAt(55 * SECOND));
    expect(idsOf(history).filter((id) => !own.ids.has(id))).toEqual([]);
  });

  it.each(KINDS)('ends in a log that grows as fast as it is read, with all that was there ($order, $edge)', (kind) => {
    const traffic = (readings: number): OddRow[] =>
      Array.from({ length: readings * 2 }, (_, n) => ({ id: `new ${n}`, at: 60 * SECOND + n * 3 * SECOND }));
    const odd = { ...kind, grown: traffic };
    const { ids } = walkThrough(history, odd, { limit: LIMIT }, 40, textAt(60 * SECOND));
    expect(idsOf(history).filter((id) => !ids.has(id))).toEqual([]);
    // A walk in ascending order also reads rows of the next minute, which arrive while it reads.
    if (kind.order === 'ascending') expect(ids.has('new 20')).toBe(true);
  });

  it('reads a log that is not paged once, and once more to see that nothing follows', () => {
    for (const kind of KINDS) {
      const { ids, requests, warnings } = walkThrough(history, { ...kind, isUnpaged: true }, { limit: LIMIT }, 3);
      expect({ found: ids.size, asked: requests.length, warnings }).toEqual({ found: 50, asked: 2, warnings: [] });
    }
  });

  it.each([
    { title: 'repeats its first row at the end', adds: (page: readonly unknown[]) => [...page, ...page.slice(0, 1)] },
    { title: 'repeats its last row at the start', adds: (page: readonly unknown[]) => [...page.slice(-1), ...page] },
    { title: 'repeats every row', adds: (page: readonly unknown[]) => page.flatMap((row) => [row, row]) },
    { title: 'has an unreadable item too', adds: (page: readonly unknown[]) => [null, ...page] },
  ])('is not ended by a page that is longer than requested because it $title', ({ adds }) => {
    for (const kind of KINDS) {
      const { ids, warnings } = walkThrough(history, { ...kind, adds }, { limit: 4 }, 400);
      expect({ missing: idsOf(history).filter((id) => !ids.has(id)), warnings }).toEqual({ missing: [], warnings: [] });
      const stuck = walkThrough(history, { ...kind, adds, ignoresCursor: true }, { limit: 4 }, 400);
      expect(stuck.ids.size >= history.length || stuck.warnings.length > 0).toBe(true);
    }
  });

  it('reports that it saw only a part if the service ignores the cursor', () => {
    for (const kind of KINDS) {
      const { warnings } = walkThrough(history, { ...kind, ignoresCursor: true }, { limit: LIMIT }, 6);
      expect(warnings).toEqual([expect.stringContaining('same full page for every cursor')]);
      const all = walkThrough(history.slice(0, 5), { ...kind, ignoresCursor: true }, { limit: LIMIT }, 6);
      expect({ found: all.ids.size, warnings: all.warnings }).toEqual({ found: 5, warnings: [] });
    }
  });

  it('skips rows outside of its window if the service ignores the window', () => {
    const long = rowsAt(Array.from({ length: 4000 }, (_, n) => n * SECOND));
    for (const kind of KINDS) {
      const window = { start_time: textAt(2000 * SECOND), end_time: textAt(2020 * SECOND) };
      const { ids, requests } = walkThrough(long, { ...kind, ignoresWindow: true }, { limit: LIMIT, ...window }, 8);
      expect(long.filter(({ id, at }) => at >= 2000 * SECOND && at <= 2020 * SECOND && !ids.has(id))).toEqual([]);
      expect(requests.length).toBeLessThanOrEqual(6);
    }
  });

  it('warns of an instant that fills a page of the service’s own size, once that is known', () => {
    for (const kind of KINDS) {
      const log = rowsAt([1, 2, 3, ...Array.from({ length: 9 }, () => 50), 60, 61, 62, 63, 64]);
      const { ids, warnings } = walkThrough(log, { ...kind, pageSize: 4 }, { limit: LIMIT }, 30);
      expect(log.filter(({ id, at }) => at !== 50 && !ids.has(id))).toEqual([]);
      expect(warnings.join()).toContain(textAt(50));
      // The first page is one of these: only the following pages show that it was truncated.
      const first = rowsAt([
        ...Array.from({ length: 9 }, () => 50),
        ...(kind.order === 'ascending' ? [60, 61] : [10, 11]),
      ]);
      expect(walkThrough(first, { ...kind, pageSize: 4 }, { limit: LIMIT }, 30).warnings.join()).toContain(textAt(50));
    }
    // Five requests at one time fill no page.
    for (const kind of KINDS)
      expect(walkThrough(rowsAt([50, 50, 50, 50, 50]), kind, { limit: LIMIT }, 9).warnings).toEqual([]);
  });

  it('writes its cursor as the log writes instants', () => {
    for (const [offset, cursor] of [
      ['Z', '2026-11-20T00:00:02.999999Z'],
      ['+02:00', '2026-11-20T02:00:02.999999+02:00'],
      ['-09:30', '2026-11-19T14:30:02.999999-09:30'],
      ['', '2026-11-20T00:00:02.999999'],
    ] as const) {
      const odd = { order: 'ascending', edge: 'inclusive', offset } as const;
      expect(walkThrough(history.slice(0, 4), odd, { limit: LIMIT }, 9).requests[1]).toEqual({ limit: LIMIT, cursor });
    }
  });

  it.each(KINDS)('finds every row of a log that is sorted by the ends of requests ($order, $edge)', (kind) => {
    const logs = fc.record({
      rows: fc.array(fc.tuple(fc.nat(300), fc.nat(60)), { maxLength: 60 }),
      pageSize: fc.constantFrom(undefined, 5),
      hasWindow: fc.boolean(),
      cutsCursor: fc.boolean(),
    });
    fc.assert(
      fc.property(logs, ({ rows: drawn, pageSize, hasWindow, cutsCursor }) => {
        const rows = drawn.map(([at, lasts], n) => ({ id: `r${n}`, at: at * SECOND, lasts: lasts * SECOND }));
        // The parts of a page overlap by a second.
        fc.pre(mostTies(rows, 0, 4) < (pageSize ?? LIMIT));
        const cut = cutsCursor ? { cursorDigits: 0 } : {};
        const odd = { ...kind, isByEnd: true, ...cut, ...(pageSize !== undefined && { pageSize }) };
        const window = hasWindow ? { start_time: textAt(50 * SECOND), end_time: textAt(250 * SECOND) } : {};
        const due = hasWindow ? rows.filter(({ at }) => at >= 50 * SECOND && at <= 250 * SECOND) : rows;
        // A page whose starts only rise or only fall looks like one of any other log.
        fc.pre(isMixed(oddPage(rows, odd, { limit: LIMIT, ...window }, 0)));
        const { ids, warnings } = walkThrough(rows, odd, { limit: LIMIT, ...window }, 8 * rows.length + 8);
        expect(idsOf(due).filter((id) => !ids.has(id))).toEqual([]);
        expect(warnings).toEqual([]);
      }),
      { seed: 4, numRuns: countOf(400, 1000) },
    );
  });

  it.each(KINDS)('says so if it cannot read all rows of a log that is sorted by the ends ($order, $edge)', (kind) => {
    const burst = Array.from({ length: 40 }, (_, n) => ({ id: `r${n}`, at: n * 1000, lasts: ((n * 7) % 11) * SECOND }));
    const { ids, warnings } = walkThrough(burst, { ...kind, isByEnd: true }, { limit: LIMIT }, 40);
    expect(ids.size).toBeLessThan(40);
    expect(warnings).toEqual([expect.stringContaining('not in the order of their start')]);
    const spread = burst.map((row, n) => ({ ...row, at: n * SECOND }));
    const window = { start_time: textAt(0), end_time: textAt(20 * SECOND) };
    const ignoring = { ...kind, isByEnd: true, ignoresWindow: true };
    expect(walkThrough(spread, ignoring, { limit: LIMIT, ...window }, 40).warnings.join()).toContain('cannot be split');
  });

  it.each(KINDS)('does not take pages that are longer than requested for the complete log ($order, $edge)', (kind) => {
    const logs = fc.record({
      rows: fc.array(fc.tuple(fc.nat(300), fc.nat(60)), { minLength: 10, maxLength: 60 }),
      more: fc.constantFrom(1, 2),
      isByEnd: fc.boolean(),
      cutsCursor: fc.boolean(),
    });
    fc.assert(
      fc.property(logs, ({ rows: drawn, more, isByEnd, cutsCursor }) => {
        const rows = drawn.map(([at, lasts], n) => ({ id: `r${n}`, at: at * SECOND + n, lasts: lasts * SECOND }));
        fc.pre(mostTies(rows, 0, 4) < LIMIT);
        const odd = { ...kind, more, isByEnd, ...(cutsCursor && { cursorDigits: 0 }) };
        fc.pre(!isByEnd || isMixed(oddPage(rows, odd, { limit: LIMIT }, 0)));
        const { ids, requests, warnings } = walkThrough(rows, odd, { limit: LIMIT }, 8 * rows.length + 8);
        // Two equal pages look like a log that is not paged.
        const [first, second] = [0, 1].map((n) => oddPage(rows, odd, requests[n] ?? {}, n));
        fc.pre(!isDeepStrictEqual(first, second));
        if (ids.size < rows.length) expect(warnings).not.toEqual([]);
      }),
      { seed: 6, numRuns: countOf(400, 1000) },
    );
  });

  it.each(KINDS)('of a log that cuts cursors loses no row without a warning ($order, $edge)', (kind) => {
    const logs = fc.record({
      instants: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 40 }),
      digits: fc.constantFrom(0 as const, 3 as const),
      limit: fc.integer({ min: 2, max: 8 }),
    });
    fc.assert(
      fc.property(logs, ({ instants, digits, limit }) => {
        const rows = rowsAt(instants.map((at) => (at * 10 ** (6 - digits)) / 10));
        const { ids, warnings } = walkThrough(rows, { ...kind, cursorDigits: digits }, { limit }, 8 * rows.length + 8);
        if (ids.size < rows.length) expect(warnings).not.toEqual([]);
      }),
      { seed: 5, numRuns: countOf(700, 2000) },
    );
  });
});
