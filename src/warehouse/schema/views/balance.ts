/** Views of the points left, of how log and ledger agree, and of the dimensions that costs are grouped by. */
import { bigint, date, boolean, timestamp, numeric, ratio, text, view } from './view.ts';

const token = text('Identifier of the token; (not told) where the log has none.');
const first_logged_on = date('The first day with such a row in the request log.');
const last_logged_on = date('The last day with such a row in the request log.');
const runsOut = (days: number) =>
  timestamp(
    `When the points run out at the pace of the last ${days} days, counted from told_at; null without a balance, where nothing is spent, or a century ahead.`,
  );

export const balanceViews = [
  view('daily_balance', 'Points left at the end of each day: one row a token and day.', ['token', 'date'], {
    token,
    date: date('The UTC day; joins dim_date.'),
    requests: bigint('Rows of the request log.'),
    points: numeric('Points charged on that day.'),
    points_left: bigint('Points left after the day’s last request that tells them; null when none does.'),
    told_at: timestamp('When that request started.'),
  }),
  view(
    'balance_forecast',
    'Points left and when they run out at the present pace, by the log as far as it was read: one row a token.',
    ['token'],
    {
      token,
      is_ours: boolean('Whether a request of this warehouse’s ledger was surely sent with it.'),
      points_left: bigint('Points left after the newest request that tells them.'),
      told_at: timestamp('When that request started.'),
      newest_at: timestamp('Start of the token’s newest request in the log, from which the paces are counted back.'),
      points_7d: numeric('Points charged in the 7 days before that.'),
      points_30d: numeric('Points charged in the 30 days before that.'),
      points_per_day_7d: ratio('Points a day over 7 days; over fewer, and at least one, when the log is younger.'),
      points_per_day_30d: ratio('Points a day over 30 days; over fewer, and at least one, when the log is younger.'),
      runs_out_at: runsOut(7),
      runs_out_at_30d: runsOut(30),
    },
  ),
  view(
    'daily_reconciliation',
    'How the request log and the ledger agree, day by day: one row a day on which either has something.',
    ['date'],
    {
      date: date('The UTC day; joins dim_date. A request counts by the clock of whoever wrote it down.'),
      logged: bigint('Rows of the log.'),
      logged_points: numeric('Points charged for them.'),
      matched: bigint('Of these, rows that are surely requests of the ledger.'),
      matched_points: numeric('Points charged for those.'),
      ambiguous: bigint('Rows that may be one of several requests.'),
      ambiguous_points: numeric('Points charged for those.'),
      others: bigint('Rows that are no request of this ledger: of other programs or tokens.'),
      other_points: numeric('Points charged for those.'),
      lost: bigint('Matched rows that were charged beyond the answers that are stored.'),
      lost_points: numeric('Points charged for those.'),
      asked: bigint('Requests of the ledger that were last sent on this day.'),
      ledger_points: numeric('Points for them by the ledger: by the log where it told them, else by the price list.'),
      unlogged: bigint(
        'Of these, answered requests that no row of the log is. Some of the last days may only not have been read yet.',
      ),
    },
  ),
  view('dim_endpoint', 'Endpoints: one row for each that can be synced or stands in the request log.', ['endpoint'], {
    endpoint: text('Name of the endpoint: its path with dots.'),
    network: text('The first part of the name: token, webparser, sec, pronet, microblog or photoshare.'),
    table_name: text('The table that its items fill; null of an endpoint that can’t be synced.'),
    is_known: boolean('Whether it can be synced.'),
    first_logged_on,
    last_logged_on,
  }),
  view('dim_plan', 'Plans of the token that stand in the request log: one row a plan.', ['plan'], {
    plan: text('Name of the plan; (not told) where the log has none.'),
    requests: bigint('Rows of the request log.'),
    first_logged_on,
    last_logged_on,
  }),
  view(
    'dim_sync',
    'Syncs that ran, and what stands for requests that are not surely of one: one row for each.',
    ['sync'],
    {
      sync: text('Name of the sync in the config, or (other programs) or (ambiguous).'),
      is_sync: boolean('Whether it is a sync that ran here.'),
      endpoint: text('Name of the endpoint that its newest run asked.'),
      runs: bigint('Its runs.'),
      first_run_at: timestamp('When the first run started.'),
      last_run_at: timestamp('When the newest run started.'),
    },
  ),
];
