/** The words of `npm run reliability`. */
import yargs from 'yargs';

export interface Wanted {
  readonly seed: number;
  readonly share: number;
  readonly only: string;
  readonly date: string;
  readonly output: string;
}

/** What the command line asks for; says what is wrong with it and ends the process where it can't be done. */
export const wantedBy = (words: readonly string[]): Promise<Wanted> =>
  Promise.resolve(
    yargs([...words])
      .scriptName('npm run reliability --')
      .usage('$0 [options]\n\nKills, spoils and races syncs, and judges what they leave by what was promised.')
      .option('seed', { type: 'number', default: 1, describe: 'what moments, points and faults are drawn by' })
      .option('share', { type: 'number', default: 1, describe: 'the part of the full counts to do' })
      .option('only', {
        type: 'string',
        default: '',
        describe: 'part of the title of the groups to do; absent, all are done',
      })
      .option('date', {
        type: 'string',
        default: new Date().toISOString().slice(0, 10),
        describe: 'the day to put on the page',
      })
      .option('output', { type: 'string', default: 'docs/reliability.md', describe: 'the page that is written' })
      .check(({ seed, share }) => {
        if (!Number.isSafeInteger(seed)) throw new Error('--seed takes a whole number.');
        if (!(share > 0 && share <= 1)) throw new Error('--share takes a number above 0 and at most 1.');
        return true;
      })
      .version(false)
      .strict()
      .parse(),
  );
