/** A pool that works with fewer connections than its limit if the server has no more. */
import { once } from 'node:events';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { errorCode } from '../sql/errors.ts';
import { SQL_STATE } from '../sql/sql-states.ts';

type OnConnected = Parameters<Pool['connect']>[0];

/**
 * A pool that waits for one of its own connections if the server refuses a new one because a limit is reached. It waits
 * no longer than the pool's timeout. It rejects immediately if none of its connections is in use.
 */
export class RetryingPool extends Pool {
  readonly #timeoutMs: number;
  #inUse = 0;

  constructor(config: PoolConfig & { readonly connectionTimeoutMillis: number }) {
    super(config);
    this.#timeoutMs = config.connectionTimeoutMillis;
    // Each waiting caller adds a listener.
    this.setMaxListeners(0);
    this.on('acquire', () => {
      this.#inUse += 1;
    });
    this.on('release', () => {
      this.#inUse -= 1;
    });
  }

  override connect(): Promise<PoolClient>;
  override connect(onConnected: OnConnected): void;
  override connect(onConnected?: OnConnected): Promise<PoolClient> | void {
    return onConnected ? super.connect(onConnected) : this.#connect();
  }

  async #connect(): Promise<PoolClient> {
    for (let timeout: AbortSignal | undefined; ; ) {
      try {
        return await super.connect();
      } catch (error) {
        // A limit of the server, database or role is reached, or the remaining connections are reserved for superusers.
        if (errorCode(error) !== SQL_STATE.tooManyConnections) throw error;
        // A connection was released in the meantime.
        if (this.idleCount > 0) continue;
        if (this.#inUse === 0) throw error;
        timeout ??= AbortSignal.timeout(this.#timeoutMs);
        await once(this, 'release', { signal: timeout }).catch(() => {
          throw error;
        });
      }
    }
  }
}
