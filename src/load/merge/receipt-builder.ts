/** The input of a load for one answer, and the counts for its receipt. */
import type { Batch } from '../../normalize/batch.ts';
import type { Receipt } from './receipt.ts';

/** The metadata in every row of an answer. */
export interface LoadContext {
  readonly answerId: string;
  readonly runId: string;
  /** RFC 3339; when the answer was received, never the time of the load. */
  readonly receivedAt: string;
  /** A newer answer replaced its set, maybe with no rows, so it adds nothing to it; absent, the stored rows show that. */
  readonly isSetReplaced?: boolean;
}

/** The rows of one answer, and their metadata. */
export interface LoadItem {
  readonly batch: Batch;
  readonly context: LoadContext;
}

/** The result for a row; `refreshed` means that only volatile parts differ. */
export type RowChange = 'inserted' | 'changed' | 'refreshed' | 'unchanged' | 'superseded';

const OUTCOME: Readonly<Record<RowChange, 'loaded' | 'unchanged' | 'superseded'>> = {
  inserted: 'loaded',
  changed: 'loaded',
  refreshed: 'unchanged',
  unchanged: 'unchanged',
  superseded: 'superseded',
};

/** Counts the results of one answer for its receipt. */
export interface ReceiptBuilder {
  /** Counts an entity with this many top-level items; of repeated keys in one answer, the last one counts. */
  readonly addItems: (verdict: RowChange, items: number) => void;
  /** Counts items that a newer answer supersedes. */
  readonly addSuperseded: (items: number) => void;
  readonly addWritten: (table: string, rows: number) => void;
  readonly build: () => Receipt;
}

/** Creates the receipt builder of an answer. */
export function openReceiptBuilder({ received, rejects, forgotten }: Batch): ReceiptBuilder {
  const counts = { loaded: 0, changed: 0, unchanged: 0, superseded: forgotten };
  const written: Record<string, number> = {};
  return {
    addItems: (verdict, items) => {
      if (items === 0) return;
      counts.superseded += items - 1;
      counts[OUTCOME[verdict]] += 1;
      if (verdict === 'changed') counts.changed += 1;
    },
    addSuperseded: (items) => {
      counts.superseded += items;
    },
    addWritten: (table, rows) => {
      if (rows > 0) written[table] = (written[table] ?? 0) + rows;
    },
    build: () => ({ received, ...counts, quarantined: rejects.length, written }),
  };
}
