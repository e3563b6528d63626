/**
 * Matches rows of the request log with requests of the ledger by identifier: ours, or the one that the service returned
 * with the answer. `recovery/reconcile/` matches the other rows.
 */
import { type RawBuilder, sql } from 'kysely';
import { anyBigint } from '../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { LOG_ENDPOINT, LOG_TABLE } from '../service/request-log/request-log.ts';

/** What a reconciliation works on: a connection or transaction, and the names of both schemas. */
export type ReconcileDb = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** SQL for the points that a row of the log charges. */
export const chargeOf = (row: string): RawBuilder<number> =>
  sql`case when coalesce(${sql.ref(`${row}.is_paid`)}, ${sql.ref(`${row}.cost`)} > 0) then ${sql.ref(`${row}.cost`)} else 0 end`;

/** SQL condition that a row of the log began at an instant or later; absent, each row did. */
export const beganSince = (row: string, since: Date | undefined): RawBuilder<boolean> =>
  since === undefined ? sql`true` : sql`${sql.ref(`${row}.started_at`)} >= ${since.toISOString()}::timestamptz`;

/** The tables of the ledger and of the log. */
export const reconcileTables = ({ schema, ops }: Pick<ReconcileDb, 'schema' | 'ops'>) => ({
  log: sql.table(`${schema}.${LOG_TABLE}`),
  runs: sql.table(`${ops}.runs`),
  requests: sql.table(`${ops}.requests`),
  answers: sql.table(`${ops}.answers`),
  lostAnswers: sql.table(`${ops}.lost_answers`),
  matches: sql.table(`${ops}.request_cost_matches`),
});

/**
 * SQL condition that a request of the log began a walk through its times. `sync --failed` begins at the page that failed,
 * and rows that were added to the pages before it are unknown.
 */
export const isWalkStart = (request: string): RawBuilder<boolean> =>
  sql`(${sql.ref(`${request}.parent_id`)} is null and ${sql.ref(`${request}.body`)} ->> 'cursor' is null)`;

