/** Views of the balance, of differences between log and ledger, and of the dimensions of costs. */
import { POINTS, STARTED, tokenOf } from './logged-requests.ts';
import { filledTables } from './cost-columns.ts';
import { bigint, date, boolean, timestamp, numeric, ratio, text, view } from './view.ts';

const token = text('Identifier of the token; `(not told)` if the log has none.');
const first_logged_on = date('First day with such a row in the request log; null if there is none.');
const last_logged_on = date('Last day with such a row in the request log; null if there is none.');
const runsOut = (days: number) =>
  timestamp(
    `Time at which the points run out at the rate of the last ${days} days, counted from told_at; null without a balance, without spending, or if it is more than a century ahead.`,
  );

export const balanceViews = [
  view(
    'daily_balance',
    'Points left at the end of each day: one row per token and day.',
    ['token', 'date'],
    {
      token,
      date: date('UTC day; joins dim_date.'),
      requests: bigint('Number of rows in the request log.'),
      points: numeric('Points charged on that day.'),
      points_left: bigint('Points left after the last request of the day that reports them; null if none does.'),
      told_at: timestamp('Start of that request; null if there is none.'),
    },
    `
    select
      c.token,
      c.date,
      sum(c.requests)::bigint as "requests",
      sum(c.points) as "points",
      (array_agg(c.points_left order by c.told_at desc, c.told_by desc) filter (where c.told_at is not null))[1] as "points_left",
      max(c.told_at) as "told_at"
    from "daily_run_costs" c
    group by c.token, c.date`,
  ),
  view(
    'balance_forecast',
    'Points left, and when they run out at the current rate, by the part of the log that was read: one row per token.',
    ['token'],
    {
      token,
      is_ours: boolean('Whether a request of this warehouse’s ledger was certainly sent with the token.'),
      points_left: bigint('Points left after the newest request that reports them; null if none does.'),
      told_at: timestamp('Start of that request; null if there is none.'),
      newest_at: timestamp('Start of the token’s newest request in the log, where the periods of the rates end.'),
      points_7d: numeric('Points charged in the 7 days before newest_at.'),
      points_30d: numeric('Points charged in the 30 days before newest_at.'),
      points_per_day_7d: ratio(
        'Points per day over 7 days, or over fewer days, but at least one, if the log is shorter.',
      ),
      points_per_day_30d: ratio(
        'Points per day over 30 days, or over fewer days, but at least one, if the log is shorter.',
      ),
      runs_out_at: runsOut(7),
      runs_out_at_30d: runsOut(30),
    },
    // The newest row of the log counts as the present, by the clock of the log. Dates more than a century ahead are omitted.
    `
    select
      p.token,
      p.is_ours,
      p.points_left,
      p.told_at,
      p.newest_at,
      p.points_7d,
      p.points_30d,
      x.week as "points_per_day_7d",
      x.month as "points_per_day_30d",
      case when x.week > 0 and p.points_left <= 36500 * x.week
        then (p.told_at + greatest(p.points_left, 0) / x.week * interval '24 hours') end as "runs_out_at",
      case when x.month > 0 and p.points_left <= 36500 * x.month
        then (p.told_at + greatest(p.points_left, 0) / x.month * interval '24 hours') end as "runs_out_at_30d"
    from (
      select e.*, r.points_7d, r.points_30d
      from (
        select
          c.token,
          min(c.first_at) as "first_at",
          max(c.last_at) as "newest_at",
          bool_or(c.run_id is not null) as "is_ours",
          (array_agg(c.points_left order by c.told_at desc, c.told_by desc) filter (where c.told_at is not null))[1] as "points_left",
          max(c.told_at) as "told_at"
        from "daily_run_costs" c group by c.token
      ) e
      cross join lateral (
        select
          coalesce(sum(${POINTS}) filter (where ${STARTED} > e.newest_at - interval '168 hours'), 0) as "points_7d",
          coalesce(sum(${POINTS}), 0) as "points_30d"
        from "fact_request_costs" c
        where (c.started_at > e.newest_at - interval '720 hours' or c.started_at is null)
          and ${tokenOf('c')} = e.token and ${STARTED} > e.newest_at - interval '720 hours'
      ) r
    ) p
    cross join lateral (select greatest(extract(epoch from p.newest_at - p.first_at) / 86400, 1)::double precision as "days") s
    cross join lateral (
      select
        p.points_7d::double precision / least(s.days, 7) as "week",
        p.points_30d::double precision / least(s.days, 30) as "month"
    ) x`,
  ),
  view(
    'daily_reconciliation',
    'Comparison of the request log with the ledger: one row per day on which either has a request.',
    ['date'],
    {
      date: date(
        'UTC day; joins dim_date. Rows of the log have the clock of the service, requests of the ledger that of the database.',
      ),
      logged: bigint('Number of rows in the log.'),
      logged_points: numeric('Points charged for these rows.'),
      matched: bigint('Number of these rows that certainly belong to requests of the ledger.'),
      matched_points: numeric('Points charged for the matched rows.'),
      ambiguous: bigint('Number of rows that may belong to one of several requests.'),
      ambiguous_points: numeric('Points charged for the ambiguous rows.'),
      others: bigint('Number of rows without a request in the ledger: from other programs or tokens.'),
      other_points: numeric('Points charged for the rows of others.'),
      lost: bigint('Number of matched charged rows in excess of the stored answers.'),
      lost_points: numeric('Points charged for these lost answers.'),
      asked: bigint('Number of requests of the ledger that were last sent on this day.'),
      ledger_points: numeric(
        'Points for these requests by the ledger: as charged by the log if known, otherwise by the price list.',
      ),
      unlogged: bigint(
        'Number of answered requests among these without a row in the log. For the last days, the log may not have been read yet.',
      ),
    },
    // The log does not list the requests that read it, so these do not count as unlogged.
    `
    with "logged" as (
      select
        c.date,
        sum(c.requests)::bigint as "logged",
        sum(c.points) as "logged_points",
        coalesce(sum(c.requests) filter (where c.run_id is not null), 0)::bigint as "matched",
        coalesce(sum(c.points) filter (where c.run_id is not null), 0) as "matched_points",
        coalesce(sum(c.requests) filter (where c.run_id is null and c.sync = '(ambiguous)'), 0)::bigint as "ambiguous",
        coalesce(sum(c.points) filter (where c.run_id is null and c.sync = '(ambiguous)'), 0) as "ambiguous_points",
        coalesce(sum(c.requests) filter (where c.run_id is null and c.sync = '(other programs)'), 0)::bigint as "others",
        coalesce(sum(c.points) filter (where c.run_id is null and c.sync = '(other programs)'), 0) as "other_points",
        sum(c.lost_requests)::bigint as "lost",
        sum(c.lost_points) as "lost_points"
      from "daily_run_costs" c
      group by c.date
    ),
    "sent" as (
      select
        q.sent_on as "date",
        sum(q.requests)::bigint as "asked",
        coalesce(sum(q.points), 0) as "ledger_points",
        sum(q.unlogged)::bigint as "unlogged"
      from "daily_requests" q where q.sent_on is not null and q.is_sent and q.endpoint <> 'token.requests'
      group by q.sent_on
    )
    select
      date,
      coalesce(l.logged, 0) as "logged",
      coalesce(l.logged_points, 0) as "logged_points",
      coalesce(l.matched, 0) as "matched",
      coalesce(l.matched_points, 0) as "matched_points",
      coalesce(l.ambiguous, 0) as "ambiguous",
      coalesce(l.ambiguous_points, 0) as "ambiguous_points",
      coalesce(l.others, 0) as "others",
      coalesce(l.other_points, 0) as "other_points",
      coalesce(l.lost, 0) as "lost",
      coalesce(l.lost_points, 0) as "lost_points",
      coalesce(s.asked, 0) as "asked",
      coalesce(s.ledger_points, 0) as "ledger_points",
      coalesce(s.unlogged, 0) as "unlogged"
    from "logged" l
    full join "sent" s using (date)`,
  ),
  view(
    'dim_endpoint',
    'Endpoints that can be synced or occur in the request log: one row per endpoint.',
    ['endpoint'],
    {
      endpoint: text('Name of the endpoint: its path with dots.'),
      network: text('First part of the name: token, webparser, sec, pronet, microblog or photoshare.'),
      table_name: text('Table that its items fill; null if the endpoint can’t be synced.'),
      is_known: boolean('Whether the endpoint can be synced.'),
      first_logged_on,
      last_logged_on,
    },
    `
    with "known" ("endpoint", "table_name") as (
      values ${filledTables.map(({ endpoint, table }) => `('${endpoint}', '${table}')`).join(', ')}
    ),
    "used" as (
      select c.endpoint, min(c.date) as "first_on", max(c.date) as "last_on" from "daily_run_costs" c group by c.endpoint
    )
    select
      endpoint,
      split_part(endpoint, '.', 1) as "network",
      k.table_name,
      k.endpoint is not null as "is_known",
      u.first_on as "first_logged_on",
      u.last_on as "last_logged_on"
    from "known" k
    full join "used" u using (endpoint)`,
  ),
  view(
    'dim_plan',
    'Plans of tokens in the request log: one row per plan.',
    ['plan'],
    {
      plan: text('Name of the plan; `(not told)` if the log has none.'),
      requests: bigint('Number of rows in the request log.'),
      first_logged_on,
      last_logged_on,
    },
    `
    select c.plan, sum(c.requests)::bigint as "requests", min(c.date) as "first_logged_on", max(c.date) as "last_logged_on"
    from "daily_run_costs" c group by c.plan`,
  ),
  view(
    'dim_sync',
    'Syncs that ran, and placeholders for requests without a certain sync: one row each.',
    ['sync'],
    {
      sync: text('Name of the sync in the config, or one of the placeholders `(other programs)` and `(ambiguous)`.'),
      is_sync: boolean('Whether it is a sync and not a placeholder.'),
      endpoint: text('Endpoint of its newest run; null for a placeholder.'),
      runs: bigint('Number of its runs.'),
      first_run_at: timestamp('Start of the first run; null for a placeholder.'),
      last_run_at: timestamp('Start of the newest run; null for a placeholder.'),
    },
    `
    select
      sync,
      r.sync is not null as "is_sync",
      r.endpoint,
      coalesce(r.runs, 0) as "runs",
      r.first_run_at,
      r.last_run_at
    from (
      select
        split_part(n.sync, ':', 1) as "sync",
        (array_agg(n.endpoint order by strpos(n.sync, ':'), n.id desc))[1] as "endpoint",
        count(*) filter (where strpos(n.sync, ':') = 0) as "runs",
        min(n.started_at) as "first_run_at",
        max(n.started_at) as "last_run_at"
      from "runs" n group by 1
    ) r
    full join (select distinct c.sync from "daily_run_costs" c) u using (sync)`,
  ),
];
