/** The arguments of `npm run reliability`. */
import yargs from 'yargs';

export interface Wanted {
  readonly seed: number;
  readonly share: number;
  readonly only: string;
  readonly date: string;
  readonly output: string;
}

/** Parses the command line; prints an error and ends the process if it is invalid. */
export const wantedBy = (words: readonly string[]): Promise<Wanted> =>
  Promise.resolve(
    yargs([...words])
      .scriptName('npm run reliability --')
      .usage('$0 [options]\n\nKill, disturb and race syncs, and check the results against the promises.')
      .option('seed', { type: 'number', default: 1, describe: 'seed of the random moments, points and faults' })
      .option('share', { type: 'number', default: 1, describe: 'share of the full number of scenarios to run' })
      .option('only', {
        type: 'string',
        default: '',
        describe: 'run only groups with this text in their title; absent, run all',
      })
      .option('date', {
        type: 'string',
        default: new Date().toISOString().slice(0, 10),
        describe: 'date on the page',
      })
      .option('output', { type: 'string', default: 'docs/reliability.md', describe: 'path of the page to write' })
      .check(({ seed, share }) => {
        if (!Number.isSafeInteger(seed)) throw new Error('--seed must be an integer.');
        if (!(share > 0 && share <= 1)) throw new Error('--share must be above 0 and at most 1.');
        return true;
      })
      .version(false)
      .strict()
      .parse(),
  );
