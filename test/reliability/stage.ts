/** The stage of a scenario: a sandbox, a warehouse, a config, and at the end the check of what happened. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadConfig } from '../../src/config/load.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { factsOf } from './collect.ts';
import type { Order } from './drive.ts';
import { type WarehouseTemplates, withWarehouse, type ScenarioWarehouse } from './warehouse-templates.ts';
import { type Figures, figuresOf, violationsOf } from './history.ts';
import { differences, type Oracle, oracleOf } from './oracle.ts';
import {
  driveHere,
  type Ended,
  type Process,
  sluiceHere,
  startDriver,
  startSluice,
  type Surroundings,
} from './processes.ts';
import { type Form, steadyAnswer, WORLD } from './workload.ts';

export interface StageOptions extends Form {
  readonly kind: Warehouse['kind'];
  /** Called with the number of each request that the service gets; may hold the answer back. */
  readonly onArrival?: (number: number) => void | Promise<void>;
}

export interface Verdict {
  /** Every broken promise. */
  readonly violations: readonly string[];
  /** Tables that differ from those of the undisturbed run. */
  readonly differing: readonly string[];
  readonly figures: Figures;
  readonly oracle: Oracle;
}

export interface Stage {
  readonly warehouse: ScenarioWarehouse;
  readonly sandbox: Sandbox;
  readonly configFile: string;
  readonly surroundings: Surroundings;
  /** Starts a process that runs the syncs; `other` replaces parts of the stage's surroundings. */
  readonly start: (order?: Omit<Order, 'config'>, other?: Partial<Surroundings>) => Process;
  /** The same for a run that is not killed, where the form has such runs. */
  readonly startSurvivor: Stage['start'];
  /** Starts `sluice` as users do. */
  readonly startSluice: (...words: string[]) => Process;
  /** Starts `sluice` in this process. */
  readonly sluiceHere: (...words: string[]) => Process;
  /** Expires at once what dead processes still hold, as an operator may. */
  readonly passTime: () => Promise<void>;
  /** Checks what happened; `undisturbed` is what the tables should hold. */
  readonly judge: (mostLost: number, undisturbed?: Oracle) => Promise<Verdict>;
  readonly close: () => Promise<void>;
}

/** Answers take 0 to 4 ms, depending on the number of the request, so that they overtake each other. */
const latencyMs = (number: number): number => (number * 7) % 5;

/** Opens a stage; the caller closes it, which kills every process that it started. */
export async function openStage(templates: WarehouseTemplates, options: StageOptions): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stage-'));
  const warehouse = await templates.create(options.kind);
  const sandbox: Sandbox = await serveSandbox({
    ...WORLD,
    latencyMs,
    respond: async (request) => {
      await options.onArrival?.(request.number);
      return steadyAnswer(sandbox.world, request);
    },
  });
  const configFile = join(folder, 'sluice.yaml');
  await writeFile(configFile, options.configOf(sandbox.world));
  const surroundings = { serviceUrl: sandbox.url, warehouseUrl: warehouse.url, home: folder };
  const processes: Process[] = [];
  const started = (process: Process): Process => {
    processes.push(process);
    return process;
  };
  const startBy =
    (drive: typeof startDriver): Stage['start'] =>
    (order, other) =>
      started(drive({ config: configFile, ...order }, { ...surroundings, ...other }));
  return {
    warehouse,
    sandbox,
    configFile,
    surroundings,
    start: startBy(startDriver),
    startSurvivor: startBy(options.survivors === 'here' ? driveHere : startDriver),
    startSluice: (...words) => started(startSluice([...words, '--config', configFile], surroundings)),
    sluiceHere: (...words) => started(sluiceHere([...words, '--config', configFile], surroundings)),
    passTime: () => passTime(warehouse),
    judge: (mostLost, undisturbed) =>
      withWarehouse(warehouse.url, async (warehouse) => {
        const oracle = await oracleOf(warehouse);
        const differing = undisturbed ? differences(undisturbed, oracle) : [];
        const config = await checkerConfig(configFile, surroundings);
        const facts = await factsOf(warehouse, sandbox.requests(), { ...config, mostLost, differing });
        return { violations: violationsOf(facts), differing, figures: figuresOf(facts), oracle };
      }),
    close: async () => {
      // After a failed scenario, some processes may still run.
      for (const { kill } of processes) kill();
      await Promise.all(processes.map(({ ended }) => ended));
      await sandbox.close();
      await warehouse.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The parts of the config that the checker needs; a sync without a `max_age` is omitted from the ages. */
async function checkerConfig(file: string, { serviceUrl, warehouseUrl }: Surroundings) {
  const env = {
    SLUICE_SERVICE_URL: serviceUrl,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: warehouseUrl,
  };
  const { syncs } = await loadConfig(file, env);
  const ages = syncs.flatMap(({ name, maxAgeMs }) => (maxAgeMs === undefined ? [] : [[name, maxAgeMs] as const]));
  return {
    maxAgeMs: Object.fromEntries(ages),
    readsLog: syncs.some(({ endpoint }) => endpoint.name === 'token.requests'),
  };
}

/**
 * Expires leases of syncs and slots of the limiter, which would expire by themselves. An embedded warehouse has one
 * owner.
 */
async function passTime({ kind, url }: ScenarioWarehouse): Promise<void> {
  if (kind === 'embedded') return;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const table of ['leases', 'limiter_slots'])
      await client.query(
        `update sluice_ops.${table} set expires_at = least(expires_at, clock_timestamp() - interval '1 ms')`,
      );
  } finally {
    await client.end();
  }
}

/** Runs a config without disturbance, and returns the contents of the tables. */
export async function undisturbed(
  templates: WarehouseTemplates,
  options: StageOptions,
): Promise<{ readonly oracle: Oracle; readonly requests: number; readonly tookMs: number }> {
  const stage = await openStage(templates, options);
  try {
    const { summary, wrote, tookMs } = await stage.startSurvivor().ended;
    if (summary?.exitCode !== 0)
      throw new Error(`the undisturbed run ended badly: ${JSON.stringify(summary)} ${wrote}`);
    const { violations, oracle } = await stage.judge(0);
    if (violations.length > 0) throw new Error(`the undisturbed run broke promises: ${violations.join('; ')}`);
    return { oracle, requests: stage.sandbox.requests().length, tookMs };
  } finally {
    await stage.close();
  }
}

/** Starts processes, one after the other, until one ends with exit code 0; returns all of them. */
export async function untilComplete(stage: Stage, start: () => Process, most: number): Promise<Ended[]> {
  const runs: Ended[] = [];
  while (runs.length < most) {
    await stage.passTime();
    const ended = await start().ended;
    runs.push(ended);
    if (ended.summary?.exitCode === 0) return runs;
  }
  const last = runs.at(-1);
  throw new Error(`not complete after ${most} runs: ${JSON.stringify(last?.summary?.syncs)} ${last?.wrote ?? ''}`);
}
