/** The command line of Sluice in a process of its own, as its users run it, with a config for one workload. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, type Ran } from './child.ts';
import { packaged } from './package.ts';
import type { Workload } from './workload.ts';

export interface Sluice {
  readonly config: string;
  readonly folder: string;
  /** What the program finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command; it must end with exit code 0 or one of `codes`. */
  readonly run: (
    words: readonly string[],
    how?: { readonly node?: readonly string[]; readonly codes?: readonly number[] },
  ) => Promise<Ran>;
}

export interface SluiceOptions {
  readonly workload: Workload;
  readonly serviceUrl: string;
  /** A postgres:// address or `embedded:FOLDER`. */
  readonly warehouseUrl: string;
  readonly inFlight?: number;
  /** The program's entry, when not that of the package. */
  readonly main?: string;
}

/** Enough to keep a local service busy. */
const IN_FLIGHT = 8;
/** So many that no request waits for its turn. */
const NO_PACE = 1_000_000;

/** Writes the config and its inputs into the folder. */
export async function sluiceFor(folder: string, options: SluiceOptions): Promise<Sluice> {
  const { workload, serviceUrl, warehouseUrl, inFlight = IN_FLIGHT, main = await packaged() } = options;
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
      `  requests_per_second: ${NO_PACE}`,
      'warehouse: { url: "${DATABASE_URL}" }',
      'syncs:',
      `  ${workload.name}:`,
      `    endpoint: ${workload.endpoint}`,
      `    request: ${JSON.stringify(workload.request)}`,
      `    for_each: { ${workload.field}: { file: inputs.txt } }`,
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
    run: (words, { node = [], codes = [0] } = {}) =>
      run(process.execPath, [...node, main, ...words], { env, cwd: folder, codes }),
  };
}

/** The words that sync everything of the config. */
export const SYNC = ['sync', '--json', '--quiet'] as const;
