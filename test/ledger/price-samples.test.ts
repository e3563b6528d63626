/** Samples of prices from the request log, on both kinds of warehouse: which rows count, and what they requested. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readReturned, readSamples, settlePoints } from '../../src/ledger/price-samples.ts';
import { createRun } from '../../src/ledger/runs.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const AT = Date.parse('2026-03-06T15:00:00.000Z');
const search = endpointNamed('pronet.search.users') as Endpoint;
const education = endpointNamed('pronet.user.education') as Endpoint;

interface LogRow {
  readonly cost?: number | null;
  readonly paid?: boolean;
  readonly status?: number | null;
  readonly returned?: number | null;
  readonly endpoint?: string;
}

/** Rows of the log, a second apart, the last given the newest; returns their ids. */
async function logged({ db }: Warehouse, rows: readonly LogRow[], from = AT): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, row] of rows.entries()) {
    const { cost = 1, paid = true, status = 200, returned = 1, endpoint = search.path } = row;
    ids.push(randomUUID());
    await sql`insert into sluice.fact_request_costs
      (id, cost, is_paid, endpoint, started_at, response_status_code, response_count,
        _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      values (${ids[at]}::uuid, ${cost}::bigint, ${paid}::boolean, ${endpoint},
        ${new Date(from + at * 1000).toISOString()}::timestamptz, ${status}::bigint, ${returned}::bigint,
        now(), now(), 1, 1, '\\x00', '{}')`.execute(db);
  }
  return ids;
}