/** What rows with an identifier show about the service. */
export interface LogIdentifiers {
  /** The log keeps the identifiers that we send, as far as its newest rows show. */
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

/** If so many newest rows and answers show no identifier, the log no longer keeps them. */
const NEWEST = 5;
/** Number of newest rows among which those of our endpoints are searched. */
const MOST_SEARCHED = 1000;

/**
 * Reads what the newest rows with our identifiers show, also those that have left the log. They show nothing once the
 * newest rows of our endpoints have no identifier, and none of our newest answers was matched by one.
 */
export async function readLogIdentifiers(database: ReconcileDb): Promise<LogIdentifiers> {
  const { log, requests, answers, matches } = reconcileTables(database);
  // A row that left the log was matched by our identifier if the answer had no other one.
  const { rows } = await sql<{ ours: boolean | null; offset_ms: number | null; are_gone: boolean }>`
    with newest as materialized (
      select request_id, endpoint from ${answers} where endpoint <> ${LOG_ENDPOINT} order by id desc limit ${NEWEST}
    )
    select bool_or(case when c.id is not null then lower(c.response_request_id) = r.x_request_id::text
        else coalesce(a.headers ->> 'x-request-id', r.x_request_id::text) = r.x_request_id::text and a.id is not null end) as ours,
      percentile_cont(0.5) within group (order by extract(epoch from c.started_at - r.sent_at)::float8 * 1000)
        filter (where r.attempts = 1) as offset_ms,
      not exists (select from newest n join ${matches} k on k.request_id = n.request_id and k.match_kind = 'identifier') and (
        select count(*) = ${NEWEST} and bool_and(l.response_request_id is null) from (
          select c.response_request_id from (
            select * from ${log} c where c.started_at is not null order by c.started_at desc limit ${MOST_SEARCHED}
          ) c
          where (c.response_status_code is not null or c.duration is not null)
            and exists (select from newest n where ${isOfEndpoint(sql`c.endpoint`, sql`n.endpoint`)})
          order by c.started_at desc limit ${NEWEST}
        ) l
      ) as are_gone
    from (select request_id, log_id from ${matches} where match_kind = 'identifier' order by request_id desc limit ${PAIRS}) m
    join ${requests} r on r.id = m.request_id
    left join ${log} c on c.id = m.log_id
    left join ${answers} a on a.id = r.answer_id`.execute(database.db);
  const [found] = rows;
  if (!found || found.are_gone) return { areKept: false, offsetMs: undefined };
  return { areKept: found.ours === true, offsetMs: found.offset_ms ?? undefined };
}

export const instant = (at: Date): RawBuilder<Date> => sql`${at.toISOString()}::timestamptz`;

/**
 * Margin before the period of a reconciliation: rows are included from this long before it, and requests from as long
 * before the rows.
 */
export const SEARCHED_BEFORE_MS = 3_600_000;

/** SQL for the attempts of a request that were answered with an error and followed by another, as `f`. */
export const failedAttempts = (request: string): RawBuilder<unknown> =>
  sql`jsonb_to_recordset(${sql.ref(`${request}.failed_attempts`)})
    as f(sent_at timestamptz, answered_at timestamptz, status bigint, x_request_id text)`;

/** SQL for the requests that may be in the log since an instant; without one, all that were ever sent. */
export function requestsSince(
  { requests, runs }: ReturnType<typeof reconcileTables>,
  since: Date | undefined,
): RawBuilder<unknown> {
  if (since === undefined) return sql`(select * from ${requests} where attempts > 0 and sent_at is not null)`;
  const from = instant(new Date(since.getTime() - 2 * SEARCHED_BEFORE_MS));
  return sql`(select q.* from ${runs} n join ${requests} q on q.run_id = n.id
    where (n.ended_at is null or n.ended_at >= ${from}) and q.attempts > 0 and q.sent_at >= ${from})`;
}

/**
 * Matches log rows by identifier with the requests sent since an instant. A request whose attempts all have a row by identifier
 * loses its other matches; returns these requests.
 */
export async function matchIdentifiers(database: ReconcileDb, since: Date | undefined, now: Date): Promise<string[]> {
  const tables = reconcileTables(database);
  const { log, requests, answers, matches } = tables;
  const isOpen = sql`(r.charged is null or r.attempts > 1
    or exists (select from ${matches} m where m.request_id = r.id and m.match_kind <> 'identifier'))`;
  // A row belongs to one request. If several requests share an identifier, the nearest one gets the row.
  const enter = async (pairs: RawBuilder<unknown>): Promise<string[]> => {
    const { rows } = await sql<{ request_id: string }>`
      insert into ${matches} as m (request_id, log_id, match_kind, matched_at)
      select request_id, log_id, 'identifier', ${instant(now)} from (
        select distinct on (log_id) request_id, log_id from (${pairs}) p
        where not exists (select from ${matches} k where k.log_id = p.log_id and k.match_kind = 'identifier')
        order by log_id, abs(extract(epoch from started_at - sent_at)), request_id
      ) nearest
      order by request_id, log_id
      on conflict (request_id, log_id) do update set match_kind = 'identifier', matched_at = excluded.matched_at
      returning request_id`.execute(database.db);
    return rows.map((it) => it.request_id);
  };
  // The index has the identifier as it was logged, and a service may log it in capital letters.
  const ours = (isMeant: RawBuilder<unknown>) => sql`
    select r.id as request_id, c.id as log_id, c.started_at, r.sent_at from ${requestsSince(tables, since)} r
    cross join lateral (values (r.x_request_id::text), (upper(r.x_request_id::text))) as i(identifier)
    join ${log} c on c.response_request_id = i.identifier
    where ${isMeant}`;
  const byOurs = [...(await enter(ours(isOpen))), ...(await enter(ours(mayHaveLaterRows(tables, since))))];
  // A service may log an identifier of its own and send it with the answer. An identifier of several requests proves
  // nothing.
  const theirs = (identifier: RawBuilder<unknown>, source: RawBuilder<unknown>) => sql`
    select r.id, c.id as log_id, c.started_at, r.sent_at
    from ${requestsSince(tables, since)} r ${source}
    join ${log} c on c.response_request_id = ${identifier}
    where ${isOpen} and ${identifier} <> r.x_request_id::text and ${isOfEndpoint(sql`c.endpoint`, sql`r.endpoint`)}`;
  const byTheirs = await enter(sql`
    select min(id) as request_id, log_id, min(started_at) as started_at, min(sent_at) as sent_at
    from (
      ${theirs(sql`a.headers ->> 'x-request-id'`, sql`join ${answers} a on a.request_id = r.id`)}
      union all ${theirs(sql`f.x_request_id`, sql`cross join ${failedAttempts('r')}`)}
    ) known group by log_id having count(distinct id) = 1`);
  const { rows } = await sql<{ request_id: string }>`
    delete from ${matches} m using ${requests} r
    where r.id = m.request_id and m.match_kind <> 'identifier' and r.id = ${anyBigint([...byOurs, ...byTheirs])}
      and (select count(*) from ${matches} k where k.request_id = r.id and k.match_kind = 'identifier') >= r.attempts
    returning m.request_id`.execute(database.db);
  return rows.map((it) => it.request_id);
}

/**
 * SQL condition that a request `r` whose charge is known may have more rows with our identifier, such as a second charge or
 * a refund. If an earlier row has left the log, only the ledger knows its charge, so none is added. No request is looked
 * up if all rows with an identifier have a request, as on a token that only this warehouse uses.
 */
function mayHaveLaterRows(tables: ReturnType<typeof reconcileTables>, since: Date | undefined): RawBuilder<boolean> {
  const { log, matches } = tables;
  return sql`(r.charged is not null and r.attempts = 1
    and not exists (select from ${matches} k where k.request_id = r.id and not exists (select from ${log} g where g.id = k.log_id))
    and (select exists (select from ${log} u where ${beganSince('u', since)} and u.response_request_id is not null
      and not exists (select from ${matches} k where k.log_id = u.id and k.match_kind = 'identifier'))))`;
}

/**
 * SQL for whether a name in the log is that of an endpoint. Assumed: the log writes an endpoint as its path, with or
 * without a prefix from the service's URL, with slashes or dots.
 */
export const isOfEndpoint = (logged: RawBuilder<unknown>, name: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`right('.' || ${spelled(logged)}, length(${name}) + 1) = '.' || ${name}`;

const spelled = (logged: RawBuilder<unknown>): RawBuilder<string> =>
  sql`btrim(translate(lower(regexp_replace(${logged}, '[?#].*$', '')), '/ ', '..'), '.')`;
