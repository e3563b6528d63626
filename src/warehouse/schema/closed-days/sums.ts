/**
 * SQL of the sums by day over the request log, the ledger and the tables, and what is stored of them. The same SQL stores the sums of a
 * closed day and computes those of the other days, so both are equal. Decision 23 has the rules. `offset 0` makes Postgres
 * read the rows of each period by index, because it cannot estimate how few they are.
 */
import { createHash } from 'node:crypto';
import { LOG_ENDPOINT, LOG_TABLE } from '../../../service/request-log/request-log.ts';
import { certainRowsOf, loggedRequests, POINTS, STARTED } from '../views/logged-requests.ts';
import { rootTables } from '../tables.ts';
import { answerSums } from './answer-sums.ts';
import { dayOf, type DaySums, NEWEST_CLOSED } from './periods.ts';

const LOG_COLUMNS = [
  'date',
  'endpoint',
  'plan',
  'sync',
  'run_id',
  'token',
  'requests',
  'points',
  'list_points',
  'failed_requests',
  'failed_points',
  'missing_requests',
  'missing_points',
  'open_requests',
  'items',
  'lost_requests',
  'lost_points',
  'failure_ids',
  'first_at',
  'last_at',
  'points_left',
  'told_at',
  'told_by',
];

/** Rows of the log by day, endpoint, plan, sync, run and token. The index on the start finds them. */
export const logSums: DaySums = {
  table: 'log_sums',
  columns: LOG_COLUMNS,
  over: (periods) => `
    select
      l.date,
      l.endpoint,
      l.plan,
      l.sync,
      l.run_id,
      l.token,
      count(*) as "requests",
      sum(l.points) as "points",
      coalesce(sum(l.cost), 0) as "list_points",
      count(*) filter (where l.outcome = 'failed') as "failed_requests",
      coalesce(sum(l.points) filter (where l.outcome = 'failed'), 0) as "failed_points",
      count(*) filter (where l.outcome = 'missing') as "missing_requests",
      coalesce(sum(l.points) filter (where l.outcome = 'missing'), 0) as "missing_points",
      count(*) filter (where l.outcome = 'under way') as "open_requests",
      coalesce(sum(l.items), 0) as "items",
      count(*) filter (where x.is_lost) as "lost_requests",
      coalesce(sum(l.points) filter (where x.is_lost), 0) as "lost_points",
      array_agg(l.log_id order by l.started_at, l.log_id) filter (
        where l.points > 0 and (l.outcome = 'failed' or (x.is_lost and l.outcome <> 'under way'))
      ) as "failure_ids",
      min(l.started_at) as "first_at",
      max(l.started_at) as "last_at",
      (array_agg(l.points_left order by l.started_at desc, l.log_id desc) filter (where l.points_left is not null))[1] as "points_left",
      (array_agg(l.started_at order by l.started_at desc, l.log_id desc) filter (where l.points_left is not null))[1] as "told_at",
      (array_agg(l.log_id order by l.started_at desc, l.log_id desc) filter (where l.points_left is not null))[1] as "told_by"
    from (${loggedRequests({
      log: `(
        select c.* from ${periods} r cross join lateral (
          select * from "${LOG_TABLE}" t where t.started_at between r.starts_at and r.ends_at
          union all
          select * from "${LOG_TABLE}" t where t.started_at is null and t._first_seen_at between r.starts_at and r.ends_at
          offset 0
        ) c
      )`,
    })}) l
    cross join lateral (
      select count(*) > (select count(*) from "answers" w where w.request_id = l.request_id) as "is_lost"
      from ${certainRowsOf('l.request_id')} c
      where l.points > 0 and ${POINTS} > 0 and (${STARTED} > l.started_at or (${STARTED} = l.started_at and c.id <= l.log_id))
    ) x
    group by l.date, l.endpoint, l.plan, l.sync, l.run_id, l.token`,
};

const REQUEST_COLUMNS = [
  'date',
  'sent_on',
  'sync',
  'endpoint',
  'is_sent',
  'requests',
  'points',
  'verified_requests',
  'verified_points',
  'unverified_requests',
  'unverified_points',
  'unlogged',
  'unlogged_first_at',
  'unlogged_last_at',
];

