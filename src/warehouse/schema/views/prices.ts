/** Views of prices, of charged failures, and of what `max_age` can save. */
import { log_id, endpoint, plan, sync, ownSync, started_on, run_id, request_id } from './cost-columns.ts';
import { loggedRequests } from './request-costs.ts';
import { columnFrom, bigint, integer, timestamp, numeric, ratio, text, view } from './view.ts';

export const priceViews = [
  view(
    'sync_max_age_savings',
    'Points that a max_age would have saved, had it been set from the beginning: one row per sync and age. Reads of the request log are not included.',
    ['sync', 'max_age_days'],
    {
      sync: ownSync,
      max_age_days: integer('Assumed max_age in days: 1, 7 or 30.'),
      answers: bigint('Number of paid answers.'),
      points: numeric('Points for these answers, by the log if it has their requests, otherwise by the ledger.'),
      saved_answers: bigint('Number of these answers that an earlier answer of at most this age would have replaced.'),
      saved_points: numeric('Points that would have been saved, without regard to answers of other syncs.'),
      saved_share: ratio('Share of saved_points in points, from 0 to 1; null if points is 0.'),
      late_answers: bigint('Number of saved answers with something new, which would have been loaded later or never.'),
    },
    // A request looks its answer up when it is sent; each that finds no answer young enough is bought. Ages are in
    // hours, because a day of the time zone of a session may have one hour more or less.
    // The next answer is the first in the order of an index, which is read only as far as needed. With the request
    // alone as condition, the planner would read and sort all its later answers each time.
    `
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
      cross join lateral (select b.at + b.days * interval '24 hours' as "until") u
      cross join lateral (
        select a.request_key, a.received_at from "answers" a
        where (a.request_key, a.received_at) > (b.request_key, u.until)
          and (a.request_key <> b.request_key
            or (a.sync = b.sync and a.received_at - a.took_ms * interval '1 millisecond' > u.until))
        order by a.request_key, a.received_at limit 1
      ) n
      where n.request_key = b.request_key
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
  ),
  view(
    'charged_failures',
    'Requests that were charged without a usable answer: one row per logged request that failed or whose answer was lost.',
    ['log_id'],
    {
      log_id,
      started_at: timestamp('Start of the request.'),
      date: started_on,
      endpoint,
      plan,
      sync,
      run_id,
      request_id,
      kind: text(
        'Kind of failure: failed if the service reports that; lost if the request ended and no answer is stored.',
      ),
      status: columnFrom('fact_request_costs', 'response_status_code'),
      error: columnFrom('fact_request_costs', 'response_error_text'),
      points: numeric('Points charged.'),
    },
    // Most requests have an answer for each row of the log. The others are found by counting in two indexes, and only
    // their rows and those of failures are joined.
    `
    with "unanswered" as materialized (
      select m.request_id
      from (select k.request_id, count(*) as "rows" from "request_cost_matches" k group by k.request_id) m
      left join (select w.request_id, count(*) as "rows" from "answers" w group by w.request_id) a on a.request_id = m.request_id
      where m.rows > coalesce(a.rows, 0)
    ),
    "candidates" as materialized (
      select k.log_id from "unanswered" u join "request_cost_matches" k on k.request_id = u.request_id
      union
      select c.id from "fact_request_costs" c
      where c.response_status_code not between 200 and 299 or c.response_status_code is null
    )
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
      from (${loggedRequests({
        log: '(select * from "fact_request_costs" where id in (select log_id from "candidates"))',
        matches: '(select * from "request_cost_matches" where log_id in (select log_id from "candidates"))',
      })}) l where l.points > 0
    ) p
    where p.outcome = 'failed'
      or (p.outcome <> 'under way' and p.request_id is not null
        and p.place > (select count(*) from "answers" w where w.request_id = p.request_id))`,
  ),
  view(
    'price_book',
    'Distribution of the costs of requests over the complete request log: one row per endpoint and plan. Rows with a price that were not charged are not included.',
    ['endpoint', 'plan'],
    {
      endpoint,
      plan,
      samples: bigint('Number of answered requests.'),
      min_points: numeric('Minimum of the points per answered request.'),
      low_points: numeric('10th percentile of the points per answered request.'),
      median_points: numeric('Median of the points per answered request.'),
      mean_points: ratio('Mean of the points per answered request.'),
      high_points: numeric('90th percentile of the points per answered request.'),
      max_points: numeric('Maximum of the points per answered request.'),
      low_points_per_item: ratio(
        '10th percentile of the points per item, over answered requests with items; null without any.',
      ),
      median_points_per_item: ratio('Median of the points per item, over the same requests.'),
      high_points_per_item: ratio('90th percentile of the points per item, over the same requests.'),
      empty_points: numeric('Median of the points per answer without items; null if there is none.'),
      missing_points: numeric('Median of the points per request for an unknown entity; null if there is none.'),
      failed_points: numeric('Median of the points per failed request; null if there is none.'),
      last_at: timestamp('Start of the newest of these requests.'),
    },
    `
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
  ),
];
