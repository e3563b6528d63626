/** `sluice export`: writes tables as Parquet, CSV or JSON lines. */
import { EXIT, UsageError } from '../../../errors.ts';
import type { ExportRequest } from '../../../export/export.ts';
import { type ExportFormat, FORMATS } from '../../../export/formats.ts';
import { command, configOption, flag, text, flagConflict } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readConfig, withWarehouseToRead } from '../../open.ts';
import { fields, figures, tableOf } from '../../terminal/print.ts';
import { showGenerated } from '../../terminal/show.ts';

/** The value of --output for standard output. */
const STANDARD_OUTPUT = '-';

export const exportTables = command({
  about:
    'Write each table to a file of its own, such as TABLE.parquet. All files show one moment of the warehouse. They appear together at the end and replace earlier ones. An export that fails or is interrupted leaves earlier files as they are. Needs no token.\n\n' +
    '- parquet: typed columns, compressed with Snappy. Numeric columns of views are strings.\n' +
    '- csv: as sluice query --csv prints it. Null is an empty field, and an empty text is "".\n' +
    '- jsonl: one object a line. A number that a double cannot represent is text; inside a jsonb column, it is a number with all digits.\n\n' +
    'While another process owns an embedded warehouse, an export has 30 seconds. A longer one fails and writes nothing.\n\n' +
    'The files contain personal data, and neither forget nor prune removes it from them. With --masked, they contain the masked views instead, which sluice grants --without-personal creates in a warehouse on a server.',
  options: {
    ...configOption,
    output: text(
      'DIR',
      'Folder for the files, created if it does not exist; - writes one table as csv or jsonl to standard output.',
    ),
    format: text('FORMAT', `${listed(FORMATS)} (default: parquet).`),
    masked: flag('Export the masked views of the tables, without personal data.'),
  },
  positionals: {
    tables: { takes: 'many', completes: 'tables', about: 'Tables or views (default: every table, without views).' },
  },
  examples: [
    { line: 'sluice export --output lake', about: 'Export every table as Parquet.' },
    { line: 'sluice export TABLE --format csv --output - | gzip > table.csv.gz', about: 'Compress a table.' },
  ],
  run: async ({ tables: names, output, format: named = 'parquet', masked: isMasked, config: flag }, context) => {
    const format = FORMATS.find((it) => it === named);
    if (!format) throw new UsageError(`export: --format: found "${named}", allowed are ${listed(FORMATS)}.`);
    if (output === undefined)
      throw new UsageError('export: --output is missing.', { next: 'Add --output DIR, or --output - for one table.' });
    const isStream = output === STANDARD_OUTPUT;
    if (isStream) refuseStream(context, format, names);
    const config = await readConfig(context, flag);
    const write = isStream ? writeStream : writeFiles;
    await write(context, config, output, { names, format, isMasked });
    return EXIT.complete;
  },
});

type Write = (
  context: Context,
  config: Awaited<ReturnType<typeof readConfig>>,
  output: string,
  request: ExportRequest,
) => Promise<void>;

const writeFiles: Write = async (context, config, folder, request) => {
  const { exportToFolder } = await import('../../../export/export.ts');
  const onTable = (table: string, position: number, count: number): void => {
    if (context.progressStyle === 'live') context.status.show(`exporting ${table}, ${position} of ${count}`);
  };
  const files = await withWarehouseToRead(context, config, (warehouse) =>
    exportToFolder(warehouse, folder, request, { signal: context.signal, onTable }),
  );
  showGenerated(context, 'export/1', { files }, () =>
    tableOf(files, context.out, [...fields('table'), ...figures('rows', 'bytes'), ...fields('path')]),
  );
};

/** Data is exact and not redacted, because the user requested it. It ends when its reader is gone, such as `| head`. */
const writeStream: Write = async (context, config, _output, request) => {
  const { exportToStream } = await import('../../../export/export.ts');
  const { out, signal } = context;
  await withWarehouseToRead(context, config, (warehouse) =>
    exportToStream(warehouse, request, { signal }, async (piece) => {
      out.write(piece);
      // Without waiting, a slow reader would make the unwritten output grow.
      await out.flush?.();
      return out.isOpen?.() ?? true;
    }),
  );
};

function refuseStream({ json }: Context, format: ExportFormat, names: readonly string[]): void {
  if (format === 'parquet')
    throw new UsageError('export: Parquet needs a folder, because a pipe is read only once.', {
      next: 'Add --format csv or --format jsonl, or name a folder with --output.',
    });
  if (names.length !== 1)
    throw new UsageError(`export: --output - writes one table; ${names.length} were given.`, {
      next: 'Name one table, or a folder with --output.',
    });
  if (json)
    throw flagConflict('export', ['--json', '--output -'], {
      because: 'both write to standard output',
      next: 'Leave out --json, or name a folder with --output.',
    });
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
