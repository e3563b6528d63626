/** An answer on its way into the tables, and the books that a load keeps of it. */
import type { Batch } from '../../normalize/batch.ts';
import type { Receipt } from './receipt.ts';

/** What every row of an answer carries. */
export interface LoadContext {
  readonly answerId: string;
  readonly runId: string;
  /** RFC 3339; the clock of the answer, never that of the load. */
  readonly receivedAt: string;
}

/** The rows of one answer, and what they carry. */
export interface LoadItem {
  readonly batch: Batch;
  readonly context: LoadContext;
}

/** What became of a row: `refreshed` is a difference in volatile parts alone. */
export type RowChange = 'inserted' | 'changed' | 'refreshed' | 'unchanged' | 'superseded';

const OUTCOME: Readonly<Record<RowChange, 'loaded' | 'unchanged' | 'superseded'>> = {
  inserted: 'loaded',
  changed: 'loaded',
  refreshed: 'unchanged',
  unchanged: 'unchanged',
  superseded: 'superseded',
};

/** Counts what becomes of one answer, to a receipt in the end. */
export interface ReceiptBuilder {
  /** An entity that is so many top-level items; of the same key again in one answer, the last one counts. */
  readonly addItems: (verdict: RowChange, items: number) => void;
  /** Items that a newer answer spoke for. */
  readonly addSuperseded: (items: number) => void;
  readonly addWritten: (table: string, rows: number) => void;
  readonly build: () => Receipt;
}

/** Books of an answer in which nothing is written yet. */
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
