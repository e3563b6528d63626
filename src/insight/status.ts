/** Reads the status of every sync from the operations schema: last run, freshness, backlog, rejects and coverage. */
import { sql } from 'kysely';
import { type CurrentLowerBound, currentLowerBounds } from '../ledger/coverage.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { type Ops, operationsOf } from '../warehouse/connect/operations-db.ts';
import type { CheckResult } from '../ledger/checks/check-results.ts';
import { gapsOf, type SyncGap, UNREADABLE } from '../ledger/failures/unreadable-answers.ts';

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
  /** Items and answers in quarantine, with those of its reads of the log. */
  readonly quarantined: number;
  /** Inputs of the newest run whose entity the service does not know. */
  readonly missing: number;
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

/** A current check of a sync that failed or could not run. */
export interface FailingCheck extends CheckResult {
  readonly sync: string;
  readonly runId: string;
  readonly at: Date;
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
  /** The number of all these places. */
  readonly driftPlaces: number;
  /** At most 20 current checks that failed or could not run. */
  readonly checks: readonly FailingCheck[];
}

/** The status of every sync that ever ran. */
export async function readStatus(warehouse: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<Status> {
  const ops = operationsOf(warehouse);
  const newest = await newestRuns(warehouse);
  const runIds = newest.map(({ id }) => id);
  const bounds = await currentLowerBounds(ops);
  const gaps = await gapsOf(ops, runIds, MOST_GAPS);
  return {
    syncs: newest.map((run) => {
      const { id: _, ...status } = run;
      const unreadable = gaps.filter(({ sync }) => sync === run.sync).length;
      return { ...status, unreadable, truncated: bounds.filter(({ sync }) => sync === run.sync).length };
    }),
    failures: await failuresOf(ops, runIds),
    gaps: gaps.slice(0, SHOWN),
    lowerBounds: bounds.filter(({ sync }) => newest.some((run) => run.sync === sync)).slice(0, SHOWN),
    drift: await topDrift(ops),
    driftPlaces: await countDrift(ops),
    checks: await failingChecks(warehouse),
  };
}

/** The greatest number of rows in a list. */
const SHOWN = 20;
/** The greatest number of gaps that is counted. */
const MOST_GAPS = 10_000;

type NewestRun = Omit<SyncStatus, 'unreadable' | 'truncated'> & { readonly id: string };

/** The newest run of each sync, as the view of freshness shows it: a run whose process died is interrupted. */
async function newestRuns({ db, ops, schema }: Pick<Warehouse, 'db' | 'ops' | 'schema'>): Promise<NewestRun[]> {
  const { rows } = await sql<NewestRun>`
    select f.last_run_id::text as id, f.sync, f.endpoint, f.last_state as state, f.last_exit_code::float8 as "exitCode",
      f.last_started_at as "startedAt", f.last_ended_at as "endedAt", f.last_error as error, f.completed_at as "completeAt",
      f.answered_at as "newestAnswerAt", f.open_requests::float8 as open, f.in_doubt_requests::float8 as "inDoubt",
      f.waiting_answers::float8 as unloaded,
      (select count(*) from ${sql.table(`${ops}.quarantine`)} k where split_part(k.sync, ':', 1) = f.sync and k.resolved_at is null)::float8 as quarantined,
      n.missing::float8 as missing, n.failed::float8 as failed
    from ${sql.table(`${schema}.sync_freshness`)} f join ${sql.table(`${ops}.runs`)} n on n.id = f.last_run_id
    order by f.sync`.execute(db);
  return rows;
}

async function failuresOf(ops: Ops, runIds: readonly string[]): Promise<FailureStatus[]> {
  if (runIds.length === 0) return [];
  // Run by run, because the planner would otherwise read all requests to find the first by id.
  const rows = await ops
    .selectFrom('runs as n')
    .innerJoinLateral(
      (db) =>
        db
          .selectFrom('requests')
          .select(['id', 'sync', 'state', 'input', 'body', 'error', 'next'])
          .whereRef('run_id', '=', 'n.id')
          .where((eb) => eb.or([eb('state', 'in', ['failed', 'in_doubt']), eb('error', 'is not', null)]))
          // The error of an earlier attempt stays in the row, and is irrelevant once there is an answer.
          .where((eb) => eb.or([eb('answer_id', 'is', null), eb('failure_class', '=', UNREADABLE)]))
          .orderBy('id')
          .limit(SHOWN)
          .as('r'),
      (join) => join.onTrue(),
    )
    .select(['r.sync', 'r.state', 'r.input', 'r.body', 'r.error', 'r.next'])
    .where('n.id', 'in', [...runIds])
    .orderBy('r.id')
    .limit(SHOWN)
    .execute();
  return rows.map(({ sync, state, input, body, error, next }) => ({
    sync,
    state,
    input: Object.keys(input).length > 0 ? input : body,
    error: error ?? 'its answer was lost',
    next,
  }));
}

async function failingChecks({ db, schema }: Pick<Warehouse, 'db' | 'schema'>): Promise<FailingCheck[]> {
  const { rows } = await sql<FailingCheck>`
    select sync, check_name as name, kind, severity, status, found::float8 as found, allowed, message, at, run_id::text as "runId"
    from ${sql.table(`${schema}.check_status`)} where status in ('fail', 'error')
    order by severity, sync, check_name limit ${SHOWN}`.execute(db);
  return rows;
}

async function countDrift(ops: Ops): Promise<number> {
  const { places } = await ops
    .selectFrom('drift')
    .select(sql<number>`count(*)::float8`.as('places'))
    .executeTakeFirstOrThrow();
  return places;
}

const topDrift = (ops: Ops): Promise<DriftStatus[]> =>
  ops
    .selectFrom('drift')
    .select(['resource', 'path', 'kind', sql<number>`count::float8`.as('count'), 'last_seen_at as lastSeenAt'])
    .orderBy('drift.count', 'desc')
    .orderBy('resource')
    .orderBy('path')
    .limit(SHOWN)
    .execute();
