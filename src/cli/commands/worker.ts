/** `sluice worker`: takes jobs in hand, on as many machines as one likes. */
import { UsageError } from '../../errors.ts';
import { command, configOption } from '../command.ts';
import { requireToken } from '../credential.ts';
import { engineOptions, runEngine } from '../engine.ts';
import { readConfig } from '../open.ts';

export const worker = command({
  about:
    'Takes syncs that are due in hand, and chunks of large ones, which all workers share. The limits of the token and the budgets hold over all of them. ' +
    'A worker that dies is replaced within a minute, and nothing is bought twice. SIGTERM lets what is in flight be stored, and hands the rest to others. ' +
    'Needs a Postgres warehouse; an embedded one has one process: sluice schedule.',
  logs: true,
  options: { ...configOption, ...engineOptions },
  positionals: {},
  examples: [
    { line: 'sluice worker', about: 'Works until it is stopped.' },
    {
      line: 'sluice worker --calls 8 --json',
      about: 'At most 8 calls at once; each run that ends here as a line of JSON.',
    },
  ],
  run: async ({ config: flag, ...args }, context) => {
    const config = await readConfig(context, flag);
    if (config.warehouse.url.reveal().startsWith('embedded:'))
      throw new UsageError('The embedded warehouse has one process, so no worker can join it.', {
        next: 'Run sluice schedule, which works too, or name a Postgres server in DATABASE_URL.',
      });
    requireToken(config);
    await runEngine(context, config, 'worker', args);
    return 0;
  },
});
