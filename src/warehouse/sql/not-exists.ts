/** A condition that the query builder writes only as two nested calls. */
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

/** SQL condition that a query has no rows. */
export const notExists = (rows: Expression<unknown>): RawBuilder<SqlBool> => sql`not exists ${rows}`;
