/** The Kysely dialect of both kinds of warehouse, which differ only in their pools. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type TransactionSettings,
} from 'kysely';
import type { Pool } from 'pg';

/** An adapter without session locks, which could stay on a pooler's connection. `migrate.ts` locks per transaction. */
class TransactionAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

type RolledBack = Parameters<PostgresDriver['rollbackTransaction']>[0];

/**
 * Begins transactions with a text of its own, and ignores a failing rollback. The server rolls back when a connection is
 * lost, and the error would hide the original one.
 */
class WarehouseDriver extends PostgresDriver {
  readonly #begin: CompiledQuery;

  constructor(pool: Pool, begin: string) {
    super({ pool });
    this.#begin = CompiledQuery.raw(begin);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    // Only a transaction that reads has an isolation level.
    if (settings.isolationLevel) return super.beginTransaction(connection, settings);
    await connection.executeQuery(this.#begin);
  }

  override async rollbackTransaction(connection: RolledBack): Promise<void> {
    // The driver does not use the connection any more after a failure.
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

/** The dialect of a pool. `begin` is the text that begins a transaction that writes. */
export class PooledDialect extends PostgresDialect {
  readonly #pool: Pool;
  readonly #begin: string;

  constructor(pool: Pool, begin = 'begin') {
    super({ pool });
    this.#pool = pool;
    this.#begin = begin;
  }

  override createDriver(): Driver {
    return new WarehouseDriver(this.#pool, this.#begin);
  }

  override createAdapter(): DialectAdapter {
    return new TransactionAdapter();
  }
}
