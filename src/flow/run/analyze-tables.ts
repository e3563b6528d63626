/** Keeps the planner's statistics of loaded tables current, and counts the rows that were written. */
import type { Receipt } from '../../load/merge/receipt.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { analyzeTables, outdatedTables, type TableRef } from '../../warehouse/connect/analyze.ts';

/** A load of this size changes the planner's statistics; for a smaller one the analysis is not worth its time. */
const LARGE = 10_000;

/**
 * A table is analyzed again when it has grown by this factor. In between, the planner scales its statistics by the
 * size of the table.
 */
const GROWTH = 4;

export interface RowCounter {
  readonly add: (receipt: Receipt) => void;
}

export interface LoadStatistics extends RowCounter {
  /**
   * After a large load, refreshes statistics that are still outdated, and reclaims space where the server does not. The
   * first error becomes a notice; it stops nothing.
   */
  readonly finish: (signal: AbortSignal) => Promise<void>;
}

/** Counts rows without an effect on statistics. */
export const openRowCounter = (): RowCounter => ({ add: () => undefined });

/**
 * Counts the rows of a load. On a server, tables that become large are analyzed during the load, so the process does
 * not wait for it. The embedded warehouse has one connection, so it is analyzed at the end only.
 */
export function openStatistics(warehouse: Warehouse, onNotice: (notice: Notice) => void): LoadStatistics {
  /** Rows written so far, by table, and how many there were when its analysis started. */
  const written = new Map<string, number>();
  const analyzed = new Map<string, number>();
  let answers = 0;
  let running: Promise<void> = Promise.resolve();
  let hasFailed = false;

  const analyze = async (find: () => Promise<readonly TableRef[]>, signal?: AbortSignal): Promise<void> => {
    try {
      await analyzeTables(warehouse, await find(), signal);
    } catch (error) {
      if (hasFailed) return;
      hasFailed = true;
      const message = error instanceof Error ? error.message : String(error);
      onNotice({ level: 'warn', message: `statistics of the tables were not refreshed: ${message}` });
    }
  };
  const hasGrown = (table: string): boolean =>
    (written.get(table) ?? 0) >= Math.max(LARGE, GROWTH * (analyzed.get(table) ?? 0));

  return {
    add: (receipt) => {
      answers += 1;
      for (const [table, rows] of Object.entries(receipt.written)) {
        written.set(table, (written.get(table) ?? 0) + rows);
        if (warehouse.kind === 'embedded' || !hasGrown(table)) continue;
        analyzed.set(table, written.get(table) ?? 0);
        running = running.then(() => analyze(() => Promise.resolve([{ area: 'analyst', table }])));
      }
    },
    finish: async (signal) => {
      await running;
      const total = [...written.values()].reduce((sum, rows) => sum + rows, 0);
      if (signal.aborted || total < LARGE) return;
      const analyst = [...written].flatMap(([table, rows]) =>
        analyzed.has(table) ? [] : [{ area: 'analyst' as const, table, rows }],
      );
      const operations = ['requests', 'answers'].map((table) => ({
        area: 'operations' as const,
        table,
        rows: answers,
      }));
      await analyze(() => outdatedTables(warehouse, [...analyst, ...operations]), signal);
    },
  };
}
