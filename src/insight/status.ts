/** Reads the status of every sync from the operations schema: last run, freshness, backlog, rejects and coverage. */
import { sql } from 'kysely';
import { type CurrentLowerBound, currentLowerBounds } from '../ledger/coverage.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { type Ops, operationsOf } from '../warehouse/connect/operations-db.ts';
import { gapsOf, type SyncGap, UNREADABLE } from '../ledger/unreadable-answers.ts';

export interface SyncStatus {
  readonly sync: string;
  readonly endpoint: string;
  /** State of the newest run; `interrupted` also if its process died. */
  readonly state: string;
  readonly exitCode: number | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly error: string | null;
  /** End of the newest complete run; ends that are in the future by the database's clock do not count. */
  readonly completeAt: Date | null;
  /** Receipt of the newest answer, which may belong to another sync and serve this one. */
  readonly newestAnswerAt: Date | null;
  /** Requests that are planned, in flight or in doubt. */
  readonly open: number;
  readonly inDoubt: number;
  /** Stored answers that are not loaded yet. */
  readonly unloaded: number;
  /** Items and answers in quarantine. */
  readonly quarantined: number;
  /** Inputs that failed in the newest run. */
  readonly failed: number;
  /** Requests of the newest run whose answer could not be read. */
  readonly unreadable: number;
  /** Slices of any run that are currently lower bounds: more may exist, and no later answer completed them. */
  readonly truncated: number;
}

export interface DriftStatus {
  readonly resource: string;
  readonly path: string;
  readonly kind: string;
  readonly count: number;
  readonly lastSeenAt: Date;
}

/** A request of a sync's newest run that failed or is in doubt. */
export interface FailureStatus {
  readonly sync: string;
  readonly state: string;
  readonly input: unknown;
  readonly error: string;
  readonly next: string | null;
}

export interface Status {
  readonly syncs: readonly SyncStatus[];
  /** At most 20 requests of the newest runs that failed or are in doubt. */
  readonly failures: readonly FailureStatus[];
  /** At most 20 requests of the newest runs whose answer could not be read. */
  readonly gaps: readonly SyncGap[];
  /** At most 20 slices that are currently lower bounds, newest first. */
  readonly lowerBounds: readonly CurrentLowerBound[];
  /** At most 20 places where answers differ from the contract, most frequent first. */
  readonly drift: readonly DriftStatus[];
}

