/** `sluice diff`: shows what changed in the tables between two runs. */
import { EXIT, UsageError } from '../../../errors.ts';
import type { NamedRun } from '../../../insight/find-run.ts';
import type { ChangedRow, TableChanges } from '../../../insight/row-changes.ts';
import { command, configOption, number, text } from '../../command.ts';
import type { Context } from '../../context.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../../open.ts';
import { withoutSchema } from '../../../warehouse/sql/identifiers.ts';
import { column, tableOf } from '../../terminal/print.ts';
import { show } from '../../terminal/show.ts';
import { rowChangesText } from '../../text/row-changes-text.ts';

/** The most rows that `--rows` lists. */
const MOST_ROWS = 1000;

interface DiffResult {
  readonly from: NamedRun;
  readonly to: NamedRun;
  readonly tables: readonly TableChanges[];
  /** Absent without `--rows`. */
  readonly rows?: readonly ChangedRow[];
  /** True if there are more rows than listed. */
  readonly isCut?: boolean;
}

export const diff = command({
  about:
    'Show what changed in the tables between two runs of a sync, from the warehouse alone. Needs no token.\n\n' +
    '- new: rows that first appeared in an answer after the first run, or that returned to a list then.\n' +
    '- changed: earlier rows with a logged change. Daily numbers, image addresses and elements of lists do not count.\n' +
    '- gone: rows that a complete answer showed to be missing, and that no answer has contained since.\n\n' +
    'The answers of the runs after the first one, up to the second one, count. Tables without a difference are left out.',
  options: {
    ...configOption,
    sync: text('SYNC', 'Sync that latest and previous refer to (default: the only sync).'),
    rows: text('TABLE', 'Also list the rows of a table, with the columns that changed.'),
    limit: number('N', `Most rows to list (default: 100, at most ${MOST_ROWS}).`, { min: 1 }),
  },
  positionals: {
    from: { takes: 'one', about: 'The earlier run: an id, latest or previous.' },
    to: { takes: 'one', about: 'The later run: an id, latest or previous.' },
  },
  examples: [
    { line: 'sluice diff previous latest --sync people', about: 'Show what the last run changed.' },
    { line: 'sluice diff 12 15', about: 'Show what changed from run 12 to run 15.' },
    { line: 'sluice diff 12 15 --rows TABLE', about: 'Also list the rows of a table, with the columns that changed.' },
  ],
  run: async ({ from, to, sync, rows: named, limit = 100, config: flag }, context) => {
    if (limit > MOST_ROWS || (named === undefined && limit !== 100))
      throw new UsageError(`diff: --limit is for --rows, and is at most ${MOST_ROWS}; ${limit} was given.`, {
        next: 'Query the views <table>_history and <table>_presence for more rows.',
      });
    const config = await readConfig(context, flag);
    const result = await withWarehouseToRead(context, config, async (warehouse): Promise<DiffResult> => {
      if (!(await hasSchema(warehouse)))
        throw new UsageError('diff: nothing has run yet.', { next: 'Run sluice sync.' });
      const [{ findRun }, { comparedTables, readChangedRows, readRowChanges }, { operationsOf }] = await Promise.all([
        import('../../../insight/find-run.ts'),
        import('../../../insight/row-changes.ts'),
        import('../../../warehouse/connect/operations-db.ts'),
      ]);
      const table = named === undefined ? undefined : withoutSchema(named, warehouse.schema);
      if (table !== undefined && !comparedTables().includes(table))
        throw new UsageError(`diff: the changes of ${table} are not known.`, {
          next: `Name one of ${comparedTables().join(', ')}.`,
        });
      const ops = operationsOf(warehouse);
      const [first, second] = [await findRun(ops, from, sync), await findRun(ops, to, sync)];
      assertComparable(first, second);
      const range = { after: first.id, through: second.id, sync: first.sync };
      const tables = await readRowChanges(warehouse, range);
      if (table === undefined) return { from: first, to: second, tables };
      const rows = await readChangedRows(warehouse, range, table, limit + 1);
      return { from: first, to: second, tables, rows: rows.slice(0, limit), isCut: rows.length > limit };
    });
    show(context, 'diff/1', result, () => diffText(result, context));
    return EXIT.complete;
  },
});

function assertComparable(from: NamedRun, to: NamedRun): void {
  if (from.sync !== to.sync)
    throw new UsageError(`diff: run ${from.id} belongs to ${from.sync}, and run ${to.id} to ${to.sync}.`, {
      next: 'Name two runs of one sync.',
    });
  if (BigInt(from.id) >= BigInt(to.id))
    throw new UsageError(`diff: run ${from.id} is not earlier than run ${to.id}.`, {
      next: 'Name the earlier run first.',
    });
}

function diffText({ from, to, tables, rows, isCut = false }: DiffResult, { out }: Context): string {
  const head = `${from.sync}: from run ${from.id} (${from.startedAt.toISOString()}) to run ${to.id} (${to.startedAt.toISOString()})\n`;
  const list = tableOf(rows ?? [], out, [
    column('change', (it) => it.change),
    column('key', (it) => Object.values(it.key).join(' ')),
    column('columns', (it) => it.columns.join(', ')),
  ]);
  const cut = isCut ? 'more rows differ; use --limit to list them\n' : '';
  return head + rowChangesText(tables, out) + (list && `\n${list}`) + cut;
}
