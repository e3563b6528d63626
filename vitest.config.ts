/** Two projects: tests that need no database, and tests with one Postgres that `test/support/postgres.ts` provides. */
import { configDefaults, defineConfig } from 'vitest/config';
import { COMPILED } from './test/support/compiled.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/** Tests that use no database, and start none. */
const PURE = [
  ...['architecture', 'async', 'config', 'extract', 'plan', 'redaction', 'sandbox', 'service', 'telemetry'].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  'test/docs/prose.test.ts',
  'test/control/metered-calls.test.ts',
  'test/flow/{splitter,split-bounds}.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    // Tests create much and keep little: the default of 16 MB took 7 % more processor time in test/flow/splitter.test.ts.
    // Embedded databases live for a moment, so optimizing their WebAssembly does not pay: without it, six files of them took
    // 101 s of processor time instead of 116.
    execArgv: ['--max-semi-space-size=64', '--liftoff-only'],
    // Twice the cores of a small machine, because tests of processes mostly wait.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // With isolation, a tenth of the run would be loading the program and compiling the embedded Postgres for each file.
    isolate: false,
    // For the processes that tests start.
    env: { NODE_COMPILE_CACHE: COMPILED },
    // They end what hangs, and no more: a busy machine takes several times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE } },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PURE],
          globalSetup: ['test/support/postgres.ts'],
        },
      },
    ],
  },
});
