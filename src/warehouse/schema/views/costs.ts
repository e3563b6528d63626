/** Views of the costs of requests: the request log with syncs and runs, and its sums. */
import {
  columnFrom,
  bigint,
  date,
  boolean,
  integer,
  timestamp,
  numeric,
  ratio,
  columnsOf,
  text,
  uuid,
  view,
} from './view.ts';

const log_id = uuid('Row of the log; joins fact_request_costs.id.');
const endpoint = text(
  'Name of the endpoint as in syncs: its path with dots; `(not told)` if the log has none. Joins dim_endpoint.',
);
const plan = text('Plan of the token at the time; `(not told)` if the log has none. Joins dim_plan.');
const sync = text(
  'Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.',
);
const ownSync = text('Name of the sync in the config. The cost of lookups of its lost answers is included.');
const started_on = date(
  'UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.',
);
const run_id = bigint('Run that sent the request; null if not certain. Joins sync_runs.');
const request_id = bigint('Request in the ledger; null if not certain.');
const points = numeric(
  'Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.',
);
const requests = bigint('Number of rows in the request log.');
const failed_requests = bigint(
  'Number of these requests that failed by their status or error, without those for unknown entities.',
);
const failed_points = numeric('Points charged for failed requests.');
const loaded = bigint('Number of items that created or changed rows.');
const new_rows = bigint(
  'Number of new rows in the table that the endpoint fills, without rows that were deleted later.',
);
const points_per_loaded = ratio(
  'Points per item that created or changed a row, by the log if it has these requests, otherwise by the ledger; null without such items.',
);
const points_per_new_row = ratio('Points per new row, from the same source; null without new rows.');
const nothing_new_points = numeric(
  'Points for answers without anything new: all items equal their stored rows, or there are no items.',
);

export const costViews = [
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
  ),
  view('run_costs', 'Costs and results of runs: one row per run.', ['run_id'], {
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
  }),
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
  ),
  view('answer_costs', 'Costs and results of paid answers: one row per answer.', ['answer_id'], {
    answer_id: bigint('Id of the answer; joins paid_answers.'),
    request_id: bigint('Request that returned the answer.'),
    run_id: bigint('Run that sent the request.'),
    sync: ownSync,
    endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
    request_key: text('SHA-256 of the endpoint and the canonical body, in hex. Equal requests have equal keys.'),
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
    previous_at: timestamp('Receipt of the previous answer to the same request of the same sync; null for the first.'),
    days_since_previous: ratio('Days since previous_at; null for the first.'),
  }),
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
  ),
];
