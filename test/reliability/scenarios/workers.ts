/**
 * Workers that are killed with SIGKILL while they share runs in chunks, and another worker that finishes their work.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadConfig } from '../../../src/config/load.ts';
import { openJobs } from '../../../src/engine/boss.ts';
import { busySyncs } from '../../../src/engine/child-syncs.ts';
import { syncJob } from '../../../src/engine/job.ts';
import { SANDBOX_TOKEN } from '../../../src/sandbox/world/known.ts';
import { type WarehouseTemplates, withWarehouse } from '../warehouse-templates.ts';
import type { Oracle } from '../oracle.ts';
import type { Process } from '../processes.ts';
import { openStage, type Stage } from '../stage.ts';
import { type Form, IN_FLIGHT, inOrder, LONG_FORM } from '../workload.ts';
import { type Death, dying, HURRIED, type Killed } from './kills.ts';

export interface WorkersOptions {
  readonly form?: Form;
  /** Most requests of a chunk. */
  readonly chunkSize: number;
  /** Another worker runs all the time; otherwise the victims run alone, one after the other. */
  readonly inCompany: boolean;
}

/**
 * Enqueues the syncs without parents, kills one worker after the other, lets one finish the work, and checks the
 * result.
 */
export async function killedWorkers(
  templates: WarehouseTemplates,
  deaths: readonly Death[],
  expected: Oracle,
  { form = LONG_FORM, chunkSize, inCompany }: WorkersOptions,
): Promise<Killed> {
  const startedAt = performance.now();
  let onArrival: (number: number) => void = () => undefined;
  const stage = await openStage(templates, {
    ...form,
    kind: 'postgres',
    configOf: (world) => inOrder(form.configOf(world)),
    onArrival: (number) => onArrival(number),
  });
  const order = { ...HURRIED, role: 'worker', chunkSize } as const;
  const listen = (onRequest: (number: number) => void): void => {
    onArrival = onRequest;
  };
  try {
    await enterAll(stage);
    const other = inCompany ? stage.start(order) : undefined;
    await other?.began;
    let died = 0;
    const missed: Death[] = [];
    for (const death of deaths) {
      const { signal, code, wrote } = await whileBusy(stage, (start) =>
        dying({ ...stage, start }, death, listen, order),
      );
      if (signal === 'SIGKILL') died += 1;
      else if (code === 0) missed.push(death);
      else throw new Error(`a worker ended by itself with ${code}: ${wrote}`);
      // Leases of dead and living workers look alike, so beside a living worker the real expiry is awaited.
      if (!inCompany) await passJobs(stage);
    }
    const last = other ?? stage.startSurvivor(order);
    const { wrote } = await whileBusy(stage, (start) => start(undefined, undefined, last).ended);
    const verdict = await stage.judge(died * IN_FLIGHT, expected);
    const troubles = wrote === '' ? [] : [`a worker that lived complained: ${wrote}`];
    return {
      ...verdict,
      violations: [...verdict.violations, ...troubles],
      died,
      missed,
      tookMs: performance.now() - startedAt,
    };
  } finally {
    await stage.close();
  }
}

async function enterAll({
  warehouse: { url },
  configFile,
  surroundings: { serviceUrl, warehouseUrl },
}: Stage): Promise<void> {
  const env = {
    SLUICE_SERVICE_URL: serviceUrl,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: warehouseUrl,
  };
  const { syncs } = await loadConfig(configFile, env);
  await withWarehouse(url, async (warehouse) => {
    const onError = (error: Error): void => {
      throw error;
    };
    const jobs = await openJobs(warehouse, { onError, retry: { sleep: wait, random: Math.random } });
    const roots = syncs.filter(({ after }) => after.length === 0);
    await jobs.enqueue(roots.map(({ name }) => ({ queue: 'sync', data: syncJob(name) })));
    await jobs.close();
  });
}

/** Starts processes as the stage does, or registers a started one; each is stopped when no work is left. */
type Start = (...args: [...Parameters<Stage['start']>, Process?]) => Process;

/** Stops the processes once no job waits or is active; otherwise a worker would wait forever. */
async function whileBusy<T>(stage: Stage, play: (start: Start) => Promise<T>): Promise<T> {
  const started: Process[] = [];
  const over = new AbortController();
  const watching = withWarehouse(stage.warehouse.url, async (warehouse) => {
    while (!over.signal.aborted && (await busySyncs(warehouse.db, warehouse)).size > 0) await wait(100);
    for (const { stop } of started) stop();
  });
  try {
    return await play((order, other, known) => {
      const process = known ?? stage.start(order, other);
      started.push(process);
      return process;
    });
  } finally {
    over.abort();
    await watching;
  }
}

/**
 * Releases jobs and leases at once, as expiry would if all workers were dead, without limiting the retries of a job.
 */
async function passJobs({ warehouse: { url }, passTime }: Stage): Promise<void> {
  await passTime();
  await withWarehouse(url, ({ db }) =>
    sql`update sluice_jobs.job set state = 'retry', start_after = clock_timestamp(), retry_limit = 100
      where state = 'active' and name in ('sync', 'chunk')`.execute(db),
  );
}
