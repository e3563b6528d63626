/**
 * Fills a migrated warehouse with a ledger of any size by SQL: runs, requests, answers, coverage, quarantine, drift, the
 * request log with its matches, and the rows of the tables that the endpoints fill. Bodies are small, because no figure
 * of a report reads them; numbers of syncs, runs, days and states are those of half a year of daily use.
 */
import { catalog } from '../../src/service/catalog.ts';
import { LOG_ENDPOINT } from '../../src/service/request-log/request-log.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { SCHEMA } from './batches.ts';
import { connected } from './postgres.ts';

/** The size of a ledger. */
export interface LedgerSize {
  readonly answers: number;
  readonly runs: number;
  readonly syncs: number;
  readonly days: number;
}

const OPS = `${SCHEMA}_ops`;
/** Requests for each answer: some are fresh, failed, in doubt or planned. */
const REQUESTS_PER_ANSWER = 1.07;

/** The endpoints that are bought, and how many items an answer has. */
const BOUGHT = catalog
  .filter(({ name }) => name !== LOG_ENDPOINT)
  .map(({ name, path, returns, request }) => ({
    name,
    path,
    table: returns.table,
    isSearch: 'count' in request.shape,
  }));

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Fills the warehouse; the progress is reported by table. */
export async function fillLedger(url: string, size: LedgerSize, report: (text: string) => void): Promise<void> {
  await connected(url, async (client) => {
    await client.query(`set search_path to ${OPS}, ${SCHEMA}; set synchronous_commit to off; set timezone to 'UTC'`);
    await client.query(`set session_replication_role to replica`);
    for (const [table, statement] of statementsFor(size)) {
      report(`filling ${table}`);
      await client.query(statement);
    }
    await client.query('set session_replication_role to default');
    report('analyzing');
    await client.query('vacuum analyze');
  });
}

