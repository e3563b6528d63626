/** `sluice marks`: shows the watermarks of syncs, and moves them back. */
import type { Config } from '../../config/definition.ts';
import { EXIT, UsageError } from '../../errors.ts';
import type { ResetSummary } from '../../flow/marks/reset-marks.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption, day, flag } from '../command.ts';
import type { Context } from '../context.ts';
import { hasSchema, readConfig, withWarehouse, withWarehouseToRead } from '../open.ts';
import { inputText } from '../../text/filters.ts';
import { column, tableOf, withNoun, withThousands } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { marksText } from '../text/marks-text.ts';

export const marks = command({
  about:
    'Show how far syncs have read, or make a sync read again. Only syncs with a window and syncs of the request log have watermarks. Needs no token.\n\n' +
    '- list (the default): show for each input the days that were read, as of when, and what the next run will request.\n' +
    '- reset: move the watermark of one input, or of all inputs of a sync, back. The next run requests again what is no longer known, and answers from before the reset do not serve it. All data stays. ' +
    'Without --yes, the command only shows what would change and what the next run would cost. It refuses while the sync runs (exit code 7) or has an interrupted run that the next sync continues.',
  options: {
    ...configOption,
    to: day('For reset: the last day that stays known (default: nothing stays known).'),
    yes: flag('Reset the watermarks.'),
  },
  positionals: {
    action: { takes: 'optional', choices: ['list', 'reset'], about: 'The action.' },
    sync: { takes: 'optional', completes: 'syncs', about: 'The sync (default of list: all).' },
    input: { takes: 'optional', about: 'The input to reset, as list shows it (default: all inputs).' },
  },
  examples: [
    { line: 'sluice marks', about: 'Show the watermarks of all syncs.' },
    { line: 'sluice marks reset filings AAPL --to 2024-03-31', about: 'Show what a reset to the end of March means.' },
    { line: 'sluice marks reset filings --yes', about: 'Make the next run request everything again.' },
  ],
  run: async ({ action = 'list', sync, input, to, yes, config: flag }, context) => {
    if (action === 'reset' ? sync === undefined : input !== undefined || to !== undefined || yes)
      throw new UsageError(
        action === 'reset'
          ? 'marks: reset needs the name of a sync'
          : 'marks: an input, --to and --yes are only allowed with reset',
        { next: 'Run sluice marks list for the names of syncs and inputs.' },
      );
    const config = await readConfig(context, flag);
    if (action === 'list') return list(context, config, sync);
    return withWarehouse(context, config, async (warehouse) => {
      const summary = await reset(context, config, warehouse, { sync: sync ?? '', input, to, dryRun: !yes });
      show(context, 'marks-reset/1', summary, () => resetText(summary, context));
      return EXIT.complete;
    });
  },
});

const NOTHING_RAN = 'nothing has run yet; run sluice sync\n';

async function list(context: Context, config: Config, sync: string | undefined): Promise<number> {
  const [{ readMarks }, { selectSyncs }] = await Promise.all([
    import('../../flow/marks/read-marks.ts'),
    import('../../plan/order.ts'),
  ]);
  const definitions = selectSyncs(config.syncs, sync === undefined ? [] : [sync]);
  const found = await withWarehouseToRead(context, config, async (warehouse) =>
    (await hasSchema(warehouse)) ? readMarks(warehouse, definitions, warehouse.clock.now()) : undefined,
  );
  show(context, 'marks/1', found ?? [], () => (found ? marksText(found, context.out) : NOTHING_RAN));
  return EXIT.complete;
}

interface ResetRequest {
  readonly sync: string;
  readonly input: string | undefined;
  readonly to: string | undefined;
  readonly dryRun: boolean;
}

async function reset(
  { sleep, newId }: Context,
  config: Config,
  warehouse: Warehouse,
  { sync, ...options }: ResetRequest,
): Promise<ResetSummary> {
  const [{ resetMarks }, { selectSyncs }] = await Promise.all([
    import('../../flow/marks/reset-marks.ts'),
    import('../../plan/order.ts'),
  ]);
  const [definition] = selectSyncs(config.syncs, [sync]);
  if (!definition || !(await hasSchema(warehouse)))
    throw new UsageError('marks: the warehouse is empty, so there is nothing to reset.', {
      next: 'Name the warehouse with DATABASE_URL or warehouse.url.',
    });
  return resetMarks(warehouse, config, definition, options, { now: warehouse.clock.now, sleep, newId });
}

/** The most inputs that a text lists. */
const LISTED = 50;

function resetText({ sync, dryRun, reset: moved, next: { before, after } }: ResetSummary, { out }: Context): string {
  if (moved.length === 0) return `nothing to reset: no watermark of ${sync} is later\n`;
  const lines = tableOf(moved.slice(0, LISTED), out, [
    column('input', (it) => inputText(it.input)),
    column('known up to', (it) => it.before),
    column(dryRun ? 'would be' : 'is now', (it) => it.after ?? 'nothing'),
  ]);
  const rest = moved.length > LISTED ? `and ${withThousands(moved.length - LISTED)} more inputs\n` : '';
  const cost = ({ requests, likely, most }: ResetSummary['next']['after']): string =>
    `${withNoun(requests, 'request')}, likely ${withNoun(likely, 'point')}, at most ${withThousands(most)}`;
  return [
    lines,
    rest,
    `the next run of ${sync} ${dryRun ? 'would send' : 'sends'} ${cost(after)}; without the reset ${cost(before)}\n`,
    dryRun ? 'nothing was reset; add --yes to reset\n' : 'no data was removed\n',
  ].join('');
}
