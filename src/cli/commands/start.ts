/** `npm start`: runs the quickstart against a temporary sandbox. */
import { join } from 'node:path';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { registerSecrets } from '../open.ts';
import { isCheckout, packageFolder } from '../package.ts';
import { show } from '../terminal/show.ts';
import { summaryText } from '../text/summary.ts';
import { runWithProgress, withRetryables } from './sync.ts';

/** The query that the command suggests for a first look at the result. */
const FIRST_QUERY =
  'select endpoint, sum(requests) as requests, sum(points) as points from daily_costs group by endpoint order by points desc';

/** Points at the start, so that balance and forecast have data to show. */
const BALANCE = 10_000;

export const start = command({
  about:
    'Start a sandbox on a free port of 127.0.0.1, run configs/quickstart.yaml against it, print the summary and a query to try, and close the sandbox. ' +
    'The warehouse is that of DATABASE_URL (default: an embedded warehouse in .sluice/ of the checkout, or of the working directory for an installed package). ' +
    'The data of the sandbox is the same each time, so a second run buys nothing that is fresh. SLUICE_SERVICE_URL and SLUICE_SERVICE_TOKEN are not used.',
  logs: true,
  options: {},
  positionals: {},
  examples: [{ line: 'npm start', about: 'Run it in a checkout.' }],
  run: async (_args, context) => {
    const [{ serveSandbox }, { loadConfig }] = await Promise.all([
      import('../../sandbox/serve.ts'),
      import('../../config/load.ts'),
    ]);
    const token = context.newId();
    const sandbox = await serveSandbox({ token, seed: 1, points: BALANCE, now: context.now });
    try {
      const url = packagedWarehouse(context);
      const own = {
        SLUICE_SERVICE_URL: sandbox.url,
        SLUICE_SERVICE_TOKEN: token,
        ...(url !== undefined && { DATABASE_URL: url }),
      };
      const file = join(packageFolder(), 'configs', 'quickstart.yaml');
      const config = await loadConfig(file, { ...context.env, ...own });
      registerSecrets(context, config);
      const options = { names: [], refresh: false, failOnTruncated: false };
      const summary = await runWithProgress(context, config, options);
      show(
        context,
        'sync/1',
        withRetryables(summary),
        () => `${summaryText(summary, context.out)}${lookText(url, file)}`,
      );
      return summary.exitCode;
    } finally {
      await sandbox.close();
    }
  },
});

/**
 * The warehouse for an installed package without DATABASE_URL: in the working directory, because the next version replaces the
 * folder of the package. Undefined if the environment or the config names one.
 */
function packagedWarehouse({ env, cwd }: Context): string | undefined {
  const isSet = [env['DATABASE_URL'], env['DATABASE_URL_FILE']].some((it) => it !== undefined && it !== '');
  return isSet || isCheckout(packageFolder()) ? undefined : `embedded:${join(cwd, '.sluice')}`;
}

/** A query to try next. Beside an installed package there is no script of npm, and no config in the working directory. */
function lookText(url: string | undefined, config: string): string {
  const query = isCheckout(packageFolder()) ? 'npm run -s sluice -- query' : `sluice query --config ${config}`;
  return `look at the result: ${url === undefined ? '' : `DATABASE_URL=${url} `}${query} "${FIRST_QUERY}"\n`;
}
