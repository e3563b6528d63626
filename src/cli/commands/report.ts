/** `sluice report`: writes an HTML page from the warehouse alone. */
import { command, configOption, text } from '../command.ts';
import { asJson, versioned } from '../terminal/json.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { writeOutput } from '../terminal/output-file.ts';

export const report = command({
  about:
    'Write an HTML page about up to the last 90 UTC days. It shows spending by endpoint, balance and forecast, syncs, coverage with truncated slices, ' +
    'growth of tables, quality and quarantine, and the slowest calls, with the figures of each chart. The page needs no network and runs no script. ' +
    'With --json, the command writes the figures instead. Needs no token.',
  options: {
    ...configOption,
    output: text('FILE', 'Write to this file instead of standard output; an existing file is replaced.'),
  },
  positionals: {},
  examples: [{ line: 'sluice report --output report.html', about: 'Write a page for the browser.' }],
  run: async ({ config: flag, output }, context) => {
    const config = await readConfig(context, flag);
    const { emptyReport, readReport } = await import('../../report/read-report.ts');
    const { redact } = context.redactor;
    const found = await withWarehouseToRead(context, config, async (warehouse) =>
      (await hasSchema(warehouse))
        ? readReport(warehouse, { now: warehouse.clock.now(), redact })
        : emptyReport(warehouse.schema, warehouse.clock.now()),
    );
    const text = context.json
      ? asJson(versioned('report/1', found))
      : (await import('../../report/page.ts')).reportPage(found);
    await writeOutput(context, output, text);
    return 0;
  },
});
