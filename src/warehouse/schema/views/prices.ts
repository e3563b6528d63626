/** Views of prices, of charged failures, and of what `max_age` can save. */
import { log_id, endpoint, plan, sync, ownSync, started_on, run_id, request_id } from './cost-columns.ts';
import { loggedRequests } from './request-costs.ts';
import { columnFrom, bigint, integer, timestamp, numeric, ratio, text, view } from './view.ts';

/**
 * The common table expressions and the query of the savings, from a relation that has the columns of answer_costs.
 *
 * A request looks its answer up when it is sent; each that finds no answer young enough is bought. So after a bought
 * answer, the next one is the first that was sent when its age had passed. Ages are in hours, because a day of the time
 * zone of a session may have one hour more or less. The answers to a question are in arrays, ordered by receipt: the next
 * bought one is found by a binary search in `sent`, the latest start so far. A question whose answers are all further
 * apart than the age saves nothing, and is left out.
 */
export const savingsOf = (paid: string): string => `"moments" as (
      select
        p.request_key, p.sync, p.received_at,
        count(*) as "answers",
        count(*) filter (where not p.is_nothing_new) as "telling",
        sum(p.points) as "points",
        max(least(p.sent_at, p.received_at)) as "sent_at"
      from ${paid} p where p.endpoint <> 'token.requests'
      group by p.request_key, p.sync, p.received_at
    ),
    "repeated" as (
      select
        m.sync,
        min(m.sent - m.previous_at) as "gap",
        array_agg(m.received_at order by m.received_at) as "received",
        array_agg(m.sent order by m.received_at) as "sent",
        array_agg(m.answers order by m.received_at) as "answers",
        array_agg(m.telling order by m.received_at) as "telling",
        array_agg(m.points order by m.received_at) as "points",
        sum(m.answers) as "all_answers",
        sum(m.telling) as "all_telling",
        sum(m.points) as "all_points"
      from (
        select
          n.request_key, n.sync, n.received_at, n.answers, n.telling, n.points,
          max(n.sent_at) over w as "sent",
          lag(n.received_at) over w as "previous_at",
          lead(n.received_at) over w as "next_at"
        from "moments" n window w as (partition by n.request_key, n.sync order by n.received_at)
      ) m
      where m.previous_at is not null or m.next_at is not null
      group by m.request_key, m.sync
    ),
    "ages" ("days", "age") as (values (1, interval '24 hours'), (7, interval '168 hours'), (30, interval '720 hours')),
    "saved" as (
      select
        d.days,
        r.sync,
        sum(r.all_answers - b.answers)::bigint as "answers",
        sum(r.all_points - b.points) as "points",
        sum(r.all_telling - b.telling)::bigint as "telling"
      from "repeated" r
      join "ages" d on r.gap <= d.age
      cross join lateral (
        with recursive "bought" ("place") as (
          select 1
          union all
          select n.place from "bought" o
          cross join lateral (select width_bucket(r.received[o.place] + d.age, r.sent) + 1 as "place") n
          where n.place <= cardinality(r.sent)
        )
        select sum(r.answers[o.place]) as "answers", sum(r.points[o.place]) as "points", sum(r.telling[o.place]) as "telling"
        from "bought" o
      ) b
      group by d.days, r.sync
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
      select p.sync, count(*) as "answers", sum(p.points) as "points"
      from ${paid} p where p.endpoint <> 'token.requests' group by p.sync
    ) t
    cross join "ages" d
    left join "saved" s on s.sync = t.sync and s.days = d.days`;

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
    `
    with "paid" as materialized (
      select c.sync, c.endpoint, c.request_key, c.received_at, c.sent_at, c.points, c.is_nothing_new from "answer_costs" c
    ),
    ${savingsOf('"paid"')}`,
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
