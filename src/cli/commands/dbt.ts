/** `sluice dbt`: prints the tables and views of the warehouse as dbt sources. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { command, configOption, number, text } from '../command.ts';
import { readConfig } from '../open.ts';
import { asJson } from '../terminal/json.ts';
import { writeOutput } from '../terminal/output-file.ts';

/** A day and a half, so that a late daily sync causes no warning. */
const WARN_AFTER_HOURS = 36;

export const dbt = command({
  about:
    'Print every table and view for analysts as a dbt source, or write them to a file. The output has descriptions, tests of keys and references, and freshness from the run ledger. ' +
    'With --json, the output is JSON, which dbt reads too. It needs dbt 1.10.5 or later, but neither a token nor the database.',
  options: {
    ...configOption,
    output: text('FILE', 'Write to this file instead of standard output; in a folder, to sources.yml.'),
    'warn-after': number(
      'HOURS',
      `Hours without a finished sync after which a table is stale (default: ${WARN_AFTER_HOURS}).`,
      { min: 1 },
    ),
  },
  positionals: {},
  examples: [{ line: 'sluice dbt --output models/sluice/sources.yml', about: 'Write the sources into a dbt project.' }],
  run: async ({ config: flag, output, 'warn-after': warnAfterHours = WARN_AFTER_HOURS }, context) => {
    const { warehouse } = await readConfig(context, flag, []);
    const { dbtDocument, dbtSources } = await import('../reference/dbt.ts');
    const options = { schema: warehouse.schema, warnAfterHours };
    const text = context.json ? asJson(dbtDocument(options)) : dbtSources(options);
    const isInFolder = output !== undefined && (await isFolder(output));
    await writeOutput(context, isInFolder ? join(output, 'sources.yml') : output, text);
    return 0;
  },
});

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  );
