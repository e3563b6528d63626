/** Deletes logged changes that are none without the entity. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { executeNoted, type TouchedRows } from './tables.ts';

/** Deletes the lines of all change logs whose values have become equal. A rebuild does not write them either. */
export async function dropUnchanged(db: QueryExecutorProvider, schema: string, touched: TouchedRows): Promise<void> {
  for (const root of rootTables)
    for (const { changes } of [root, ...root.children]) {
      if (!changes) continue;
      const unchanged = sql`
        delete from ${sql.id(schema, changes.name)} where from_value is not distinct from to_value`;
      await executeNoted(db, touched, changes.name, unchanged);
    }
}
