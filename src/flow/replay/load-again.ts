/** Loads stored answers again, and sums up their receipts. */
import { recordReadSlices } from '../../ledger/failures/unreadable-answers.ts';
import type { Lease } from '../../ledger/lease.ts';
import type { Receipt } from '../../load/merge/receipt.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Effects } from '../effects.ts';
import { ingestGroups, type IngestResult } from '../ingest/ingest.ts';
import type { LoadPurpose } from '../ingest/read-answer.ts';
import { reparsedSlices } from '../ingest/read-slices.ts';
import { readStored, type AnswerToReplay } from './stored-answers.ts';

export interface ReplayEffects extends Effects {
  readonly onProgress: (done: number, total: number) => void;
}

/** Counts of a replay: the answers, and the sums of their receipts. */
export interface ReplayCounts extends Omit<Receipt, 'changed'> {
  readonly answers: number;
}

export interface LoadAgainOptions extends ReplayEffects {
  /** Asserted in each commit, so that a replay which wakes up late loads nothing. */
  readonly leases?: readonly Lease[];
  readonly purpose: LoadPurpose;
  /** Called with each answer after its commit. */
  readonly onLoaded?: (result: IngestResult) => void;
}

const COUNTED = ['received', 'loaded', 'unchanged', 'superseded', 'quarantined'] as const;

/** Loads the answers in their order until the signal aborts, and returns the counts of those that were committed. */
export async function loadAgain(
  warehouse: Warehouse,
  ops: Ops,
  answers: readonly AnswerToReplay[],
  options: LoadAgainOptions,
  signal: AbortSignal,
): Promise<ReplayCounts> {
  const counts = { answers: 0, received: 0, loaded: 0, unchanged: 0, superseded: 0, quarantined: 0 };
  const written: Record<string, number> = {};
  const ingest = {
    ...options,
    fillSignal: signal,
    // A slice that can be read now is no longer a gap.
    onCommit: (inside: Ops, results: readonly IngestResult[]) => recordReadSlices(inside, reparsedSlices(results)),
  };
  await ingestGroups(warehouse, readStored(ops, answers, options, signal), ingest, (results) => {
    for (const result of results) {
      options.onLoaded?.(result);
      counts.answers += 1;
      for (const name of COUNTED) counts[name] += result.receipt[name];
      for (const [table, rows] of Object.entries(result.receipt.written)) written[table] = (written[table] ?? 0) + rows;
    }
    options.onProgress(counts.answers, answers.length);
  });
  return { ...counts, written };
}
