/** A process that makes calls through the shared gate one after the other, and tells how long it waited for each slot. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { Secret } from '../../src/config/values/secret.ts';
import { openTokenLimiter } from '../../src/control/limiter/limiter.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';

/** What the process is told to do, as JSON in its first argument. */
export interface TakerOrder {
  readonly warehouseUrl: string;
  readonly inFlight: number;
  readonly calls: number;
  /** How long each call takes on average, with what comes after it. */
  readonly callMs: number;
  /** What is timed: taking a slot, or the shortest statement there is. */
  readonly timed: 'take' | 'round trip';
}

const { warehouseUrl, inFlight, calls, callMs, timed } = JSON.parse(process.argv[2] ?? '') as TakerOrder;
const now = (): Date => new Date();
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret(warehouseUrl), schema: 'sluice' }, { now, sleep });
const gate = await openTokenLimiter(
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
    await pass();
    return;
  }
  const slot = await gate.acquire(never);
  tookMs.push(performance.now() - startedMs);
  await slot.begin(never);
  await pass();
  slot.release();
  // An answer is stored before the next call is made.
  await pass();
}

const pass = (): Promise<unknown> => (callMs === 0 ? Promise.resolve() : wait(Math.random() * callMs));

// What a process does for the first time takes longer, and is not what is asked.
for (let n = 0; n < 50; n += 1) await call();
tookMs.length = 0;
process.send?.('ready');
await once(process, 'message');
const startedMs = performance.now();
for (let n = 0; n < calls; n += 1) await call();
const lastedMs = performance.now() - startedMs;
await gate.close();
await warehouse.close();
process.send?.({ tookMs, lastedMs });
process.disconnect();
