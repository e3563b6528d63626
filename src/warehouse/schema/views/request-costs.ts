/** Views of the request log with syncs and runs: row by row, and by day. */
import {
  log_id,
  endpoint,
  plan,
  sync,
  started_on,
  run_id,
  request_id,
  points,
  requests,
  failed_requests,
  failed_points,
} from './cost-columns.ts';
import { loggedRequests } from './logged-requests.ts';
import { columnFrom, bigint, timestamp, numeric, columnsOf, text, view } from './view.ts';

export const requestCostViews = [
  view(
    'logged_requests',
    'Request log of the service with sync, run and request: one row per logged request. Sums over it equal sums over fact_request_costs.',
    ['log_id'],
    {
      log_id,
      started_at: timestamp('Start of the request; if the log has no start, the time at which its row was first read.'),
      date: started_on,
      endpoint,
      logged_endpoint: text('Endpoint as written in the log.'),
      plan,
      sync,
      run_id,
      request_id,
      match: text(
        'Kind of match with a request: identifier, only_candidate, ambiguous (one of several candidates) or none (not in this ledger).',
      ),
      token: text('Identifier of the token; `(not told)` if the log has none.'),
      ...columnsOf('fact_request_costs', 'cost', 'is_paid'),
      points: numeric('Points charged: the cost if the row is marked as paid, or has no mark but a cost; otherwise 0.'),
      points_left: columnFrom('fact_request_costs', 'points_left'),
      outcome: text(
        'Outcome: `answered` (status 2xx), `missing` (412: no such entity), `failed` (another status, or an error), `under way` (not ended yet) or `not told` (unknown).',
      ),
      status: columnFrom('fact_request_costs', 'response_status_code'),
      error: columnFrom('fact_request_costs', 'response_error_text'),
      asked: bigint('Limit of items in the request; null if it has no limit or the request is not certain.'),
      items: columnFrom('fact_request_costs', 'response_count'),
      duration_s: columnFrom('fact_request_costs', 'duration'),
    },
    // A row without a start counts on the day of its first observation, so that sums by day are sums of all rows.
    loggedRequests({ log: '"fact_request_costs"', matches: '"request_cost_matches"' }),
  ),
  view(
    'daily_costs',
    'Points by day, endpoint, plan and sync over the complete request log: one row per combination.',
    ['date', 'endpoint', 'plan', 'sync'],
    {
      date: started_on,
      endpoint,
      plan,
      sync,
      requests,
      points,
      list_points: numeric('Cost of all these requests by the log in points, charged or not.'),
      failed_requests,
      failed_points,
      missing_requests: bigint('Number of these requests for an entity that the service does not know.'),
      missing_points: numeric('Points charged for requests for unknown entities.'),
      open_requests: bigint('Number of these requests that had not ended when the log was read.'),
      items: numeric('Number of items in the answers, by the log.'),
    },
    `
    select
      c.date,
      c.endpoint,
      c.plan,
      c.sync,
      sum(c.requests)::bigint as "requests",
      sum(c.points) as "points",
      sum(c.list_points) as "list_points",
      sum(c.failed_requests)::bigint as "failed_requests",
      sum(c.failed_points) as "failed_points",
      sum(c.missing_requests)::bigint as "missing_requests",
      sum(c.missing_points) as "missing_points",
      sum(c.open_requests)::bigint as "open_requests",
      sum(c.items) as "items"
    from "daily_run_costs" c
    group by c.date, c.endpoint, c.plan, c.sync`,
  ),
];
