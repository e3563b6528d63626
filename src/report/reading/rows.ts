/** Reads rows of the views for analysts. Texts are redacted and have a limited length. */
import { type RawBuilder, sql } from 'kysely';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

/** The source of a report: the database, the redaction of its texts, and the days shown. */
export interface ReportSource {
  readonly db: Warehouse['db'];
  readonly schema: string;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** The UTC days shown, oldest first. */
  readonly days: readonly string[];
}

/** Longer texts are cut, because the report is for reading. */
const MOST_CHARACTERS = 400;

/** The rows of a statement. */
export async function rowsOf<R extends object>(
  { db, redact }: Pick<ReportSource, 'db' | 'redact'>,
  statement: RawBuilder<R>,
  mostCharacters = MOST_CHARACTERS,
): Promise<R[]> {
  const { rows } = await statement.execute(db);
  return rows.map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'string' ? clipped(redact(value), mostCharacters) : (value as unknown),
        ]),
      ) as R,
  );
}

/** The text, cut to the limit. A surrogate pair is not split. */
export const clipped = (text: string, mostCharacters: number): string =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')}…` : text;

/** A table or view for analysts. */
export const relation = ({ schema }: Pick<ReportSource, 'schema'>, name: string): RawBuilder<unknown> =>
  sql`${sql.table(`${schema}.${name}`)}`;

/** The UTC day of a column’s instant, as text. */
export const dayOfColumn = (column: string): RawBuilder<string> =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`;

/** The start of the first day shown. */
export const startOf = ({ days }: ReportSource): string => `${days[0] ?? ''}T00:00:00Z`;

/** One value for each day shown: the value that was found for the day, otherwise `absent`. */
export function perDay<V>(days: readonly string[], found: Iterable<readonly [string, V]>, absent: V): V[] {
  const byDay = new Map(found);
  return days.map((day) => byDay.get(day) ?? absent);
}
