/** Reads the figures of the metrics from one snapshot of the warehouse, so they include runs of other processes. */
import { sql } from 'kysely';
import { dayOf } from '../day.ts';
import { lastBalance } from '../control/budget/balance.ts';
import { isSync } from '../ledger/log-reads.ts';
import { type Ops, operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { inSnapshot } from '../warehouse/connect/in-snapshot.ts';
import { tables } from '../warehouse/schema/tables.ts';
import { isAnsweredSince } from '../warehouse/schema/views/sync-columns.ts';
import { quoted } from '../warehouse/sql/identifiers.ts';
import { readRowCounts } from '../warehouse/sql/row-counts.ts';
import type { GaugeName, MetricSample } from './metrics.ts';
import { pointsByTag, type MetricTag } from './points-by-tag.ts';

export interface EndedRun {
  readonly id: string;
  readonly sync: string;
  /** The last end: a run may be continued and end again. */
  readonly endedAt: Date;
  readonly seconds: number;
}

export interface Figures {
  readonly samples: Partial<Readonly<Record<GaugeName, readonly MetricSample[]>>>;
  /** Runs that ended since the given instant. */
  readonly ended: readonly EndedRun[];
}

type Source = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** The greatest number of syncs in the metrics; syncs of earlier configs stay in the ledger. */
const MOST_SYNCS = 500;
/** The greatest number of checks in the metrics, failing ones first. */
const MOST_CHECKS = 500;

const epochSeconds = (at: Date | null): number => (at === null ? 0 : at.getTime() / 1000);

/** What to read. */
export interface FigureQuery {
  readonly now: Date;
  readonly endedSince: Date;
  /** The tags that may become labels. */
  readonly tags: readonly MetricTag[];
}

/** The figures of the warehouse at one moment, and the runs that ended since `endedSince`. */
export function readFigures(warehouse: Source, { now, endedSince, tags }: FigureQuery): Promise<Figures> {
  return inSnapshot(warehouse.db, async (db) => {
    const source = { ...warehouse, db };
    const ops = operationsOf(source);
    return {
      samples: {
        ...(await readSyncs(ops)),
        sluice_sync_interrupted: await readInterrupted(source),
        ...(await readLedger(source, now, tags)),
        ...(await readPoints(source)),
        sluice_table_rows: await readTableRows(source),
        sluice_quarantine_open: await readQuarantine(ops),
        sluice_check_failing: await readChecks(source),
      },
      ended: await readEnded(ops, endedSince),
    };
  });
}

async function readSyncs(ops: Ops): Promise<Figures['samples']> {
  const rows = await ops
    .selectFrom('runs')
    .where(isSync)
    .groupBy('sync')
    .select([
      'sync',
      sql<Date>`max(started_at)`.as('started_at'),
      sql<Date | null>`max(ended_at) filter (where exit_code = 0 and scope is null)`.as('success_at'),
      sql<
        number | null
      >`(array_agg(exit_code order by (scope in ('limited', 'range')) is true, id desc) filter (where exit_code is not null))[1]::float8`.as(
        'exit',
      ),
      ...RESULTS.map((it) => sql<number>`sum(${sql.ref(it)})::float8`.as(it)),
    ])
    .orderBy(sql`max(id)`, 'desc')
    .limit(MOST_SYNCS)
    .execute();
  const each = (valueOf: (row: (typeof rows)[number]) => number | null): MetricSample[] =>
    rows.flatMap((row) => {
      const value = valueOf(row);
      return value === null ? [] : [{ labels: [row.sync], value }];
    });
  return {
    sluice_sync_last_success_timestamp_seconds: each((it) => (it.success_at ? epochSeconds(it.success_at) : null)),
    sluice_sync_last_run_timestamp_seconds: each((it) => epochSeconds(it.started_at)),
    sluice_sync_last_exit_code: each((it) => it.exit),
    sluice_sync_items: rows.flatMap((row) => RESULTS.map((it) => ({ labels: [row.sync, it], value: row[it] }))),
  };
}

/** Whether the process of each sync's newest run died. Such a run has an expired lease and no recorded end. */
async function readInterrupted({ db, schema }: Source): Promise<MetricSample[]> {
  const { rows } = await sql<{ sync: string; died: number }>`
    select sync, (state = 'interrupted' and ended_at is null)::int as died from (
      select distinct on (sync) * from ${sql.id(schema, 'sync_runs')}
      order by sync, (scope in ('limited', 'range')) is true, run_id desc
    ) newest order by run_id desc limit ${MOST_SYNCS}`.execute(db);
  return rows.map(({ sync, died }) => ({ labels: [sync], value: died }));
}

const RESULTS = ['loaded', 'unchanged', 'superseded', 'quarantined'] as const;

/** The figures of requests, in one pass over the ledger: no index could avoid that pass. */
async function readLedger(source: Source, now: Date, tags: readonly MetricTag[]): Promise<Figures['samples']> {
  const midnight = `${dayOf(now)}T00:00:00Z`;
  const points = sql`coalesce(q.charged, q.points, 0)`;
  const isAnswered = sql.raw(isAnsweredSince('q', `${quoted(source.ops)}.answers`));
  const rows = await operationsOf(source)
    .selectFrom('requests as q')
    .innerJoin('runs as r', 'r.id', 'q.run_id')
    .groupBy(['q.sync', 'q.endpoint', 'q.state', 'r.tags'])
    .select([
      sql<number>`count(*) filter (where q.state = 'in_doubt' and not ${isAnswered})::float8`.as('inDoubt'),
      sql<string>`split_part(q.sync, ':', 1)`.as('sync'),
      'q.endpoint',
      'q.state',
      'r.tags',
      sql<number>`count(*)::float8`.as('requests'),
      sql<number>`sum(${points})::float8`.as('points'),
      sql<number>`coalesce(sum(${points}) filter (where q.sent_at >= ${midnight}::timestamptz and q.sent_at < ${midnight}::timestamptz + interval '1 day'), 0)::float8`.as(
        'today',
      ),
    ])
    .execute();
  const sums = (labelsOf: (row: (typeof rows)[number]) => string[], valueOf: (row: (typeof rows)[number]) => number) =>
    [...Map.groupBy(rows, (row) => JSON.stringify(labelsOf(row)))].map(([labels, group]) => ({
      labels: JSON.parse(labels) as string[],
      value: group.reduce((sum, row) => sum + valueOf(row), 0),
    }));
  const endpointOf = ({ endpoint }: (typeof rows)[number]): string[] => [endpoint];
  const lost = sums(
    ({ sync }) => [sync],
    ({ inDoubt }) => inDoubt,
  );
  return {
    sluice_requests: sums(
      ({ endpoint, state }) => [endpoint, state],
      ({ requests }) => requests,
    ),
    sluice_requests_in_doubt: lost.slice(0, MOST_SYNCS),
    sluice_points_spent: sums(endpointOf, ({ points: spent }) => spent),
    sluice_points_spent_today: sums(endpointOf, ({ today }) => today),
    sluice_points_spent_by_tag: pointsByTag(rows, tags),
  };
}

async function readPoints(source: Source): Promise<Figures['samples']> {
  const balance = await lastBalance(source);
  return {
    sluice_points_left: balance ? [{ labels: [], value: balance.points }] : [],
    sluice_points_left_timestamp_seconds: balance ? [{ labels: [], value: epochSeconds(balance.at) }] : [],
  };
}

async function readTableRows({ db, schema }: Source): Promise<MetricSample[]> {
  const counts = await readRowCounts(db, schema, (name) => tables.some((it) => it.name === name));
  return counts.map(({ table, rows }) => ({ labels: [table], value: rows }));
}

async function readQuarantine(ops: Ops): Promise<MetricSample[]> {
  const rows = await ops
    .selectFrom('quarantine')
    .where('resolved_at', 'is', null)
    .groupBy(sql`split_part(sync, ':', 1)`)
    .select([sql<string>`split_part(sync, ':', 1)`.as('sync'), sql<number>`count(*)::float8`.as('n')])
    .orderBy('n', 'desc')
    .limit(MOST_SYNCS)
    .execute();
  return rows.map(({ sync, n }) => ({ labels: [sync], value: n }));
}

async function readChecks({ db, schema }: Source): Promise<MetricSample[]> {
  const { rows } = await sql<{ sync: string; name: string; failing: number }>`
    select sync, check_name as name, (status in ('fail', 'error'))::int as failing
    from ${sql.id(schema, 'check_status')} where status <> 'skipped'
    order by failing desc, sync, name limit ${MOST_CHECKS}`.execute(db);
  return rows.map(({ sync, name, failing }) => ({ labels: [sync, name], value: failing }));
}

async function readEnded(ops: Ops, since: Date): Promise<EndedRun[]> {
  return ops
    .selectFrom('runs')
    .where(isSync)
    .where('ended_at', '>=', since)
    .where('exit_code', 'is not', null)
    .select([
      'id',
      'sync',
      sql<Date>`ended_at`.as('endedAt'),
      sql<number>`greatest(extract(epoch from ended_at - started_at), 0)::float8`.as('seconds'),
    ])
    .execute();
}
