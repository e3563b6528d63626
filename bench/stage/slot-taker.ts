/** A process that makes calls through the token's limiter one after the other, and reports how long it waited for each slot. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { Secret } from '../../src/config/values/secret.ts';
import { openTokenLimiter } from '../../src/control/limiter/limiter.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';

/** The options of the process, as JSON in its first argument. */
export interface TakerOptions {
  readonly warehouseUrl: string;
  readonly inFlight: number;
  readonly calls: number;
  /** The average duration of a call and of the work after it. */
  readonly callMs: number;
  /** The operation that is timed: taking a slot, or the shortest possible statement. */
  readonly timed: 'take' | 'round trip';
}

const { warehouseUrl, inFlight, calls, callMs, timed } = JSON.parse(process.argv[2] ?? '') as TakerOptions;
const now = (): Date => new Date();
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret(warehouseUrl), schema: 'sluice' }, { now, sleep });
const limiter = await openTokenLimiter(
  warehouse,
  { url: 'http://127.0.0.1', token: new Secret('bench'), inFlight, requestsPerSecond: 1_000_000 },
  `bench/${process.pid}`,
  { now, sleep, random: Math.random },
);
const never = new AbortController().signal;
const tookMs: number[] = [];

async function call(): Promise<void> {
  const startedMs = performance.now();
  if (timed === 'round trip') {
    await sql`select 1`.execute(warehouse.db);
    tookMs.push(performance.now() - startedMs);
    await pause();
    return;
  }
  const slot = await limiter.acquire(never);
  tookMs.push(performance.now() - startedMs);
  await slot.begin(never);
  await pause();
  slot.release();
  // Stands for the storing of the answer, which comes before the next call.
  await pause();
}

const pause = (): Promise<unknown> => (callMs === 0 ? Promise.resolve() : wait(Math.random() * callMs));

// Warm up: the first calls of a process take longer and are not measured.
for (let n = 0; n < 50; n += 1) await call();
tookMs.length = 0;
process.send?.('ready');
await once(process, 'message');
const startedMs = performance.now();
for (let n = 0; n < calls; n += 1) await call();
const lastedMs = performance.now() - startedMs;
await limiter.close();
await warehouse.close();
process.send?.({ tookMs, lastedMs });
process.disconnect();
