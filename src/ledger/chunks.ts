/** The chunks of runs that several workers share: which are open, what stopped those that ended, and who concludes the run. */
import { sql } from 'kysely';
import { HeldError } from '../errors.ts';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import type { Run } from './runs.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';
import type { QuotedPoints } from './summary.ts';

/** What stopped a chunk before everything of it was asked. */
export interface ChunkStop {
  readonly exitCode: number;
  readonly because: string;
  readonly next: string | null;
}

/** Enters the chunks of a new run, by their sizes. */
export async function planChunks(ops: Ops, runId: string, sizes: readonly number[]): Promise<void> {
  await ops
    .insertInto('chunks')
    .columns(['run_id', 'number', 'state', 'requests'])
    .expression(
      sql`select ${runId}::bigint, place - 1, 'open', size
        from unnest(${arrayLiteral(sizes)}::bigint[]) with ordinality as u(size, place)`,
    )
    .execute();
}

/**
 * Opens the chunks of a run that have requests left to send, and ends its others; returns the numbers of those. None of
 * a run that was not cut, and of one of which nothing is left.
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
      state: sql`case when number = any(${arrayLiteral(numbers)}::bigint[]) then 'open' else 'ended' end`,
      exit_code: null,
      error: null,
      next: null,
    })
    .where('run_id', '=', runId)
    .execute();
  return numbers;
}

/** A chunk as it stands, with its run. */
export interface ChunkOfRun {
  readonly run: Run & { readonly chunk: string };
  readonly runState: string;
  readonly runExitCode: number | null;
  readonly state: 'open' | 'ended' | 'concluded';
}

/** A chunk and its run as they stand; undefined when they are gone. */
export async function readChunk(ops: Ops, runId: string, number: number): Promise<ChunkOfRun | undefined> {
  const row = await ops
    .selectFrom('runs as r')
    .innerJoin('chunks as c', 'c.run_id', 'r.id')
    .select([
      'r.id',
      'r.sync',
      'r.endpoint',
      'r.definition_hash',
      'r.quote',
      'r.state as run_state',
      'r.exit_code',
      'c.state',
    ])
    .select(sql<string>`r.today::text`.as('today'))
    .select(sql<string>`to_char(r.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('started_at'))
    .where('r.id', '=', runId)
    .where('c.number', '=', String(number))
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, sync, endpoint, today, definition_hash: definitionHash, started_at: startedAt } = row;
  const quote = row.quote as QuotedPoints | null;
  return {
    run: { id, definitionHash, sync, endpoint, today, startedAt, continued: true, quote, chunk: String(number) },
    runState: row.run_state,
    runExitCode: row.exit_code === null ? null : Number(row.exit_code),
    state: row.state,
  };
}

/** The first stop that a chunk of the run came to; it holds for those that were not begun. */
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
 * Ends a chunk, and returns how many of its run are open still. The run's row is locked until the end of the transaction,
 * so of chunks that end at one time only the last sees that there are none.
 */
export async function endChunk(
  ops: Ops,
  { runId, number }: { readonly runId: string; readonly number: number },
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
    .where('number', '=', String(number))
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

/** Locks a run and returns its state: who concludes it keeps others from doing so too. */
export async function lockRun(ops: Ops, runId: string): Promise<string | undefined> {
  const row = await ops.selectFrom('runs').select('state').where('id', '=', runId).forUpdate().executeTakeFirst();
  return row?.state;
}

/** Throws a HeldError when the run is over, and keeps it from being concluded until the transaction ends. */
export async function assertRunning(ops: Ops, runId: string): Promise<void> {
  const row = await ops.selectFrom('runs').select('state').where('id', '=', runId).forShare().executeTakeFirst();
  if (row?.state !== 'running')
    throw new HeldError(`The run ${runId} is over.`, { next: 'There is nothing left to do for it.' });
}

/** Notes which chunk's worker concluded the run: should it die, what follows from the end is its successor's to see to. */
export async function markConcluded(ops: Ops, runId: string, number: number): Promise<void> {
  await ops
    .updateTable('chunks')
    .set({ state: 'concluded' })
    .where('run_id', '=', runId)
    .where('number', '=', String(number))
    .execute();
}
