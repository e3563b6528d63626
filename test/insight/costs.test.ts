/** The views of costs and what is read from them, on histories of 90 days, against sums added up by hand. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { NOT_SPENT, readCostCells, readCosts } from '../../src/insight/costs.ts';
import { readReconciliation } from '../../src/recovery/reconcile/reconcile.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { balanceViews } from '../../src/warehouse/schema/views/balance.ts';
import { priceViews } from '../../src/warehouse/schema/views/prices.ts';
import { requestCostViews } from '../../src/warehouse/schema/views/request-costs.ts';
import { syncCostViews } from '../../src/warehouse/schema/views/sync-costs.ts';
import { select } from '../flow/rows.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { expectCosts, expectReconciled, sum } from './cost-agreement.ts';
import { BEGAN, DAY_MS, fill, histories, machinery, type Request, type Row, writeHistory } from './cost-history.ts';
import { charged, chargedFailures, dayOf } from './cost-sums.ts';

const NOW = new Date(BEGAN + 100 * DAY_MS);
const COST_VIEWS = [...requestCostViews, ...syncCostViews, ...priceViews, ...balanceViews];
const VIEWS = COST_VIEWS.map(({ name }) => name);

/** An answered request for a group. */
const asked = (id: number, more: Partial<Request>): Request => ({
  id,
  runId: 1,
  sync: 'groups',
  isLookup: false,
  endpoint: 'pronet.group',
  key: `k${id}`,
  at: BEGAN,
  points: 4,
  answer: { loaded: 1, newRows: 1, quarantined: 0 },
  ...more,
});

