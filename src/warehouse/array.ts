/** Postgres array literals: one text parameter a column, however many rows, on either driver. */
import type { Cell } from '../normalize/batch.ts';

/** The array literal of these cells, to be cast to an array of the column's type. */
export function arrayLiteral(cells: readonly Cell[]): string {
  return `{${cells.map(elementOf).join(',')}}`;
}

const SPECIAL = /["\\]/g;

function elementOf(cell: Cell): string {
  if (cell === null) return 'NULL';
  return typeof cell === 'string' ? `"${cell.replace(SPECIAL, '\\$&')}"` : String(cell);
}
