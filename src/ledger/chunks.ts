/**
 * The chunks of shared runs: their states, what stopped those that ended, and which chunk's worker concludes the run.
 */
import { sql } from 'kysely';
import { HeldError } from '../errors.ts';
import { utcText } from '../warehouse/sql/utc-text.ts';
import { anyBigint } from '../warehouse/sql/array-literal.ts';
import { insertion } from '../warehouse/sql/rows-from.ts';
import { plannedOf, type Run } from './runs.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** What stopped a chunk before all its requests were sent. */
export interface ChunkStop {
  readonly exitCode: number;
  readonly because: string;
  readonly next: string | null;
}

/** Records the chunks of a new run, with their sizes; requests without a chunk belong to the first. */
export async function planChunks(ops: Ops, runId: string, sizes: readonly number[]): Promise<void> {
  await ops
    .updateTable('requests')
    .set({ chunk: '0' })
    .where('run_id', '=', runId)
    .where('chunk', 'is', null)
    .execute();
  const { columns, rows } = insertion(sizes, {
    run_id: ['bigint', () => runId],
    number: ['bigint', (_, index) => index],
    state: ['text', () => 'open'],
    requests: ['bigint', (size) => size],
  });
  await ops.insertInto('chunks').columns(columns).expression(rows).execute();
}

/**
 * Opens the chunks of a run that have planned requests, and ends its others; returns the numbers of the open ones. The
 * result is empty if the run has no chunks or nothing is left.
 */
export async function reopenChunks(ops: Ops, runId: string): Promise<readonly number[]> {
  const left = await ops
    .selectFrom('requests')
    .select('chunk')
    .distinct()
    .where('run_id', '=', runId)
    .where('state', '=', 'planned')
    .where('chunk', 'is not', null)
    .execute();
  const numbers = left.map(({ chunk }) => Number(chunk)).toSorted((a, b) => a - b);
  await ops
    .updateTable('chunks')
    .set({
      state: sql`case when number = ${anyBigint(numbers)} then 'open' else 'ended' end`,
      exit_code: null,
      error: null,
      next: null,
    })
    .where('run_id', '=', runId)
    .execute();
  return numbers;
}

/** A chunk, by its number in its run. */
export interface ChunkId {
  readonly runId: string;
  readonly chunk: number;
}

/** The state of a chunk, with its complete run. */
export interface ChunkOfRun {
  readonly run: Run;
  readonly runState: string;
  readonly runExitCode: number | null;
  readonly state: 'open' | 'ended' | 'concluded';
}

/** Reads a chunk and its run; undefined if it does not exist. */
export async function readChunk(ops: Ops, { runId, chunk }: ChunkId): Promise<ChunkOfRun | undefined> {
  const row = await ops
    .selectFrom('runs as r')
    .innerJoin('chunks as c', 'c.run_id', 'r.id')
    .select(['r.id', 'r.sync', 'r.endpoint', 'r.definition_hash as definitionHash', 'r.quote'])
    .select([sql<string>`r.today::text`.as('today'), utcText('r.started_at').as('startedAt')])
    .select(['r.state as runState', sql<number | null>`r.exit_code::int`.as('runExitCode'), 'c.state'])
    .where('r.id', '=', runId)
    .where('c.number', '=', String(chunk))
    .executeTakeFirst();
  if (!row) return undefined;
  const { runState, runExitCode, state, ...run } = row;
  const { quote } = plannedOf(row.quote);
  return { run: { ...run, quote, continued: true }, runState, runExitCode, state };
}

/** Returns the first stop of a chunk of the run; it also stops chunks that have not begun. */
export async function firstStop(ops: Ops, runId: string): Promise<ChunkStop | undefined> {
  const row = await ops
    .selectFrom('chunks')
    .select(['exit_code', 'error', 'next'])
    .where('run_id', '=', runId)
    .where('exit_code', 'is not', null)
    .orderBy('ended_at')
    .orderBy('number')
    .executeTakeFirst();
  return row && { exitCode: Number(row.exit_code), because: row.error ?? '', next: row.next };
}

/**
 * Ends a chunk, and returns how many chunks of its run are still open. It locks the run's row until the end of the
 * transaction. If chunks end together, only the last one sees that none is open.
 */
export async function endChunk(
  ops: Ops,
  { runId, chunk }: ChunkId,
  stop: ChunkStop | undefined,
  at: Date,
): Promise<number> {
  await lockRun(ops, runId);
  await ops
    .updateTable('chunks')
    .set({
      state: 'ended',
      ended_at: at.toISOString(),
      exit_code: stop ? String(stop.exitCode) : null,
      error: stop?.because ?? null,
      next: stop?.next ?? null,
    })
    .where('run_id', '=', runId)
    .where('number', '=', String(chunk))
    .where('state', '=', 'open')
    .execute();
  const { open } = await ops
    .selectFrom('chunks')
    .select(sql<string>`count(*)`.as('open'))
    .where('run_id', '=', runId)
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow();
  return Number(open);
}

/** Locks a run and returns its state, so that only one worker concludes it. */
export async function lockRun(ops: Ops, runId: string): Promise<string | undefined> {
  const row = await ops.selectFrom('runs').select('state').where('id', '=', runId).forUpdate().executeTakeFirst();
  return row?.state;
}

/** Throws a HeldError if the run is over, and prevents its conclusion until the transaction ends. */
export async function assertRunning(ops: Ops, runId: string): Promise<void> {
  const row = await ops.selectFrom('runs').select('state').where('id', '=', runId).forShare().executeTakeFirst();
  if (row?.state !== 'running') throw new HeldError(`The run ${runId} is over.`, { next: 'It needs no further work.' });
}

/** Records which chunk's worker concluded the run. If that worker dies, its successor enqueues what follows the run. */
export async function recordConcluded(ops: Ops, { runId, chunk }: ChunkId): Promise<void> {
  await ops
    .updateTable('chunks')
    .set({ state: 'concluded' })
    .where('run_id', '=', runId)
    .where('number', '=', String(chunk))
    .execute();
}
