/** `sluice worker`: works on jobs, together with any number of other workers. */
import { isEmbedded } from '../../config/values/paths.ts';
import { UsageError } from '../../errors.ts';
import { command, configOption } from '../command.ts';
import { requireToken, readConfig } from '../open.ts';
import { engineOptions, runEngine } from '../engine.ts';

export const worker = command({
  about:
    'Run due syncs and chunks of large syncs. Any number of workers can share the work. Limits of the token and budgets hold across all workers. ' +
    'If a worker dies, others continue its work within a minute, and no stored answer is bought again. On SIGTERM, the worker stores the answers in flight and leaves the rest to others. ' +
    'A worker needs a Postgres warehouse; for an embedded warehouse, use sluice schedule.',
  logs: true,
  options: { ...configOption, ...engineOptions },
  positionals: {},
  examples: [
    { line: 'sluice worker', about: 'Work until stopped.' },
    {
      line: 'sluice worker --calls 8 --json',
      about: 'Send at most 8 concurrent calls, and print each run that ends here as a line of JSON.',
    },
  ],
  run: async ({ config: flag, ...args }, context) => {
    const config = await readConfig(context, flag);
    if (isEmbedded(config.warehouse.url.reveal()))
      throw new UsageError('An embedded warehouse has only one process, so no worker can share its work.', {
        next: 'Run sluice schedule, which also works on jobs, or set DATABASE_URL to a Postgres server.',
      });
    requireToken(config);
    await runEngine(context, config, 'worker', args);
    return 0;
  },
});
