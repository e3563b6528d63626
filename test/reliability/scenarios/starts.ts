/** Several starts of one sync: one process works, the others end at once, and a dead process is replaced. */
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT } from '../../../src/errors.ts';
import type { WarehouseTemplates } from '../warehouse-templates.ts';
import { openStage, type Verdict } from '../stage.ts';
import { type Form, groupsConfig, IN_FLIGHT } from '../workload.ts';

const GROUPS = 6;
/** Longer than eight processes need to start on a busy machine. */
const PATIENCE_MS = 120_000;

/**
 * The stage of these scenarios: the first answer is held back until the test releases it, so that the first holder
 * keeps running.
 */
async function holding(templates: WarehouseTemplates, survivors: Form['survivors'] = 'process') {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const stage = await openStage(templates, {
    kind: 'postgres',
    survivors,
    configOf: () => groupsConfig(GROUPS),
    onArrival: async () => {
      arrived.resolve();
      await release.promise;
    },
  });
  return { ...stage, arrived: arrived.promise, release: release.resolve };
}

export interface Started extends Verdict {
  /** Exit codes, sorted. */
  readonly codes: readonly (number | null)[];
  readonly requests: number;
}

/** Starts processes at once, and as many runs in this process; the service answers when all but one have ended. */
export async function startedAtOnce(templates: WarehouseTemplates, processCount: number, here = 0): Promise<Started> {
  const stage = await holding(templates);
  try {
    const processes = [
      ...Array.from({ length: processCount }, () => stage.startSluice('sync', '--json')),
      ...Array.from({ length: here }, () => stage.sluiceHere('sync', '--json')),
    ];
    let left = processes.length;
    const ended = processes.map(async (one) => {
      const { code } = await one.ended;
      left -= 1;
      // If two of them work, they must not wait for each other forever.
      if (left <= 1) stage.release();
      return code;
    });
    const patience = setTimeout(stage.release, PATIENCE_MS);
    const codes = await Promise.all(ended);
    clearTimeout(patience);
    const verdict = await stage.judge(0);
    return {
      ...verdict,
      codes: codes.toSorted((a, b) => Number(a) - Number(b)),
      requests: stage.sandbox.requests().length,
    };
  } finally {
    await stage.close();
  }
}

/** Starts a second process while the first one runs; returns its exit code and duration. */
export async function startedSecond(
  templates: WarehouseTemplates,
  second: 'startSluice' | 'sluiceHere' = 'startSluice',
): Promise<{ readonly code: number | null; readonly tookMs: number }> {
  const stage = await holding(templates);
  try {
    const first = stage.startSluice('sync', '--json');
    await stage.arrived;
    const { code, tookMs } = await stage[second]('sync', '--json').ended;
    stage.release();
    await first.ended;
    return { code, tookMs };
  } finally {
    await stage.close();
  }
}

export interface Replaced extends Verdict {
  /** From the kill to the takeover of the lease. */
  readonly takenOverMs: number;
  /** From the kill to the next request that reached the service. */
  readonly workingMs: number;
  /** Starts that were refused before. */
  readonly refused: number;
}

/** Kills the holder and starts others, as a scheduler would, until one gets the lease, which expires by itself. */
export async function replaced(templates: WarehouseTemplates, survivors?: Form['survivors']): Promise<Replaced> {
  const stage = await holding(templates, survivors);
  try {
    const first = stage.start();
    await stage.arrived;
    // Right after a heartbeat, the lease lasts longest.
    await wait(HEARTBEAT_AND_A_BIT_MS);
    first.kill();
    await first.ended;
    const diedAtMs = Date.now();
    const before = stage.sandbox.requests().length;
    stage.release();
    let refused = 0;
    for (;;) {
      const { summary, wrote } = await stage.startSurvivor().ended;
      if (summary?.exitCode === 0) break;
      if (summary?.exitCode !== EXIT.held || refused > 60)
        throw new Error(`it ended badly: ${JSON.stringify(summary)} ${wrote}`);
      refused += 1;
      await wait(BETWEEN_STARTS_MS);
    }
    const verdict = await stage.judge(IN_FLIGHT);
    const next = stage.sandbox.requests()[before];
    return {
      ...verdict,
      takenOverMs: (verdict.figures.lastTakeOverAtMs ?? Number.NaN) - diedAtMs,
      workingMs: (next?.arrivedAt.getTime() ?? Number.NaN) - diedAtMs,
      refused,
    };
  } finally {
    await stage.close();
  }
}

const HEARTBEAT_AND_A_BIT_MS = 3_100;
const BETWEEN_STARTS_MS = 1_000;
