/** Views of what requests cost: the request log with its syncs and runs, and its sums. */
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

const log_id = uuid('The row of the log; joins fact_request_costs.id.');
const endpoint = text(
  'Name of the endpoint: its path with dots, as syncs name it; (not told) where the log has none. Joins dim_endpoint.',
);
const plan = text('Plan of the token at the time; (not told) where the log has none. Joins dim_plan.');
const sync = text(
  'The sync that the request was sent for, its lookups of lost answers included; (other programs) for what is no request of this warehouse’s ledger, (ambiguous) for what may be one of several. Joins dim_sync.',
);
const ownSync = text('Name of the sync in the config; what it cost to look for its lost answers counts as its own.');
const started_on = date(
  'The UTC day on which the request started; where the log does not say, the day its row was first seen. Joins dim_date.',
);
const run_id = bigint('The run that sent it; null where it is not surely known. Joins sync_runs.');
const request_id = bigint('The request of the ledger; null where it is not surely known.');
const points = numeric(
  'Points charged by the request log: the cost of rows that say they were paid, or that do not say and have a cost.',
);
const requests = bigint('Rows of the request log.');
const failed_requests = bigint(
  'Of these, those that failed by their status or error; unknown entities are not among them.',
);
const failed_points = numeric('Points charged for requests that failed.');
const loaded = bigint('Items that made or changed rows.');
const new_rows = bigint(
  'Rows that were there for the first time, in the table that the endpoint fills; rows deleted since are not counted.',
);
const points_per_loaded = ratio(
  'Points for each item that made or changed a row, by the log where it has these requests, else by the ledger; null without such items.',
);
const points_per_new_row = ratio('Points for each new row, reckoned alike; null without new rows.');
const nothing_new_points = numeric(
  'Points for answers that brought nothing new: every item said what was known, or there were none.',
);

