/** A warehouse in which the quickstart has run: every endpoint once, against a small world. */
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/load.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { runSyncs } from '../../src/syncs.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { clockFrom } from '../flow/clock.ts';
import { countingIds, SMALL } from '../flow/scene.ts';

/** So many that no request waits: a server paces by its own clock, while the tests' clock would run ahead by hours. */
const NO_PACE = 1_000_000;
const CONFIG = fileURLToPath(new URL('../../configs/quickstart.yaml', import.meta.url));

/**
 * Runs the quickstart into this warehouse, at an instant of its own. `through` returns the address of a server that stands
 * between the syncs and the sandbox.
 */
export async function runQuickstart(
  warehouse: Warehouse,
  start?: string,
  through = (sandboxUrl: string): Promise<string> => Promise.resolve(sandboxUrl),
): Promise<Summary> {
  const clock = clockFrom(start);
  const sandbox = await serveSandbox({ seed: 7, size: SMALL, now: clock.now, newId: countingIds(1) });
  try {
    const env = { SLUICE_SERVICE_URL: await through(sandbox.url), SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN };
    const loaded = await loadConfig(CONFIG, env);
    const config = { ...loaded, service: { ...loaded.service, requestsPerSecond: NO_PACE } };
    const effects = { now: clock.now, sleep: clock.sleep, random: () => 0.5, newId: countingIds(2) };
    return await runSyncs(
      config,
      warehouse,
      { names: [], refresh: false, failOnTruncated: false },
      { ...effects, onProgress: () => undefined, onNotice: () => undefined },
      new AbortController().signal,
    );
  } finally {
    await sandbox.close();
  }
}
