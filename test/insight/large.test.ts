/** Views over months of requests: what they cost grows with the rows that they read, not with the square of them. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { currentLowerBounds } from '../../src/ledger/coverage.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const DAYS = 2000;

/** A step of a plan as `explain (analyze, format json)` returns it. */
interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** Rows that all steps of a plan gave or looked at in vain. */
const handled = (step: Step): number =>
  step['Actual Loops'] *
    (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0)) +
  (step.Plans ?? []).reduce((sum, it) => sum + handled(it), 0);

async function rowsHandled(warehouse: Warehouse, view: string, columns = '*'): Promise<number> {
  const [found] = await select<{ 'QUERY PLAN': readonly { readonly Plan: Step }[] }>(
    warehouse,
    `explain (analyze, timing off, format json) select ${columns} from sluice.${view}`,
  );
  return found?.['QUERY PLAN'].reduce((sum, { Plan }) => sum + handled(Plan), 0) ?? 0;
}

/** Inserts a question with a slice for each day, of which every second was full, and other questions with few slices. */
async function enterDays({ db }: Warehouse): Promise<void> {
  const at = sql`timestamptz '2020-01-01' + n * interval '1 day'`;
  const days = sql`generate_series(1, ${sql.lit(DAYS)}) as n`;
  await sql`insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
    values ('filings', 'sec.search.companies', '', 'complete', '2026-01-01', '2026-01-01')`.execute(db);
  await sql`insert into sluice_ops.answers
    (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, encoding, sha256, bytes, received, loaded, unchanged, loaded_at)
    select n, 1, sync || n % parts, 'sec.search.companies', sync || n % questions, ${at}, 0, 200, '{}', 'identity', '', 1, 1, 1, 0, ${at}
    from ${days} cross join (values ('filings', 1, 1), ('others', 8, 400)) as s(sync, parts, questions)`.execute(db);
  await sql`insert into sluice_ops.coverage
    (request_id, run_id, sync, endpoint, request_key, filters, asked, returned, depth, complete, reason, as_of)
    select n, 1, 'filings', 'sec.search.companies', 'k' || n,
      jsonb_build_object('entity_name', 'E' || n % 100, 'forms', jsonb_build_array('F' || n), 'date_from', (${at})::date, 'date_to', (${at})::date),
      10, case when n % 2 = 0 then 10 else 9 end, 0, n % 2 = 1, case when n % 2 = 0 then 'full' end, ${at} from ${days}`.execute(
    db,
  );
  await sql`analyze`.execute(db);
}

anyWarehouse('large warehouses', (open) => {
  it.each([
    ['sync_slices', DAYS],
    ['sync_coverage', 1],
    ['sync_max_age_savings', 27],
  ])('%s handles each row a few times', async (view, rows) => {
    const warehouse = await open();
    await enterDays(warehouse);
    expect(await select(warehouse, `select count(*)::int as n from sluice.${view}`)).toEqual([{ n: rows }]);
    expect(await rowsHandled(warehouse, view)).toBeLessThan(100 * DAYS);
  });

  it('the last refresh of a sync is found without the requests of earlier runs', async () => {
    const warehouse = await open();
    await sql`insert into sluice_ops.runs
      (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, stored)
      select 'groups', 'pronet.group', 'h', 'partial', 4, '2026-01-01', at, at, 1
      from (select timestamptz '2020-01-01' + n * interval '1 day' as at from generate_series(1, 200) as n) as days`.execute(
      warehouse.db,
    );
    await sql`insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, input, state, planned_at)
      select r.id, r.sync, r.endpoint, 'k' || n, '{}', '{}', 'loaded', r.started_at
      from sluice_ops.runs r cross join generate_series(1, 50) as n`.execute(warehouse.db);
    await sql`analyze`.execute(warehouse.db);
    expect(await select(warehouse, 'select refreshed_at from sluice.sync_freshness')).toEqual([
      { refreshed_at: new Date('2020-07-19T00:00:00Z') },
    ]);
    expect(await rowsHandled(warehouse, 'sync_freshness', 'refreshed_at')).toBeLessThan(10 * 200);
  });

  it('outcomes of inputs whose newer requests have not ended are found by the index', async () => {
    const warehouse = await open();
    await sql`insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
      select 'groups', 'pronet.group', 'h', 'complete', '2026-01-01', now() from generate_series(1, 4)`.execute(
      warehouse.db,
    );
    await sql`insert into sluice_ops.requests
      (run_id, sync, endpoint, request_key, body, input, state, planned_at, finished_at)
      select r.id, r.sync, r.endpoint, 'k' || n, '{}', '{}', case when r.last then 'planned' else 'failed' end, now(), now()
      from (select *, id = max(id) over () as last from sluice_ops.runs) r cross join generate_series(1, ${sql.lit(DAYS)}) as n
      order by r.id, n`.execute(warehouse.db);
    await sql`analyze`.execute(warehouse.db);
    expect(
      await select(warehouse, 'select outcome, open_state, count(*)::int as n from sluice.sync_inputs group by 1, 2'),
    ).toEqual([{ outcome: 'failed', open_state: 'planned', n: DAYS }]);
    expect(await rowsHandled(warehouse, 'sync_inputs')).toBeLessThan(100 * DAYS);
  });

  it('lower bounds of thousands of slices are found in a moment', async () => {
    const warehouse = await open();
    await enterDays(warehouse);
    const copies = sql`insert into sluice_ops.coverage
      (request_id, run_id, sync, endpoint, request_key, filters, asked, returned, depth, complete, reason, as_of)
      select c.request_id, 1, c.sync, c.endpoint, c.request_key || n, c.filters || jsonb_build_object('entity_name', 'C' || n),
        10, c.returned, 0, c.complete, c.reason, c.as_of
      from sluice_ops.coverage c cross join generate_series(1, 9) as n`;
    await copies.execute(warehouse.db);
    const bounds = await warehouse.db.transaction().execute(async (db) => {
      // Pair by pair it takes minutes.
      await sql`set local statement_timeout = '15s'`.execute(db);
      return currentLowerBounds(operationsOf({ ...warehouse, db }));
    });
    expect(bounds).toHaveLength(5 * DAYS);
  });
});
