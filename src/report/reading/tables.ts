/** Reads the growth of the tables. */
import { sql } from 'kysely';
import { rootTables } from '../../warehouse/schema/tables.ts';
import type { TableGrowth } from '../report.ts';
import { relation, rowsOf, type ReportSource } from './rows.ts';

/** The growth of each table of entities that has rows; tables of lists and bridge tables are omitted. */
export async function readGrowth(source: ReportSource): Promise<TableGrowth[]> {
  const rows = await rowsOf(
    source,
    sql<{ table: string; day: string; rows: number }>`
      select table_name as table, date::text as day, rows::float8 as rows from ${relation(source, 'daily_new_rows')} order by date`,
  );
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return rootTables.flatMap(({ name }) => {
    const own = byTable.get(name);
    return own ? [{ table: name, byDay: summedUp(source.days, own) }] : [];
  });
}

/** The number of rows at the end of each day. Earlier rows count from the first day on, later ones on the last day. */
function summedUp(days: readonly string[], rows: readonly { readonly day: string; readonly rows: number }[]): number[] {
  const added = days.map(() => 0);
  for (const { day, rows: count } of rows) {
    const from = Math.max(
      0,
      days.findLastIndex((it) => it <= day),
    );
    added[from] = (added[from] ?? 0) + count;
  }
  let sum = 0;
  return added.map((count) => (sum += count));
}
