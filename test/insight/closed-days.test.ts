/** Stored sums of closed days: readers show the same rows with and without them, whatever changes and in every order. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCosts } from '../../src/insight/costs.ts';
import { closeDays, closeSome } from '../../src/flow/run/close-days.ts';
import type { Notice } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { migrate } from '../../src/warehouse/migrate/migrate.ts';
import { balanceViews } from '../../src/warehouse/schema/views/balance.ts';
import { daySumViews } from '../../src/warehouse/schema/views/day-sums.ts';
import { priceViews } from '../../src/warehouse/schema/views/prices.ts';
import { requestCostViews } from '../../src/warehouse/schema/views/request-costs.ts';
import { syncCostViews } from '../../src/warehouse/schema/views/sync-costs.ts';
import { select } from '../flow/rows.ts';
import { waitUntilBlocked } from '../load/blocked.ts';
import { eachWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { countOf } from '../support/long.ts';
import { steps } from './change-rows.ts';
import { BEGAN, DAY_MS, histories, type History, writeHistory } from './cost-history.ts';

const VIEWS = [...requestCostViews, ...daySumViews, ...syncCostViews, ...priceViews, ...balanceViews]
  .map(({ name }) => name)
  .concat('sync_quality');
const NOW = new Date(BEGAN + 100 * DAY_MS);
/** The statements of all views take long to plan. */
const PROPERTY_MS = countOf(240_000, 3_600_000);
/** More days than since the beginning of the histories. */
const ALL_DAYS = 4000;

/** Every row of the views, and the figures of `costs`. */
async function figures(warehouse: Warehouse): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const view of VIEWS)
    found[view] = (
      await select<{ row: string }>(warehouse, `select v::text as row from sluice.${view} v order by 1`)
    ).map(({ row }) => row);
  return { found, costs: await readCosts(warehouse, '2026-02-15', NOW) };
}

const stored = (warehouse: Warehouse): Promise<string[]> =>
  select<{ day: string }>(
    warehouse,
    'select day::text from sluice_ops.closed_days where day not in (select day from sluice_ops.changed_days) order by 1',
  ).then((rows) => rows.map(({ day }) => day));

/** Expects the same figures with the stored sums as without any. */
async function expectSame(warehouse: Warehouse): Promise<void> {
  const withSums = await figures(warehouse);
  await sql`update sluice_ops.closed_days set formula = 'not ' || formula`.execute(warehouse.db);
  expect(withSums).toEqual(await figures(warehouse));
  await sql`update sluice_ops.closed_days set formula = substr(formula, 5)`.execute(warehouse.db);
}

function sample(rows: number): History {
  const [history] = fc.sample(histories(rows, rows), { seed: 7, numRuns: 1 });
  if (!history) throw new Error('no history was made');
  return history;
}

eachWarehouse('closed days', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    // Histories number their answers themselves.
    await sql`alter table sluice_ops.answers alter column id restart with 100000`.execute(warehouse.db);
  });

  it(
    'every reader shows the same with stored sums as without any, whatever changes before and after they are stored',
    async () => {
      await fc.assert(
        fc.asyncProperty(histories(30), steps, async (history, all) => {
          await writeHistory(warehouse, history);
          await closeSome(warehouse, ALL_DAYS);
          for (const step of all) {
            if (step.kind === 'close') await closeSome(warehouse, step.days);
            else if (step.kind === 'change') await sql.raw(step.statement).execute(warehouse.db);
            else
              await warehouse.db.transaction().execute(async (tx) => {
                await sql`savepoint undone`.execute(tx);
                await sql.raw(step.undone.statement).execute(tx);
                await sql`rollback to savepoint undone`.execute(tx);
                await sql.raw(step.kept.statement).execute(tx);
              });
          }
          await expectSame(warehouse);
        }),
        { numRuns: countOf(6, 200), endOnFailure: true },
      );
    },
    PROPERTY_MS,
  );

  it('all days that ended two days ago are stored, and none later', async () => {
    await writeHistory(warehouse, sample(200));
    expect(await closeSome(warehouse, ALL_DAYS)).toBeGreaterThan(90);
    expect(await closeSome(warehouse, ALL_DAYS)).toBe(0);
    const [bounds] = await select(
      warehouse,
      `select max(day) = (now() at time zone 'UTC')::date - 3 as is_newest, count(*)::int = max(day) - min(day) + 1 as is_complete from sluice_ops.closed_days`,
    );
    expect(bounds).toEqual({ is_newest: true, is_complete: true });
    await expectSame(warehouse);
  });

  it('a change of one row opens only the days that depend on it, and the next call stores them again', async () => {
    await writeHistory(warehouse, sample(200));
    await closeSome(warehouse, ALL_DAYS);
    const before = await stored(warehouse);
    const [row] = await select<{ day: string }>(
      warehouse,
      `update sluice.fact_request_costs set cost = 77 where id = (
        select id from sluice.fact_request_costs c where not exists (select from sluice_ops.request_cost_matches k where k.log_id = c.id) and started_at is not null limit 1
      ) returning (started_at at time zone 'UTC')::date::text as day`,
    );
    expect(await stored(warehouse)).toEqual(before.filter((day) => day !== row?.day));
    await expectSame(warehouse);
    expect(await closeSome(warehouse, ALL_DAYS)).toBe(1);
    expect(await stored(warehouse)).toEqual(before);
  });

  it('what neither sums nor costs show, such as the removal of a body, opens no day', async () => {
    await writeHistory(warehouse, sample(200));
    await closeSome(warehouse, ALL_DAYS);
    await sql`truncate sluice_ops.changed_days`.execute(warehouse.db);
    await sql`update sluice_ops.answers set body = null, pruned_at = now()`.execute(warehouse.db);
    expect(await select(warehouse, 'select from sluice_ops.changed_days')).toEqual([]);
  });

  it('a missing or disabled trigger is a finding, ends the use of stored sums, and is made again by migrate', async () => {
    await writeHistory(warehouse, sample(50));
    await closeSome(warehouse, ALL_DAYS);
    await sql`drop trigger record_loaded on sluice_ops.answers`.execute(warehouse.db);
    await sql`alter table sluice.pronet_groups disable trigger record_deleted`.execute(warehouse.db);
    expect((await schemaDrift(warehouse)).map(({ relation, part }) => [relation, part])).toEqual([
      ['answers', 'record_loaded'],
      ['pronet_groups', 'record_deleted'],
    ]);
    expect(await closeSome(warehouse, ALL_DAYS)).toBe(0);
    expect(await stored(warehouse)).toEqual([]);
    await migrate(warehouse, 'up');
    expect(await schemaDrift(warehouse)).toEqual([]);
    expect(await closeSome(warehouse, ALL_DAYS)).toBeGreaterThan(0);
  });

  it('days from a future clock are not read, and the next call removes them', async () => {
    await writeHistory(warehouse, sample(50));
    await sql`insert into sluice_ops.closed_days (day, formula)
      select (now() at time zone 'UTC')::date - 1, formula from sluice_ops.closed_days limit 1`.execute(warehouse.db);
    await expectSame(warehouse);
    await closeSome(warehouse, 1);
    expect(
      await select(warehouse, "select from sluice_ops.closed_days where day > (now() at time zone 'UTC')::date - 3"),
    ).toEqual([]);
  });

  it('a call works for a limited time, stops at a signal, and reports an error as a notice', async () => {
    await writeHistory(warehouse, sample(50));
    await sql`truncate sluice_ops.closed_days`.execute(warehouse.db);
    const notices: Notice[] = [];
    let ms = 0;
    const options = { onNotice: (it: Notice) => notices.push(it), signal: new AbortController().signal };
    const now = (): Date => new Date((ms += 1000));
    await closeDays(warehouse, { ...options, now, workMs: 2500 });
    expect((await stored(warehouse)).length).toBe(6);
    await closeDays(warehouse, { ...options, now, signal: AbortSignal.abort() });
    expect((await stored(warehouse)).length).toBe(6);
    expect(notices).toEqual([]);
    await closeDays({ ...warehouse, ops: 'nowhere_ops' }, { ...options, now });
    expect(notices).toEqual([
      { level: 'warn', message: expect.stringContaining('sums of earlier days were not stored') as string },
    ]);
  });
});

