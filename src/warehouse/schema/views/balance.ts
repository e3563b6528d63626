/** Views of the balance, of differences between log and ledger, and of the dimensions of costs. */
import { bigint, date, boolean, timestamp, numeric, ratio, text, view } from './view.ts';

const token = text('Identifier of the token; `(not told)` if the log has none.');
const first_logged_on = date('First day with such a row in the request log; null if there is none.');
const last_logged_on = date('Last day with such a row in the request log; null if there is none.');
const runsOut = (days: number) =>
  timestamp(
    `Time at which the points run out at the rate of the last ${days} days, counted from told_at; null without a balance, without spending, or if it is more than a century ahead.`,
  );

export const balanceViews = [
  view('daily_balance', 'Points left at the end of each day: one row per token and day.', ['token', 'date'], {
    token,
    date: date('UTC day; joins dim_date.'),
    requests: bigint('Number of rows in the request log.'),
    points: numeric('Points charged on that day.'),
    points_left: bigint('Points left after the last request of the day that reports them; null if none does.'),
    told_at: timestamp('Start of that request; null if there is none.'),
  }),
  view(
    'balance_forecast',
    'Points left, and when they run out at the current rate, by the part of the log that was read: one row per token.',
    ['token'],
    {
      token,
      is_ours: boolean('Whether a request of this warehouse’s ledger was certainly sent with the token.'),
      points_left: bigint('Points left after the newest request that reports them; null if none does.'),
      told_at: timestamp('Start of that request; null if there is none.'),
      newest_at: timestamp('Start of the token’s newest request in the log, where the periods of the rates end.'),
      points_7d: numeric('Points charged in the 7 days before newest_at.'),
      points_30d: numeric('Points charged in the 30 days before newest_at.'),
      points_per_day_7d: ratio(
        'Points per day over 7 days, or over fewer days, but at least one, if the log is shorter.',
      ),
      points_per_day_30d: ratio(
        'Points per day over 30 days, or over fewer days, but at least one, if the log is shorter.',
      ),
      runs_out_at: runsOut(7),
      runs_out_at_30d: runsOut(30),
    },
  ),
  view(
    'daily_reconciliation',
    'Comparison of the request log with the ledger: one row per day on which either has a request.',
    ['date'],
    {
      date: date(
        'UTC day; joins dim_date. Rows of the log have the clock of the service, requests of the ledger that of the database.',
      ),
      logged: bigint('Number of rows in the log.'),
      logged_points: numeric('Points charged for these rows.'),
      matched: bigint('Number of these rows that certainly belong to requests of the ledger.'),
      matched_points: numeric('Points charged for the matched rows.'),
      ambiguous: bigint('Number of rows that may belong to one of several requests.'),
      ambiguous_points: numeric('Points charged for the ambiguous rows.'),
      others: bigint('Number of rows without a request in the ledger: from other programs or tokens.'),
      other_points: numeric('Points charged for the rows of others.'),
      lost: bigint('Number of matched charged rows in excess of the stored answers.'),
      lost_points: numeric('Points charged for these lost answers.'),
      asked: bigint('Number of requests of the ledger that were last sent on this day.'),
      ledger_points: numeric(
        'Points for these requests by the ledger: as charged by the log if known, otherwise by the price list.',
      ),
      unlogged: bigint(
        'Number of answered requests among these without a row in the log. For the last days, the log may not have been read yet.',
      ),
    },
  ),
  view(
    'dim_endpoint',
    'Endpoints that can be synced or occur in the request log: one row per endpoint.',
    ['endpoint'],
    {
      endpoint: text('Name of the endpoint: its path with dots.'),
      network: text('First part of the name: token, webparser, sec, pronet, microblog or photoshare.'),
      table_name: text('Table that its items fill; null if the endpoint can’t be synced.'),
      is_known: boolean('Whether the endpoint can be synced.'),
      first_logged_on,
      last_logged_on,
    },
  ),
  view('dim_plan', 'Plans of tokens in the request log: one row per plan.', ['plan'], {
    plan: text('Name of the plan; `(not told)` if the log has none.'),
    requests: bigint('Number of rows in the request log.'),
    first_logged_on,
    last_logged_on,
  }),
  view('dim_sync', 'Syncs that ran, and placeholders for requests without a certain sync: one row each.', ['sync'], {
    sync: text('Name of the sync in the config, or one of the placeholders `(other programs)` and `(ambiguous)`.'),
    is_sync: boolean('Whether it is a sync and not a placeholder.'),
    endpoint: text('Endpoint of its newest run; null for a placeholder.'),
    runs: bigint('Number of its runs.'),
    first_run_at: timestamp('Start of the first run; null for a placeholder.'),
    last_run_at: timestamp('Start of the newest run; null for a placeholder.'),
  }),
];
