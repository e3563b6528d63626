/** Runs commands of Sluice as processes, as its users do, with a config for one workload. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, type Ran } from './child.ts';
import { packaged } from './package.ts';
import type { Workload } from './workload.ts';

export interface Sluice {
  readonly config: string;
  readonly folder: string;
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command; it must end with exit code 0 or one of `codes`. */
  readonly run: (
    args: readonly string[],
    options?: { readonly node?: readonly string[]; readonly codes?: readonly number[] },
  ) => Promise<Ran>;
  /** Runs a command, and returns the processor time of its process in milliseconds. */
  readonly processorMs: (args: readonly string[]) => Promise<number>;
}

export interface SluiceOptions {
  readonly workload: Workload;
  readonly serviceUrl: string;
  /** A postgres:// address or `embedded:FOLDER`. */
  readonly warehouseUrl: string;
  readonly inFlight?: number;
  /** The limits in points, as YAML; absent, there are none. */
  readonly budget?: string;
  /** Further keys of the sync, as YAML. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The entry of the program (default: that of the package). */
  readonly main?: string;
}

/** Enough to keep a local service busy. */
export const IN_FLIGHT = 8;
/** High enough that no request waits for the rate. */
const UNLIMITED_RATE = 1_000_000;

/** Writes the config and its inputs into the folder. */
export async function sluiceFor(folder: string, options: SluiceOptions): Promise<Sluice> {
  const {
    workload,
    serviceUrl,
    warehouseUrl,
    inFlight = IN_FLIGHT,
    budget,
    settings = {},
    main = await packaged(),
  } = options;
  await mkdir(folder, { recursive: true });
  const inputs = Array.from({ length: workload.answers }, (_, at) => workload.input(at));
  await writeFile(join(folder, 'inputs.txt'), `${inputs.join('\n')}\n`);
  const config = join(folder, 'sluice.yaml');
  await writeFile(
    config,
    [
      'service:',
      '  url: ${SLUICE_SERVICE_URL}',
      '  token: ${SLUICE_SERVICE_TOKEN}',
      `  in_flight: ${inFlight}`,
      `  requests_per_second: ${UNLIMITED_RATE}`,
      'warehouse: { url: "${DATABASE_URL}" }',
      ...(budget === undefined ? [] : [`budget: ${budget}`]),
      'syncs:',
      `  ${workload.name}:`,
      `    endpoint: ${workload.endpoint}`,
      `    request: ${JSON.stringify(workload.request)}`,
      `    for_each: { ${workload.field}: { file: inputs.txt } }`,
      ...Object.entries(settings).map(([key, value]) => `    ${key}: ${value}`),
      '',
    ].join('\n'),
  );
  const env = {
    SLUICE_SERVICE_URL: serviceUrl,
    SLUICE_SERVICE_TOKEN: 'bench-token',
    DATABASE_URL: warehouseUrl,
    SLUICE_CONFIG: config,
  };
  return {
    config,
    folder,
    env,
    run: (args, { node = [], codes = [0] } = {}) =>
      run(process.execPath, [...node, main, ...args], { env, cwd: folder, codes }),
    processorMs: async (args) => {
      const command = [process.execPath, main, ...args];
      // A short process ends between two samples of `run`, but a shell knows the times of what it ran.
      const { stdout } = await run('/bin/sh', ['-c', '"$@" >&2 && times', 'sh', ...command], { env, cwd: folder });
      return processorMsIn(stdout);
    },
  };
}

/** The user and system time of the ended processes, from the second line that `times` prints, such as `0m0.32s 0m0.05s`. */
function processorMsIn(times: string): number {
  const [, ofEnded = ''] = times.split('\n');
  const seconds = [...ofEnded.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return seconds.length === 2 ? seconds.reduce((sum, it) => sum + it, 0) * 1000 : Number.NaN;
}

/** The arguments that run every sync of the config. */
export const SYNC = ['sync', '--json', '--quiet'] as const;
