/** Ninety days of a warehouse written by hand: simple figures, so that a reader can compute the report. */
import { type RawBuilder, sql } from 'kysely';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

/** Ends a title, opens a script, turns the line round, talks to a terminal. */
export const EVIL = '</title><script>document.title="pwned"</script>"\'\u202e\u001b[2J';

/**
 * Enters the history that ends on the day of an instant. Each day at 06:00 UTC `filings` requests one slice for 3 points and
 * `pages` one page for 2, of 10,000 points. On each 30th day from the first the slice is truncated; the last run of
 * `pages` failed and was charged nonetheless. Tables hold 5 older filings, then 2 filings and 1 page a day.
 */
export async function enterHistory(warehouse: Warehouse, now: Date): Promise<void> {
  const { db, schema, ops } = warehouse;
  const first = new Date(Date.parse(`${now.toISOString().slice(0, 10)}T06:00:00Z`) - 89 * 86_400_000).toISOString();
  const at = sql`${first}::timestamptz + place * interval '1 day'`;
  const run = (statement: RawBuilder<unknown>) => statement.execute(db);
  const of = (name: string) => sql.table(`${ops}.${name}`);
  const days = sql`generate_series(0, 89) as place cross join (values ('filings', 'sec.search.companies', 0, 3), ('pages', 'webparser.parse', 1000, 2)) as s(sync, endpoint, from_id, points)`;
  const id = sql`from_id + place + 1`;
  const failed = sql`(sync = 'pages' and place = 89)`;

  await run(sql`
    insert into ${of('runs')} (id, sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, planned, asked, stored, received, loaded, failed, points, error)
    overriding system value
    select ${id}, sync, endpoint, 'd', case when ${failed} then 'failed' when sync = 'filings' and place = 40 then 'partial' else 'complete' end,
      case when ${failed} then 5 else 0 end, (${at})::date, ${at}, ${at} + interval '2 minutes', 1, 1, 1, 2, 2,
      case when ${failed} then 1 else 0 end, points, case when ${failed} then ${EVIL} end
    from ${days}`);
  await run(sql`
    insert into ${of('requests')} (id, run_id, sync, endpoint, request_key, body, input, state, attempts, planned_at, sent_at, finished_at, answer_id, error)
    overriding system value
    select ${id}, ${id}, sync, endpoint, sync || place, '{}', case when sync = 'pages' then jsonb_build_object('url', ${EVIL}::text || place) else '{}' end,
      case when ${failed} then 'failed' else 'loaded' end, 1, ${at}, ${at}, ${at},
      case when not ${failed} then ${id} end, case when ${failed} then 'no answer' end
    from ${days}`);
  await run(sql`
    insert into ${of('answers')} (id, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes, asked, received, loaded, unchanged, superseded, quarantined, loaded_at)
    overriding system value
    select ${id}, ${id}, ${id}, sync, endpoint, sync || place, ${at}, case sync when 'pages' then 1000 + place else 100 end, 200, '{}', ''::bytea, 'identity', '', 2000,
      case sync when 'filings' then 100 end, 2, 1, 0, 0, 1, ${at}
    from ${days} where not ${failed}`);
  await run(sql`
    insert into ${of('coverage')} (request_id, run_id, sync, endpoint, request_key, filters, asked, returned, depth, complete, reason, as_of)
    select ${id}, ${id}, sync, endpoint, sync || place, jsonb_build_object('entity_name', ${EVIL}::text || place), 100, case when place % 30 = 0 then 100 else 2 end, 0,
      place % 30 <> 0, case when place % 30 = 0 then 'full' end, ${at}
    from ${days} where sync = 'filings'`);
  await run(sql`
    insert into ${of('quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at, resolved_at)
    select ${id}, sync, endpoint, 'WebParserResult', 0, '/0', ${EVIL}, ${at}, case when place < 45 then ${at} end
    from ${days} where sync = 'pages' and place % 10 = 0`);
  await operationsOf({ db, ops })
    .insertInto('drift')
    .values({
      resource: 'SecFiling',
      path: EVIL,
      kind: 'unknown field',
      count: '7',
      first_seen_at: now,
      last_seen_at: now,
      sample_type: 'string',
    })
    .execute();
  const root = sql`1, 1, '', ''`;
  await run(sql`
    insert into ${sql.table(`${schema}.fact_request_costs`)} (id, cost, is_paid, endpoint, plan, started_at, points_left, token_id, duration, response_status_code, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    select gen_random_uuid(), points, true, '/api/' || replace(endpoint, '.', '/'), 'basic', ${at} + from_id * interval '1 millisecond',
      10000 - 5 * place - case sync when 'filings' then 3 else 5 end, '00000000-0000-4000-8000-000000000001', 1,
      case when ${failed} then 500 else 200 end, ${at}, ${at}, ${root}
    from ${days}`);
  await run(sql`
    insert into ${sql.table(`${schema}.sec_filings`)} (accession_number, file_name, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    select place || '', n || '', ${at}, ${at}, ${root} from generate_series(0, 89) as place cross join generate_series(1, 2) as n
    union all select 'old', n || '', ${first}::timestamptz - interval '1 year', ${first}::timestamptz, ${root} from generate_series(1, 5) as n`);
  await run(sql`
    insert into ${sql.table(`${schema}.web_pages`)} (page_key, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    select place || '', ${at}, ${at}, ${root} from generate_series(0, 89) as place`);
}
