/** Declares the tables of closed days: which days have stored sums, which have changed since, and the sums. */
import {
  bigint,
  boolean,
  date,
  identity,
  nullable,
  numeric,
  table,
  text,
  timestamp,
  uuid,
  uuids,
} from '../column-types.ts';
import { AGES } from './ages.ts';

const id = identity('Id of the row.');
const day = date('UTC day.');
const sync = text('Name of the sync.');
const endpoint = text('Name of the endpoint.');
const count = (what: string) => bigint(`Number of ${what}.`);
const pointsOf = (what: string) => numeric(`Points for ${what}.`);

const saved = Object.fromEntries(
  AGES.flatMap((days) => [
    [`saved_answers_${days}d`, count(`answers that a max_age of ${days} days would have saved`)],
    [`saved_points_${days}d`, pointsOf('these answers')],
    [`late_answers_${days}d`, count('these answers with something new')],
  ]),
);

export const closedDayTables = {
  closed_days: table(
    'Closed days: UTC days whose sums are stored, one row per day. The sums do not count while changed_days has the day.',
    { day, formula: text('Digest of the SQL that computed the sums. Sums of another version do not count.') },
    { key: ['day'] },
  ),
  changed_days: table(
    'Changed days: days of changed rows since their sums were stored, at most one row per day and transaction.',
    { id, day },
    { key: ['id'], indexes: [{ columns: ['day'] }] },
  ),
  log_sums: table(
    'Stored sums over the request log: one row per day, endpoint, plan, sync, run and token. Read daily_run_costs.',
    {
      id,
      date: day,
      endpoint,
      plan: text('Plan of the token.'),
      sync,
      run_id: nullable(bigint('Run of the requests; null if not certain.')),
      token: text('Identifier of the token.'),
      requests: count('logged requests'),
      points: pointsOf('these requests'),
      list_points: numeric('Cost of these requests by the log, charged or not.'),
      failed_requests: count('failed requests'),
      failed_points: pointsOf('failed requests'),
      missing_requests: count('requests for unknown entities'),
      missing_points: pointsOf('requests for unknown entities'),
      open_requests: count('requests that had not ended'),
      items: numeric('Number of items in the answers.'),
      lost_requests: count('charged rows in excess of the stored answers'),
      lost_points: pointsOf('these rows'),
      failure_ids: nullable(
        uuids('Rows of the log that were charged without a usable answer; null if there are none.'),
      ),
      first_at: timestamp('Start of the first request.'),
      last_at: timestamp('Start of the last request.'),
      points_left: nullable(bigint('Points left after the last request that reports them; null if none does.')),
      told_at: nullable(timestamp('Start of that request; null if there is none.')),
      told_by: nullable(uuid('Row of the log of that request; null if there is none.')),
    },
    { key: ['id'], indexes: [{ columns: ['date'] }] },
  ),
  request_sums: table(
    'Stored sums over the ledger: one row per day of planning, day of sending, sync and endpoint. Read daily_requests.',
    {
      id,
      date: date('UTC day of planning.'),
      sent_on: nullable(date('UTC day of the last attempt; null if never sent.')),
      sync,
      endpoint,
      is_sent: boolean('Whether at least one attempt was sent.'),
      requests: count('requests'),
      points: nullable(numeric('Points by the ledger; null until known.')),
      verified_requests: count('requests whose charge the log has confirmed'),
      verified_points: numeric('Points that the log charged for them.'),
      unverified_requests: count('requests with points that the log has not confirmed'),
      unverified_points: pointsOf('requests that the log has not confirmed'),
      unlogged: count('answered requests without a row in the log'),
      unlogged_first_at: nullable(timestamp('First sending of such a request; null if there is none.')),
      unlogged_last_at: nullable(timestamp('Last sending of such a request; null if there is none.')),
    },
    { key: ['id'], indexes: [{ columns: ['date'] }] },
  ),
  answer_sums: table(
    'Stored sums over the answers: one row per day of receipt, run, sync and endpoint. Read daily_results.',
    {
      id,
      date: date('UTC day of receipt.'),
      run_id: bigint('Run that sent the requests.'),
      sync,
      endpoint,
      answers: count('answers'),
      points: pointsOf('these answers'),
      received: nullable(count('items; null if no answer is loaded')),
      loaded: nullable(count('items that created or changed rows; null if no answer is loaded')),
      unchanged: nullable(count('items equal to their stored rows; null if no answer is loaded')),
      superseded: nullable(count('superseded items; null if no answer is loaded')),
      quarantined: nullable(count('quarantined items; null if no answer is loaded')),
      new_rows: count('new rows in the table that the endpoint fills'),
      nothing_new_answers: count('answers without anything new'),
      nothing_new_points: pointsOf('answers without anything new'),
      ...saved,
    },
    { key: ['id'], indexes: [{ columns: ['date'] }] },
  ),
  row_sums: table(
    'Stored numbers of rows: one row per day of first observation and table. Read daily_new_rows.',
    {
      id,
      date: date('UTC day of the first observation.'),
      table_name: text('Name of the table.'),
      rows: count('rows'),
    },
    { key: ['id'], indexes: [{ columns: ['date'] }] },
  ),
};
