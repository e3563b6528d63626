/** Refreshes statistics after a large load, and counts the rows that were written. */
import type { Receipt } from '../../load/merge/receipt.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { analyzeTables } from '../../warehouse/connect/analyze.ts';

/** A load of this size changes the planner's statistics; for a smaller one the analysis is not worth its time. */
const LARGE = 10_000;

export interface RowCounter {
  readonly add: (receipt: Receipt) => void;
  /** Rows written so far, by table. */
  readonly rows: ReadonlyMap<string, number>;
}

export function openRowCounter(): RowCounter {
  const rows = new Map<string, number>();
  return {
    rows,
    add: ({ written }) => {
      for (const [table, count] of Object.entries(written)) rows.set(table, (rows.get(table) ?? 0) + count);
    },
  };
}

/**
 * After many writes, refreshes statistics, and reclaims space where the server does not. An error becomes a notice and
 * stops nothing.
 */
export async function analyzeAfterLoad(
  warehouse: Warehouse,
  { rows }: RowCounter,
  onNotice: (notice: Notice) => void,
): Promise<void> {
  const written = [...rows.values()].reduce((sum, count) => sum + count, 0);
  if (written < LARGE) return;
  const analyst = [...rows.keys()].map((table) => ({ area: 'analyst' as const, table }));
  const operations = ['requests', 'answers'].map((table) => ({ area: 'operations' as const, table }));
  try {
    await analyzeTables(warehouse, [...analyst, ...operations]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    onNotice({ level: 'warn', message: `statistics of the tables were not refreshed: ${message}` });
  }
}
