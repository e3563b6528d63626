/**
 * Matches rows of the request log with requests of the ledger, each with a kind of match. First by identifier: ours, or
 * the one that the service returned with the answer. Then by endpoint, time and count: a row must have only one
 * candidate request, and the request no more rows than attempts. All other candidates are listed as ambiguous.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { LOG_TABLE } from '../service/request-log/request-log.ts';

/** What a reconciliation works on: a connection or transaction, and the names of both schemas. */
export type ReconcileDb = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** The tables of the ledger and of the log. */
export const reconcileTables = ({ schema, ops }: Pick<ReconcileDb, 'schema' | 'ops'>) => ({
  log: sql.table(`${schema}.${LOG_TABLE}`),
  runs: sql.table(`${ops}.runs`),
  requests: sql.table(`${ops}.requests`),
  answers: sql.table(`${ops}.answers`),
  lostAnswers: sql.table(`${ops}.lost_answers`),
  matches: sql.table(`${ops}.request_cost_matches`),
});

/** What rows with an identifier show about the service. */
export interface LogIdentifiers {
  /** The log keeps the identifiers that we send. */
  readonly areKept: boolean;
  /** How far the service's clock is ahead of ours; undefined without such rows. */
  readonly offsetMs: number | undefined;
}

/**
 * The tolerance between a row's time and its request's, with and without a known clock offset. It covers the wait for a
 * connection and clock drift.
 */
const KNOWN_CLOCK_MS = 15_000;
const UNKNOWN_CLOCK_MS = 120_000;
/** The greatest difference between the times of a row and a request that still match. */
export const toleranceMs = ({ offsetMs }: Pick<LogIdentifiers, 'offsetMs'>): number =>
  offsetMs === undefined ? UNKNOWN_CLOCK_MS : KNOWN_CLOCK_MS;

/** Number of newest rows from which the clock offset is estimated. */
const PAIRS = 200;

/** Reads what the newest rows with our identifiers show. */
export async function readLogIdentifiers(database: ReconcileDb): Promise<LogIdentifiers> {
  const { log, requests, matches } = reconcileTables(database);
  const { rows } = await sql<{ ours: boolean | null; offset_ms: number | null }>`
    select bool_or(c.response_request_id = r.x_request_id::text) as ours,
      percentile_cont(0.5) within group (order by extract(epoch from c.started_at - r.sent_at)::float8 * 1000)
        filter (where r.attempts = 1) as offset_ms
    from (select request_id, log_id from ${matches} where match_kind = 'identifier' order by request_id desc limit ${PAIRS}) m
    join ${requests} r on r.id = m.request_id
    join ${log} c on c.id = m.log_id`.execute(database.db);
  return { areKept: rows[0]?.ours === true, offsetMs: rows[0]?.offset_ms ?? undefined };
}

export const instant = (at: Date): RawBuilder<Date> => sql`${at.toISOString()}::timestamptz`;

/**
 * Margin before the period of a reconciliation: rows are included from this long before it, and requests from as long
 * before the rows.
 */
const BEFORE_MS = 3_600_000;

/** SQL for the requests that may be in the log since an instant; without one, all that were ever sent. */
export function requestsSince(
  { requests, runs }: ReturnType<typeof reconcileTables>,
  since: Date | undefined,
): RawBuilder<unknown> {
  if (since === undefined) return sql`(select * from ${requests} where attempts > 0 and sent_at is not null)`;
  const from = instant(new Date(since.getTime() - 2 * BEFORE_MS));
  return sql`(select q.* from ${runs} n join ${requests} q on q.run_id = n.id
    where (n.ended_at is null or n.ended_at >= ${from}) and q.attempts > 0 and q.sent_at >= ${from})`;
}

