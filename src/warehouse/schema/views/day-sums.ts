/** Views of sums by day. Those of closed days are stored; those of other days are computed when they are read. */
import { AGES } from '../closed-days/ages.ts';
import { answerSums } from '../closed-days/answer-sums.ts';
import { logSums, requestSums, rowSums, storedAndOpen } from '../closed-days/sums.ts';
import {
  endpoint,
  failed_points,
  failed_requests,
  plan,
  points,
  requests,
  run_id,
  started_on,
  sync,
} from './cost-columns.ts';
import { endpoint as ownEndpoint, items, sync as ownSync } from './sync-columns.ts';
import { bigint, boolean, date, numeric, text, timestamp, uuid, uuids, view } from './view.ts';

export const daySumViews = [
  view(
    'daily_run_costs',
    'Points by day, endpoint, plan, sync, run and token over the complete request log: one row per combination.',
    ['date', 'endpoint', 'plan', 'sync', 'run_id', 'token'],
    {
      date: started_on,
      endpoint,
      plan,
      sync,
      run_id,
      token: text('Identifier of the token; `(not told)` if the log has none.'),
      requests,
      points,
      list_points: numeric('Cost of all these requests by the log in points, charged or not.'),
      failed_requests,
      failed_points,
      missing_requests: bigint('Number of these requests for an entity that the service does not know.'),
      missing_points: numeric('Points charged for requests for unknown entities.'),
      open_requests: bigint('Number of these requests that had not ended when the log was read.'),
      items: numeric('Number of items in the answers, by the log.'),
      lost_requests: bigint('Number of matched charged rows in excess of the stored answers.'),
      lost_points: numeric('Points charged for these lost answers.'),
      failure_ids: uuids('Rows of the log that were charged without a usable answer; null if there are none.'),
      first_at: timestamp('Start of the first of these requests.'),
      last_at: timestamp('Start of the last of these requests.'),
      points_left: bigint('Points left after the last of these requests that reports them; null if none does.'),
      told_at: timestamp('Start of that request; null if there is none.'),
      told_by: uuid('Row of the log of that request; null if there is none.'),
    },
    storedAndOpen(logSums),
  ),
  view(
    'daily_requests',
    'Requests of the ledger by day of planning, day of sending, sync and endpoint: one row per combination.',
    ['date', 'sent_on', 'sync', 'endpoint', 'is_sent'],
    {
      date: date('UTC day on which the requests were planned; joins dim_date.'),
      sent_on: date('UTC day of their last attempt; null if they were never sent.'),
      sync: ownSync,
      endpoint: ownEndpoint,
      is_sent: boolean('Whether at least one attempt was sent.'),
      requests: bigint('Number of requests.'),
      points: numeric(
        'Points by the ledger: as charged by the log if known, otherwise by the price list; null until known.',
      ),
      verified_requests: bigint('Number of these requests whose charge the log has confirmed.'),
      verified_points: numeric('Points that the log charged for them.'),
      unverified_requests: bigint('Number of these requests with points that the log has not confirmed.'),
      unverified_points: numeric('Points for requests that the log has not confirmed, by the price list.'),
      unlogged: bigint('Number of answered requests without a row in the log, without reads of the log.'),
      unlogged_first_at: timestamp('First sending of a request that is unlogged; null if there is none.'),
      unlogged_last_at: timestamp('Last sending of a request that is unlogged; null if there is none.'),
    },
    storedAndOpen(requestSums),
  ),
  view(
    'daily_results',
    'Costs and results of answers by day of receipt, run, sync and endpoint: one row per combination.',
    ['date', 'run_id', 'sync', 'endpoint'],
    {
      date: date('UTC day of receipt of the answers; joins dim_date.'),
      run_id: bigint('Run that sent the requests; joins sync_runs.'),
      sync: ownSync,
      endpoint: ownEndpoint,
      answers: bigint('Number of stored answers.'),
      points: numeric('Points for these answers, by the log if it has their requests, otherwise by the ledger.'),
      ...items,
      new_rows: bigint(
        'Number of new rows in the table that the endpoint fills, without rows that were deleted later.',
      ),
      nothing_new_answers: bigint('Number of answers without anything new.'),
      nothing_new_points: numeric('Points for answers without anything new.'),
      ...Object.fromEntries(
        AGES.flatMap((days) => [
          [
            `saved_answers_${days}d`,
            bigint(`Number of answers that an earlier one would have replaced with a max_age of ${days} days.`),
          ],
          [`saved_points_${days}d`, numeric('Points for these saved answers.')],
          [`late_answers_${days}d`, bigint('Number of these saved answers with something new.')],
        ]),
      ),
    },
    storedAndOpen(answerSums),
  ),
  view(
    'daily_new_rows',
    'Present rows of the tables of entities by the day of their first observation: one row per day and table.',
    ['date', 'table_name'],
    {
      date: date('UTC day of the first observation; joins dim_date.'),
      table_name: text('Name of the table.'),
      rows: bigint('Number of rows.'),
    },
    storedAndOpen(rowSums),
  ),
];
