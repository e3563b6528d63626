/**
 * Matches log rows and requests without a common identifier by endpoint, time and count. A row must have only one
 * candidate request, and the request no more rows than attempts. All other candidates are listed as ambiguous.
 */
import { type RawBuilder, sql } from 'kysely';
import {
  failedAttempts,
  instant,
  isOfEndpoint,
  type LogIdentifiers,
  type ReconcileDb,
  reconcileTables,
  requestsSince,
  SEARCHED_BEFORE_MS,
  toleranceMs,
} from '../../ledger/match-log.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { type CandidateEvent, CandidateSweep, type MatchChange } from './candidate-sweep.ts';

/** Number of events that are read at a time. About a third are log rows, and their matches are written together. */
const EVENTS_AT_A_TIME = 5000;

/**
 * SQL condition that a match stays. A row that was matched, deleted by `deleteReadRows` and read again is still of the same
 * request. For a match whose row is deleted now, the condition may be null.
 */
const isCertain = sql`(m.match_kind in ('identifier', 'in_order') or m.match_kind = 'only_candidate' and m.matched_at < c._first_seen_at)`;

/**
 * Matches the remaining rows and requests since an instant. Earlier such matches that no longer hold are removed.
 * Returns the requests whose certain matches changed. It needs a transaction in which no other process matches.
 */
export async function matchCandidates(
  database: ReconcileDb,
  identifiers: LogIdentifiers,
  since: Date | undefined,
  now: Date,
): Promise<string[]> {
  const rows = unmatchedRows(database, identifiers, since);
  const changed = new Set(await removeMatchesOfOtherRows(database, rows, since));
  const { rows: found } = await sql`select from ${rows} c limit 1`.execute(database.db);
  // If every row has its identifier, as usual, there is nothing to decide.
  if (found.length === 0) return [...changed];
  const sweep = new CandidateSweep();
  for await (const events of readEvents(database, rows, spansSince(database, identifiers, since), since)) {
    const changes = sweep.process(events);
    await writeChanges(database, identifiers, changes, now);
    for (const { requestId, before, after } of changes)
      if (after !== null || before === 'only_candidate') changed.add(requestId);
  }
  return [...changed];
}

/** SQL condition that the matches of a log row may change. Earlier rows may belong to requests that are not read here. */
const mayChange = (since: Date | undefined): RawBuilder<unknown> =>
  since ? sql`c.started_at >= ${instant(since)}` : sql`true`;

/** SQL for the log rows since an instant, and shortly before it, that have no certain match and may be of a request. */
function unmatchedRows(
  database: ReconcileDb,
  { areKept }: LogIdentifiers,
  since: Date | undefined,
): RawBuilder<unknown> {
  const { log, matches } = reconcileTables(database);
  const from = since ? instant(new Date(since.getTime() - SEARCHED_BEFORE_MS)) : sql`'-infinity'`;
  // If the log keeps identifiers, a row without one that has ended is of another program, or of a call that broke off.
  const [isOpen, mayBeOthers] = areKept
    ? [sql`c.response_request_id is null`, sql`c.response_status_code is not null or c.duration is not null`]
    : [sql`true`, sql`false`];
  return sql`(
    select c.id, c.endpoint, c.started_at, c.response_count, c.response_status_code as status,
      (${mayBeOthers}) as may_be_others
    from ${log} c
    where c.started_at >= ${from} and ${isOpen}
      and not exists (select from ${matches} m where m.log_id = c.id and ${isCertain})
  )`;
}

/** Removes matches of rows that have a certain match now, or an identifier. Returns the requests that lose a match. */
async function removeMatchesOfOtherRows(
  database: ReconcileDb,
  unmatched: RawBuilder<unknown>,
  since: Date | undefined,
): Promise<string[]> {
  const { log, matches } = reconcileTables(database);
  const { rows } = await sql<{ request_id: string; match_kind: string }>`
    delete from ${matches} m using ${log} c
    where c.id = m.log_id and ${mayChange(since)} and not ${isCertain}
      and not exists (select from ${unmatched} u where u.id = m.log_id)
    returning m.request_id, m.match_kind`.execute(database.db);
  return rows.filter((it) => it.match_kind === 'only_candidate').map((it) => it.request_id);
}

/** SQL for the times in which the attempts of requests since an instant may be logged: one row for each attempt. */
function spansSince(database: ReconcileDb, { offsetMs }: LogIdentifiers, since: Date | undefined): RawBuilder<unknown> {
  const tables = reconcileTables(database);
  const { log, answers, lostAnswers, matches } = tables;
  const after = (ms: number) => sql`${(offsetMs ?? 0) + ms}::float8 * interval '1 millisecond'`;
  const tolerance = toleranceMs({ offsetMs });
  return sql`(
    select r.id, r.endpoint, (r.body ->> 'count')::float8 as count, (r.attempts - certain.rows)::int as attempts, failed.statuses,
      (count(*) over (partition by r.id))::int as spans, t.sent_at + ${after(-tolerance)} as starts_at,
      greatest(t.sent_at, least(t.ended_at, t.sent_at + coalesce((r.sent_body ->> 'timeout')::float8, 300) * interval '1 second'))
        + ${after(tolerance)} as ends_at
    from ${requestsSince(tables, since)} r
    cross join lateral (
      select count(*) as rows from ${matches} m left join ${log} c on c.id = m.log_id
      where m.request_id = r.id and ${isCertain}
    ) certain
    left join ${answers} a on a.id = r.answer_id
    cross join lateral (
      select array_agg(status::int) as statuses
      from (select f.status from ${failedAttempts('r')} union select r.status where r.status >= 400) f
    ) failed
    cross join lateral (
      select r.sent_at, a.received_at as ended_at
      union all select d.sent_at, d.noticed_at from ${lostAnswers} d where d.request_id = r.id
      union all select f.sent_at, f.answered_at from ${failedAttempts('r')}
    ) t
    where certain.rows < r.attempts
  )`;
}