/** Requests of a run of this sync that were sent, each asking for so many; returns their ids. */
async function sentBy(warehouse: Warehouse, sync: string, endpoint: Endpoint, counts: readonly number[]) {
  const ops = operationsOf(warehouse);
  const now = new Date(AT);
  const run = await createRun(ops, { sync, endpoint: endpoint.name, definitionHash: 'h', holder: 'me', now });
  const ids: string[] = [];
  for (const count of counts) {
    const { id } = await ops
      .insertInto('requests')
      .values({
        run_id: run.id,
        sync,
        endpoint: endpoint.name,
        request_key: randomUUID(),
        body: JSON.stringify({ count }),
        input: '{}',
        state: 'loaded',
        attempts: '1',
        points: '5',
        planned_at: now,
        sent_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.push(id);
  }
  return ids;
}

type MatchKind = 'identifier' | 'only_candidate' | 'ambiguous';

async function match(warehouse: Warehouse, requestId: string, logId: string, kind: MatchKind): Promise<void> {
  await operationsOf(warehouse)
    .insertInto('request_cost_matches')
    .values({ request_id: requestId, log_id: logId, match_kind: kind, matched_at: new Date(AT) })
    .execute();
}

anyWarehouse('samples of the request log', (open) => {
  it('are the endpoint’s rows that were charged or answered, newest first', async () => {
    const warehouse = await open();
    await logged(warehouse, [
      { cost: 3, returned: 25 },
      { cost: 1, returned: 0, status: 412 },
      { cost: 0, paid: false, status: 412, returned: null },
      { cost: 0, paid: false, returned: 0 },
      { cost: 2, status: 500, returned: null },
      { cost: 9, returned: 4, endpoint: education.path },
      { cost: 4, returned: 33, endpoint: 'pronet/search/users' },
      // Rows that show no price: failed without a charge, still running, free, without a cost or with an impossible one.
      { cost: 2, paid: false, status: 500 },
      { cost: 2, status: null },
      { cost: 2, paid: false },
      { cost: null },
      { cost: -1 },
    ]);
    const plain = { asked: undefined, isOwn: false };
    expect(await readSamples(warehouse, search, 'people')).toEqual([
      { ...plain, outcome: 'answered', points: 4, returned: 33 },
      { ...plain, outcome: 'failed', points: 2, returned: undefined },
      { ...plain, outcome: 'answered', points: 0, returned: 0 },
      { ...plain, outcome: 'missing', points: 0, returned: undefined },
      { ...plain, outcome: 'missing', points: 1, returned: 0 },
      { ...plain, outcome: 'answered', points: 3, returned: 25 },
    ]);
    expect(await readSamples(warehouse, education, 'schools')).toMatchObject([{ points: 9 }]);
  });

  it('know the requested count if the request of a row is certain', async () => {
    const warehouse = await open();
    const [first, second, third, fourth] = await logged(warehouse, [{}, {}, {}, {}]);
    const [one = '', two = '', other = ''] = await sentBy(warehouse, 'people', search, [10, 20, 30]);
    const [foreign = ''] = await sentBy(warehouse, 'more_people', search, [40]);
    await match(warehouse, one, String(first), 'identifier');
    await match(warehouse, foreign, String(second), 'only_candidate');
    await match(warehouse, two, String(third), 'ambiguous');
    await match(warehouse, other, String(third), 'ambiguous');
    expect(fourth).toBeDefined();
    expect(await readSamples(warehouse, search, 'people')).toMatchObject([
      { asked: undefined, isOwn: false },
      { asked: undefined, isOwn: false },
      { asked: 40, isOwn: false },
      { asked: 10, isOwn: true },
    ]);
  });

  it('are the newest thousand, and for a rarely used endpoint those of its last runs', async () => {
    const warehouse = await open();
    const [seldom] = await logged(warehouse, [{ cost: 7, endpoint: education.path }], AT - 1000);
    await sql`insert into sluice.fact_request_costs
      (id, cost, is_paid, endpoint, started_at, response_status_code, response_count,
        _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      select gen_random_uuid(), n, true, ${search.path}, ${new Date(AT).toISOString()}::timestamptz + n * interval '1 second',
        200, 1, now(), now(), 1, 1, '\\x00', '{}' from generate_series(1, 50001) n`.execute(warehouse.db);
    const found = await readSamples(warehouse, search, 'people');
    expect([found.length, found[0]?.points, found.at(-1)?.points]).toEqual([1000, 50_001, 49_002]);
    expect(await readSamples(warehouse, education, 'schools')).toEqual([]);
    const [request = ''] = await sentBy(warehouse, 'schools', education, [100]);
    await match(warehouse, request, String(seldom), 'identifier');
    expect(await readSamples(warehouse, education, 'schools')).toMatchObject([{ points: 7, asked: 100, isOwn: true }]);
  });

  it('of a run whose log rows have left the log stay, however many answers came after it without a charge', async () => {
    const warehouse = await open();
    const [charged = ''] = await sentBy(warehouse, 'people', search, [10]);
    const [later = ''] = await sentBy(warehouse, 'people', search, [20]);
    await sql`insert into sluice_ops.answers (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes, loaded_at, received)
      select q.id, q.run_id, q.sync, q.endpoint, q.request_key, now() + n * interval '1 second', 1, 200, '{}', '', 'gzip', md5('a'), 0, now(), 1
      from sluice_ops.requests q, generate_series(1, case when q.id = ${later} then 6000 else 1 end) n`.execute(
      warehouse.db,
    );
    await sql`update sluice_ops.requests q set charged = case when q.id = ${charged} then 3 end,
      answer_id = (select max(a.id) from sluice_ops.answers a where a.request_id = q.id)`.execute(warehouse.db);
    expect(await readSamples(warehouse, search, 'people')).toMatchObject([{ points: 3, asked: 10, isOwn: true }]);
  });

  it('do not take longer for a large plan: its requests that were not sent yet are not read', async () => {
    const warehouse = await open();
    for (const counts of [[1], [2], [3]]) await sentBy(warehouse, 'schools', education, counts);
    await sentBy(warehouse, 'people', search, [10]);
    await sql`insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, input, state, planned_at)
      select q.run_id, q.sync, q.endpoint, md5(n::text), '{}', '{}', 'planned', now()
      from sluice_ops.requests q, generate_series(1, 20000) n where q.sync = 'people'`.execute(warehouse.db);
    await sql`analyze sluice_ops.requests`.execute(warehouse.db);
    const rowsRead = (endpoint: Endpoint) =>
      warehouse.db.transaction().execute(async (db) => {
        await readSamples({ ...warehouse, db }, endpoint, 'any');
        const { rows } = await sql<{
          read: string;
        }>`select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read
          from pg_stat_xact_all_tables where schemaname = 'sluice_ops' and relname = 'requests'`.execute(db);
        return Number(rows[0]?.read);
      });
    expect(await rowsRead(education)).toBeLessThan(100);
    expect(await rowsRead(search)).toBeLessThan(10_000);
  });
});

anyWarehouse('what the ledger tells', (open) => {
  it('is how full a sync’s answers were before any was cut', async () => {
    const warehouse = await open();
    const ops = operationsOf(warehouse);
    const slice = (sync: string, returned: number, depth = 0, asked: number | null = 100) => ({
      request_id: '1',
      run_id: '1',
      sync,
      endpoint: search.name,
      request_key: 'k',
      filters: '{}',
      asked: asked === null ? null : String(asked),
      returned: String(returned),
      depth: String(depth),
      complete: true,
      as_of: new Date(AT),
    });
    await ops
      .insertInto('coverage')
      .values([
        slice('people', 100),
        slice('people', 7),
        slice('people', 7),
        slice('people', 3, 1),
        slice('people', 4, 0, null),
        slice('others', 5),
      ])
      .execute();
    const returned = await readReturned(ops, 'people', 'others');
    expect(returned.toSorted((a, b) => (a.returned ?? 0) - (b.returned ?? 0))).toEqual([
      { asked: 100, returned: 7, times: 2 },
      { asked: 100, returned: 100, times: 1 },
    ]);
    expect(await readReturned(ops, 'people', 'parts')).toEqual([{ asked: 100, returned: 3, times: 1 }]);
    expect(await readReturned(ops, 'nobody', 'others')).toEqual([]);
  });

  it('is settled at what the answer cost, and keeps what earlier attempts may have', async () => {
    const warehouse = await open();
    const ops = operationsOf(warehouse);
    const [once = '', twice = '', more = ''] = await sentBy(warehouse, 'people', search, [10, 20, 30]);
    await ops.updateTable('requests').set({ attempts: '2', points: '10' }).where('id', '=', twice).execute();
    // Set aside when the price was another.
    await settlePoints(ops, [
      { requestId: once, points: 2, reserved: 1 },
      { requestId: twice, points: 1, reserved: 2 },
      { requestId: twice, points: 1, reserved: 3 },
      { requestId: more, points: 6.5, reserved: 5 },
    ]);
    await settlePoints(ops, []);
    const rows = await ops.selectFrom('requests').select('points').orderBy('id').execute();
    expect(rows.map(({ points }) => Number(points))).toEqual([2, 7, 6.5]);
  });
});
