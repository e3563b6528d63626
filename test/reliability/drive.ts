/** The work of a driver: runs the syncs of a config, or works on their jobs, in the process of the caller. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '../../src/config/load.ts';
import type { EngineEvent } from '../../src/engine/handle.ts';
import { type Role, serve } from '../../src/engine/serve.ts';
import type { Checkpoint } from '../../src/ledger/kill-points.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import type { Notice, Summary } from '../../src/ledger/summary.ts';
import { runSyncs } from '../../src/syncs.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';

/** What the driver runs and how it is disturbed; its environment has the config's variables. */
export interface Order {
  readonly config: string;
  /** Where the process dies: the nth time it reaches that point, from 1. */
  readonly die?: { readonly at: Checkpoint; readonly nth: number };
  /** The longest wait, except the heartbeat's, so that many retries fit into a scenario. */
  readonly longestWaitMs?: number;
  /** Works on jobs until SIGTERM, and sends no summary; absent, it runs every sync once. */
  readonly role?: Role;
  /** Most requests of a chunk. */
  readonly chunkSize?: number;
  /** How far the process's clock is ahead of the true one; negative if behind. */
  readonly clockAheadMs?: number;
  /** The step of the clock once the process has read it a hundred times. */
  readonly clockStepMs?: number;
}

export interface DriveOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the spool. */
  readonly home: string;
  /** Called when the warehouse is open. */
  readonly onBegin: () => void;
  /** Called at each checkpoint of the run. */
  readonly checkpoint: (point: Checkpoint) => void;
  /** Gets what a worker complains of, as a line. */
  readonly complain: (line: string) => void;
  /** Asks the driver to stop in order. */
  readonly signal: AbortSignal;
}

/** The end of a run; a worker has none. */
export interface Driven {
  readonly summary: Summary;
  readonly notices: readonly string[];
}

/** Carries out the order, and closes the warehouse. */
export async function drive(order: Order, options: DriveOptions): Promise<Driven | undefined> {
  const { longestWaitMs = Number.POSITIVE_INFINITY, role, chunkSize, clockAheadMs = 0, clockStepMs = 0 } = order;
  const { env, home, checkpoint, signal } = options;
  let clockReads = 0;
  /** The driver's own clock, which may be wrong; stored times use the warehouse's clock. */
  const processNow = (): Date => {
    clockReads += 1;
    return new Date(Date.now() + clockAheadMs + (clockReads > 100 ? clockStepMs : 0));
  };
  const sleep = (ms: number, on?: AbortSignal, beside?: 'heartbeat'): Promise<void> =>
    wait(beside ? ms : Math.min(ms, longestWaitMs), undefined, on && { signal: on });
  const config = await loadConfig(order.config, env);
  const warehouse = await openWarehouse(config.warehouse, {
    now: processNow,
    elapsedMs: () => performance.now(),
    sleep,
    command: 'reliability',
  });
  try {
    await ensureSchema(warehouse);
    options.onBegin();
    const notices: string[] = [];
    const effects = {
      now: warehouse.clock.now,
      sleep,
      random: Math.random,
      newId: randomUUID,
      onProgress: () => undefined,
      onNotice: ({ message }: Notice) => void notices.push(message),
      spool: openSpool({ folder: join(home, 'spool') }),
      checkpoint,
    };
    if (!role) {
      const names = { names: [], refresh: false, failOnTruncated: false };
      return { summary: await runSyncs(config, warehouse, names, effects, signal), notices };
    }
    const complain = (what: unknown): void => options.complain(`${JSON.stringify(what)}\n`);
    const onEvent = (event: EngineEvent): void => {
      if (event.kind === 'failed' || event.kind === 'given up') complain(event);
    };
    const onError = ({ message }: Error): void => complain(message);
    const serving = { ...effects, onEvent, onError, onReady: () => undefined };
    await serve(config, warehouse, { role, ...(chunkSize !== undefined && { chunkSize }) }, serving, signal);
    return undefined;
  } finally {
    await warehouse.close();
  }
}