describe('closed days with concurrent writers', () => {
  const open = postgresWarehouses();
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  const DAY = '2026-01-05';
  const write = `insert into sluice.fact_request_costs (id, cost, is_paid, started_at, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    values (gen_random_uuid(), 9, true, '${DAY}T12:00:00Z', now(), now(), 1, 1, '', '')`;

  // The call reads its snapshot first and needs row_sums last, so a lock on that table holds it in between.
  const MOMENTS = ['before the snapshot', 'while the sums are computed', 'after the sums are stored'] as const;
  const orders = MOMENTS.flatMap((written, first) => MOMENTS.slice(first).map((committed) => ({ written, committed })));

  it.each(orders)(
    'a row that is written $written and committed $committed is not missed',
    async ({ written, committed }) => {
      await writeHistory(warehouse, sample(60));
      await sql`truncate sluice_ops.closed_days`.execute(warehouse.db);
      const writer = await warehouse.db.startTransaction().execute();
      const gate = await warehouse.db.startTransaction().execute();
      let result: Promise<number> | undefined;
      for (const moment of MOMENTS) {
        if (moment === 'while the sums are computed') {
          await sql`lock table sluice_ops.row_sums in access exclusive mode`.execute(gate);
          result = closeSome(warehouse, ALL_DAYS);
          await waitUntilBlocked(warehouse, () => 1);
        }
        if (moment === 'after the sums are stored') {
          await gate.commit().execute();
          expect(await result).toBeGreaterThan(0);
        }
        if (moment === written) await sql.raw(write).execute(writer);
        if (moment === committed) await writer.commit().execute();
      }
      const isSeen = committed === 'before the snapshot';
      expect((await stored(warehouse)).includes(DAY)).toBe(isSeen);
      await expectSame(warehouse);
      await closeSome(warehouse, ALL_DAYS);
      expect(await stored(warehouse)).toContain(DAY);
      await expectSame(warehouse);
    },
  );

  it('a second call does not wait for the first, and a reader and a writer wait for none', async () => {
    await writeHistory(warehouse, sample(60));
    await sql`truncate sluice_ops.closed_days`.execute(warehouse.db);
    const gate = await warehouse.db.startTransaction().execute();
    await sql`lock table sluice_ops.row_sums in access exclusive mode`.execute(gate);
    const first = closeSome(warehouse, ALL_DAYS);
    await waitUntilBlocked(warehouse, () => 1);
    const notices: Notice[] = [];
    const options = {
      now: () => new Date(),
      signal: new AbortController().signal,
      onNotice: (it: Notice) => notices.push(it),
    };
    await closeDays(warehouse, options);
    expect(notices).toEqual([]);
    await sql.raw(write).execute(warehouse.db);
    await select(warehouse, 'select * from sluice.daily_costs');
    await gate.commit().execute();
    expect(await first).toBeGreaterThan(0);
    await expectSame(warehouse);
  });
});
