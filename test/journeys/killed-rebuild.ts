/** A process of its own that rebuilds the tables, and kills itself before a statement that its argument names. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/config/values/secret.ts';
import { replayAnswers } from '../../src/flow/replay/replay.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { disturbedAt } from '../flow/crash.ts';

const [url = '', statement = '', nth = '1'] = process.argv.slice(2);
const now = (): Date => new Date();
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, { now, sleep });
const mortal = disturbedAt(warehouse, { when: 'before', statement: new RegExp(statement), nth: Number(nth) }, () => {
  process.kill(process.pid, 'SIGKILL');
});
await replayAnswers(
  mortal,
  { names: [], rebuild: true, quarantined: false },
  { now, sleep, random: Math.random, newId: randomUUID, onProgress: () => undefined },
  new AbortController().signal,
);
await warehouse.close();
