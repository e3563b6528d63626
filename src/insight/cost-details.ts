/** Reads costs beyond the sums: by run, the savings of a max_age, points charged for failures, and the points left. */
import { type RawBuilder, sql } from 'kysely';
import type { ReconcileDb } from '../ledger/match-log.ts';

export interface RunCosts {
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly state: string;
  /** Rows of the request log, and the points charged for them. */
  readonly requests: number;
  readonly points: number;
  /** Points of the run's requests in the ledger: from the log if it has them, otherwise from the price list. */
  readonly ledgerPoints: number | null;
  /** The likely cost according to the plan. */
  readonly quotedPoints: number | null;
  readonly loaded: number;
  readonly newRows: number;
}

/** What a max_age would have saved if it had been set from the beginning. */
export interface MaxAgeSaving {
  readonly sync: string;
  readonly maxAgeDays: number;
  readonly answers: number;
  readonly points: number;
  readonly savedAnswers: number;
  readonly savedPoints: number;
  /** The saved answers that contained something new. */
  readonly lateAnswers: number;
}

/** Charged requests that failed in the same way. */
export interface ChargedFailure {
  readonly sync: string;
  readonly endpoint: string;
  /** `failed`: the service reported an error. `lost`: it answered, and the answer was lost. */
  readonly kind: 'failed' | 'lost';
  readonly status: number | null;
  readonly requests: number;
  readonly points: number;
  readonly newestAt: Date;
  /** Error text of the newest request that has one; null if none has. */
  readonly error: string | null;
}

/** Points left on one token. */
export interface BalanceForecast {
  readonly token: string;
  /** This warehouse certainly sent a request with the token. */
  readonly isOurs: boolean;
  /** Null if the log shows no balance. */
  readonly pointsLeft: number | null;
  readonly toldAt: Date | null;
  readonly newestAt: Date;
  /** The mean over the last 7 and 30 days of the log. */
  readonly pointsPerDay7: number;
  readonly pointsPerDay30: number;
  /** At these two rates; null if nothing is spent. */
  readonly runsOutAt7: Date | null;
  readonly runsOutAt30: Date | null;
  readonly days: readonly BalanceDay[];
}

interface BalanceDay {
  readonly date: string;
  readonly points: number;
  /** At the end of the day; null if no row of the day shows a balance. */
  readonly pointsLeft: number | null;
}

/** Sums over the request log for one day, endpoint, plan, sync and run. Figures are texts, so that no digit is lost. */
export interface LoggedSums {
  readonly date: string;
  readonly endpoint: string;
  readonly plan: string;
  readonly sync: string;
  /** Null for rows without a certain request. */
  readonly run_id: string | null;
  /** True if the day is the given one or later. */
  readonly is_counted: boolean;
  readonly requests: string;
  readonly points: string;
  readonly failed_requests: string;
  readonly failed_points: string;
}

/** Sums over the request log, from which the sums by day, sync and run are derived: the log and the ledger are joined once. */
export async function readLoggedSums({ db, schema }: ReconcileDb, since: string | undefined): Promise<LoggedSums[]> {
  const { rows } = await sql<LoggedSums>`
    select date::text as date, endpoint, plan, sync, run_id::text as run_id,
      date >= coalesce(${since ?? null}::date, '-infinity') as is_counted, count(*)::text as requests, sum(points)::text as points,
      (count(*) filter (where outcome = 'failed'))::text as failed_requests,
      coalesce(sum(points) filter (where outcome = 'failed'), 0)::text as failed_points
    from ${sql.table(`${schema}.logged_requests`)} group by logged_requests.date, 2, 3, 4, logged_requests.run_id`.execute(
    db,
  );
  return rows;
}

/** These sums as a table expression. */
export const loggedRows = (logged: readonly LoggedSums[]): RawBuilder<unknown> => sql`
  jsonb_to_recordset(${JSON.stringify(logged)}::jsonb) as logged_sums (date date, endpoint text, plan text, sync text,
    run_id bigint, is_counted boolean, requests bigint, points numeric, failed_requests bigint, failed_points numeric)`;

/** Cost and result of a run's answers to the requests of one sync. Figures are texts, so that no digit is lost. */
export interface BoughtAnswers {
  readonly run_id: string;
  readonly sync: string;
  readonly endpoint: string;
  /** True if the answers were received on or after the given day. */
  readonly is_counted: boolean;
  readonly answers: string;
  readonly points: string;
  readonly loaded: string;
  readonly new_rows: string;
  readonly nothing_new: string | null;
}

/** Sums over all answers, from which the sums by run and by sync are derived. Hundreds of thousands of answers are read once. */
export async function readBoughtAnswers(
  { db, schema }: ReconcileDb,
  since: string | undefined,
): Promise<BoughtAnswers[]> {
  const { rows } = await sql<BoughtAnswers>`
    select run_id::text as run_id, sync, endpoint, date >= coalesce(${since ?? null}::date, '-infinity') as is_counted,
      count(*)::text as answers, sum(points)::text as points, sum(loaded)::text as loaded, sum(new_rows)::text as new_rows,
      (sum(points) filter (where is_nothing_new))::text as nothing_new
    from ${sql.table(`${schema}.answer_costs`)} group by 1, 2, 3, 4`.execute(db);
  return rows;
}

