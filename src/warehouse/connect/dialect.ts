/** The Kysely dialect of both kinds of warehouse, which differ only in their pools. */
import { type DialectAdapter, type Driver, PostgresAdapter, PostgresDialect, PostgresDriver } from 'kysely';
import type { Pool } from 'pg';

/** An adapter without session locks, which could stay on a pooler's connection. `migrate.ts` locks per transaction. */
class TransactionAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

type RolledBack = Parameters<PostgresDriver['rollbackTransaction']>[0];

/**
 * Ignores a failing rollback. The server rolls back when a connection is lost, and the error would hide the original
 * one.
 */
class QuietRollbackDriver extends PostgresDriver {
  override async rollbackTransaction(connection: RolledBack): Promise<void> {
    // The driver does not use the connection any more after a failure.
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

/** The dialect of a pool. */
export class PooledDialect extends PostgresDialect {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new QuietRollbackDriver({ pool: this.#pool });
  }

  override createAdapter(): DialectAdapter {
    return new TransactionAdapter();
  }
}
