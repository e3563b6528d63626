/**
 * Brings the request log together with the ledger: which row is which request, and how sure that is. By the identifier
 * that we sent, or that the service gave with its answer; else by endpoint, time and count, where a row has one request
 * that it can be of and the request no more rows than attempts. Whatever else could be is listed as ambiguous.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';

/** What a reconciliation works on: a transaction, and the names of both schemas. */
export type ReconcileDb = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** The tables of the ledger and of the log. */
export const reconcileTables = ({ schema, ops }: Pick<ReconcileDb, 'schema' | 'ops'>) => ({
  log: sql.table(`${schema}.fact_request_costs`),
  runs: sql.table(`${ops}.runs`),
  requests: sql.table(`${ops}.requests`),
  answers: sql.table(`${ops}.answers`),
  doubts: sql.table(`${ops}.doubts`),
  matches: sql.table(`${ops}.request_cost_matches`),
});

/** What rows with an identifier tell of the service. */
export interface LogIdentifiers {
  /** Its log keeps the identifiers that we send. */
  readonly areKept: boolean;
  /** How far its clock is ahead of ours; undefined without such rows. */
  readonly offsetMs: number | undefined;
}

/** How far a row may lie from where the clocks put it: what a request waits for a connection, or clocks may differ. */
const KNOWN_CLOCK_MS = 15_000;
const UNKNOWN_CLOCK_MS = 120_000;
/** The most that a row may lie from its request's time for the two to be brought together. */
export const toleranceMs = ({ offsetMs }: Pick<LogIdentifiers, 'offsetMs'>): number =>
  offsetMs === undefined ? UNKNOWN_CLOCK_MS : KNOWN_CLOCK_MS;

/** Newest rows that tell the service's clock. */
const PAIRS = 200;

/** What the newest rows with an identifier of ours tell. */
export async function readLogIdentifiers(database: ReconcileDb): Promise<LogIdentifiers> {
  const { log, requests, matches } = reconcileTables(database);
  const { rows } = await sql<{ ours: boolean | null; offset_ms: number | null }>`
    select bool_or(c.response_request_id = r.x_request_id::text) as ours,
      percentile_cont(0.5) within group (order by extract(epoch from c.started_at - r.sent_at)::float8 * 1000)
        filter (where r.attempts = 1) as offset_ms
    from (select request_id, log_id from ${matches} where sure = 'identifier' order by request_id desc limit ${PAIRS}) m
    join ${requests} r on r.id = m.request_id
    join ${log} c on c.id = m.log_id`.execute(database.db);
  return { areKept: rows[0]?.ours === true, offsetMs: rows[0]?.offset_ms ?? undefined };
}

export const instant = (at: Date): RawBuilder<Date> => sql`${at.toISOString()}::timestamptz`;

/** Rows are looked at from so long before those that are decided on, and requests from as long before rows. */
const BEFORE_MS = 3_600_000;

/** Requests that may be in the log from an instant on; all that were ever sent without one. */
export function requestsSince(
  { requests, runs }: ReturnType<typeof reconcileTables>,
  since: Date | undefined,
): RawBuilder<unknown> {
  if (since === undefined) return sql`(select * from ${requests} where attempts > 0 and sent_at is not null)`;
  const from = instant(new Date(since.getTime() - 2 * BEFORE_MS));
  return sql`(select q.* from ${runs} n join ${requests} q on q.run_id = n.id
    where (n.ended_at is null or n.ended_at >= ${from}) and q.attempts > 0 and q.sent_at >= ${from})`;
}

