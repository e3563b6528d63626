/** Reads what requests cost and returned, from the cost views: sums by day, endpoint, plan, sync and run. */
import { type RawBuilder, sql } from 'kysely';
import {
  type BalanceForecast,
  type ChargedFailure,
  readBalances,
  readFailures,
  readRuns,
  type RunCosts,
} from './cost-details.ts';
import {
  boughtRows,
  type CostSources,
  ledgerRows,
  loggedRows,
  type MaxAgeSaving,
  readCostSources,
} from './cost-sources.ts';
import type { ReconcileDb } from '../ledger/match-log.ts';
import { readReconciliation, type Reconciliation } from '../recovery/reconcile/reconcile.ts';

/** Sums over rows of the request log, with the points that the service charged. */
export interface CostSums {
  readonly requests: number;
  readonly points: number;
  readonly failedRequests: number;
  readonly failedPoints: number;
}

/** Sums for one day, endpoint, plan and sync. */
export interface CostCell extends CostSums {
  readonly date: string;
  readonly endpoint: string;
  readonly plan: string;
  readonly sync: string;
}

export interface SyncCosts extends CostSums {
  readonly sync: string;
  readonly endpoint: string;
  /** Points of the sync's requests in the ledger: from the log if it has them, otherwise from the price list. */
  readonly ledgerPoints: number;
  readonly answers: number;
  readonly loaded: number;
  readonly newRows: number;
  /** Each request by the log if it has it, otherwise by the ledger; null if there is nothing to divide by. */
  readonly pointsPerLoaded: number | null;
  readonly pointsPerNewRow: number | null;
  /** Points for all answers, and for those that contained nothing new. */
  readonly answerPoints: number;
  readonly nothingNewPoints: number;
}

export interface Costs {
  /** The first UTC day that counts; null for all. Savings and forecasts include earlier days. */
  readonly since: string | null;
  readonly total: CostSums & { readonly firstDay: string | null; readonly lastDay: string | null };
  /** How much of the spending in the ledger the log has confirmed. */
  readonly verification: Verification;
  readonly days: readonly (CostSums & { readonly date: string })[];
  /** Most expensive first, like plans and syncs. */
  readonly endpoints: readonly (CostSums & { readonly endpoint: string })[];
  readonly plans: readonly (CostSums & { readonly plan: string })[];
  readonly syncs: readonly SyncCosts[];
  /** Newest first. */
  readonly runs: readonly RunCosts[];
  readonly savings: readonly MaxAgeSaving[];
  readonly failures: readonly ChargedFailure[];
  readonly balances: readonly BalanceForecast[];
  /** Absent if the request log was never read. */
  readonly reconciliation?: Reconciliation;
}

/** Points of the requests in the ledger, by whether the request log has confirmed them. Readings of the log are included. */
export interface Verification {
  readonly verifiedRequests: number;
  readonly verifiedPoints: number;
  readonly unverifiedRequests: number;
  /** By the price list; also those of lost answers that the log does not show. */
  readonly unverifiedPoints: number;
  /** The likely cost according to the plans of the runs. */
  readonly quotedPoints: number;
}

async function readVerification(
  { db, schema }: ReconcileDb,
  since: string | undefined,
  sources: CostSources,
): Promise<Verification> {
  const { rows } = await sql<Verification>`
    select coalesce(sum(verified), 0)::float8 as "verifiedRequests",
      coalesce(sum(verified_points), 0)::float8 as "verifiedPoints",
      coalesce(sum(unverified), 0)::float8 as "unverifiedRequests",
      coalesce(sum(unverified_points), 0)::float8 as "unverifiedPoints",
      (select coalesce(sum(quoted_points), 0) from ${sql.table(`${schema}.run_costs`)}
        where date >= coalesce(${since ?? null}::date, '-infinity'))::float8 as "quotedPoints"
    from ${ledgerRows(sources)}`.execute(db);
  return rows[0] ?? NOT_SPENT;
}

/** Nothing was sent. */
export const NOT_SPENT: Verification = {
  verifiedRequests: 0,
  verifiedPoints: 0,
  unverifiedRequests: 0,
  unverifiedPoints: 0,
  quotedPoints: 0,
};

/** The costs since a UTC day, YYYY-MM-DD, or all. All figures come from one snapshot. */
export async function readCosts({ db, ...names }: ReconcileDb, since: string | undefined, now: Date): Promise<Costs> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const database = { ...names, db: tx };
      const sources = await readCostSources(database, since);
      const cells = await cellsIn(tx, sql`${loggedRows(sources)} where is_counted`);
      const days = summed(cells, ({ date }) => date).map(([date, sums]) => ({ date, ...sums }));
      const first = since ?? days[0]?.date;
      const reconciliation = await readReconciliation(database, now, first === undefined ? undefined : new Date(first));
      return {
        since: since ?? null,
        total: { ...sumOf(cells), firstDay: days[0]?.date ?? null, lastDay: days.at(-1)?.date ?? null },
        verification: await readVerification(database, since, sources),
        days,
        endpoints: dearestFirst(summed(cells, (it) => it.endpoint).map(([endpoint, sums]) => ({ endpoint, ...sums }))),
        plans: dearestFirst(summed(cells, (it) => it.plan).map(([plan, sums]) => ({ plan, ...sums }))),
        syncs: await readSyncs(database, sources),
        runs: await readRuns(database, since, sources),
        savings: sources.savings,
        failures: await readFailures(database, since),
        balances: await readBalances(database, since),
        ...(reconciliation && { reconciliation }),
      };
    });
}

