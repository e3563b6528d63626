/** Runs: one row for each execution of a sync, continued after an interruption. */
import { sql } from 'kysely';
import { DAY_MS, dayOf } from '../day.ts';
import { utcText } from '../warehouse/sql/utc-text.ts';
import { recordLosses } from './failures/lost-answers.ts';
import { unreadableSum } from './failures/unreadable-answers.ts';
import { latestKnown } from '../warehouse/connect/clock.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';
import { moveRequests } from './requests/states.ts';
import { counterColumns, readRunCounters, type RunCounters } from './run-counters.ts';
import type { QuotedPoints, RunState } from './summary.ts';

export interface Run {
  readonly id: string;
  /** Digest of the definition of its plan. */
  readonly definitionHash: string;
  readonly sync: string;
  readonly endpoint: string;
  /** The UTC day of the plan; unchanged when the run is continued. */
  readonly today: string;
  /** RFC 3339, by the database's clock. */
  readonly startedAt: string;
  readonly continued: boolean;
  /** The quote at its start; null if there was none. */
  readonly quote: QuotedPoints | null;
  /** For a shared run, one chunk of it; absent, the complete run. */
  readonly chunk?: string;
}

/** An older open run is abandoned, because a plan made today would differ. */
export const CONTINUED_WITHIN_MS = DAY_MS;

/** States of a run with an unfinished plan: it crashed, was stopped, ran out of points or met transient errors. */
export const OPEN_STATES: readonly RunState[] = ['running', 'interrupted', 'out_of_points'];

export interface RunRequest {
  readonly sync: string;
  readonly endpoint: string;
  readonly definitionHash: string;
  readonly holder: string;
  /** The plan requests days up to `today`. */
  readonly asksForDays?: boolean;
  /** The part of the sync that its plan requests; absent, all of it. */
  readonly scope?: 'failed' | 'limited' | 'range' | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly now: Date;
}

export interface NewRun extends RunRequest {
  /** The spools of the process that starts it. */
  readonly spools?: readonly SpoolPlace[];
}

/** The result of handling open runs. */
export interface ContinuedRun {
  /** The run to continue; undefined if there is none. */
  readonly run: Run | undefined;
  /** Inputs that stored answers cover, so that its plan has no requests of them. */
  readonly covered: number;
  /** Requests of abandoned runs whose answers never arrived; they may have been charged. */
  readonly lost: readonly string[];
}

/** An open run that the next sync continues. */
export interface OpenRun extends Pick<Run, 'id' | 'definitionHash' | 'today' | 'startedAt'> {
  readonly quote: unknown;
}

/**
 * Returns the open runs of a sync, and the one to continue: its definition hash is the current one or one of `also`.
 * None is continued if the definition changed, or if the run is older than 24 hours. A run whose plan names future days
 * is not continued either, since a clock was ahead when it started.
 */
export async function openRuns(
  ops: Ops,
  request: Pick<RunRequest, 'sync' | 'definitionHash' | 'asksForDays' | 'now'>,
  also: readonly string[] = [],
): Promise<{ readonly open: readonly OpenRun[]; readonly last: OpenRun | undefined }> {
  const hashes = new Set([request.definitionHash, ...also]);
  const open = await ops
    .selectFrom('runs')
    .select(['id', 'definition_hash as definitionHash', 'quote', sql<string>`today::text`.as('today')])
    .select(utcText('started_at').as('startedAt'))
    .where('sync', '=', request.sync)
    .where('state', 'in', [...OPEN_STATES])
    .orderBy('id', 'desc')
    .execute();
  const last = open.find(
    (run) =>
      hashes.has(run.definitionHash) &&
      request.now.getTime() - Date.parse(run.startedAt) < CONTINUED_WITHIN_MS &&
      !(request.asksForDays === true && run.today > dayOf(latestKnown(request.now))),
  );
  return { open, last };
}

/**
 * Continues the open run of a sync, and abandons its other open runs. A run of a part of the sync leaves them open, because it
 * buys only a part of what they bought. Hold the sync's lease and use a transaction, so that no run is abandoned partly.
 * `beforeGivingUp` may throw for a run that must not be abandoned.
 */
export async function continueRun(
  ops: Ops,
  request: RunRequest,
  also: readonly string[] = [],
  beforeGivingUp: (runId: string) => void = () => undefined,
): Promise<ContinuedRun> {
  const now = request.now.toISOString();
  const { open, last } = await openRuns(ops, request, also);
  const lost: string[] = [];
  for (const run of open) {
    if (run === last || request.scope !== undefined) continue;
    beforeGivingUp(run.id);
    lost.push(...(await abandonRun(ops, run.id, now)));
  }
  if (!last) return { run: undefined, covered: 0, lost };
  await ops
    .updateTable('runs')
    .set({ state: 'running', holder: request.holder, exit_code: null, ended_at: null, error: null })
    // Limits of tags count the complete run by the tags that its requests are now sent under.
    .set({ tags: tagsColumn(request) })
    // A clock that was ahead set the start time, so the true start is unknown.
    .set({ started_at: sql`least(started_at, ${now}::timestamptz)` })
    .where('id', '=', last.id)
    .execute();
  const startedAt = request.now.getTime() < Date.parse(last.startedAt) ? now : last.startedAt;
  const { sync, endpoint } = request;
  const { quote, covered } = plannedOf(last.quote);
  return { run: { ...last, sync, endpoint, startedAt, continued: true, quote }, covered, lost };
}

