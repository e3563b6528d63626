/** Elements of a list that have the key of another element. */
import type { ListElement } from '../service/model.ts';
import type { ChildRow } from './batch.ts';
import { scalarNames } from './scalar-names.ts';

/** A function that counts the rows with the key of an earlier row. The table holds one row for each key. */
export function repeatCounter(element: ListElement): (rows: readonly ChildRow[]) => number {
  if (element.of !== 'object' || element.key.length === 0) return () => 0;
  const columns = scalarNames(element.fields, '');
  const slots = element.key.map((name) => columns.indexOf(name));
  const keyOf = (row: ChildRow): string => slots.map((slot) => String(row[slot])).join('\0');
  return (rows) => rows.length - new Set(rows.map(keyOf)).size;
}
