/** Ends the work of a pool whose user only reads, once a signal aborts. */
import type { Pool, PoolClient } from 'pg';

type Query = (statement: unknown, ...others: unknown[]) => Promise<unknown>;

/** From the abort on, running statements are canceled with `cancel`, and others are refused with the signal's reason. */
export function stopOnAbort(pool: Pool, cancel: (client: PoolClient) => void, signal: AbortSignal): void {
  const used = new Set<PoolClient>();
  const guarded = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => {
    used.add(client);
    if (guarded.has(client)) return;
    guarded.add(client);
    const query = client.query.bind(client) as Query;
    const untilAborted: Query = async (statement, ...others) => {
      if (statement !== 'rollback') signal.throwIfAborted();
      return query(statement, ...others);
    };
    client.query = untilAborted as PoolClient['query'];
  });
  pool.on('release', (_, client) => used.delete(client));
  const cancelAll = (): void => {
    for (const client of used) cancel(client);
  };
  signal.addEventListener('abort', cancelAll, { once: true });
}
