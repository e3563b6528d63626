/** What requests cost, for analysts: the log with its syncs and runs, sums by day, run and sync, prices, balance, failures. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

/**
 * Endpoints with the table that their items fill. Rows of other tables that their answers bring along, such as authors,
 * are not what was asked for.
 */
const FILLED = [
  ['token.requests', 'fact_request_costs'],
  ['webparser.parse', 'web_pages'],
  ['sec.search.companies', 'sec_filings'],
  ['pronet.post.reposts', 'pronet_posts'],
  ['pronet.search.users', 'pronet_users'],
  ['pronet.user.education', 'pronet_user_educations'],
  ['pronet.group', 'pronet_groups'],
  ['microblog.user', 'microblog_users'],
  ['photoshare.user', 'photoshare_users'],
  ['photoshare.user.posts', 'photoshare_posts'],
] as const;

const UP = [
  // A row without a start is counted on the day it was first seen, so that sums by day are sums of all.
  `create view "logged_requests" as
  select
    c.id as "log_id",
    coalesce(c.started_at, c._first_seen_at) as "started_at",
    (coalesce(c.started_at, c._first_seen_at) at time zone 'UTC')::date as "date",
    coalesce(
      q.endpoint,
      nullif(regexp_replace(
        btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$', '')), '/ ', '..'), '.'), '^(.*[.])?api[.]', ''
      ), ''),
      '(not told)'
    ) as "endpoint",
    c.endpoint as "logged_endpoint",
    coalesce(nullif(c.plan, ''), '(not told)') as "plan",
    case
      when q.id is not null then split_part(q.sync, ':', 1)
      when m.log_id is null then '(other programs)'
      else '(ambiguous)'
    end as "sync",
    q.run_id,
    q.id as "request_id",
    coalesce(m.sure, 'none') as "match",
    coalesce(c.token_id::text, '(not told)') as "token",
    c.cost,
    c.is_paid,
    (case when coalesce(c.is_paid, c.cost > 0) then coalesce(c.cost, 0) else 0 end)::numeric as "points",
    c.points_left,
    case
      when c.response_status_code between 200 and 299 then 'answered'
      when c.response_status_code = 412 then 'missing'
      when c.response_status_code is not null or c.response_error_text <> '' then 'failed'
      when c.duration is null then 'under way'
      else 'not told'
    end as "outcome",
    c.response_status_code as "status",
    c.response_error_text as "error",
    case when q.body ->> 'count' ~ '^[0-9]{1,15}$' then (q.body ->> 'count')::bigint end as "asked",
    c.response_count as "items",
    c.duration as "duration_s"
  from "fact_request_costs" c
  left join (
    select
      k.log_id,
      min(k.request_id) filter (where k.sure <> 'ambiguous') as "request_id",
      coalesce(min(k.sure) filter (where k.sure <> 'ambiguous'), 'ambiguous') as "sure"
    from "request_cost_matches" k group by k.log_id
  ) m on m.log_id = c.id
  left join "requests" q on q.id = m.request_id`,
  // A row is new by the answer whose receipt is its first sighting; of answers received at one moment, by the first.
  `create view "answer_costs" as
  with "appearances" ("endpoint", "at", "rows") as (
    ${FILLED.map(([endpoint, table]) => `select '${endpoint}', t._first_seen_at, count(*) from "${table}" t group by 2`).join('\n    union all ')}
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
    (extract(epoch from a.received_at - a.previous_at) / 86400)::double precision as "days_since_previous"
  from (
    select
      w.id, w.request_id, w.run_id, w.sync, w.endpoint, w.request_key, w.received_at, w.received, w.loaded, w.unchanged,
      w.quarantined, w.loaded_at,
      row_number() over (partition by w.request_id order by w.id desc) as "of_request",
      row_number() over (partition by w.endpoint, w.received_at order by w.id) as "of_moment",
      lag(w.received_at) over (partition by w.sync, w.request_key order by w.received_at, w.id) as "previous_at"
    from "answers" w
  ) a
  left join "requests" q on q.id = a.request_id
  left join (
    select r.request_id, sum(r.points) as "points" from "logged_requests" r where r.request_id is not null group by r.request_id
  ) l on l.request_id = a.request_id
  left join "appearances" n on n.endpoint = a.endpoint and n.at = a.received_at`,
  `create view "daily_costs" as
  select
    l.date,
    l.endpoint,
    l.plan,
    l.sync,
    count(*) as "requests",
    sum(l.points) as "points",
    coalesce(sum(l.cost), 0) as "list_points",
    count(*) filter (where l.outcome = 'failed') as "failed_requests",
    coalesce(sum(l.points) filter (where l.outcome = 'failed'), 0) as "failed_points",
    count(*) filter (where l.outcome = 'missing') as "missing_requests",
    coalesce(sum(l.points) filter (where l.outcome = 'missing'), 0) as "missing_points",
    count(*) filter (where l.outcome = 'under way') as "open_requests",
    coalesce(sum(l.items), 0) as "items"
  from "logged_requests" l
  group by l.date, l.endpoint, l.plan, l.sync`,
  `create view "run_costs" as
  select
    r.id as "run_id",
    split_part(r.sync, ':', 1) as "sync",
    r.endpoint,
    r.started_at,
    (r.started_at at time zone 'UTC')::date as "date",
    r.state,
    coalesce(l.requests, 0) as "requests",
    coalesce(l.points, 0) as "points",
    coalesce(l.failed_points, 0) as "failed_points",
    r.points as "ledger_points",
    case when jsonb_typeof(r.quote -> 'likely') = 'number' then (r.quote ->> 'likely')::numeric end as "quoted_points",
    coalesce(a.received, 0) as "received",
    coalesce(a.loaded, 0) as "loaded",
    coalesce(a.new_rows, 0) as "new_rows",
    coalesce(a.nothing_new_points, 0) as "nothing_new_points",
    (coalesce(l.points, r.points) / nullif(a.loaded, 0))::double precision as "points_per_loaded",
    (coalesce(l.points, r.points) / nullif(a.new_rows, 0))::double precision as "points_per_new_row"
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
    select
      w.run_id,
      sum(w.received)::bigint as "received",
      sum(w.loaded)::bigint as "loaded",
      sum(w.new_rows)::bigint as "new_rows",
      sum(w.points) filter (where w.is_nothing_new) as "nothing_new_points"
    from "answer_costs" w group by w.run_id
  ) a on a.run_id = r.id`,
  `create view "sync_costs" as
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
    select split_part(q.sync, ':', 1) as "sync", q.endpoint, sum(q.points) as "points"
    from "requests" q group by 1, 2
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
    (coalesce(l.points, k.points) / nullif(a.loaded, 0))::double precision as "points_per_loaded",
    (coalesce(l.points, k.points) / nullif(a.new_rows, 0))::double precision as "points_per_new_row",
    coalesce(a.nothing_new_answers, 0) as "nothing_new_answers",
    coalesce(a.nothing_new_points, 0) as "nothing_new_points",
    (a.nothing_new_points / nullif(a.points, 0))::double precision as "nothing_new_share"
  from "logged" l
  full join "ledger" k using (sync, endpoint)
  full join "bought" a using (sync, endpoint)`,
  // A question is taken to be looked up when its request was sent; each that finds no answer young enough is bought.
  // In hours, here and below: a day of the session's time zone may be one more or less.
  `create view "sync_max_age_savings" as
  with recursive "repeated" as (
    select a.sync, a.request_key, min(a.received_at) as "first_at"
    from "answers" a where a.endpoint <> 'token.requests'
    group by a.sync, a.request_key having count(*) > 1
  ),
  "ages" ("days") as (values (1), (7), (30)),
  "bought" ("days", "sync", "request_key", "at") as (
    select d.days, r.sync, r.request_key, r.first_at from "repeated" r cross join "ages" d
    union all
    select b.days, b.sync, b.request_key, n.received_at
    from "bought" b
    cross join lateral (
      select a.received_at from "answers" a
      where a.request_key = b.request_key and a.sync = b.sync
        and a.received_at > b.at + b.days * interval '24 hours'
        and a.received_at - a.took_ms * interval '1 millisecond' > b.at + b.days * interval '24 hours'
      order by a.received_at limit 1
    ) n
  ),
  "paid" as (
    select
      c.sync, c.request_key, c.received_at,
      count(*) as "answers",
      count(*) filter (where not c.is_nothing_new) as "telling",
      sum(c.points) as "points"
    from "answer_costs" c where c.endpoint <> 'token.requests'
    group by c.sync, c.request_key, c.received_at
  ),
  "saved" as (
    select
      d.days,
      p.sync,
      sum(p.answers)::bigint as "answers",
      sum(p.points) as "points",
      sum(p.telling)::bigint as "telling"
    from "paid" p
    join "repeated" r on r.sync = p.sync and r.request_key = p.request_key
    cross join "ages" d
    left join "bought" b
      on b.days = d.days and b.sync = p.sync and b.request_key = p.request_key and b.at = p.received_at
    where b.days is null
    group by d.days, p.sync
  )
  select
    t.sync,
    d.days as "max_age_days",
    t.answers,
    t.points,
    coalesce(s.answers, 0) as "saved_answers",
    coalesce(s.points, 0) as "saved_points",
    (coalesce(s.points, 0) / nullif(t.points, 0))::double precision as "saved_share",
    coalesce(s.telling, 0) as "late_answers"
  from (
    select p.sync, sum(p.answers)::bigint as "answers", sum(p.points) as "points" from "paid" p group by p.sync
  ) t
  cross join "ages" d
  left join "saved" s on s.sync = t.sync and s.days = d.days`,
  `create view "charged_failures" as
  select
    p.log_id,
    p.started_at,
    p.date,
    p.endpoint,
    p.plan,
    p.sync,
    p.run_id,
    p.request_id,
    case when p.outcome = 'failed' then 'failed' else 'lost' end as "kind",
    p.status,
    p.error,
    p.points
  from (
    select
      l.*,
      row_number() over (partition by l.request_id order by l.started_at desc, l.log_id) as "place"
    from "logged_requests" l where l.points > 0
  ) p
  left join (select w.request_id, count(*) as "rows" from "answers" w group by w.request_id) a on a.request_id = p.request_id
  where p.outcome = 'failed'
    or (p.outcome <> 'under way' and p.request_id is not null and p.place > coalesce(a.rows, 0))`,
  `create view "price_book" as
  select
    l.endpoint,
    l.plan,
    count(*) filter (where l.outcome = 'answered') as "samples",
    min(l.points) filter (where l.outcome = 'answered') as "min_points",
    percentile_disc(0.1) within group (order by l.points) filter (where l.outcome = 'answered') as "low_points",
    percentile_disc(0.5) within group (order by l.points) filter (where l.outcome = 'answered') as "median_points",
    avg(l.points) filter (where l.outcome = 'answered')::double precision as "mean_points",
    percentile_disc(0.9) within group (order by l.points) filter (where l.outcome = 'answered') as "high_points",
    max(l.points) filter (where l.outcome = 'answered') as "max_points",
    percentile_disc(0.1) within group (order by l.points / nullif(l.items, 0))
      filter (where l.outcome = 'answered' and l.items > 0)::double precision as "low_points_per_item",
    percentile_disc(0.5) within group (order by l.points / nullif(l.items, 0))
      filter (where l.outcome = 'answered' and l.items > 0)::double precision as "median_points_per_item",
    percentile_disc(0.9) within group (order by l.points / nullif(l.items, 0))
      filter (where l.outcome = 'answered' and l.items > 0)::double precision as "high_points_per_item",
    percentile_disc(0.5) within group (order by l.points) filter (where l.outcome = 'answered' and l.items = 0) as "empty_points",
    percentile_disc(0.5) within group (order by l.points) filter (where l.outcome = 'missing') as "missing_points",
    percentile_disc(0.5) within group (order by l.points) filter (where l.outcome = 'failed') as "failed_points",
    max(l.started_at) as "last_at"
  from "logged_requests" l
  where l.outcome in ('answered', 'missing', 'failed') and l.cost >= 0
    and not (l.outcome = 'answered' and l.cost > 0 and l.points = 0)
  group by l.endpoint, l.plan`,
  `create view "daily_balance" as
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
    select distinct on (l.token, l.date) l.token, l.date, l.points_left, l.started_at
    from "logged_requests" l where l.points_left is not null
    order by l.token, l.date, l.started_at desc, l.log_id desc
  ) b on b.token = d.token and b.date = d.date`,
  // By the log's clock alone: its newest row is the present. What lies a century ahead is no date to plan by.
  `create view "balance_forecast" as
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
      bool_or(l.request_id is not null) as "is_ours",
      coalesce(sum(l.points) filter (where l.started_at > e.newest_at - interval '168 hours'), 0) as "points_7d",
      coalesce(sum(l.points) filter (where l.started_at > e.newest_at - interval '720 hours'), 0) as "points_30d"
    from (
      select t.token, min(t.started_at) as "first_at", max(t.started_at) as "newest_at" from "logged_requests" t group by t.token
    ) e
    join "logged_requests" l on l.token = e.token
    group by e.token, e.first_at, e.newest_at
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
  `create view "daily_reconciliation" as
  with "entries" as (
    select
      p.date, p.points, p.match, p.request_id,
      p.request_id is not null and p.points > 0 and p.place > coalesce(a.rows, 0) as "is_lost"
    from (
      select
        l.date, l.points, l.match, l.request_id,
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
    from "requests" q where q.sent_at is not null and q.attempts > 0
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
  `create view "dim_endpoint" as
  with "known" ("endpoint", "table_name") as (
    values ${FILLED.map(([endpoint, table]) => `('${endpoint}', '${table}')`).join(', ')}
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
  `create view "dim_plan" as
  select l.plan, count(*) as "requests", min(l.date) as "first_logged_on", max(l.date) as "last_logged_on"
  from "logged_requests" l group by l.plan`,
  `create view "dim_sync" as
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
];

const DOWN = [
  'dim_sync',
  'dim_plan',
  'dim_endpoint',
  'daily_reconciliation',
  'balance_forecast',
  'daily_balance',
  'price_book',
  'charged_failures',
  'sync_max_age_savings',
  'sync_costs',
  'run_costs',
  'daily_costs',
  'answer_costs',
  'logged_requests',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const view of DOWN) await sql`drop view ${sql.id(view)}`.execute(db);
}
