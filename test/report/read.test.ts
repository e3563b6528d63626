/** What a report reads of a warehouse, against figures reckoned in the head. */
import { load } from 'cheerio';
import { expect, it } from 'vitest';
import { reportPage } from '../../src/report/page.ts';
import { emptyReport, readReport } from '../../src/report/read-report.ts';
import { HOUR_MS } from '../flow/clock.ts';
import { select } from '../flow/rows.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { enterHistory, EVIL } from './history.ts';

const NOW = new Date('2026-11-21T14:30:00Z');
const options = { now: NOW, redact: (text: string) => text };
const sum = (values: readonly (number | null)[]): number => values.reduce<number>((all, it) => all + (it ?? 0), 0);

anyWarehouse('a report', (open) => {
  it('of a schema without rows is the empty one', async () => {
    const warehouse = await open();
    const empty = emptyReport('sluice', NOW);
    expect(await readReport(warehouse, options)).toEqual({
      ...empty,
      quarantine: { byDay: empty.days.map(() => 0), reasons: [] },
    });
  });

  it('of ninety days shows their contents', async () => {
    const warehouse = await open();
    await enterHistory(warehouse, NOW);
    const report = await readReport(warehouse, options);
    expect([report.days[0], report.days.at(-1), report.days.length]).toEqual(['2026-08-24', '2026-11-21', 90]);

    expect(
      report.money?.endpoints.map(({ endpoint, points, requests, byDay }) => [
        endpoint,
        points,
        requests,
        new Set(byDay),
      ]),
    ).toEqual([
      ['sec.search.companies', 270, 90, new Set([3])],
      ['webparser.parse', 180, 90, new Set([2])],
    ]);
    expect(report.money?.chargedFailures).toEqual({ requests: 1, points: 2 });
    const [balance] = report.money?.balances ?? [];
    expect([balance?.points, balance?.byDay[0], balance?.byDay[89]]).toEqual([9550, 9995, 9550]);
    expect(balance?.pace).toBeCloseTo(5, 6);
    expect(balance?.runsOutOn).toBe('2032-02-13');

    expect(report.syncs.map(({ sync, state, runs, error }) => [sync, state, runs, error])).toEqual([
      ['filings', 'complete', 90, null],
      ['pages', 'failed', 90, EVIL],
    ]);
    expect(report.syncs[0]?.byDay.map((it) => it === 'complete').indexOf(false)).toBe(40);
    expect(report.syncs[1]?.byDay.indexOf('failed')).toBe(89);
    expect(report.syncs[1]?.refreshedAt?.toISOString()).toBe('2026-11-20T06:02:00.000Z');

    expect(report.coverage).toMatchObject([{ sync: 'filings', complete: 87, lowerBound: 3, open: 0 }]);
    expect(
      report.truncated.map(({ returned, asked, asOf }) => [returned, asked, asOf.toISOString().slice(0, 10)]),
    ).toEqual([
      [100, 100, '2026-10-23'],
      [100, 100, '2026-09-23'],
      [100, 100, '2026-08-24'],
    ]);

    const growth = new Map(report.growth.map(({ table, byDay }) => [table, [byDay[0], byDay[89]]]));
    expect([...growth]).toEqual(
      expect.arrayContaining([
        ['sec_filings', [7, 185]],
        ['web_pages', [1, 90]],
        ['fact_request_costs', [2, 180]],
      ]),
    );
    expect(growth.size).toBe(3);

    expect(
      report.quality.map(({ sync, received, loaded, quarantined, openQuarantine, lastFailed }) => [
        sync,
        received,
        loaded,
        quarantined,
        openQuarantine,
        lastFailed,
      ]),
    ).toEqual([
      ['filings', 180, 90, 90, 0, 0],
      ['pages', 178, 89, 89, 4, 1],
    ]);
    expect(sum(report.quarantine.byDay)).toBe(9);
    expect(report.quarantine.reasons).toMatchObject([{ sync: 'pages', reason: EVIL, entries: 4 }]);
    expect(report.drift).toMatchObject([{ path: EVIL, seen: 7 }]);
    expect(report.calls).toEqual([
      { endpoint: 'webparser.parse', calls: 89, medianMs: 1044, p95Ms: 1083.6, longestMs: 1088 },
      { endpoint: 'sec.search.companies', calls: 90, medianMs: 100, p95Ms: 100, longestMs: 100 },
    ]);
    expect(report.slowest.map(({ tookMs }) => tookMs)).toEqual(Array.from({ length: 15 }, (_, place) => 1088 - place));
    expect(report.slowest[0]).toMatchObject({ sync: 'pages', input: `${EVIL}88`, bytes: 2000, status: 200 });
    expect(reportPage(report)).not.toMatch(/<script/i);
  });

  it('of the quickstart has something in every section but the balance, and its sums are the log’s', async () => {
    const warehouse = await open();
    const { tookMs } = await runQuickstart(warehouse, '2026-03-06T12:00:00Z');
    // Its requests are of the last day of the report.
    expect(tookMs).toBeLessThan(HOUR_MS);
    const report = await readReport(warehouse, { ...options, now: new Date('2026-03-06T18:00:00Z') });
    const $ = load(reportPage(report));
    // The sandbox’s token has no limit.
    expect($('main section[id]:has(p.empty)').attr('id')).toBe('balance');
    expect($('main p.empty')).toHaveLength(1);
    expect($('main section[id] table').length).toBeGreaterThan(7);
    const [logged] = await select<{ points: number; rows: number }>(
      warehouse,
      'select sum(cost) filter (where is_paid)::float8 as points, count(*)::float8 as rows from sluice.fact_request_costs',
    );
    expect(report.money?.endpoints.reduce((all, { points }) => all + points, 0)).toBe(logged?.points);
    expect(report.growth.find(({ table }) => table === 'fact_request_costs')?.byDay.at(-1)).toBe(logged?.rows);
    expect(report.syncs.length).toBeGreaterThanOrEqual(10);
    expect([report.days.length, report.days.at(-1)]).toEqual([14, '2026-03-06']);
  });

  it('leaves out what came before its days, and takes a day’s balance over to days without requests', async () => {
    const warehouse = await open();
    await enterHistory(warehouse, new Date('2026-10-02T12:00:00Z'));
    const report = await readReport(warehouse, options);
    const days = 40;
    expect(report.money?.endpoints[0]?.points).toBe(3 * days);
    expect(report.syncs.map(({ runs }) => runs)).toEqual([days, days]);
    expect(report.growth.find(({ table }) => table === 'sec_filings')?.byDay[0]).toBe(185 - 2 * (days - 1));
    const [balance] = report.money?.balances ?? [];
    expect(balance?.byDay[days - 1]).toBe(9550);
    expect(balance?.byDay[days]).toBeNull();
  });

  it('keeps secrets out', async () => {
    const warehouse = await open();
    await enterHistory(warehouse, NOW);
    const redact = (text: string): string => text.replaceAll('pwned', '[redacted]');
    expect(JSON.stringify(await readReport(warehouse, { now: NOW, redact }))).not.toContain('pwned');
  });
});
