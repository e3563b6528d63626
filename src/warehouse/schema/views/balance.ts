/** Views of the balance, of differences between log and ledger, and of the dimensions of costs. */
import { loggedRequests, mayBeLost, tokenOf } from './request-costs.ts';
import { filledTables } from './cost-columns.ts';
import { bigint, date, boolean, timestamp, numeric, ratio, text, view } from './view.ts';

const token = text('Identifier of the token; `(not reported)` if the log has none.');
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
      d.token,
      d.date,
      d.requests,
      d.points,
      b.points_left,
      b.started_at as "told_at"
    from (
      select l.token, l.date, count(*) as "requests", sum(l.points) as "points"
      from "logged_requests" l group by l.token, l.date
    ) d
    left join (
      select distinct on (l.date, l.token) l.token, l.date, l.points_left, l.started_at
      from "logged_requests" l where l.points_left is not null
      order by l.date, l.token, l.started_at desc, l.log_id desc
    ) b on b.token = d.token and b.date = d.date`,
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
      b.points_left,
      b.started_at as "told_at",
      p.newest_at,
      p.points_7d,
      p.points_30d,
      x.week as "points_per_day_7d",
      x.month as "points_per_day_30d",
      case when x.week > 0 and b.points_left <= 36500 * x.week
        then (b.started_at + greatest(b.points_left, 0) / x.week * interval '24 hours') end as "runs_out_at",
      case when x.month > 0 and b.points_left <= 36500 * x.month
        then (b.started_at + greatest(b.points_left, 0) / x.month * interval '24 hours') end as "runs_out_at_30d"
    from (
      select
        e.token,
        e.first_at,
        e.newest_at,
        exists (
          select from "fact_request_costs" c join "request_cost_matches" k on k.log_id = c.id and k.match_kind <> 'ambiguous'
          where ${tokenOf('c')} = e.token
        ) as "is_ours",
        r.points_7d,
        r.points_30d
      from (
        select t.token, min(t.started_at) as "first_at", max(t.started_at) as "newest_at" from "logged_requests" t group by t.token
      ) e
      cross join lateral (
        select
          coalesce(sum(l.points) filter (where l.started_at > e.newest_at - interval '168 hours'), 0) as "points_7d",
          coalesce(sum(l.points), 0) as "points_30d"
        from (${loggedRequests({
          log: `(select * from "fact_request_costs" where started_at > e.newest_at - interval '720 hours' or started_at is null)`,
          matches: '"request_cost_matches"',
        })}) l
        where l.token = e.token and l.started_at > e.newest_at - interval '720 hours'
      ) r
    ) p
    cross join lateral (select greatest(extract(epoch from p.newest_at - p.first_at) / 86400, 1)::double precision as "days") s
    cross join lateral (
      select
        p.points_7d::double precision / least(s.days, 7) as "week",
        p.points_30d::double precision / least(s.days, 30) as "month"
    ) x
    left join lateral (
      select l.points_left, l.started_at from "logged_requests" l
      where l.token = p.token and l.points_left is not null
      order by l.started_at desc, l.log_id desc limit 1
    ) b on true`,
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
      lost: bigint('Number of matched charged rows in excess of the stored answers, without those of failed requests.'),
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
    with "entries" as (
      select
        p.date, p.points, p.match, p.request_id,
        p.request_id is not null and p.points > 0 and ${mayBeLost('p.outcome')} and p.place > coalesce(a.rows, 0) as "is_lost"
      from (
        select
          l.date, l.points, l.match, l.request_id, l.outcome,
          row_number() over (partition by l.request_id, l.points > 0 order by l.started_at desc, l.log_id) as "place"
        from "logged_requests" l
      ) p
      left join (select w.request_id, count(*) as "rows" from "answers" w group by w.request_id) a on a.request_id = p.request_id
    ),
    "logged" as (
      select
        e.date,
        count(*) as "logged",
        sum(e.points) as "logged_points",
        count(*) filter (where e.request_id is not null) as "matched",
        coalesce(sum(e.points) filter (where e.request_id is not null), 0) as "matched_points",
        count(*) filter (where e.match = 'ambiguous') as "ambiguous",
        coalesce(sum(e.points) filter (where e.match = 'ambiguous'), 0) as "ambiguous_points",
        count(*) filter (where e.match = 'none') as "others",
        coalesce(sum(e.points) filter (where e.match = 'none'), 0) as "other_points",
        count(*) filter (where e.is_lost) as "lost",
        coalesce(sum(e.points) filter (where e.is_lost), 0) as "lost_points"
      from "entries" e
      group by e.date
    ),
    "sent" as (
      select
        (q.sent_at at time zone 'UTC')::date as "date",
        count(*) as "asked",
        coalesce(sum(q.points), 0) as "ledger_points",
        count(*) filter (
          where q.answer_id is not null and not exists (select from "request_cost_matches" k where k.request_id = q.id)
        ) as "unlogged"
      from "requests" q where q.sent_at is not null and q.attempts > 0 and q.endpoint <> 'token.requests'
      group by 1
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
      select l.endpoint, min(l.date) as "first_on", max(l.date) as "last_on" from "logged_requests" l group by l.endpoint
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
      plan: text('Name of the plan; `(not reported)` if the log has none.'),
      requests: bigint('Number of rows in the request log.'),
      first_logged_on,
      last_logged_on,
    },
    `
    select l.plan, count(*) as "requests", min(l.date) as "first_logged_on", max(l.date) as "last_logged_on"
    from "logged_requests" l group by l.plan`,
  ),
  view(
    'dim_sync',
    'Syncs that ran, and two names for requests without a certain sync: one row each.',
    ['sync'],
    {
      sync: text(
        'Name of the sync in the config, or `(other programs)` or `(ambiguous)` for requests without a certain sync.',
      ),
      is_sync: boolean('Whether it is a sync: false for `(other programs)` and `(ambiguous)`.'),
      endpoint: text('Endpoint of its newest run; null if it is no sync.'),
      runs: bigint('Number of its runs.'),
      first_run_at: timestamp('Start of the first run; null if it is no sync.'),
      last_run_at: timestamp('Start of the newest run; null if it is no sync.'),
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
    full join (select distinct l.sync from "logged_requests" l) u using (sync)`,
  ),
];
