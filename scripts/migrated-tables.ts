/**
 * The tables that the migrations create in an empty database. A draft starts from them. Views are left out: the declared
 * ones may read tables that only the drafted migration will create.
 */
import { sql } from 'kysely';
import { Secret } from '../src/config/values/secret.ts';
import { openWarehouse } from '../src/warehouse/connect/connect.ts';
import { releaseListKeys } from '../src/warehouse/migrate/list-keys.ts';
import { readCatalog } from '../src/warehouse/migrate/live-schema.ts';
import { runMigrations } from '../src/warehouse/migrate/run-migrations.ts';

/** Runs all migrations in a database in memory, and returns its tables. */
export async function migratedTables(): Promise<Awaited<ReturnType<typeof readCatalog>>> {
  const effects = { now: () => new Date(), sleep: () => Promise.resolve() };
  const warehouse = await openWarehouse({ url: new Secret('embedded:memory://'), schema: 'sluice' }, effects);
  try {
    await warehouse.db.transaction().execute(async (trx) => {
      for (const schema of [warehouse.ops, warehouse.schema]) await sql`create schema ${sql.id(schema)}`.execute(trx);
      await runMigrations(trx, warehouse, (migrator) => migrator.migrateToLatest());
      await releaseListKeys(trx, warehouse);
    });
    return await readCatalog(warehouse);
  } finally {
    await warehouse.close();
  }
}
