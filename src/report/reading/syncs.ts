/** Reads the status, the coverage and the data quality of the syncs. */
import { sql } from 'kysely';
import type {
  Coverage,
  ReportedCheck,
  ReportedDrift,
  Quality,
  Quarantine,
  QuarantineReason,
  Report,
  SyncState,
  TruncatedSlice,
} from '../report.ts';
import { dayOfColumn, relation, perDay, rowsOf, type ReportSource, startOf } from './rows.ts';

/** States from worst to best. The worst run of a day determines how the day is shown. */
const WORST_FIRST = ['failed', 'interrupted', 'out_of_points', 'partial', 'abandoned', 'running', 'complete'];
const gravityOf = (state: string): number => WORST_FIRST.indexOf(state);

/** All syncs that ever ran, ordered by name. */
export async function readSyncs(source: ReportSource): Promise<SyncState[]> {
  const syncs = await rowsOf(
    source,
    sql<Omit<SyncState, 'runs' | 'byDay'>>`
      select sync, endpoint, last_state as state, last_started_at as "startedAt", last_ended_at as "endedAt",
        last_error as error, refreshed_at as "refreshedAt", open_requests::float8 as open,
        in_doubt_requests::float8 as "inDoubt", waiting_answers::float8 as waiting
      from ${relation(source, 'sync_freshness')} order by sync`,
  );
  const runs = await rowsOf(
    source,
    sql<{ sync: string; day: string; state: string; runs: number }>`
      select sync, ${dayOfColumn('started_at')} as day, state, count(*)::float8 as runs
      from ${relation(source, 'sync_runs')} where started_at >= ${startOf(source)}::timestamptz
      group by 1, 2, 3`,
  );
  const bySync = Map.groupBy(runs, ({ sync }) => sync);
  return syncs.map((it) => {
    const ownRuns = bySync.get(it.sync) ?? [];
    const worstLast = ownRuns.toSorted((a, b) => gravityOf(b.state) - gravityOf(a.state));
    return {
      ...it,
      runs: ownRuns.reduce((sum, { runs: count }) => sum + count, 0),
      byDay: perDay<string | null>(
        source.days,
        worstLast.map(({ day, state }) => [day, state] as const),
        null,
      ),
    };
  });
}

/** The current checks that fail or could not run, those of severity error first. */
export const readFailingChecks = (source: ReportSource): Promise<ReportedCheck[]> =>
  rowsOf(
    source,
    sql<ReportedCheck>`
      select sync, check_name as name, severity, message, allowed from ${relation(source, 'check_status')}
      where status in ('fail', 'error') order by severity, sync, check_name`,
  );

const SHOWN_SLICES = 25;

/** Either the sums of a sync and endpoint, or a truncated slice with its place. */
type SliceRow = Coverage & TruncatedSlice & { readonly place: number | null };

/**
 * The coverage of the syncs that search, ordered by name, and the newest slices that are lower bounds, newest first, at
 * most 25. One statement reads all slices for both.
 */
export async function readSlices(source: ReportSource): Promise<Pick<Report, 'coverage' | 'truncated'>> {
  const rows = await rowsOf(
    source,
    sql<SliceRow>`
      with slices as materialized (select * from ${relation(source, 'sync_slices')}), newest as (
        select * from slices where extent = 'lower_bound' order by as_of desc, slice_id desc limit ${sql.lit(SHOWN_SLICES)}
      )
      select null::float8 as place, sync, endpoint, (count(*) filter (where extent = 'complete'))::float8 as complete,
        (count(*) filter (where extent = 'lower_bound'))::float8 as "lowerBound",
        (count(*) filter (where extent = 'open'))::float8 as open, sum(returned)::float8 as returned,
        max(as_of) as "newestAt", null as filters, null::float8 as asked, null as reason, null::timestamptz as "asOf"
      from slices group by sync, endpoint
      union all
      select (row_number() over (order by as_of desc, slice_id desc))::float8, sync, endpoint, 0, 0, 0, returned::float8,
        null, filters, asked::float8, reason, as_of
      from newest
      order by place nulls first, sync, endpoint`,
  );
  return {
    coverage: rows
      .filter(({ place }) => place === null)
      .map(({ sync, endpoint, complete, lowerBound, open, returned, newestAt }) => ({
        sync,
        endpoint,
        complete,
        lowerBound,
        open,
        returned,
        newestAt,
      })),
    truncated: rows
      .filter(({ place }) => place !== null)
      .map(({ sync, filters, asked, returned, reason, asOf }) => ({ sync, filters, asked, returned, reason, asOf })),
  };
}

/** How many items of each sync were loaded, unchanged, superseded or quarantined. */
export const readQuality = (source: ReportSource): Promise<Quality[]> =>
  rowsOf(
    source,
    sql<Quality>`
      select sync, endpoint, received::float8 as received, loaded::float8 as loaded, unchanged::float8 as unchanged,
        superseded::float8 as superseded, quarantined::float8 as quarantined, open_quarantine::float8 as "openQuarantine",
        last_run_failed::float8 as "lastFailed", last_run_missing::float8 as "lastMissing"
      from ${relation(source, 'sync_quality')} order by sync`,
  );

const SHOWN_REASONS = 25;

/** New quarantine entries by day, and the open entries by reason. */
export async function readQuarantine(source: ReportSource): Promise<Quarantine> {
  const made = await rowsOf(
    source,
    sql<{ day: string; entries: number }>`
      select ${dayOfColumn('created_at')} as day, count(*)::float8 as entries
      from ${relation(source, 'quarantined_items')} where created_at >= ${startOf(source)}::timestamptz group by 1`,
  );
  const reasons = await rowsOf(
    source,
    sql<QuarantineReason>`
      select sync, resource, reason, count(*)::float8 as entries, max(created_at) as "newestAt"
      from ${relation(source, 'quarantined_items')} where is_open
      group by sync, resource, reason
      order by count(*) desc, max(created_at) desc, sync, reason limit ${sql.lit(SHOWN_REASONS)}`,
  );
  const byDay = perDay(
    source.days,
    made.map(({ day, entries }) => [day, entries] as const),
    0,
  );
  return { byDay, reasons };
}

const SHOWN_DRIFT = 25;

/** The places where answers differ from the contract, most frequent first, at most 25. */
export const readDrift = (source: ReportSource): Promise<ReportedDrift[]> =>
  rowsOf(
    source,
    sql<ReportedDrift>`
      select resource, path, kind, seen::float8 as seen, last_seen_at as "lastSeenAt"
      from ${relation(source, 'contract_drift')} order by seen desc, resource, path, kind limit ${sql.lit(SHOWN_DRIFT)}`,
  );
