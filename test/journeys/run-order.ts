/** Runs syncs with a warehouse of their own, in a process of their own or in that of a test. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/config/values/secret.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { runSyncs } from '../../src/syncs.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { configOf } from '../flow/scene.ts';

/** The options of a process, as JSON in its first argument. */
export interface Order {
  readonly yaml: string;
  readonly serviceUrl: string;
  readonly warehouseUrl: string;
}

const realEffects = {
  now: () => new Date(),
  sleep: (ms: number, signal?: AbortSignal) => wait(ms, undefined, signal && { signal }),
};

/** Runs the syncs of the order. */
export async function runOrder({ yaml, serviceUrl, warehouseUrl }: Order): Promise<Summary> {
  const warehouse = await openWarehouse({ url: new Secret(warehouseUrl), schema: 'sluice' }, realEffects);
  try {
    return await runSyncs(
      await configOf(yaml, serviceUrl),
      warehouse,
      { names: [], refresh: false, failOnTruncated: false },
      {
        ...realEffects,
        random: Math.random,
        newId: randomUUID,
        onProgress: () => undefined,
        onNotice: () => undefined,
      },
      new AbortController().signal,
    );
  } finally {
    await warehouse.close();
  }
}