/** Matches by identifier the requests sent since an instant that are not accounted for. */
export async function matchIdentifiers(database: ReconcileDb, since: Date | undefined, now: Date): Promise<void> {
  const tables = reconcileTables(database);
  const { log, answers, matches } = tables;
  // A row is one request's: should several have been sent with one identifier, that of the nearest.
  const enter = (pairs: RawBuilder<unknown>) =>
    sql`
      insert into ${matches} as m (request_id, log_id, sure, matched_at)
      select request_id, log_id, 'identifier', ${instant(now)} from (
        select distinct on (log_id) request_id, log_id from (${pairs}) p
        where not exists (select from ${matches} k where k.log_id = p.log_id and k.sure = 'identifier')
        order by log_id, abs(extract(epoch from started_at - sent_at)), request_id
      ) nearest
      order by request_id, log_id
      on conflict (request_id, log_id) do update set sure = 'identifier', matched_at = excluded.matched_at`.execute(
      database.db,
    );
  await enter(sql`
    select r.id as request_id, c.id as log_id, c.started_at, r.sent_at from ${requestsSince(tables, since)} r
    join ${log} c on c.response_request_id = r.x_request_id::text
    where r.charged is null or r.attempts > 1`);
  // A service may log an identifier of its own, and send it with the answer; one that stands for several tells nothing.
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
 * SQL for whether a name in the log is that of an endpoint.
 *
 * Assumed: the log writes an endpoint as the path asked, with or without what stands before it in the service's url, with
 * slashes or dots.
 */
export const isOfEndpoint = (logged: RawBuilder<unknown>, name: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`right('.' || ${spelled(logged)}, length(${name}) + 1) = '.' || ${name}`;

const spelled = (logged: RawBuilder<unknown>): RawBuilder<string> =>
  sql`btrim(translate(lower(regexp_replace(${logged}, '[?#].*$', '')), '/ ', '..'), '.')`;

/** Rows with more candidates are listed with one of them, which stands for all: pairs would grow with their square. */
const MOST_LISTED = 10;
/** Candidates are looked for among those of the same stretch of time. */
const STRETCH_SECONDS = 600;

/**
 * Matches the rest by endpoint, time and count: rows and requests since an instant that have no sure other. What was
 * matched so before and does not hold any more is taken back; returns the requests whose sure matches changed so.
 */
export async function matchCandidates(
  database: ReconcileDb,
  { areKept, offsetMs }: LogIdentifiers,
  since: Date | undefined,
  now: Date,
): Promise<string[]> {
  const tables = reconcileTables(database);
  const { log, answers, doubts, matches } = tables;
  const from = since === undefined ? sql`true` : sql`c.started_at >= ${instant(new Date(since.getTime() - BEFORE_MS))}`;
  // What lies before may be another's of whom nothing is seen here.
  const decided = since === undefined ? sql`true` : sql`c.started_at >= ${instant(since)}`;
  // Where identifiers are kept, only a row that has yet to get one can be ours without it.
  const open = areKept
    ? sql`c.response_request_id is null and c.response_status_code is null and c.duration is null`
    : sql`true`;
  const { rows: some } = await sql<{ are_open: boolean }>`
    select exists (
      select from ${log} c where ${from} and ${open} and not exists (
        select from ${matches} m where m.log_id = c.id and m.sure in ('identifier', 'in_order'))
    ) or exists (select from ${matches} where sure not in ('identifier', 'in_order')) as are_open`.execute(database.db);
  // As it is where every row has its identifier: then there is nothing to weigh up.
  if (some[0]?.are_open !== true) return [];
  const early = sql`${(offsetMs ?? 0) - toleranceMs({ offsetMs })}::float8 * interval '1 millisecond'`;
  const late = sql`${(offsetMs ?? 0) + toleranceMs({ offsetMs })}::float8 * interval '1 millisecond'`;
  const timeout = sql`coalesce((r.sent_body ->> 'timeout')::float8, 300) * interval '1 second'`;
  const { rows } = await sql<{ request_id: string }>`
    with asked as materialized (
      select r.id, r.endpoint, (r.body ->> 'count')::numeric as count, r.attempts - sure.rows as open,
        array(
          select tstzrange(r.sent_at + ${early}, greatest(r.sent_at, least(a.received_at, r.sent_at + ${timeout})) + ${late}, '[]')
          union all
          select tstzrange(d.sent_at + ${early}, greatest(d.sent_at, least(d.noticed_at, d.sent_at + ${timeout})) + ${late}, '[]')
          from ${doubts} d where d.request_id = r.id
        ) as times
      from ${requestsSince(tables, since)} r
      cross join lateral (select count(*) as rows from ${matches} m where m.request_id = r.id and m.sure in ('identifier', 'in_order')) sure
      left join ${answers} a on a.id = r.answer_id
      where sure.rows < r.attempts
    ), spans as materialized (
      select t.id, t.endpoint, t.count, t.open, lower(s.span) as lo, upper(s.span) as hi
      from asked t cross join lateral (select unnest(range_agg(u)) as span from unnest(t.times) u) s
    ), free as materialized (
      select c.id, c.endpoint, c.started_at, c.response_count from ${log} c
      where ${from} and ${open} and c.started_at is not null
        and not exists (select from ${matches} m where m.log_id = c.id and m.sure in ('identifier', 'in_order'))
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
      select request_id, log_id, case when is_only then 'only_candidate' else 'ambiguous' end as sure from single
      union select request_id, log_id, 'ambiguous' from several
    ), gone as (
      delete from ${matches} m using ${log} c
      where c.id = m.log_id and ${decided} and m.sure not in ('identifier', 'in_order')
        and not exists (select from decisions d where d.request_id = m.request_id and d.log_id = m.log_id)
      returning m.request_id, m.sure
    ), entered as (
      insert into ${matches} as m (request_id, log_id, sure, matched_at)
      select d.request_id, d.log_id, d.sure, ${instant(now)} from decisions d join ${log} c on c.id = d.log_id
      where ${decided} order by d.request_id, d.log_id
      on conflict (request_id, log_id) do update set sure = excluded.sure, matched_at = excluded.matched_at
        where m.sure <> excluded.sure and m.sure not in ('identifier', 'in_order')
      returning m.request_id
    )
    select request_id from gone where sure = 'only_candidate' union select request_id from entered`.execute(
    database.db,
  );
  return rows.map(({ request_id: id }) => id);
}