/** The status of every sync that ever ran. */
export async function readStatus(warehouse: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<Status> {
  const ops = operationsOf(warehouse);
  const newest = await newestRuns(ops, warehouse.schema);
  const bySync = new Map((await sumsBySync(ops, warehouse.ops)).map((row) => [row.sync, row]));
  const bounds = await currentLowerBounds(ops);
  const gaps = await gapsOf(
    ops,
    newest.map(({ id }) => id),
    MOST_GAPS,
  );
  return {
    syncs: newest.map((run) => {
      const sums = bySync.get(run.sync);
      return {
        sync: run.sync,
        endpoint: run.endpoint,
        state: run.state,
        exitCode: run.exit_code === null ? null : Number(run.exit_code),
        startedAt: run.started_at,
        endedAt: run.ended_at,
        error: run.error,
        completeAt: sums?.complete_at ?? null,
        newestAnswerAt: sums?.newest_answer_at ?? null,
        open: Number(sums?.open ?? 0),
        inDoubt: Number(sums?.in_doubt ?? 0),
        unloaded: Number(sums?.unloaded ?? 0),
        quarantined: Number(sums?.quarantined ?? 0),
        failed: Number(run.failed),
        unreadable: gaps.filter(({ sync }) => sync === run.sync).length,
        truncated: bounds.filter(({ sync }) => sync === run.sync).length,
      };
    }),
    failures: await failuresOf(
      ops,
      newest.map(({ id }) => id),
    ),
    gaps: gaps.slice(0, SHOWN_GAPS),
    lowerBounds: bounds.filter(({ sync }) => newest.some((run) => run.sync === sync)).slice(0, SHOWN_BOUNDS),
    drift: await topDrift(ops),
  };
}

const SHOWN_BOUNDS = 20;
const SHOWN_GAPS = 20;
/** The greatest number of gaps that is counted. */
const MOST_GAPS = 10_000;

/** The newest run of each sync. Its state comes from the view, which shows a run whose process died as interrupted. */
const newestRuns = (ops: Ops, schema: string) =>
  ops
    .selectFrom('runs as r')
    .innerJoin(sql<ShownRun>`${sql.id(schema, 'sync_runs')}`.as('v'), 'v.run_id', 'r.id')
    .distinctOn('r.sync')
    .select(['r.id', 'r.sync', 'r.endpoint', 'v.state', 'r.exit_code', 'r.started_at', 'r.ended_at', 'v.error'])
    .select('r.failed')
    .orderBy('r.sync')
    .orderBy('r.id', 'desc')
    .execute();

interface ShownRun {
  readonly run_id: string;
  readonly state: string;
  readonly error: string | null;
}

const sumsBySync = (ops: Ops, names: string) =>
  ops
    .selectFrom('runs as r')
    .select((eb) => [
      'r.sync',
      sql<Date | null>`max(r.ended_at) filter (where r.state = 'complete' and r.ended_at <= now() + interval '1 minute')`.as(
        'complete_at',
      ),
      sql<Date | null>`greatest(
        (select max(w.received_at) from ${sql.table(`${names}.answers`)} w where w.sync = r.sync),
        (select max(w.received_at) from ${sql.table(`${names}.requests`)} q join ${sql.table(`${names}.answers`)} w on w.id = q.answer_id
          where q.sync = r.sync and q.state = 'fresh'))`.as('newest_answer_at'),
      eb
        .selectFrom('answers')
        .select(sql<string>`count(*)`.as('n'))
        .whereRef('answers.sync', '=', 'r.sync')
        .where('loaded_at', 'is', null)
        .as('unloaded'),
      eb
        .selectFrom('requests')
        .select(sql<string>`count(*)`.as('n'))
        .whereRef('requests.sync', '=', 'r.sync')
        .where('state', 'in', ['planned', 'sent', 'in_doubt'])
        .as('open'),
      eb
        .selectFrom('requests')
        .select(sql<string>`count(*)`.as('n'))
        .whereRef('requests.sync', '=', 'r.sync')
        .where('state', '=', 'in_doubt')
        .as('in_doubt'),
      eb
        .selectFrom('quarantine')
        .select(sql<string>`count(*)`.as('n'))
        .whereRef('quarantine.sync', '=', 'r.sync')
        .where('resolved_at', 'is', null)
        .as('quarantined'),
    ])
    .groupBy('r.sync')
    .execute();

async function failuresOf(ops: Ops, runIds: readonly string[]): Promise<FailureStatus[]> {
  if (runIds.length === 0) return [];
  const rows = await ops
    .selectFrom('requests')
    .select(['sync', 'state', 'input', 'body', 'error', 'next'])
    .where('run_id', 'in', [...runIds])
    .where((eb) => eb.or([eb('state', 'in', ['failed', 'in_doubt']), eb('error', 'is not', null)]))
    // The error of an earlier attempt stays in the row, and is irrelevant once there is an answer.
    .where((eb) => eb.or([eb('answer_id', 'is', null), eb('failure_class', '=', UNREADABLE)]))
    .orderBy('id')
    .limit(20)
    .execute();
  return rows.map(({ sync, state, input, body, error, next }) => ({
    sync,
    state,
    input: Object.keys(input).length > 0 ? input : body,
    error: error ?? 'its answer was lost',
    next,
  }));
}

async function topDrift(ops: Ops): Promise<DriftStatus[]> {
  const rows = await ops
    .selectFrom('drift')
    .select(['resource', 'path', 'kind', 'count', 'last_seen_at'])
    .orderBy(sql`count`, 'desc')
    .orderBy('resource')
    .orderBy('path')
    .limit(20)
    .execute();
  return rows.map((row) => ({
    resource: row.resource,
    path: row.path,
    kind: row.kind,
    count: Number(row.count),
    lastSeenAt: row.last_seen_at,
  }));
}
