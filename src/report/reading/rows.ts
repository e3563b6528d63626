/** Rows of the analysts’ views for a report: texts without secrets and of bounded length. */
import { type RawBuilder, sql } from 'kysely';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

/** Where a report is read from, and what it is told with. */
export interface ReportSource {
  readonly db: Warehouse['db'];
  readonly schema: string;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** The UTC days shown, oldest first. */
  readonly days: readonly string[];
}

/** A text longer than this is no reading matter. */
const MOST_CHARACTERS = 400;

/** The rows of a statement. */
export async function rowsOf<R extends object>({ db, redact }: ReportSource, statement: RawBuilder<R>): Promise<R[]> {
  const { rows } = await statement.execute(db);
  return rows.map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'string' ? clipped(redact(value)) : (value as unknown),
        ]),
      ) as R,
  );
}

/** Not cut between the halves of a character. */
const clipped = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…` : text;

/** A table or view for analysts. */
export const relation = ({ schema }: ReportSource, name: string): RawBuilder<unknown> =>
  sql`${sql.table(`${schema}.${name}`)}`;

/** The UTC day of a column’s instant, as text. */
export const dayOfColumn = (column: string): RawBuilder<string> =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`;

/** The first instant shown. */
export const startOf = ({ days }: ReportSource): string => `${days[0] ?? ''}T00:00:00Z`;

/** One value for each day shown, by those that a statement gave for some of them. */
export function perDay<V>(days: readonly string[], found: Iterable<readonly [string, V]>, absent: V): V[] {
  const byDay = new Map(found);
  return days.map((day) => byDay.get(day) ?? absent);
}

/** The rows in groups by a text of theirs, in the order in which each group begins. */
export function groupedBy<R>(rows: readonly R[], key: (row: R) => string): Map<string, R[]> {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}
