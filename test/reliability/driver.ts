/**
 * A separate process that runs the syncs of a config, or works on their jobs, and kills itself at a checkpoint if
 * ordered.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { optimizeLate } from '../../src/cli/heap.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { EngineEvent } from '../../src/engine/handle.ts';
import { type Role, serve } from '../../src/engine/serve.ts';
import type { Checkpoint } from '../../src/ledger/kill-points.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import type { Notice, Summary } from '../../src/ledger/summary.ts';
import { runSyncs } from '../../src/syncs.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';

/** The order of the process, as JSON in its first argument; the environment has the config's variables. */
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

/** The messages of the process: one at the start, one at the end. */
export type Said = { readonly began: true } | { readonly summary: Summary; readonly notices: readonly string[] };

optimizeLate();
const order = JSON.parse(process.argv[2] ?? '') as Order;
const {
  config: file,
  die,
  longestWaitMs = Number.POSITIVE_INFINITY,
  role,
  chunkSize,
  clockAheadMs = 0,
  clockStepMs = 0,
} = order;
let clockReads = 0;
/** The process's own clock, which may be wrong; stored times use the warehouse's clock. */
const processNow = (): Date => {
  clockReads += 1;
  return new Date(Date.now() + clockAheadMs + (clockReads > 100 ? clockStepMs : 0));
};
const sleep = (ms: number, signal?: AbortSignal, beside?: 'heartbeat'): Promise<void> =>
  wait(beside ? ms : Math.min(ms, longestWaitMs), undefined, signal && { signal });
const say = (said: Said): void => void process.send?.(said);

let times = 0;
const checkpoint = (point: Checkpoint): void => {
  if (point !== die?.at) return;
  times += 1;
  if (times === die.nth) process.kill(process.pid, 'SIGKILL');
};

const config = await loadConfig(file, process.env);
const warehouse = await openWarehouse(config.warehouse, {
  now: processNow,
  elapsedMs: () => performance.now(),
  sleep,
  command: 'reliability',
});
const { now } = warehouse.clock;
await ensureSchema(warehouse);
say({ began: true });
const notices: string[] = [];
const effects = {
  now,
  sleep,
  random: Math.random,
  newId: randomUUID,
  onProgress: () => undefined,
  onNotice: ({ message }: Notice) => void notices.push(message),
  spool: openSpool({ folder: join(process.cwd(), 'spool') }),
  checkpoint,
};
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
if (role) {
  const complain = (what: unknown): void => void process.stderr.write(`${JSON.stringify(what)}\n`);
  const onEvent = (event: EngineEvent): void => {
    if (event.kind === 'failed' || event.kind === 'given up') complain(event);
  };
  const onTrouble = ({ message }: Error): void => complain(message);
  const serving = { ...effects, onEvent, onError: onTrouble, onReady: () => undefined };
  await serve(config, warehouse, { role, ...(chunkSize !== undefined && { chunkSize }) }, serving, stop.signal);
  await warehouse.close();
} else {
  const options = { names: [], refresh: false, failOnTruncated: false };
  const summary = await runSyncs(config, warehouse, options, effects, stop.signal);
  await warehouse.close();
  say({ summary, notices });
}
process.disconnect();
