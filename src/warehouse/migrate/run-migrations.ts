/** Runs the migrations with the migration library. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Migration, MigrationResultSet, Migrator } from 'kysely/migration';
import type { SchemaNames } from '../connect/connect.ts';
import type { OperationsTables } from '../schema/operations.ts';
import { steps } from './migrations.ts';

/** Applies or reverts migrations in the transaction, and returns the names of those that this did. */
export async function runMigrations(
  trx: Transaction<OperationsTables>,
  names: SchemaNames,
  go: (migrator: Migrator) => Promise<MigrationResultSet>,
): Promise<string[]> {
  const { Migrator } = await import('kysely/migration');
  const provider = { getMigrations: () => migrationsFor(names) };
  // A checkout with migrations of its own, such as those of promoted fields, may have applied greater numbers.
  const order = { allowUnorderedMigrations: true };
  const { error, results } = await go(new Migrator({ db: trx, provider, migrationTableSchema: names.ops, ...order }));
  if (error !== undefined) throw error instanceof Error ? error : new Error('the migrator failed', { cause: error });
  return (results ?? []).filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
}

/** The migrations for the library, each with the search path for its unqualified names. */
async function migrationsFor({ schema, ops }: SchemaNames): Promise<Record<string, Migration>> {
  const loaded = await Promise.all(Object.entries(steps).map(async ([name, load]) => [name, await load()] as const));
  return Object.fromEntries(
    loaded.map(([name, step]) => {
      const [own, other] = step.schema === 'operations' ? [ops, schema] : [schema, ops];
      // pg_temp comes last, because otherwise Postgres finds temporary tables of the session first.
      const path = sql`set local search_path to ${sql.id(own)}, ${sql.id(other)}, pg_temp`;
      const on =
        (work: (db: Kysely<unknown>) => Promise<void>) =>
        async (db: Kysely<unknown>): Promise<void> => {
          await path.execute(db);
          await work(db);
        };
      return [name, { up: on((db) => step.up(db)), down: on((db) => step.down(db)) }];
    }),
  );
}
