/** How the tests run: against one Postgres that `test/support/postgres.ts` provides for the whole run. */
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    pool: 'forks',
    // One more than the cores that a small machine has: a test of processes often waits for them.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Loading the program and compiling the embedded Postgres for every file anew would be a tenth of the run.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
