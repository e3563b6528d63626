/** `npm start`: the quickstart, against a sandbox of its own. */
import { join } from 'node:path';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { registerSecrets } from '../open.ts';
import { isCheckout, packageFolder } from '../package.ts';
import { show } from '../terminal/show.ts';
import { summaryText } from '../text/summary.ts';
import { runWithProgress } from './sync.ts';

/** What a first look at the result can be. */
const FIRST_QUERY =
  'select endpoint, sum(requests) as requests, sum(points) as points from daily_costs group by endpoint order by points desc';

/** Points to begin with, so that balance and forecast have something to show. */
const BALANCE = 10_000;

export const start = command({
  about:
    'Starts a sandbox on a free port of 127.0.0.1, runs configs/quickstart.yaml against it, prints the summary and a query to try, and closes the sandbox. ' +
    'The warehouse is the embedded one in .sluice/ of the checkout (of an installed package: of the working folder), or that of DATABASE_URL. ' +
    'The sandbox’s world is the same each time, so a second run buys nothing that is fresh. SLUICE_SERVICE_URL and SLUICE_SERVICE_TOKEN are not used.',
  logs: true,
  options: {},
  positionals: {},
  examples: [{ line: 'npm start', about: 'In a checkout.' }],
  run: async (_said, context) => {
    const [{ serveSandbox }, { loadConfig }] = await Promise.all([
      import('../../sandbox/serve.ts'),
      import('../../config/load.ts'),
    ]);
    const token = context.newId();
    const sandbox = await serveSandbox({ token, seed: 1, points: BALANCE, now: context.now });
    try {
      const env = { ...databaseEnv(context), SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: token };
      const config = await loadConfig(join(packageFolder(), 'configs', 'quickstart.yaml'), env);
      registerSecrets(context, config);
      const options = { names: [], refresh: false, failOnTruncated: false };
      const summary = await runWithProgress(context, config, options);
      show(context, summary, () => `${summaryText(summary, context.out)}${LOOK}`);
      return summary.exitCode;
    } finally {
      await sandbox.close();
    }
  },
});

/** The folder of an installed package is replaced by the next version: there, the warehouse is in the working folder. */
function databaseEnv({ env, cwd }: Context): Context['env'] {
  const isSet = [env['DATABASE_URL'], env['DATABASE_URL_FILE']].some((it) => it !== undefined && it !== '');
  return isSet || isCheckout(packageFolder()) ? env : { ...env, DATABASE_URL: `embedded:${join(cwd, '.sluice')}` };
}

const LOOK = `look at the result: npm run -s sluice -- query "${FIRST_QUERY}"\n`;
