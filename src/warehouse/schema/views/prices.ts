/** Views of prices, of charged failures, and of what `max_age` can save. */
import { log_id, endpoint, plan, sync, ownSync, started_on, run_id, request_id } from './cost-columns.ts';
import { maxAgeSavings } from '../closed-days/savings.ts';
import { loggedRequests } from './logged-requests.ts';
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
    maxAgeSavings('"daily_results"'),
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
    // The sums by day name these rows, so only they are joined.
    `
    with "failures" as materialized (select unnest(c.failure_ids) as "log_id" from "daily_run_costs" c)
    select
      l.log_id,
      l.started_at,
      l.date,
      l.endpoint,
      l.plan,
      l.sync,
      l.run_id,
      l.request_id,
      case when l.outcome = 'failed' then 'failed' else 'lost' end as "kind",
      l.status,
      l.error,
      l.points
    from (${loggedRequests({
      log: '(select r.* from "failures" i join "fact_request_costs" r on r.id = i.log_id)',
    })}) l`,
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
