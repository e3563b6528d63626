/** Reads what runs cost and returned. */
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
