/** Views of costs and results of runs and syncs. */
import { endpoint, sync, ownSync, points, requests, failed_requests, failed_points } from './cost-columns.ts';
import { answerCostsView, loaded, new_rows } from './answer-costs.ts';
import { isCertainMatch } from './request-costs.ts';
import { RUN_STATE } from './sync-columns.ts';
import { bigint, date, timestamp, numeric, ratio, text, view } from './view.ts';

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
  answerCostsView,
];
