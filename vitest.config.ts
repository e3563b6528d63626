/** How the tests run: against one Postgres that `test/support/postgres.ts` provides for the whole run. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Loading the program and compiling the embedded Postgres for every file anew would be a tenth of the run.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
