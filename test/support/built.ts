/**
 * The program as it is published, bundled once per test run, for tests that start processes: a process of the bundle
 * starts with half the processor time of one that loads a thousand sources.
 */
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.ts';

/** Programs of tests, by their paths in the checkout. */
const PROGRAMS = [
  'test/control/limiter-process.ts',
  'test/journeys/killed-rebuild.ts',
  'test/journeys/sync-process.ts',
  'test/reliability/driver.ts',
  'test/reliability/failed-write.ts',
  'test/support/lock-holder.ts',
  'test/support/long-statement.ts',
  'test/support/reads-owner.ts',
] as const;

export interface Built {
  /** The path of `sluice`. */
  readonly main: string;
  /** The path of a program of tests. */
  readonly pathOf: (program: (typeof PROGRAMS)[number]) => string;
  /** The environment of this process, with the compile cache of these. */
  readonly env: NodeJS.ProcessEnv;
  /** The compile cache. */
  readonly cache: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const withCache = (cache: string) => ({ cache, env: { ...process.env, NODE_COMPILE_CACHE: cache } });
/** The sources of the checkout. */
export const SOURCES: Built = {
  main: join(ROOT, 'src/main.js'),
  pathOf: (program) => join(ROOT, program),
  ...withCache(COMPILED),
};

/** Returns the bundle of this test run, which the first caller makes; outside of tests, the sources. */
export async function builtProgram(): Promise<Built> {
  if (process.env['VITEST'] === undefined) return SOURCES;
  const { onceInRun } = await import('./once-in-run.ts');
  const folder = await onceInRun('built', build);
  const source = join(folder, 'dist', 'src');
  return {
    main: join(source, 'main.js'),
    pathOf: (program) => join(source, `${basename(program, '.ts')}.js`),
    // A cache of its own, since the folder of each run is another.
    ...withCache(join(folder, 'compiled')),
  };
}

/** Lays the bundle out like an installed package. */
async function build(folder: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const { default: options } = await import('../../rolldown.config.ts');
  await mkdir(folder);
  for (const part of ['package.json', 'configs']) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { input, output, external, ...rest } = options;
  const published = input as Readonly<Record<string, string>>;
  const ofTests = Object.fromEntries(PROGRAMS.map((program) => [basename(program, '.ts'), program]));
  const bundle = await rolldown({
    ...rest,
    cwd: ROOT,
    input: { ...published, ...ofTests },
    // Programs share files with tests, but need nothing of the test runner.
    external: [...(external as RegExp[]), 'vitest'],
    treeshake: { moduleSideEffects: 'no-external' },
  });
  await bundle.write({ ...(output as object), dir: join(folder, 'dist') });
  await bundle.close();
}
