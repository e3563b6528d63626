/** Views of costs and results: of runs, syncs and answers. */
import {
  endpoint,
  sync,
  ownSync,
  points,
  requests,
  failed_requests,
  failed_points,
  filledTables,
} from './cost-columns.ts';
import { isCertainMatch } from './request-costs.ts';
import { request_key, RUN_STATE } from './sync-columns.ts';
import { bigint, date, boolean, timestamp, numeric, ratio, text, view } from './view.ts';

const loaded = bigint('Number of items that created or changed rows.');
const new_rows = bigint(
  'Number of new rows in the table that the endpoint fills, without rows that were deleted later.',
);
const points_per_loaded = ratio(
  'Points per item that created or changed a row. Each request counts by the log if it has it, otherwise by the ledger. Null without such items.',
);
const points_per_new_row = ratio('Points per new row, from the same source; null without new rows.');
const nothing_new_points = numeric(
  'Points for answers without anything new: all items equal their stored rows, or there are no items.',
);

/** SQL for the requests with rows in the log that certainly belong to them. */
const loggedIds = `(
        select k.request_id
        from "request_cost_matches" k join "fact_request_costs" c on c.id = k.log_id
        where ${isCertainMatch('k')} group by k.request_id
      )`;

export const syncCostViews = [
  view(
    'run_costs',
    'Costs and results of runs: one row per run.',
    ['run_id'],
    {
      run_id: bigint('Id of the run; joins sync_runs, unless the run only looked up lost answers.'),
      sync: ownSync,
      endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
      started_at: timestamp('Start of the run.'),
      date: date('UTC day of started_at; joins dim_date.'),
      state: text('State of the run, as in sync_runs.'),
      requests: bigint('Number of rows in the request log that certainly belong to this run.'),
      points,
      failed_points,
      ledger_points: numeric(
        'Points by the ledger: as charged by the log if known, otherwise by the price list; null until known.',
      ),
      quoted_points: numeric('Expected points of the plan, as quoted before the first request; null without a quote.'),
      received: bigint('Number of items in its answers.'),
      loaded,
      new_rows,
      nothing_new_points,
      points_per_loaded,
      points_per_new_row,
    },
    `
    select
      r.id as "run_id",
      split_part(r.sync, ':', 1) as "sync",
      r.endpoint,
      r.started_at,
      (r.started_at at time zone 'UTC')::date as "date",
      ${RUN_STATE} as "state",
      coalesce(l.requests, 0) as "requests",
      coalesce(l.points, 0) as "points",
      coalesce(l.failed_points, 0) as "failed_points",
      r.points as "ledger_points",
      case when jsonb_typeof(r.quote -> 'likely') = 'number' then (r.quote ->> 'likely')::numeric end as "quoted_points",
      coalesce(a.received, 0) as "received",
      coalesce(a.loaded, 0) as "loaded",
      coalesce(a.new_rows, 0) as "new_rows",
      coalesce(a.nothing_new_points, 0) as "nothing_new_points",
      (coalesce(l.points + u.points, l.points, u.points) / nullif(a.loaded, 0))::double precision as "points_per_loaded",
      (coalesce(l.points + u.points, l.points, u.points) / nullif(a.new_rows, 0))::double precision as "points_per_new_row"
    from "runs" r
    left join (
      select
        g.run_id,
        count(*) as "requests",
        sum(g.points) as "points",
        sum(g.points) filter (where g.outcome = 'failed') as "failed_points"
      from "logged_requests" g where g.run_id is not null group by g.run_id
    ) l on l.run_id = r.id
    left join (
      select q.run_id, sum(coalesce(q.charged, q.points)) as "points"
      from "requests" q left join ${loggedIds} i on i.request_id = q.id
      where i.request_id is null
      group by q.run_id
    ) u on u.run_id = r.id
    left join (
      select
        w.run_id,
        sum(w.received)::bigint as "received",
        sum(w.loaded)::bigint as "loaded",
        sum(w.new_rows)::bigint as "new_rows",
        sum(w.points) filter (where w.is_nothing_new) as "nothing_new_points"
      from "answer_costs" w group by w.run_id
    ) a on a.run_id = r.id`,
  ),
  view(
    'sync_costs',
    'Costs and results of syncs so far, and costs of other programs: one row per sync and endpoint.',
    ['sync', 'endpoint'],
    {
      sync,
      endpoint,
      requests,
      points,
      failed_requests,
      failed_points,
      first_on: date('First day with a row in the log.'),
      last_on: date('Last day with a row in the log.'),
      ledger_points: numeric('Points by the ledger: as charged by the log if known, otherwise by the price list.'),
      answers: bigint('Number of stored answers.'),
      answer_points: numeric('Points for these answers, by the log if it has their requests, otherwise by the ledger.'),
      received: bigint('Number of items in these answers.'),
      loaded,
      new_rows,
      points_per_loaded,
      points_per_new_row,
      nothing_new_answers: bigint('Number of answers without anything new.'),
      nothing_new_points,
      nothing_new_share: ratio('Share of these points in answer_points, from 0 to 1; null if answer_points is 0.'),
    },
    `
    with "logged" as (
      select
        g.sync,
        g.endpoint,
        count(*) as "requests",
        sum(g.points) as "points",
        count(*) filter (where g.outcome = 'failed') as "failed_requests",
        coalesce(sum(g.points) filter (where g.outcome = 'failed'), 0) as "failed_points",
        min(g.date) as "first_on",
        max(g.date) as "last_on"
      from "logged_requests" g group by g.sync, g.endpoint
    ),
    "ledger" as (
      select
        split_part(q.sync, ':', 1) as "sync",
        q.endpoint,
        sum(q.points) as "points",
        sum(coalesce(q.charged, q.points)) filter (where i.request_id is null) as "unlogged_points"
      from "requests" q left join ${loggedIds} i on i.request_id = q.id
      group by 1, 2
    ),
    "bought" as (
      select
        w.sync,
        w.endpoint,
        count(*) as "answers",
        sum(w.points) as "points",
        sum(w.received)::bigint as "received",
        sum(w.loaded)::bigint as "loaded",
        sum(w.new_rows)::bigint as "new_rows",
        count(*) filter (where w.is_nothing_new) as "nothing_new_answers",
        coalesce(sum(w.points) filter (where w.is_nothing_new), 0) as "nothing_new_points"
      from "answer_costs" w group by w.sync, w.endpoint
    )
    select
      sync,
      endpoint,
      coalesce(l.requests, 0) as "requests",
      coalesce(l.points, 0) as "points",
      coalesce(l.failed_requests, 0) as "failed_requests",
      coalesce(l.failed_points, 0) as "failed_points",
      l.first_on,
      l.last_on,
      coalesce(k.points, 0) as "ledger_points",
      coalesce(a.answers, 0) as "answers",
      coalesce(a.points, 0) as "answer_points",
      coalesce(a.received, 0) as "received",
      coalesce(a.loaded, 0) as "loaded",
      coalesce(a.new_rows, 0) as "new_rows",
      (p.points / nullif(a.loaded, 0))::double precision as "points_per_loaded",
      (p.points / nullif(a.new_rows, 0))::double precision as "points_per_new_row",
      coalesce(a.nothing_new_answers, 0) as "nothing_new_answers",
      coalesce(a.nothing_new_points, 0) as "nothing_new_points",
      (a.nothing_new_points / nullif(a.points, 0))::double precision as "nothing_new_share"
    from "logged" l
    full join "ledger" k using (sync, endpoint)
    full join "bought" a using (sync, endpoint)
    cross join lateral (select coalesce(l.points + k.unlogged_points, l.points, k.unlogged_points) as "points") p`,
  ),
  view(
    'answer_costs',
    'Costs and results of paid answers: one row per answer.',
    ['answer_id'],
    {
      answer_id: bigint('Id of the answer; joins paid_answers.'),
      request_id: bigint('Request that returned the answer.'),
      run_id: bigint('Run that sent the request.'),
      sync: ownSync,
      endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
      request_key,
      received_at: timestamp('Receipt of its last byte.'),
      date: date('UTC day of received_at; joins dim_date.'),
      points: numeric(
        'Points for its request with all attempts, by the log if it has them, otherwise by the ledger. If a request has several answers, the newest has the points.',
      ),
      is_logged: boolean('Whether the log has the request, so that the points are those that the service charged.'),
      received: bigint('Number of items in the answer.'),
      loaded,
      unchanged: bigint('Number of items equal to their stored rows.'),
      new_rows,
      is_nothing_new: boolean(
        'Whether the answer has nothing new: all items equal their stored rows, or there are no items.',
      ),
      previous_at: timestamp(
        'Receipt of the previous answer to the same request of the same sync; null for the first.',
      ),
      days_since_previous: ratio('Days since previous_at; null for the first.'),
      sent_at: timestamp('Start of the request: the receipt minus the duration.'),
    },
    // A row is new by the answer whose receipt is its first observation; of answers with equal receipts, by the first.
    `
    with "appearances" ("endpoint", "at", "rows") as (
      ${filledTables.map(({ endpoint, table }) => `select '${endpoint}', t._first_seen_at, count(*) from "${table}" t group by 2`).join('\n      union all ')}
    )
    select
      a.id as "answer_id",
      a.request_id,
      a.run_id,
      split_part(a.sync, ':', 1) as "sync",
      a.endpoint,
      a.request_key,
      a.received_at,
      (a.received_at at time zone 'UTC')::date as "date",
      case when a.of_request = 1 then coalesce(l.points, q.charged, q.points, 0) else 0 end as "points",
      l.points is not null as "is_logged",
      coalesce(a.received, 0) as "received",
      coalesce(a.loaded, 0) as "loaded",
      coalesce(a.unchanged, 0) as "unchanged",
      case when a.of_moment = 1 then coalesce(n.rows, 0) else 0 end as "new_rows",
      a.loaded_at is not null and coalesce(a.loaded, 0) = 0 and coalesce(a.quarantined, 0) = 0 as "is_nothing_new",
      a.previous_at,
      (extract(epoch from a.received_at - a.previous_at) / 86400)::double precision as "days_since_previous",
      a.received_at - a.took_ms * interval '1 millisecond' as "sent_at"
    from (
      select
        w.id, w.request_id, w.run_id, w.sync, w.endpoint, w.request_key, w.received_at, w.took_ms, w.received, w.loaded,
        w.unchanged, w.quarantined, w.loaded_at,
        row_number() over (partition by w.request_id order by w.id desc) as "of_request",
        row_number() over (partition by w.received_at, w.endpoint order by w.id) as "of_moment",
        lag(w.received_at) over (partition by w.sync, w.request_key order by w.received_at, w.id) as "previous_at"
      from "answers" w
    ) a
    left join "requests" q on q.id = a.request_id
    left join (
      select r.request_id, sum(r.points) as "points" from "logged_requests" r where r.request_id is not null group by r.request_id
    ) l on l.request_id = a.request_id
    left join "appearances" n on n.endpoint = a.endpoint and n.at = a.received_at`,
  ),
];