/** These sums as a table expression. */
export const boughtRows = (bought: readonly BoughtAnswers[]): RawBuilder<unknown> => sql`
  jsonb_to_recordset(${JSON.stringify(bought)}::jsonb) as sums (run_id bigint, sync text, endpoint text,
    is_counted boolean, answers bigint, points numeric, loaded numeric, new_rows numeric, nothing_new numeric)`;

/** The sums that are read once, and from which others are derived. */
export interface CostSources {
  readonly bought: readonly BoughtAnswers[];
  readonly logged: readonly LoggedSums[];
}

/** The runs since a UTC day, newest first. */
export async function readRuns(
  { db, schema }: ReconcileDb,
  since: string | undefined,
  { bought, logged }: CostSources,
): Promise<RunCosts[]> {
  // Without the columns that the view derives from answers and the log, the statement reads neither.
  const { rows } = await sql<RunCosts>`
    with bought as (
      select run_id, sum(loaded) as loaded, sum(new_rows) as new_rows from ${boughtRows(bought)} group by 1
    ), logged as (
      select run_id, sum(requests) as requests, sum(points) as points from ${loggedRows(logged)} where run_id is not null group by 1
    )
    select r.run_id::text as "runId", r.sync, r.endpoint, r.started_at as "startedAt", r.state,
      coalesce(l.requests, 0)::float8 as requests, coalesce(l.points, 0)::float8 as points, r.ledger_points::float8 as "ledgerPoints",
      r.quoted_points::float8 as "quotedPoints", coalesce(b.loaded, 0)::float8 as loaded,
      coalesce(b.new_rows, 0)::float8 as "newRows"
    from ${sql.table(`${schema}.run_costs`)} r left join bought b on b.run_id = r.run_id left join logged l on l.run_id = r.run_id
    where r.date >= coalesce(${since ?? null}::date, '-infinity')
    order by r.run_id desc`.execute(db);
  return rows;
}

/** The savings of each max_age for each sync, over all answers of the sync. */
export async function readSavings({ db, schema }: ReconcileDb): Promise<MaxAgeSaving[]> {
  const { rows } = await sql<MaxAgeSaving>`
    select sync, max_age_days as "maxAgeDays", answers::float8 as answers, points::float8 as points,
      saved_answers::float8 as "savedAnswers", saved_points::float8 as "savedPoints", late_answers::float8 as "lateAnswers"
    from ${sql.table(`${schema}.sync_max_age_savings`)} order by sync, max_age_days`.execute(db);
  return rows;
}

/** Points charged for failures since a UTC day, most expensive first. */
export async function readFailures({ db, schema }: ReconcileDb, since: string | undefined): Promise<ChargedFailure[]> {
  const { rows } = await sql<ChargedFailure>`
    select sync, endpoint, kind, status::float8 as status, count(*)::float8 as requests, sum(points)::float8 as points,
      max(started_at) as "newestAt",
      (array_agg(error order by started_at desc, log_id) filter (where error <> ''))[1] as error
    from ${sql.table(`${schema}.charged_failures`)}
    where date >= coalesce(${since ?? null}::date, '-infinity')
    group by sync, endpoint, kind, charged_failures.status
    order by sum(points) desc, sync, endpoint, kind, charged_failures.status`.execute(db);
  return rows;
}

/** Points left on each token and when they run out, tokens of this warehouse first; with the days since a UTC day. */
export async function readBalances({ db, schema }: ReconcileDb, since: string | undefined): Promise<BalanceForecast[]> {
  const { rows } = await sql<Omit<BalanceForecast, 'days'>>`
    select token, is_ours as "isOurs", points_left::float8 as "pointsLeft", told_at as "toldAt", newest_at as "newestAt",
      points_per_day_7d as "pointsPerDay7", points_per_day_30d as "pointsPerDay30",
      runs_out_at as "runsOutAt7", runs_out_at_30d as "runsOutAt30"
    from ${sql.table(`${schema}.balance_forecast`)} order by is_ours desc, newest_at desc, token`.execute(db);
  const { rows: days } = await sql<BalanceDay & { readonly token: string }>`
    select token, date::text as date, points::float8 as points, points_left::float8 as "pointsLeft"
    from ${sql.table(`${schema}.daily_balance`)}
    where date >= coalesce(${since ?? null}::date, '-infinity') order by token, date`.execute(db);
  const byToken = Map.groupBy(days, ({ token }) => token);
  return rows.map((row) => ({
    ...row,
    days: (byToken.get(row.token) ?? []).map(({ date, points, pointsLeft }) => ({ date, points, pointsLeft })),
  }));
}
