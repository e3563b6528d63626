/** `sluice dbt`: the warehouse as sources of dbt. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { command, configOption } from '../command.ts';
import { readConfig } from '../open.ts';
import { writeOutputFile } from '../terminal/output-file.ts';

/** A day and a half: a daily sync may run late without a warning. */
const WARN_AFTER_HOURS = 36;

export const dbt = command({
  about:
    'Prints every table and view for analysts as a source of dbt, or writes it to a file: descriptions, tests of keys and of references between tables, and freshness as the run ledger has it. ' +
    'For dbt 1.10.5 or later. Needs neither a token nor the database.',
  options: {
    ...configOption,
    output: { type: 'text', value: 'FILE', about: 'Write it there instead; into a folder as sources.yml.' },
    'warn-after': {
      type: 'number',
      value: 'HOURS',
      min: 1,
      about: `Hours without a finished sync after which a table counts as stale; else ${WARN_AFTER_HOURS}.`,
    },
  },
  positionals: {},
  examples: [{ line: 'sluice dbt --output models/sluice/sources.yml', about: 'Into a project of dbt.' }],
  run: async ({ config: flag, output, 'warn-after': warnAfterHours = WARN_AFTER_HOURS }, context) => {
    const { warehouse } = await readConfig(context, flag);
    const { dbtSources } = await import('../reference/dbt.ts');
    const text = dbtSources({ schema: warehouse.schema, warnAfterHours });
    if (output === undefined) {
      context.out.write(text);
      return 0;
    }
    const file = (await isFolder(output)) ? join(output, 'sources.yml') : output;
    await writeOutputFile('dbt', '--output', { path: file, content: text });
    context.log.info(`wrote ${file}`);
    return 0;
  },
});

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  );
