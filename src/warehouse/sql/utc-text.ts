/** Instants as texts with microseconds, which a Date cannot hold. */
import { sql } from 'kysely';

/** SQL for a `timestamptz` column as RFC 3339 text in UTC, with microseconds. */
export const utcText = (column: string) =>
  sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