export const costViews = [
  view(
    'logged_requests',
    'The service’s request log with the sync, run and request that each row is of: one row a logged request. Sums over it are sums over fact_request_costs.',
    ['log_id'],
    {
      log_id,
      started_at: timestamp('When the request started; where the log does not say, when its row was first seen.'),
      date: started_on,
      endpoint,
      logged_endpoint: text('The endpoint as the log writes it.'),
      plan,
      sync,
      run_id,
      request_id,
      match: text(
        'How sure the request is: identifier, only_candidate, ambiguous when it may be one of several, none when it is no request of this ledger.',
      ),
      token: text('Identifier of the token; (not told) where the log has none.'),
      ...columnsOf('fact_request_costs', 'cost', 'is_paid'),
      points: numeric(
        'Points charged: the cost where the row says it was paid, or does not say and has a cost; else 0.',
      ),
      points_left: columnFrom('fact_request_costs', 'points_left'),
      outcome: text(
        'answered (status 2xx), missing (412: no such entity), failed (another status, or an error), under way (not ended yet), not told.',
      ),
      status: columnFrom('fact_request_costs', 'response_status_code'),
      error: columnFrom('fact_request_costs', 'response_error_text'),
      asked: bigint('Most items that were asked for; null when the request has no limit or is not surely known.'),
      items: columnFrom('fact_request_costs', 'response_count'),
      duration_s: columnFrom('fact_request_costs', 'duration'),
    },
  ),
  view(
    'daily_costs',
    'Points by day, endpoint, plan and sync, over the whole request log: one row for each of the four together.',
    ['date', 'endpoint', 'plan', 'sync'],
    {
      date: started_on,
      endpoint,
      plan,
      sync,
      requests,
      points,
      list_points: numeric('Cost of all these requests by the log, charged or not, in points.'),
      failed_requests,
      failed_points,
      missing_requests: bigint('Of these, those whose entity the service does not know.'),
      missing_points: numeric('Points charged for such requests.'),
      open_requests: bigint('Of these, those that had not ended when the log was read.'),
      items: numeric('Items in the answers, by the log.'),
    },
  ),
  view('run_costs', 'What each run cost and what it brought for that: one row a run.', ['run_id'], {
    run_id: bigint('The run; joins sync_runs, unless it only looked for lost answers.'),
    sync: ownSync,
    endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
    started_at: timestamp('When the run started.'),
    date: date('The UTC day of that; joins dim_date.'),
    state: text('State of the run, as in sync_runs.'),
    requests: bigint('Rows of the request log that are surely of this run.'),
    points,
    failed_points,
    ledger_points: numeric(
      'Points by the ledger: by the log where it told them, else by the price list; null until known.',
    ),
    quoted_points: numeric('Points that the plan was likely to cost, as quoted before anything was sent.'),
    received: bigint('Items in its answers.'),
    loaded,
    new_rows,
    nothing_new_points,
    points_per_loaded,
    points_per_new_row,
  }),
  view(
    'sync_costs',
    'What each sync cost so far and what it brought for that; other programs’ requests too: one row a sync and endpoint.',
    ['sync', 'endpoint'],
    {
      sync,
      endpoint,
      requests,
      points,
      failed_requests,
      failed_points,
      first_on: date('The first day with a row in the log.'),
      last_on: date('The last day with a row in the log.'),
      ledger_points: numeric('Points by the ledger: by the log where it told them, else by the price list.'),
      answers: bigint('Answers in the vault.'),
      answer_points: numeric('Points for these answers, by the log where it has their requests, else by the ledger.'),
      received: bigint('Items in these answers.'),
      loaded,
      new_rows,
      points_per_loaded,
      points_per_new_row,
      nothing_new_answers: bigint('Answers that brought nothing new.'),
      nothing_new_points,
      nothing_new_share: ratio('These points among those for all answers, from 0 to 1; null where those are 0.'),
    },
  ),
  view('answer_costs', 'What each paid answer cost and what it brought for that: one row an answer.', ['answer_id'], {
    answer_id: bigint('The answer; joins paid_answers.'),
    request_id: bigint('The request that was sent for it.'),
    run_id: bigint('The run that sent it.'),
    sync: ownSync,
    endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
    request_key: text('SHA-256, in hex, of the endpoint and the canonical body: the same for the same question.'),
    received_at: timestamp('When its last byte came in.'),
    date: date('The UTC day of that; joins dim_date.'),
    points: numeric(
      'Points that its request cost with all attempts, by the log where it has them, else by the ledger. Of several answers to one request, the newest has them.',
    ),
    is_logged: boolean('Whether the log has the request, so that the points are the service’s own count.'),
    received: bigint('Items in it.'),
    loaded,
    unchanged: bigint('Items that said what the rows already said.'),
    new_rows,
    is_nothing_new: boolean('Whether it brought nothing new: every item said what was known, or there were none.'),
    previous_at: timestamp('Receipt of the same sync’s answer before to the same question; null for the first.'),
    days_since_previous: ratio('Days since that.'),
  }),
  view(
    'sync_max_age_savings',
    'What a max_age would have saved each sync, had it been set from the beginning: one row a sync and age. The request log’s own readings are left out.',
    ['sync', 'max_age_days'],
    {
      sync: ownSync,
      max_age_days: integer('The max_age, in days: 1, 7 or 30.'),
      answers: bigint('Answers that were paid for.'),
      points: numeric('Points for these answers, by the log where it has their requests, else by the ledger.'),
      saved_answers: bigint('Of these, those that an answer of this age or less would have served.'),
      saved_points: numeric('Points for those: what would have been saved, answers of other syncs left aside.'),
      saved_share: ratio('These points among all, from 0 to 1; null where those are 0.'),
      late_answers: bigint(
        'Answers among those saved that had brought something new, which would have been known later, or not at all.',
      ),
    },
  ),
  view(
    'charged_failures',
    'Requests that were charged for nothing: one row a logged request that failed, or whose answer was lost on its way.',
    ['log_id'],
    {
      log_id,
      started_at: timestamp('When the request started.'),
      date: started_on,
      endpoint,
      plan,
      sync,
      run_id,
      request_id,
      kind: text('failed when the service says so; lost when it ended and no answer to it is stored.'),
      status: columnFrom('fact_request_costs', 'response_status_code'),
      error: columnFrom('fact_request_costs', 'response_error_text'),
      points: numeric('Points charged.'),
    },
  ),
  view(
    'price_book',
    'What calls cost by the whole request log, with their spread: one row an endpoint and plan. Rows that were not charged though they have a price are left out.',
    ['endpoint', 'plan'],
    {
      endpoint,
      plan,
      samples: bigint('Answered requests.'),
      min_points: numeric('The least points for one.'),
      low_points: numeric('A tenth of them cost no more points than this.'),
      median_points: numeric('Half of them cost no more points than this.'),
      mean_points: ratio('Points for one in the mean.'),
      high_points: numeric('Nine tenths of them cost no more points than this.'),
      max_points: numeric('The most points for one.'),
      low_points_per_item: ratio('A tenth of those with items cost no more points an item than this.'),
      median_points_per_item: ratio('Half of them cost no more points an item than this.'),
      high_points_per_item: ratio('Nine tenths of them cost no more points an item than this.'),
      empty_points: numeric('Median of the points for an answer without items; null when there was none.'),
      missing_points: numeric('Median of the points for an entity that the service does not know.'),
      failed_points: numeric('Median of the points for a request that failed.'),
      last_at: timestamp('Start of the newest of these requests.'),
    },
  ),
];
