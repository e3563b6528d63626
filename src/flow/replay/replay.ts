/** Normalizes and loads stored answers again, with no request to the service. */
import { acquireAll } from '../../control/lease/exclusive.ts';
import { EXIT, UsageError } from '../../errors.ts';
import { assertNoRebuild, syncLease } from '../../ledger/lease.ts';
import { resolveReplaced } from '../../ledger/quarantine.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient, toUserError } from '../../warehouse/connect/retry-transient.ts';
import { type FilledColumn, fillColumns } from '../fill/fill-columns.ts';
import { rebuildTables } from '../rebuild/rebuild.ts';
import { type GoneBodies, goneBodies } from '../retention/store.ts';
import { loadAgain, type LoadAgainOptions, type ReplayCounts, type ReplayEffects } from './load-again.ts';
import { type AnswerSelection, listStored } from './stored-answers.ts';

export interface ReplayOptions extends AnswerSelection {
  /** Fill new tables from all stored answers and bring the present ones to their rows, in one transaction. */
  readonly rebuild: boolean;
}

export interface ReplaySummary extends ReplayCounts {
  readonly exitCode: number;
  /** Answers left when the signal ended the replay; their rows are as before. */
  readonly left: number;
  /** Answers that cannot be loaded again because their bodies were removed; null if there are none. */
  readonly gone: GoneBodies | null;
  /** Columns that a migration added, filled from values that rows kept in `extra`. */
  readonly filled: readonly FilledColumn[];
  readonly tookMs: number;
}

type Replayed = Omit<ReplaySummary, 'exitCode' | 'tookMs'>;

/**
 * Loads stored answers again in the order of their ids. In place, an unchanged row is only read; the rows of a rebuild become
 * visible together. An answer that waits for its first load still waits afterwards, because only its sync plans its follow-up
 * requests. Throws a HeldError while one of the syncs runs, or any sync in case of a rebuild, and if a pause lost a lease.
 */
export async function replayAnswers(
  warehouse: Warehouse,
  options: ReplayOptions,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<ReplaySummary> {
  const startedAt = effects.now();
  if (options.rebuild && (options.names.length > 0 || options.quarantined))
    throw new UsageError('A rebuild fills all tables from all answers; a part of them would leave out the rest.');
  const replay = async (): Promise<Replayed> =>
    options.rebuild
      ? { ...(await rebuildTables(warehouse, effects, signal)), gone: null }
      : replayInPlace(warehouse, options, effects, signal);
  const replayed = await replay().catch((error: unknown) => {
    throw toUserError(error);
  });
  const exitCode = replayed.left > 0 ? EXIT.transient : EXIT.complete;
  return { exitCode, ...replayed, tookMs: effects.now().getTime() - startedAt.getTime() };
}

async function replayInPlace(
  warehouse: Warehouse,
  selection: AnswerSelection,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<Replayed> {
  const ops = operationsOf(warehouse);
  const syncs = [...new Set((await listStored(ops, selection)).map(({ sync }) => sync))].toSorted();
  await using held = await acquireAll(warehouse, syncs.map(syncLease), effects);
  if (warehouse.kind === 'postgres') await assertNoRebuild(ops);
  // Under the leases, because an erasure would miss the values that it moves.
  const filled = await fillColumns(warehouse, effects, signal);
  // Listed again, because a run may have ended before the leases were held.
  const answers = await listStored(ops, selection);
  const gone = await goneBodies(ops, selection);
  const options: LoadAgainOptions = { ...effects, purpose: { kind: 'replay' }, leases: held.leases };
  const counts = await loadAgain(warehouse, ops, answers, options, signal);
  // An answer that can be read now replaces earlier ones.
  await retryTransient(() => resolveReplaced(ops, syncs, effects.now()), effects);
  return { ...counts, left: answers.length - counts.answers, gone, filled };
}
