/** Keeps the planner's statistics of loaded tables current where the database does not, and counts the rows that were written. */
import type { Receipt } from '../../load/merge/receipt.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { analyzeTables, outdatedTables } from '../../warehouse/connect/analyze.ts';

/** A load of this size changes the planner's statistics; for a smaller one the analysis is not worth its time. */
const LARGE = 10_000;

export interface RowCounter {
  readonly add: (receipt: Receipt) => void;
}

export interface LoadStatistics extends RowCounter {
  /**
   * After a large load, refreshes outdated statistics and reclaims space, both only where the database does not do so by
   * itself. An error becomes a notice; it stops nothing.
   */
  readonly finish: (signal: AbortSignal) => Promise<void>;
}

/** Counts no rows, for a load after which no statistics are refreshed here. */
export const NO_ROW_COUNTER: RowCounter = { add: () => undefined };

/** Counts the rows of a load, and analyzes its tables at the end. */
export function openStatistics(warehouse: Warehouse, onNotice: (notice: Notice) => void): LoadStatistics {
  const written = new Map<string, number>();
  let answers = 0;
  return {
    add: (receipt) => {
      answers += 1;
      for (const [table, rows] of Object.entries(receipt.written)) written.set(table, (written.get(table) ?? 0) + rows);
    },
    finish: async (signal) => {
      const total = [...written.values()].reduce((sum, rows) => sum + rows, 0);
      if (signal.aborted || total < LARGE) return;
      const analyst = [...written].map(([table, rows]) => ({ area: 'analyst' as const, table, rows }));
      const operations = ['requests', 'answers'].map((table) => ({
        area: 'operations' as const,
        table,
        rows: answers,
      }));
      try {
        await analyzeTables(warehouse, await outdatedTables(warehouse, [...analyst, ...operations]), signal);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        onNotice({ level: 'warn', message: `statistics of the tables were not refreshed: ${message}` });
      }
    },
  };
}