/** The sums from which the others are derived, ordered by day, endpoint, plan and sync. */
export async function readCostCells({ db, schema }: ReconcileDb, since: string | undefined): Promise<CostCell[]> {
  const days = sql`${sql.table(`${schema}.daily_costs`)} sums`;
  return cellsIn(db, sql`${days} where date >= coalesce(${since ?? null}::date, '-infinity')`);
}

/** The cells of rows with the columns of the daily sums. */
async function cellsIn(db: ReconcileDb['db'], counted: RawBuilder<unknown>): Promise<CostCell[]> {
  const { rows } = await sql<CostCell>`
    select date::text as date, endpoint, plan, sync, sum(requests)::float8 as requests, sum(points)::float8 as points,
      sum(failed_requests)::float8 as "failedRequests", sum(failed_points)::float8 as "failedPoints"
    from ${counted} group by sums.date, endpoint, plan, sync
    order by sums.date, endpoint, plan, sync`.execute(db);
  return rows;
}

/** What `costs` may add up by, beside the tags. */
export const COST_GROUPS = ['day', 'endpoint', 'plan', 'sync'] as const;

/** A column of the daily sums, or the name of a tag. */
export type CostsBy = (typeof COST_GROUPS)[number] | { readonly tag: string };

/** Sums for one value of what the costs are added up by. */
export interface CostGroup extends CostSums {
  readonly name: string;
}

/** The sums since a UTC day by this column or tag: days in order, others with the most expensive first. */
export async function readCostsBy(
  { db, schema }: ReconcileDb,
  by: CostsBy,
  since: string | undefined,
): Promise<readonly CostGroup[]> {
  const [from, name] =
    typeof by === 'object'
      ? [
          // Requests of other programs, and those that may belong to several, have no run.
          sql`${sql.table(`${schema}.logged_requests`)} l left join ${sql.table(`${schema}.run_tags`)} t
            on t.run_id = l.run_id and t.tag = ${by.tag}`,
          sql`coalesce(t.value, case when l.run_id is null then l.sync else '(no tag)' end)`,
        ]
      : [sql`${sql.table(`${schema}.logged_requests`)} l`, by === 'day' ? sql`l.date::text` : sql.ref(`l.${by}`)];
  const { rows } = await sql<CostGroup>`
    select ${name} as name, count(*)::float8 as requests, sum(l.points)::float8 as points,
      (count(*) filter (where l.outcome = 'failed'))::float8 as "failedRequests",
      coalesce(sum(l.points) filter (where l.outcome = 'failed'), 0)::float8 as "failedPoints"
    from ${from} where l.date >= coalesce(${since ?? null}::date, '-infinity')
    group by 1 order by ${by === 'day' ? sql`1` : sql`3 desc, 1`}`.execute(db);
  return rows;
}

const sumOf = (cells: readonly CostSums[]): CostSums => {
  const sum = (valueOf: (it: CostSums) => number): number => cells.reduce((total, it) => total + valueOf(it), 0);
  return {
    requests: sum((it) => it.requests),
    points: sum((it) => it.points),
    failedRequests: sum((it) => it.failedRequests),
    failedPoints: sum((it) => it.failedPoints),
  };
};

const summed = (cells: readonly CostCell[], by: (cell: CostCell) => string): [key: string, sums: CostSums][] =>
  [...Map.groupBy(cells, by)].map(([key, group]) => [key, sumOf(group)]);

const dearestFirst = <T extends CostSums>(all: readonly T[]): T[] => all.toSorted((a, b) => b.points - a.points);

/** The figures of the view sync_costs, limited to what was sent, received and logged since a day. Most expensive first. */
async function readSyncs({ db }: ReconcileDb, sources: CostSources): Promise<SyncCosts[]> {
  const { rows } = await sql<SyncCosts>`
    with logged as (
      select sync, endpoint, sum(requests) as requests, sum(points) as points, sum(failed_requests) as failed_requests,
        sum(failed_points) as failed_points
      from ${loggedRows(sources)} where is_counted group by 1, 2
    ), bought as (
      select sync, endpoint, sum(answers) as answers, sum(points) as points, sum(loaded) as loaded,
        sum(new_rows) as new_rows, sum(nothing_new) as nothing_new
      from ${boughtRows(sources)} where is_counted group by 1, 2
    )
    select sync, endpoint, coalesce(l.requests, 0)::float8 as requests, coalesce(l.points, 0)::float8 as points,
      coalesce(l.failed_requests, 0)::float8 as "failedRequests", coalesce(l.failed_points, 0)::float8 as "failedPoints",
      coalesce(k.points, 0)::float8 as "ledgerPoints", coalesce(b.answers, 0)::float8 as answers,
      coalesce(b.loaded, 0)::float8 as loaded, coalesce(b.new_rows, 0)::float8 as "newRows",
      (p.points / nullif(b.loaded, 0))::float8 as "pointsPerLoaded", (p.points / nullif(b.new_rows, 0))::float8 as "pointsPerNewRow",
      coalesce(b.points, 0)::float8 as "answerPoints", coalesce(b.nothing_new, 0)::float8 as "nothingNewPoints"
    from logged l full join (select * from ${ledgerRows(sources)}) k using (sync, endpoint) full join bought b using (sync, endpoint)
    cross join lateral (select coalesce(l.points + k.unlogged_points, l.points, k.unlogged_points) as points) p
    order by coalesce(l.points, 0) desc, coalesce(k.points, 0) desc, sync, endpoint`.execute(db);
  return rows;
}
