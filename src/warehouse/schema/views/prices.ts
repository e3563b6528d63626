/** Views of prices and of charged failures. */
import { log_id, endpoint, plan, sync, started_on, run_id, request_id } from './cost-columns.ts';
import { loggedRequests, mayBeLost } from './request-costs.ts';
import { maxAgeSavings } from './savings.ts';
import { columnFrom, bigint, timestamp, numeric, ratio, text, view } from './view.ts';

export const priceViews = [
  maxAgeSavings,
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
      or (${mayBeLost('p.outcome')} and p.request_id is not null
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