/** Matches by identifier the requests sent since an instant that are not matched completely. */
export async function matchIdentifiers(database: ReconcileDb, since: Date | undefined, now: Date): Promise<void> {
  const tables = reconcileTables(database);
  const { log, answers, matches } = tables;
  // A row belongs to one request. If several requests share an identifier, the nearest one gets the row.
  const enter = (pairs: RawBuilder<unknown>) =>
    sql`
      insert into ${matches} as m (request_id, log_id, match_kind, matched_at)
      select request_id, log_id, 'identifier', ${instant(now)} from (
        select distinct on (log_id) request_id, log_id from (${pairs}) p
        where not exists (select from ${matches} k where k.log_id = p.log_id and k.match_kind = 'identifier')
        order by log_id, abs(extract(epoch from started_at - sent_at)), request_id
      ) nearest
      order by request_id, log_id
      on conflict (request_id, log_id) do update set match_kind = 'identifier', matched_at = excluded.matched_at`.execute(
      database.db,
    );
  await enter(sql`
    select r.id as request_id, c.id as log_id, c.started_at, r.sent_at from ${requestsSince(tables, since)} r
    join ${log} c on c.response_request_id = r.x_request_id::text
    where r.charged is null or r.attempts > 1`);
  // A service may log an identifier of its own and send it with the answer. An identifier of several requests proves
  // nothing.
  await enter(sql`
    select min(r.id) as request_id, c.id as log_id, min(c.started_at) as started_at, min(r.sent_at) as sent_at
    from ${requestsSince(tables, since)} r
    join ${answers} a on a.request_id = r.id
    join ${log} c on c.response_request_id = a.headers ->> 'x-request-id'
    where r.charged is null and a.headers ->> 'x-request-id' <> r.x_request_id::text
      and ${isOfEndpoint(sql`c.endpoint`, sql`r.endpoint`)}
    group by c.id having count(distinct r.id) = 1`);
}

/**
 * SQL for whether a name in the log is that of an endpoint. Assumed: the log writes an endpoint as its path, with or
 * without a prefix from the service's URL, with slashes or dots.
 */
