/** Reads costs beyond the sums: what runs cost, points charged for failures, and the points left. */
import { sql } from 'kysely';
import type { ReconcileDb } from '../ledger/match-log.ts';
import { boughtRows, type CostSources, loggedRows } from './cost-sources.ts';

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

/** The runs since a UTC day, newest first. */
export async function readRuns(
  { db, schema }: ReconcileDb,
  since: string | undefined,
  sources: CostSources,
): Promise<RunCosts[]> {
  // Without the columns that the view derives from answers and the log, the statement reads neither.
  const { rows } = await sql<RunCosts>`
    with bought as (
      select run_id, sum(loaded) as loaded, sum(new_rows) as new_rows from ${boughtRows(sources)} group by 1
    ), logged as (
      select run_id, sum(requests) as requests, sum(points) as points from ${loggedRows(sources)} where run_id is not null group by 1
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