/** A charged row of the log, of no request if none is given. */
const logged = (place: number, more: Partial<Row>): Row => ({
  id: `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
  at: BEGAN,
  tellsStart: true,
  endpoint: 'pronet.group',
  logged: '/api/pronet/group',
  plan: 'p',
  token: null,
  cost: 1,
  isPaid: true,
  status: 200,
  duration: 1,
  items: 1,
  pointsLeft: null,
  request: undefined,
  ...more,
});

anyWarehouse('costs', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  const rowsOf = <T>(statement: string): Promise<T[]> => select<T>(warehouse, statement);

  it('are nothing, and no error, in an empty warehouse', async () => {
    for (const view of VIEWS) {
      const rows = await rowsOf(`select * from sluice.${view}`);
      expect([view, rows.length]).toEqual([view, view === 'dim_endpoint' ? 10 : 0]);
    }
    expect(await readCosts(warehouse, undefined, NOW)).toEqual({
      since: null,
      total: { requests: 0, points: 0, failedRequests: 0, failedPoints: 0, firstDay: null, lastDay: null },
      verification: NOT_SPENT,
      days: [],
      endpoints: [],
      plans: [],
      syncs: [],
      runs: [],
      savings: [],
      failures: [],
      balances: [],
    });
  });

  it('are the sums of any log, whatever it leaves out', async () => {
    await fc.assert(
      fc.asyncProperty(histories(40), (history) => expectCosts(warehouse, history)),
      { numRuns: countOf(12, 25) },
    );
  });

  it('are reconciled by day as status reconciles them', async () => {
    await fc.assert(
      fc.asyncProperty(histories(40), (history) => expectReconciled(warehouse, history)),
      { numRuns: countOf(8, 15) },
    );
  });

  it('are the sums of a log of 90 days, all or since a day', async () => {
    const [history] = fc.sample(histories(2500, 2500), { seed: 5, numRuns: 1 });
    if (!history) throw new Error('no history was made');
    await expectCosts(warehouse, history);
    const { rows } = history;
    expect(new Set(rows.map(dayOf)).size).toBe(90);

    const failures = new Set(chargedFailures(history));
    for (const since of [undefined, '2026-02-15']) {
      const counted = rows.filter((row) => dayOf(row) >= (since ?? ''));
      const found = await readCosts(warehouse, since, NOW);
      const points = sum(counted, charged);
      expect(found.total).toMatchObject({ requests: counted.length, points, lastDay: '2026-03-31' });
      for (const part of [found.days, found.endpoints, found.plans, found.syncs])
        expect(sum<{ readonly points: number }>(part, (it) => it.points)).toBe(points);
      const cells = await readCostCells(warehouse, since);
      expect(sum(cells, (cell) => cell.requests)).toBe(counted.length);
      expect(sum(found.failures, (it) => it.points)).toBe(
        sum(
          counted.filter(({ id }) => failures.has(id)),
          charged,
        ),
      );
    }
    const { syncs } = await readCosts(warehouse, undefined, NOW);
    expect(syncs.toSorted((a, b) => (`${a.sync} ${a.endpoint}` < `${b.sync} ${b.endpoint}` ? -1 : 1))).toEqual(
      await rowsOf(
        `select sync, endpoint, requests::float8 as requests, points::float8 as points, failed_requests::float8 as "failedRequests",
           failed_points::float8 as "failedPoints", ledger_points::float8 as "ledgerPoints", answers::float8 as answers, loaded::float8 as loaded,
           new_rows::float8 as "newRows", points_per_loaded as "pointsPerLoaded", points_per_new_row as "pointsPerNewRow",
           answer_points::float8 as "answerPoints", nothing_new_points::float8 as "nothingNewPoints"
         from sluice.sync_costs order by (sync || ' ' || endpoint) collate "C"`,
      ),
    );
  });

  it('have complete dimensions', async () => {
    for (const dimension of ['endpoint', 'plan', 'sync']) {
      const missing = await rowsOf(
        `select ${dimension} from sluice.daily_costs except select ${dimension} from sluice.dim_${dimension}`,
      );
      expect([dimension, missing]).toEqual([dimension, []]);
    }
    expect(await rowsOf('select date from sluice.daily_costs except select date from sluice.dim_date')).toEqual([]);
    for (const { name, key } of COST_VIEWS) {
      const [row] = await rowsOf<{ rows: number; keys: number; holes: number }>(
        `select count(*)::int as rows, count(distinct (${key.join(', ')}))::int as keys,
           (count(*) filter (where ${key.map((it) => `${it} is null`).join(' or ')}))::int as holes from sluice.${name}`,
      );
      expect([name, row?.keys, row?.holes]).toEqual([name, row?.rows, 0]);
    }
  });

  it('accept figures beyond the range of integers, and balances that never run out', async () => {
    await writeHistory(warehouse, { rows: [], requests: [] });
    const row = (place: number, more: Readonly<Record<string, unknown>>) => ({
      id: `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
      cost: 1,
      is_paid: true,
      endpoint: '/api/pronet/group',
      plan: 'p',
      started_at: '2026-01-01T00:00:00Z',
      points_left: null,
      response_status_code: 200,
      response_count: 1,
      duration: 1,
      ...machinery(BEGAN),
      ...more,
    });
    const huge = '9223372036854775807';
    await fill(warehouse, 'sluice.fact_request_costs', [
      row(1, { cost: huge, response_count: huge, response_status_code: 500 }),
      row(2, { cost: huge, response_count: huge, points_left: huge, started_at: '2026-01-02T00:00:00Z' }),
      row(3, { cost: -5, plan: 'refund', points_left: -7, started_at: '2026-01-03T00:00:00Z' }),
      row(4, { cost: 0, plan: 'free', started_at: '0001-01-01T00:00:00Z' }),
      row(5, { cost: 1, plan: 'far', started_at: '9999-12-31T23:59:59Z', points_left: 1, response_count: 0 }),
    ]);
    for (const view of VIEWS) await rowsOf(`select * from sluice.${view}`);
    expect(await rowsOf('select sum(points)::text as points from sluice.daily_costs')).toEqual([
      { points: (2n * BigInt(huge) - 4n).toString() },
    ]);
    expect(await rowsOf("select points::text from sluice.daily_costs where plan = 'refund'")).toEqual([
      { points: '-5' },
    ]);
    await readCosts(warehouse, undefined, NOW);
  });

  it('count a row as new once, though two answers came in at the same moment', async () => {
    await writeHistory(warehouse, { rows: [], requests: [asked(1, {}), asked(2, {})] });
    expect(
      await rowsOf('select new_rows::int as new_rows, points_per_new_row, points_per_loaded from sluice.sync_costs'),
    ).toEqual([{ new_rows: 2, points_per_new_row: 4, points_per_loaded: 4 }]);
  });

  it('count the points of a request with several answers once, with the newest', async () => {
    await writeHistory(warehouse, { rows: [], requests: [asked(1, {}), asked(2, {})] });
    await sql`insert into sluice_ops.answers
      (id, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, encoding, sha256, bytes)
      overriding system value
      select 9, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, encoding, sha256, bytes
      from sluice_ops.answers where id = 1`.execute(warehouse.db);
    expect(await rowsOf('select answer_id::int, points::int from sluice.answer_costs order by answer_id')).toEqual([
      { answer_id: 1, points: 0 },
      { answer_id: 2, points: 4 },
      { answer_id: 9, points: 4 },
    ]);
    const { syncs } = await readCosts(warehouse, undefined, NOW);
    expect(syncs).toMatchObject([{ answers: 3, answerPoints: 8 }]);
  });

  it('do not assign a log row that was matched by its order alone', async () => {
    const [groups, more] = [asked(1, { runId: 1 }), asked(2, { runId: 2, sync: 'more_groups' })];
    const rows = [logged(1, { cost: 1 }), logged(2, { cost: 10, at: BEGAN + 1 })];
    await writeHistory(warehouse, { rows, requests: [groups, more] });
    await fill(
      warehouse,
      'sluice_ops.request_cost_matches',
      rows.map(({ id }, place) => ({
        request_id: place + 1,
        log_id: id,
        match_kind: 'in_order',
        matched_at: '2026-01-02T00:00:00Z',
      })),
    );
    expect(await rowsOf('select match, request_id, sync from sluice.logged_requests')).toEqual([
      { match: 'ambiguous', request_id: null, sync: '(ambiguous)' },
      { match: 'ambiguous', request_id: null, sync: '(ambiguous)' },
    ]);
    expect(await rowsOf('select ambiguous::int, matched::int, lost::int from sluice.daily_reconciliation')).toEqual([
      { ambiguous: 2, matched: 0, lost: 0 },
    ]);
    expect(await readReconciliation(warehouse, NOW, new Date(BEGAN))).toMatchObject({ ambiguous: 2, matched: 0 });
    // As many rows as requests, so the token is certain although no single match is.
    expect(await rowsOf('select is_ours from sluice.balance_forecast')).toEqual([{ is_ours: true }]);
  });

  it('divide the points of all requests by their items, though the log has only some of the requests', async () => {
    const answer = { loaded: 10, newRows: 5, quarantined: 0 };
    const [first, second] = [asked(1, { points: 10, answer }), asked(2, { points: 10, answer, at: BEGAN + 1 })];
    const rows = [logged(1, { cost: 10, request: second })];
    await writeHistory(warehouse, { rows, requests: [first, second] });
    const each = { points_per_loaded: 1, points_per_new_row: 2 };
    for (const view of ['sync_costs', 'run_costs'])
      expect(await rowsOf(`select points_per_loaded, points_per_new_row from sluice.${view}`)).toEqual([each]);
    const { syncs } = await readCosts(warehouse, undefined, NOW);
    expect(syncs).toMatchObject([{ points: 10, ledgerPoints: 20, pointsPerLoaded: 1, pointsPerNewRow: 2 }]);
  });
});
