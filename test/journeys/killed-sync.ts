/** A process of its own that runs a sync and kills itself at a named point, so that no part of it can clean up. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/config/values/secret.ts';
import { runSyncs } from '../../src/syncs.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { disturbedAt, STEP } from '../flow/crash.ts';
import { configOf } from '../flow/scene.ts';

/** The options of the process, as JSON in its first argument. */
export interface Order {
  readonly yaml: string;
  readonly serviceUrl: string;
  readonly warehouseUrl: string;
  /** Where it dies; null lets it live. */
  readonly at: { readonly when: 'before' | 'after'; readonly step: keyof typeof STEP; readonly nth: number } | null;
}

const { yaml, serviceUrl, warehouseUrl, at } = JSON.parse(process.argv[2] ?? '') as Order;
const now = (): Date => new Date();
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret(warehouseUrl), schema: 'sluice' }, { now, sleep });
await ensureSchema(warehouse);
const mortal =
  at === null
    ? warehouse
    : disturbedAt(warehouse, { when: at.when, statement: STEP[at.step], nth: at.nth }, () => {
        process.kill(process.pid, 'SIGKILL');
      });
const notices: string[] = [];
const summary = await runSyncs(
  await configOf(yaml, serviceUrl),
  mortal,
  { names: [], refresh: false, failOnTruncated: false },
  {
    now,
    sleep,
    random: Math.random,
    newId: randomUUID,
    onProgress: () => undefined,
    onNotice: ({ level, message }) => {
      if (level === 'warn') notices.push(message);
    },
  },
  new AbortController().signal,
);
await warehouse.close();
process.send?.({ summary, notices });
