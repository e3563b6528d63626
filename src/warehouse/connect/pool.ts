/** A pool that works with fewer connections than its limit if the server has no more. */
import { once } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

/**
 * Connections that long work leaves to leases, the limiter and the ledger. Otherwise loads that wait for the lock of
 * another session would keep all, and this process would lose its leases although it is alive.
 */
const LEFT_FREE = 3;

const longWorkBeside = (connections: number): number => Math.max(1, connections - LEFT_FREE);

type OnConnected = Parameters<Pool['connect']>[0];

/**
 * A pool that waits for one of its own connections if the server refuses a new one because a limit is reached. It waits
 * no longer than the pool's timeout. It rejects immediately if none of its connections is in use.
 */
export class RetryingPool extends Pool {
  /**
   * Limits work that may hold a connection for long. With few connections there is one such work at a time. Such work must
   * not contain other such work.
   */
  readonly longWork: LimitFunction;
  readonly #timeoutMs: number;
  #inUse = 0;
  /** Without those that are about to be opened or refused. */
  #open = 0;

  constructor(config: PoolConfig & { readonly connectionTimeoutMillis: number }) {
    super(config);
    this.#timeoutMs = config.connectionTimeoutMillis;
    this.longWork = pLimit(longWorkBeside(this.options.max));
    // Each waiting caller adds a listener.
    this.setMaxListeners(0);
    this.on('connect', () => {
      this.#open += 1;
      this.longWork.concurrency = Math.max(this.longWork.concurrency, longWorkBeside(this.#open));
    });
    this.on('remove', () => {
      this.#open -= 1;
    });
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
        this.longWork.concurrency = longWorkBeside(this.#open);
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