/** Returns the newest run of a sync that was not given up; undefined if there is none. */
export async function lastRunOf(
  ops: Ops,
  sync: string,
): Promise<{ readonly id: string; readonly definitionHash: string; readonly state: RunState } | undefined> {
  return ops
    .selectFrom('runs')
    .select(['id', 'definition_hash as definitionHash', 'state'])
    .where('sync', '=', sync)
    .where('state', '<>', 'abandoned')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Returns the syncs whose names have this prefix and that have open runs. */
export async function openRunsOf(ops: Ops, beginning: string): Promise<readonly string[]> {
  const rows = await ops
    .selectFrom('runs')
    .select('sync')
    .distinct()
    .where((eb) => eb.fn<boolean>('starts_with', ['sync', eb.val(beginning)]))
    .where('state', 'in', [...OPEN_STATES])
    .execute();
  return rows.map(({ sync }) => sync);
}

/** Creates a run. Record its plan in the same transaction, so that no run is planned partly. */
export async function createRun(ops: Ops, request: NewRun): Promise<Run> {
  const startedAt = request.now.toISOString();
  const today = startedAt.slice(0, 10);
  const { sync, endpoint, definitionHash, holder, scope, spools = [] } = request;
  const run = await ops
    .insertInto('runs')
    .values({
      sync,
      endpoint,
      definition_hash: definitionHash,
      state: 'running',
      today,
      started_at: startedAt,
      holder,
      scope: scope ?? null,
      tags: tagsColumn(request),
      spools: spools.length > 0 ? JSON.stringify(spools) : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id: run.id, definitionHash, sync, endpoint, today, startedAt, continued: false, quote: null };
}

const tagsColumn = ({ tags = {} }: RunRequest): string | null =>
  Object.keys(tags).length > 0 ? JSON.stringify(tags) : null;

/** Returns the id of the newest run of a sync; null if it never ran. */
export async function newestRunId(ops: Ops, sync: string): Promise<string | null> {
  const newest = await ops
    .selectFrom('runs')
    .select('id')
    .where('sync', '=', sync)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.id ?? null;
}

/** What the row of a run keeps of its plan beside the requests. */
interface Planned {
  readonly quote: QuotedPoints | null;
  /** Inputs that stored answers cover, so that the plan has no requests of them. */
  readonly covered: number;
}

/** Sets what the row of a run keeps of its plan. */
export async function setPlanned(ops: Ops, runId: string, { quote, covered }: Planned): Promise<void> {
  await ops
    .updateTable('runs')
    .set({ quote: JSON.stringify({ ...quote, covered }) })
    .where('id', '=', runId)
    .execute();
}

/** What the row of a run keeps of its plan. Rows of earlier versions do not have the covered inputs. */
export function plannedOf(stored: unknown): Planned {
  if (stored === null) return { quote: null, covered: 0 };
  const { covered = 0, ...quote } = stored as QuotedPoints & { readonly covered?: number };
  return { quote, covered };
}

/**
 * Ends a run that is not continued, and returns its requests that may have been charged without an answer. A killed run did
 * not count its requests and answers. Hold the sync's lease and use a transaction.
 */
export async function abandonRun(ops: Ops, id: string, now: string): Promise<string[]> {
  await recordLosses(
    ops,
    { part: { id } },
    { at: new Date(now), reason: 'its run was given up before the answer came' },
  );
  const lost = await moveRequests(ops, { id }, ['sent', 'in_doubt'], 'abandoned');
  await moveRequests(ops, { id }, ['planned'], 'abandoned');
  const unreadable = (await unreadableSum(ops, id)).requests;
  await ops
    .updateTable('runs')
    .set({ state: 'abandoned', ended_at: now })
    .set(counterColumns({ ...(await readRunCounters(ops, id)), unreadable }))
    .where('id', '=', id)
    .execute();
  return lost;
}

/** Records how a run ended, with its counters. */
export async function endRun(
  ops: Ops,
  runId: string,
  end: { readonly state: RunState; readonly exitCode: number; readonly error: string | null; readonly at: Date },
  counters: RunCounters,
): Promise<void> {
  await ops
    .updateTable('runs')
    .set({ state: end.state, exit_code: String(end.exitCode), error: end.error, ended_at: end.at.toISOString() })
    .set(counterColumns(counters))
    .where('id', '=', runId)
    .execute();
}

/** One spool, as the ledger names it. The id is that of the marker file in the folder. */
export interface SpoolPlace {
  readonly id: string;
  readonly host: string;
  readonly folder: string;
}