/** SQL condition that the answered request `q` has no row in the log. The log does not list the requests that read it. */
export const isUnlogged = (matches = '"request_cost_matches"'): string => `q.attempts > 0 and q.answer_id is not null
        and q.endpoint <> '${LOG_ENDPOINT}' and not exists (select from ${matches} k where k.request_id = q.id)`;

/** Requests of the ledger by day of planning, day of sending, sync and endpoint. A request never changes its day of planning. */
export const requestSums: DaySums = {
  table: 'request_sums',
  columns: REQUEST_COLUMNS,
  over: (periods) => `
    select
      ${dayOf('q.planned_at')} as "date",
      ${dayOf('q.sent_at')} as "sent_on",
      q.sync,
      q.endpoint,
      q.attempts > 0 as "is_sent",
      count(*) as "requests",
      sum(q.points) as "points",
      count(q.charged) as "verified_requests",
      coalesce(sum(q.charged), 0) as "verified_points",
      count(*) filter (where q.charged is null and q.points > 0) as "unverified_requests",
      coalesce(sum(q.points) filter (where q.charged is null), 0) as "unverified_points",
      count(*) filter (where q.is_unlogged) as "unlogged",
      min(q.sent_at) filter (where q.is_unlogged) as "unlogged_first_at",
      max(q.sent_at) filter (where q.is_unlogged) as "unlogged_last_at"
    from (
      select q.planned_at, q.sent_at, q.sync, q.endpoint, q.attempts, q.points, q.charged, ${isUnlogged()} as "is_unlogged"
      from ${periods} r cross join lateral (
        select * from "requests" s where s.planned_at between r.starts_at and r.ends_at offset 0
      ) q
    ) q
    group by 1, 2, q.sync, q.endpoint, 5`,
};

/** Rows of each root table by the day of their first observation. */
export const rowSums: DaySums = {
  table: 'row_sums',
  columns: ['date', 'table_name', 'rows'],
  over: (periods) =>
    rootTables
      .map(
        ({ name }) => `
    select ${dayOf('t._first_seen_at')} as "date", '${name}' as "table_name", count(*) as "rows"
    from ${periods} r cross join lateral (
      select _first_seen_at from "${name}" w where w._first_seen_at between r.starts_at and r.ends_at offset 0
    ) t
    group by 1`,
      )
      .join('\n    union all'),
};

/** All sums that are stored by day. */
export const daySums: readonly DaySums[] = [logSums, requestSums, answerSums, rowSums];

/** Digest of the SQL of all sums. Sums that another version stored do not count. */
export const FORMULA = createHash('sha256')
  .update(daySums.map(({ over }) => over('periods')).join('\n'))
  .digest('hex')
  .slice(0, 16);

/** SQL for the days whose stored sums count: nothing of them has changed since, and by the clock of the database they are not young. */
export const STORED_DAYS = `
      select d.day from "closed_days" d
      where d.formula = '${FORMULA}' and d.day <= ${NEWEST_CLOSED} and not exists (select from "changed_days" m where m.day = d.day)`;

/** SQL for the periods without stored sums: each reaches from one stored day to the next. */
const OPEN_PERIODS = `(
      select
        (g.day + 1)::timestamp at time zone 'UTC' as starts_at,
        coalesce(g.next::timestamp at time zone 'UTC' - interval '1 microsecond', 'infinity') as ends_at
      from (
        select s.day, lead(s.day) over (order by s.day) as next
        from (select '-infinity'::date as day union all ${STORED_DAYS}) s
      ) g
      where g.next is null or g.next > g.day + 1
    )`;

/** SQL of a view of sums: those of the stored days, and those of the other days, computed from their rows. */
export const storedAndOpen = ({ table, columns, over }: DaySums): string => `
    select ${columns.map((name) => `s."${name}"`).join(', ')} from "${table}" s where s."date" in (${STORED_DAYS})
    union all
    select ${columns.map((name) => `o."${name}"`).join(', ')} from (${over(OPEN_PERIODS)}) o`;