/** Reads the events in parts, with a cursor, so that memory does not grow with the ledger. */
async function* readEvents(
  database: ReconcileDb,
  unmatched: RawBuilder<unknown>,
  spans: RawBuilder<unknown>,
  since: Date | undefined,
): AsyncGenerator<CandidateEvent[]> {
  const { db } = database;
  const { matches } = reconcileTables(database);
  await sql`
    declare candidate_events no scroll cursor for
    with spans as materialized (select * from ${spans} s), rows as materialized (select * from ${unmatched} u),
    endpoints as (
      select logged.endpoint as logged, array_agg(name.endpoint) as names
      from (select distinct endpoint from rows) logged
      join (select distinct endpoint from spans) name on ${isOfEndpoint(sql`logged.endpoint`, sql`name.endpoint`)}
      group by logged.endpoint
    ), events as (
      select 1 as place, starts_at as at, 'start' as event, id as "requestId", endpoint, count, attempts, spans,
        statuses as "failedStatuses", null::float8 as status, null::uuid as "logId", null::text[] as endpoints,
        null::boolean as "mayChange", null::boolean as "mayBeOthers", null::jsonb as matches
      from spans
      union all
      select 2, c.started_at, 'row', null, null, c.response_count, null, null, null, c.status::float8, c.id, e.names,
        ${mayChange(since)}, c.may_be_others,
        (select jsonb_object_agg(m.request_id, m.match_kind) from ${matches} m where m.log_id = c.id)
      from rows c left join endpoints e on e.logged = c.endpoint
      union all
      select 3, ends_at, 'end', id, null, null, null, null, null, null, null, null, null, null, null from spans
    )
    select event, "requestId", endpoint, count, attempts, spans, "failedStatuses", status, "logId", endpoints, "mayChange",
      "mayBeOthers", matches
    from events order by at, place, "requestId", "logId"`.execute(db);
  for (;;) {
    const { rows } = await sql<CandidateEvent>`fetch ${sql.lit(EVENTS_AT_A_TIME)} from candidate_events`.execute(db);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close candidate_events`.execute(db);
}

/** SQL condition that others beside the row of a pair `p` were matched in order, so the row may be of one of them. */
function isBesideInOrder(database: ReconcileDb, identifiers: LogIdentifiers): RawBuilder<boolean> {
  const { log, requests, matches } = reconcileTables(database);
  const near = sql`${toleranceMs(identifiers)}::float8 * interval '1 millisecond'`;
  return sql<boolean>`exists (
    select from ${log} c join ${log} l on l.started_at between c.started_at - ${near} and c.started_at + ${near}
    join ${matches} o on o.log_id = l.id and o.match_kind = 'in_order' and o.request_id <> p.request_id
    join ${requests} r on r.id = o.request_id
    where c.id = p.log_id and r.endpoint = (select q.endpoint from ${requests} q where q.id = p.request_id))`;
}

/**
 * Writes the changes of matches; those that no longer hold are removed. The only request that is left beside others that
 * were matched in order is matched in order too.
 */
async function writeChanges(
  database: ReconcileDb,
  identifiers: LogIdentifiers,
  changes: readonly MatchChange[],
  now: Date,
): Promise<void> {
  const { matches } = reconcileTables(database);
  const { gone = [], held = [] } = Object.groupBy(changes, ({ after }) => (after === null ? 'gone' : 'held'));
  if (gone.length > 0)
    await sql`
      delete from ${matches} m using ${pairsOf(gone)} p
      where m.request_id = p.request_id and m.log_id = p.log_id`.execute(database.db);
  if (held.length > 0)
    await sql`
      insert into ${matches} (request_id, log_id, match_kind, matched_at)
      select request_id, log_id, case when match_kind = 'only_candidate' and ${isBesideInOrder(database, identifiers)} then 'in_order' else match_kind end,
        ${instant(now)}
      from ${pairsOf(held)} p order by request_id, log_id
      on conflict (request_id, log_id) do update set match_kind = excluded.match_kind, matched_at = excluded.matched_at`.execute(
      database.db,
    );
}

const pairsOf = (changes: readonly MatchChange[]) =>
  rowsFrom(changes, {
    request_id: ['bigint', ({ requestId }) => requestId],
    log_id: ['uuid', ({ logId }) => logId],
    match_kind: ['text', ({ after }) => after],
  });
