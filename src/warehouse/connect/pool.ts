/** A pool that gets by with fewer connections than it may have, where the server has no more to give. */
import { once } from 'node:events';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { errorCode } from '../sql/errors.ts';

type OnConnected = Parameters<Pool['connect']>[0];

/** The server's limit, the database's or the role's is reached, or what is left is kept for superusers. */
const NO_CONNECTION_LEFT = '53300';

/**
 * As its kind, but that a connection which the server refuses for want of room is waited for among its own, where some are
 * out; for no longer than for any connection of the pool. Without one of its own it rejects at once.
 */
export class RetryingPool extends Pool {
  readonly #withinMs: number;
  #out = 0;

  constructor(config: PoolConfig & { readonly connectionTimeoutMillis: number }) {
    super(config);
    this.#withinMs = config.connectionTimeoutMillis;
    // Each that waits listens.
    this.setMaxListeners(0);
    this.on('acquire', () => {
      this.#out += 1;
    });
    this.on('release', () => {
      this.#out -= 1;
    });
  }

  override connect(): Promise<PoolClient>;
  override connect(onConnected: OnConnected): void;
  override connect(onConnected?: OnConnected): Promise<PoolClient> | void {
    return onConnected ? super.connect(onConnected) : this.#connect();
  }

  async #connect(): Promise<PoolClient> {
    for (let patience: AbortSignal | undefined; ; ) {
      try {
        return await super.connect();
      } catch (error) {
        if (errorCode(error) !== NO_CONNECTION_LEFT) throw error;
        // One came back meanwhile.
        if (this.idleCount > 0) continue;
        if (this.#out === 0) throw error;
        patience ??= AbortSignal.timeout(this.#withinMs);
        await once(this, 'release', { signal: patience }).catch(() => {
          throw error;
        });
      }
    }
  }
}
