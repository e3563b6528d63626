/** What calls and loads look up in the ledger is found by key, whatever the planner last learned of its tables. */
import { CompiledQuery, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { MOST_CONNECTIONS } from '../../src/warehouse/connect/postgres.ts';
import { PLANNED_ONCE } from '../../src/warehouse/sql/compile-once.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { withStatementSpy } from './statement-spy.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const open = postgresWarehouses();

/** Runs of so many requests, of posts or of groups; nothing is there for anyone. */
async function runsOf(warehouse: Warehouse, endpoint: string, requests: number, inFlight: number) {
  const scene = await sceneIn(warehouse, {
    respond: (call) => (call.endpoint === endpoint ? { body: [] } : undefined),
  });
  const input = endpoint === 'pronet.group' ? 'group' : 'urn';
  const names = Array.from({ length: requests }, (_, at) => `${input === 'urn' ? 'activity:' : 'n'}${at + 1}`);
  const yaml = `${service({ in_flight: inFlight })}
syncs: { many: { endpoint: ${endpoint}, for_each: { ${input}: ${JSON.stringify(names)} }, ${input === 'urn' ? 'request: { count: 50 }' : ''} } }`;
  const run = async (more?: Parameters<Scene['sync']>[1]): Promise<void> => {
    expect(only(await scene.sync(yaml, { refresh: true, ...more }))).toMatchObject({ exitCode: 0, answers: requests });
    await sql`analyze sluice_ops.requests`.execute(warehouse.db);
  };
  return { run };
}

/** Makes each connection of the pool report what it read, which it does only once a second by itself. */
async function flushStatistics(db: Warehouse['db'], connections = MOST_CONNECTIONS): Promise<void> {
  if (connections === 0) return;
  await db.connection().execute(async (connection) => {
    await sql`select pg_stat_force_next_flush()`.execute(connection);
    await flushStatistics(db, connections - 1);
  });
}

/** Rows of the ledger that were read so far, in whatever way. */
async function rowsRead({ db }: Warehouse): Promise<number> {
  await flushStatistics(db);
  const { rows } = await sql<{ read: string }>`select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read
    from pg_stat_all_tables where schemaname = 'sluice_ops' and relname = 'requests'`.execute(db);
  return Number(rows[0]?.read);
}

it('an answer of a large run reads a few rows of the ledger', async () => {
  // Among so many, the planner looks up even the 32 that move together by key. It reads a smaller ledger as a whole.
  const requests = 600;
  const warehouse = await open();
  const { run } = await runsOf(warehouse, 'pronet.post.reposts', requests, 32);
  await run();
  const before = await rowsRead(warehouse);
  await run();
  expect(((await rowsRead(warehouse)) - before) / requests).toBeLessThan(30);
});

it('the first calls of a first run find their requests by key, before the server analyzed the plan', async () => {
  const warehouse = await open();
  const stop = new AbortController();
  const plans: string[] = [];
  const listening = withStatementSpy(warehouse, {
    statement: async (text, work, explain) => {
      if (/update "sluice_ops"\."requests" set "state" = \$\d+, "attempts"/.test(text)) plans.push(await explain());
      return work();
    },
  });
  const scene = await sceneIn(warehouse, {
    respond: () => {
      stop.abort();
      return { body: [] };
    },
  });
  const users = Array.from({ length: 10_000 }, (_, at) => `nobody_${at}`);
  const yaml = `${service({ in_flight: 32 })}
syncs: { many: { endpoint: microblog.user, for_each: { user: ${JSON.stringify(users)} } } }`;
  await scene.sync(yaml, { signal: stop.signal, warehouse: listening });
  expect(plans).not.toEqual([]);
  expect(plans.filter((plan) => /Seq Scan on requests/.test(plan))).toEqual([]);
});

/** Requests of a run that ended, as many as a table's statistics are made of; taken of them. */
async function anEarlierRun({ db }: Warehouse): Promise<void> {
  await sql`insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
    values ('earlier', 'pronet.group', 'h', 'complete', '2026-01-01', now())`.execute(db);
  await sql`insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, input, state, planned_at)
    select r.id, r.sync, r.endpoint, md5(n::text), jsonb_build_object('group', md5(n::text), 'and', md5(n::text)), '{}', 'loaded', now()
    from sluice_ops.runs r, generate_series(1, 12000) n`.execute(db);
  await sql`insert into sluice_ops.answers (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes, loaded_at)
    select id, run_id, sync, endpoint, request_key, now(), 1, 200, '{}', '', 'gzip', md5('a'), 0, now() from sluice_ops.requests`.execute(
    db,
  );
  await sql`analyze sluice_ops.requests, sluice_ops.answers`.execute(db);
}

describe('what moves requests on', () => {
  it('compares none with all others', async () => {
    const warehouse = await open();
    await anEarlierRun(warehouse);
    const { run } = await runsOf(warehouse, 'pronet.group', 600, 256);
    const plans: string[] = [];
    const listening = withStatementSpy(warehouse, {
      statement: async (text, work, explain) => {
        if (text.includes('update "sluice_ops"."requests"')) plans.push(await explain());
        return work();
      },
    });
    await run({ warehouse: listening });
    expect(plans.length).toBeGreaterThan(3);
    expect(plans.filter((plan) => /Join Filter: .*\brequests\.id\b/.test(plan))).toEqual([]);
  });

  it('learns prices without reading all requests', async () => {
    const warehouse = await open();
    await anEarlierRun(warehouse);
    const plans: string[] = [];
    const listening = withStatementSpy(warehouse, {
      statement: async (text, work, explain) => {
        if (text.includes('with recent as')) plans.push(await explain());
        return work();
      },
    });
    const { run } = await runsOf(warehouse, 'pronet.group', 3, 1);
    await run({ warehouse: listening });
    expect(plans).not.toEqual([]);
    expect(plans.filter((plan) => /Seq Scan on requests/.test(plan))).toEqual([]);
  });

  it('looks up stored answers by the index', async () => {
    const warehouse = await open();
    await anEarlierRun(warehouse);
    const scene = await sceneIn(warehouse, { respond: () => ({ body: [] }) });
    const plans: string[] = [];
    const listening = withStatementSpy(warehouse, {
      statement: async (text, work, explain) => {
        if (/"a"\."request_key"|request_key = t\.request_key/.test(text)) plans.push(await explain());
        return work();
      },
    });
    const names = Array.from({ length: 300 }, (_, at) => `n${at + 1}`);
    const yaml = `${service({ in_flight: 128 })}
syncs: { many: { endpoint: pronet.group, max_age: 1d, for_each: { group: ${JSON.stringify(names)} } } }`;
    expect(only(await scene.sync(yaml, { warehouse: listening }))).toMatchObject({ exitCode: 0, answers: 300 });
    expect(plans.length).toBeGreaterThan(3);
    expect(plans.filter((plan) => /Seq Scan on answers/.test(plan))).toEqual([]);
  });
});

describe('the server keeps the plans of statements for each answer', () => {
  /** The generic plans of kept statements at their first use, in a run of so many requests after earlier small runs. */
  async function keptPlans(requests: number, earlier = 0): Promise<string[]> {
    const warehouse = await open();
    if (earlier > 0) {
      const small = await runsOf(warehouse, 'pronet.group', earlier, 8);
      await small.run();
      await sql`analyze sluice_ops.answers`.execute(warehouse.db);
    }
    const plans = new Map<string, string>();
    const listening = withStatementSpy(warehouse, {
      statement: async (text, work) => {
        if (text.endsWith(PLANNED_ONCE) && text.includes('"requests"') && !plans.has(text)) {
          const explain = CompiledQuery.raw(`explain (generic_plan) ${text.slice(0, -PLANNED_ONCE.length)}`);
          const { rows } = await warehouse.db.executeQuery<Record<'QUERY PLAN', string>>(explain);
          plans.set(text, rows.map((row) => row['QUERY PLAN']).join('\n'));
        }
        return work();
      },
    });
    const { run } = await runsOf(warehouse, 'pronet.group', requests, 32);
    await run({ warehouse: listening });
    return [...plans.values()];
  }

  it.each([0, 20])(
    'only if they find requests and answers by their indexes, after a run of %s requests',
    async (earlier) => {
      const plans = await keptPlans(300, earlier);
      expect(plans).not.toEqual([]);
      expect(plans.filter((plan) => /Seq Scan on (requests|answers)/.test(plan))).toEqual([]);
    },
  );

  it('not while the ledger is small', async () => {
    expect(await keptPlans(150)).toEqual([]);
  });
});
