/** A process of its own that makes calls through the shared limiter, and reports when each began and ended. */
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/config/values/secret.ts';
import { openTokenLimiter } from '../../src/control/limiter/limiter.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';

/** The options of the process, as JSON in its first argument. */
export interface GateOrder {
  readonly warehouseUrl: string;
  readonly inFlight: number;
  readonly perSecond: number;
  /** How long it makes calls. */
  readonly forMs: number;
  /** How long each call takes at the most. */
  readonly callMs: number;
  /** The number of its concurrent calls. */
  readonly callers: number;
}

/** By the clock of the machine, which all processes share: a slot's first and last moment, and when the call started. */
export interface GateCall {
  readonly takenMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** How long it waited for the slot. */
  readonly waitedMs: number;
}

const order = JSON.parse(process.argv[2] ?? '') as GateOrder;
let readMs = 0;
const now = (): Date => {
  const date = new Date();
  readMs = date.getTime();
  return date;
};
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret(order.warehouseUrl), schema: 'sluice' }, { now, sleep });
const limiter = await openTokenLimiter(
  warehouse,
  {
    url: 'http://127.0.0.1',
    token: new Secret('token'),
    inFlight: order.inFlight,
    requestsPerSecond: order.perSecond,
  },
  `process ${process.pid}`,
  { now, sleep, random: Math.random },
);
process.send?.('ready');
const end = Date.now() + order.forMs;
const stop = AbortSignal.timeout(order.forMs);
const calls: GateCall[] = [];
const caller = async (): Promise<void> => {
  while (Date.now() < end) {
    const requestedAt = performance.now();
    const slot = await limiter.acquire(stop).catch(() => undefined);
    if (!slot) return;
    const [takenMs, waitedMs] = [Date.now(), performance.now() - requestedAt];
    if (await slot.begin(stop)) {
      // As the limiter read it: a process that is preempted after its start would read a later time here.
      const startedMs = readMs;
      process.send?.('started');
      await wait(Math.random() * order.callMs);
      calls.push({ takenMs, startedMs, endedMs: Date.now(), waitedMs });
    }
    slot.release();
  }
};
await Promise.all(Array.from({ length: order.callers }, caller));
await limiter.close();
await warehouse.close();
process.send?.({ calls });
