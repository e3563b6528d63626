/** How the tests run: pure ones by themselves, the others with one Postgres that `test/support/postgres.ts` provides. */
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** Folders whose tests use no database. Running one of them starts none. */
const PURE = ['architecture', 'async', 'config', 'extract', 'plan', 'redaction', 'sandbox', 'service', 'telemetry'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    pool: 'forks',
    // Twice the cores of a small machine: tests of processes mostly wait for them.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Loading the program and compiling the embedded Postgres for every file anew would be a tenth of the run.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
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
