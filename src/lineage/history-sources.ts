/** Where daily numbers and change logs come from: from the rows of an answer that report what they record. */
import type { ChangeTable, RootTable } from '../warehouse/schema/table-types.ts';
import { computedFrom, renamedColumns, type RowSource } from './answer-fields.ts';

/** The source of the daily numbers; none if the row is not full and reports none of them. */
export function dailySources(
  { daily, key, children }: RootTable,
  own: RowSource,
  lists: readonly RowSource[],
): RowSource[] {
  if (!daily) return [];
  const measures = daily.measures.flatMap(({ column, sum }) => {
    const child = children.find(({ name }) => name === sum?.child);
    const field = sum ? child?.columns.slice(child.parentKey.length)[sum.place]?.name : column;
    const from = sum ? lists.find(({ table }) => table === sum.child) : own;
    const source = from?.columns.find((it) => it.column === field);
    return source ? [{ ...source, column, ...(sum && { from: 'computed' as const }) }] : [];
  });
  if (measures.length === 0 && own.detail !== 'full') return [];
  return [historySource(daily, key, own, measures)];
}

/** The sources of the change logs of a row and its lists; none if the row reports no logged column. */
export const changeSources = (root: RootTable, rows: readonly RowSource[]): RowSource[] =>
  [root, ...root.children].flatMap(({ name, changes, key }) =>
    rows
      .filter(({ table, columns }) => table === name && isLogged(changes, columns))
      .flatMap((row) => (changes ? [historySource(changes, key, row, [])] : [])),
  );

const isLogged = (changes: ChangeTable | undefined, columns: RowSource['columns']): boolean =>
  columns.some(({ column }) => changes?.attributes.includes(column));

function historySource(
  { name, columns, entityKey }: Pick<ChangeTable, 'name' | 'columns' | 'entityKey'>,
  key: readonly string[],
  row: RowSource,
  values: RowSource['columns'],
): RowSource {
  const known = [...renamedColumns(row.columns, key, entityKey), ...values];
  const computed = columns
    .filter((it) => !known.some(({ column }) => column === it.name))
    .map((it) => computedFrom(it.name, { ...row, names: [] }));
  return { ...row, table: name, columns: [...known, ...computed] };
}