export const isOfEndpoint = (logged: RawBuilder<unknown>, name: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`right('.' || ${spelled(logged)}, length(${name}) + 1) = '.' || ${name}`;

const spelled = (logged: RawBuilder<unknown>): RawBuilder<string> =>
  sql`btrim(translate(lower(regexp_replace(${logged}, '[?#].*$', '')), '/ ', '..'), '.')`;

/** A row with more candidates is listed with only one of them, since all pairs would be too many. */
const MOST_LISTED = 10;
/** Candidates are searched among requests of the same time bucket. */
const STRETCH_SECONDS = 600;

/**
 * Matches the remaining rows and requests since an instant by endpoint, time and count. Earlier such matches that no
 * longer hold are removed. Returns the requests whose certain matches changed.
 */
export async function matchCandidates(
  database: ReconcileDb,
  { areKept, offsetMs }: LogIdentifiers,
  since: Date | undefined,
  now: Date,
): Promise<string[]> {
  const tables = reconcileTables(database);
  const { log, answers, lostAnswers, matches } = tables;
  const from = since === undefined ? sql`true` : sql`c.started_at >= ${instant(new Date(since.getTime() - BEFORE_MS))}`;
  // Rows before the period may belong to requests that are not read here.
  const decided = since === undefined ? sql`true` : sql`c.started_at >= ${instant(since)}`;
  // If the log keeps identifiers, only an incomplete row can be ours without one.
  const open = areKept
    ? sql`c.response_request_id is null and c.response_status_code is null and c.duration is null`
    : sql`true`;
  const { rows: some } = await sql<{ are_open: boolean }>`
    select exists (
      select from ${log} c where ${from} and ${open} and not exists (
        select from ${matches} m where m.log_id = c.id and m.match_kind in ('identifier', 'in_order'))
    ) or exists (select from ${matches} where match_kind not in ('identifier', 'in_order')) as are_open`.execute(
    database.db,
  );
  // If every row has its identifier, as usual, there is nothing to decide.
  if (some[0]?.are_open !== true) return [];
  const early = sql`${(offsetMs ?? 0) - toleranceMs({ offsetMs })}::float8 * interval '1 millisecond'`;
  const late = sql`${(offsetMs ?? 0) + toleranceMs({ offsetMs })}::float8 * interval '1 millisecond'`;
  const timeout = sql`coalesce((r.sent_body ->> 'timeout')::float8, 300) * interval '1 second'`;
  const { rows } = await sql<{ request_id: string }>`
    with asked as materialized (
      select r.id, r.endpoint, (r.body ->> 'count')::numeric as count, r.attempts - certain.rows as open,
        array(
          select tstzrange(r.sent_at + ${early}, greatest(r.sent_at, least(a.received_at, r.sent_at + ${timeout})) + ${late}, '[]')
          union all
          select tstzrange(d.sent_at + ${early}, greatest(d.sent_at, least(d.noticed_at, d.sent_at + ${timeout})) + ${late}, '[]')
          from ${lostAnswers} d where d.request_id = r.id
        ) as times
      from ${requestsSince(tables, since)} r
      cross join lateral (select count(*) as rows from ${matches} m where m.request_id = r.id and m.match_kind in ('identifier', 'in_order')) certain
      left join ${answers} a on a.id = r.answer_id
      where certain.rows < r.attempts
    ), spans as materialized (
      select t.id, t.endpoint, t.count, t.open, lower(s.span) as lo, upper(s.span) as hi
      from asked t cross join lateral (select unnest(range_agg(u)) as span from unnest(t.times) u) s
    ), free as materialized (
      select c.id, c.endpoint, c.started_at, c.response_count from ${log} c
      where ${from} and ${open} and c.started_at is not null
        and not exists (select from ${matches} m where m.log_id = c.id and m.match_kind in ('identifier', 'in_order'))
    ), spellings as (
      select w.endpoint as logged, e.endpoint from (select distinct endpoint from free) w
      join (select distinct endpoint from spans) e on ${isOfEndpoint(sql`w.endpoint`, sql`e.endpoint`)}
    ), events as (
      select endpoint, lo as at, 0 as kind, 1 as step, id, null::uuid as log_id, null::numeric as count from spans
      union all select endpoint, hi, 2, -1, id, null, null from spans
      union all select s.endpoint, f.started_at, 1, 0, 0, f.id, f.response_count from free f join spellings s on s.logged = f.endpoint
    ), ordered as (
      select e.*, row_number() over (partition by endpoint order by at, kind) as place from events e
    ), swept as materialized (
      -- With one span about a row, the sum of the requests whose spans are open is that request.
      select o.*, sum(step) over w as covers, sum(step * id) over w as request_id,
        count(*) filter (where kind = 1) over w as passed, max(place) filter (where kind = 0) over w as latest
      from ordered o window w as (partition by endpoint order by place)
    ), held as (
      select id, sum(case kind when 2 then passed else -passed end) as rows from swept where kind <> 1 group by id
    ), single as materialized (
      select s.request_id::bigint as request_id, s.log_id, h.rows <= t.open as is_only
      from swept s
      join held h on h.id = s.request_id
      join asked t on t.id = s.request_id
      where s.kind = 1 and s.covers = 1 and (s.count is null or t.count is null or s.count <= t.count)
    ), several as (
      select p.id as request_id, s.log_id
      from swept s
      join (
        select spans.*, generate_series(floor(extract(epoch from lo) / ${STRETCH_SECONDS})::bigint,
          floor(extract(epoch from hi) / ${STRETCH_SECONDS})::bigint) as stretch from spans
      ) p on p.endpoint = s.endpoint and p.stretch = floor(extract(epoch from s.at) / ${STRETCH_SECONDS})::bigint
        and s.at between p.lo and p.hi
      where s.kind = 1 and s.covers between 2 and ${MOST_LISTED} and (s.count is null or p.count is null or s.count <= p.count)
      union all
      select b.id, s.log_id from swept s
      join swept b on b.endpoint = s.endpoint and b.place = s.latest and b.kind = 0
      where s.kind = 1 and s.covers > ${MOST_LISTED}
    ), decisions as materialized (
      select request_id, log_id, case when is_only then 'only_candidate' else 'ambiguous' end as match_kind from single
      union select request_id, log_id, 'ambiguous' from several
    ), gone as (
      delete from ${matches} m using ${log} c
      where c.id = m.log_id and ${decided} and m.match_kind not in ('identifier', 'in_order')
        and not exists (select from decisions d where d.request_id = m.request_id and d.log_id = m.log_id)
      returning m.request_id, m.match_kind
    ), entered as (
      insert into ${matches} as m (request_id, log_id, match_kind, matched_at)
      select d.request_id, d.log_id, d.match_kind, ${instant(now)} from decisions d join ${log} c on c.id = d.log_id
      where ${decided} order by d.request_id, d.log_id
      on conflict (request_id, log_id) do update set match_kind = excluded.match_kind, matched_at = excluded.matched_at
        where m.match_kind <> excluded.match_kind and m.match_kind not in ('identifier', 'in_order')
      returning m.request_id
    )
    select request_id from gone where match_kind = 'only_candidate' union select request_id from entered`.execute(
    database.db,
  );
  return rows.map(({ request_id: id }) => id);
}