function statementsFor({ answers, runs, syncs, days }: LedgerSize): [table: string, statement: string][] {
  const requests = Math.round(answers * REQUESTS_PER_ANSWER);
  const endpoints = `(values ${BOUGHT.map(({ name, path }, at) => `(${at}, ${quoted(name)}, ${quoted(path)})`).join(', ')}) as e(number, endpoint, path)`;
  return [
    [
      'runs',
      `insert into runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, holder, quote)
      select 'sync_' || r % ${syncs}, e.endpoint, 'definition', 
        case when r > ${runs} - 2 then 'out_of_points' when r % 25 = 0 then 'partial' else 'complete' end,
        case when r > ${runs} - 2 then 6 when r % 25 = 0 then 4 else 0 end, t.at::date, t.at, t.at + interval '20 minutes', 'host/1/a',
        '{"likely": 2500, "most": 5000}'
      from generate_series(1, ${runs}) r
      join ${endpoints} on e.number = (r % ${syncs}) % ${BOUGHT.length}
      cross join lateral (select now() - (${runs} - r + 1) * ${days}.0 / ${runs} * interval '1 day' as at) t order by r`,
    ],
    [
      'requests',
      // A sync of an even number asks the same again in each run; the others ask for something new.
      `insert into requests (run_id, sync, endpoint, request_key, body, sent_body, input, state, attempts, points, charged,
        x_request_id, planned_at, sent_at, finished_at, status, failure_class, error)
      select n.id, n.sync, n.endpoint, encode(sha256(convert_to(n.endpoint || ' ' || k.input, 'UTF8')), 'hex'), b.body,
        case when s.state not in ('planned', 'fresh') then b.body end, b.body - 'count', s.state,
        case when s.state in ('planned', 'fresh') then 0 when i % 200 = 0 then 2 else 1 end,
        case when s.state not in ('planned', 'fresh') then 1 end,
        case when s.state in ('loaded', 'empty', 'missing', 'quarantined') and n.started_at < now() - interval '2 days' then 1 end,
        md5('request ' || i)::uuid, n.started_at,
        case when s.state not in ('planned', 'fresh') then a.at end, case when s.state not in ('planned', 'in_doubt') then a.at + interval '1 second' end,
        case s.state when 'missing' then 412 when 'failed' then 500 when 'planned' then null when 'in_doubt' then null else 200 end,
        case s.state when 'failed' then 'server' end, case s.state when 'failed' then 'the service answered with status 500' end
      from generate_series(1, ${requests}) i
      join runs n on n.id = 1 + (i - 1)::bigint * ${runs} / ${requests}
      cross join lateral (select i - ((n.id - 1) * ${requests} + ${runs} - 1) / ${runs} as place) p
      cross join lateral (select case when (n.id % ${syncs}) % 2 = 0 then n.sync || ' ' || p.place else n.sync || ' ' || i end as input) k
      cross join lateral (select n.started_at + (p.place * interval '1 second' * 1000 * ${runs} / ${requests}) as at) a
      cross join lateral (select jsonb_build_object('count', 10, 'user', k.input) as body) b
      cross join lateral (select case
        when n.state = 'out_of_points' and i % 3 = 0 then 'planned'
        when i % 1000 < 40 then 'fresh' when i % 1000 < 50 then 'failed' when i % 1000 < 52 and n.state = 'partial' then 'in_doubt'
        when i % 1000 < 60 then 'missing' when i % 1000 < 70 then 'empty' when i % 1000 < 75 then 'quarantined' else 'loaded' end as state) s
      order by i`,
    ],
    [
      'answers',
      `insert into answers (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256,
        bytes, asked, received, loaded, changed, unchanged, superseded, quarantined, loaded_at)
      select q.id, q.run_id, q.sync, q.endpoint, q.request_key, q.finished_at, 100 + (q.id * 7919) % 3000, q.status,
        '{"content-type": "application/json", "x-token-points": "1000", "x-request-id": "00000000-0000-0000-0000-000000000000"}'::jsonb,
        convert_to('[]', 'UTF8'), 'identity', repeat('0', 64), 2, 10,
        v.received, case when v.is_new then v.received - v.bad else 0 end, 0, case when v.is_new then 0 else v.received - v.bad end, 0, v.bad,
        case when n.id < ${runs} or q.id % 50 <> 0 then q.finished_at end
      from requests q join runs n on n.id = q.run_id
      cross join lateral (select case q.state when 'loaded' then 1 + q.id % 3 when 'quarantined' then 1 else 0 end as received,
        case q.state when 'quarantined' then 1 else 0 end as bad, n.id <= ${syncs} or (n.id % ${syncs}) % 2 = 1 or q.id % 10 = 0 as is_new) v
      where q.state in ('loaded', 'empty', 'missing', 'quarantined') order by q.id`,
    ],
    ['links of requests', `update requests q set answer_id = a.id from answers a where a.request_id = q.id`],
    [
      'links of fresh requests',
      `update requests q set answer_id = (
        select a.id from answers a where a.request_key = q.request_key order by a.received_at desc limit 1) where q.state = 'fresh'`,
    ],
    [
      'coverage',
      `insert into coverage (request_id, run_id, sync, endpoint, request_key, filters, asked, returned, depth, complete, reason, as_of)
      select a.request_id, a.run_id, a.sync, a.endpoint, a.request_key, q.body - 'count', 10, coalesce(a.received, 0), 0,
        a.id % 100 <> 0, case when a.id % 100 = 0 then 'as many items as requested, and no field left to split it by' end, a.received_at
      from answers a join requests q on q.id = a.request_id
      where a.endpoint in (${BOUGHT.filter(({ isSearch }) => isSearch)
        .map(({ name }) => quoted(name))
        .join(', ')}) order by a.id`,
    ],
    [
      'quarantine',
      `insert into quarantine (answer_id, sync, endpoint, resource, position, pointer, reason, created_at, resolved_at)
      select a.id, a.sync, a.endpoint, 'Resource', 0, '/0', 'the key is missing', a.received_at, case when a.id % 3 = 0 then a.received_at end
      from answers a where a.quarantined > 0 order by a.id`,
    ],
    [
      'drift',
      `insert into drift (resource, path, kind, count, first_seen_at, last_seen_at, sample_type)
      select 'Resource' || i % 10, 'field.' || i, 'unknown field', i * 97, now() - interval '100 days', now(), 'string' from generate_series(1, 500) i`,
    ],
    [
      'fact_request_costs',
      `insert into fact_request_costs (id, cost, is_paid, endpoint, plan, started_at, points_left, token_id, duration, response_status_code,
        response_error_text, response_count, response_execution_time, response_request_id, timeout, is_token_expired, is_points_run_out,
        _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      select md5('log ' || q.id || ' ' || copy)::uuid, 1, true, e.path, 'plan_' || q.id % 2, q.sent_at + copy * interval '1 second',
        10000000 - q.id, md5('token')::uuid, 0.5, coalesce(q.status, 200),
        case q.state when 'failed' then 'internal error' end, case when q.state = 'loaded' then 1 + q.id % 3 else 0 end, 0.5, q.x_request_id::text, 300, false, false,
        q.sent_at + interval '1 hour', q.sent_at + interval '1 hour', 1, 1, 'hash', 'hash'
      from requests q join ${endpoints} on e.endpoint = q.endpoint cross join generate_series(0, 1) copy
      where q.sent_at < now() - interval '2 days' and (copy = 0 or q.id % 500 = 0)`,
    ],
    [
      'request_cost_matches',
      `insert into request_cost_matches (request_id, log_id, match_kind, matched_at)
      select q.id, md5('log ' || q.id || ' ' || copy)::uuid, case when q.id % 400 = 1 then 'ambiguous' when q.id % 100 = 2 then 'only_candidate' else 'identifier' end, q.sent_at + interval '1 hour'
      from requests q cross join generate_series(0, 1) copy
      where q.sent_at < now() - interval '2 days' and (copy = 0 or q.id % 500 = 0) and q.id % 50 <> 3 order by q.id`,
    ],
    [
      'lost_answers',
      `insert into lost_answers (request_id, attempt, run_id, sync, endpoint, sent_at, noticed_at, reason)
      select id, 1, run_id, sync, endpoint, sent_at, sent_at + interval '1 minute', 'connection reset' from requests where state = 'in_doubt'`,
    ],
    ...BOUGHT.map(({ name, table }): [string, string] => [table, rowsOf(name, table)]),
    [
      'sums of runs',
      `update runs n set planned = q.planned, fresh = q.fresh, asked = q.asked, failed = q.failed, missing = q.missing, points = q.points,
        stored = a.stored, received = a.received, loaded = a.loaded, unchanged = a.unchanged, quarantined = a.quarantined, changed = 0
      from (select run_id, count(*) as planned, count(*) filter (where state = 'fresh') as fresh, count(*) filter (where attempts > 0) as asked,
          count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'missing') as missing, sum(points) as points
        from requests group by run_id) q,
        (select run_id, count(*) as stored, sum(received) as received, sum(loaded) as loaded, sum(unchanged) as unchanged, sum(quarantined) as quarantined
        from answers group by run_id) a
      where q.run_id = n.id and a.run_id = n.id`,
    ],
  ];
}

/** A row for each loaded item, first seen with its answer. */
function rowsOf(endpoint: string, table: string): string {
  const found = tables.find(({ name }) => name === table);
  if (!found) throw new Error(`no table ${table}`);
  const own = found.columns.filter(({ name }) => found.key.includes(name) || name === '_detail');
  const valueOf = ({ name, type }: (typeof own)[number]): string =>
    name === '_detail' ? `'full'` : type === 'bigint' ? 'k.place' : `a.request_key || ' ' || k.place`;
  return `insert into ${table} (${own.map(({ name }) => name).join(', ')}, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    select ${own.map(valueOf).join(', ')}, a.received_at, a.received_at, a.run_id, a.id, 'hash', 'hash'
    from answers a cross join lateral generate_series(1, a.loaded) as k(place)
    where a.endpoint = ${quoted(endpoint)} and a.loaded > 0 on conflict do nothing`;
}
