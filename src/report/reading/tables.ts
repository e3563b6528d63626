/** Reads the growth of the tables. */
import { sql } from 'kysely';
import { tables } from '../../warehouse/schema/tables.ts';
import type { TableGrowth } from '../report.ts';
import { relation, rowsOf, type ReportSource } from './rows.ts';

/** The growth of each table of entities that has rows; tables of lists and bridge tables are omitted. */
export async function readGrowth(source: ReportSource): Promise<TableGrowth[]> {
  const growth: TableGrowth[] = [];
  for (const { name } of tables.filter(({ kind }) => kind === 'root')) {
    const rows = await rowsOf(
      source,
      sql<{ day: string; rows: number }>`
        select seen.day::text as day, count(*)::float8 as rows
        from (select (_first_seen_at at time zone 'UTC')::date as day from ${relation(source, name)}) seen
        group by seen.day order by seen.day`,
    );
    if (rows.length > 0) growth.push({ table: name, byDay: summedUp(source.days, rows) });
  }
  return growth;
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
