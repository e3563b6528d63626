/** `sluice replay`: loads stored answers again. */
import { UsageError } from '../../errors.ts';
import type { ReplayOptions, ReplaySummary } from '../../flow/replay/replay.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption, flag, text } from '../command.ts';
import type { Context } from '../context.ts';
import type { Channel } from '../terminal/channel.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { column, duration, tableOf, withNoun, withThousands } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { withAnswerProgress } from '../terminal/with-progress.ts';
import { withRetryable } from '../exit-codes.ts';

export const replay = command({
  about:
    'Load the stored answers of all syncs, or of the named ones, again in the order of their receipt. Unchanged rows are not written. ' +
    '--rebuild fills new tables from all answers, and then gives the existing tables the same rows in one transaction. ' +
    'It keeps columns, views and references that users added, and refuses to delete rows that they depend on. Needs no token.',
  logs: true,
  options: {
    ...configOption,
    rebuild: flag('Rebuild all tables; accepts no names.'),
    'as-of': text(
      'TIME',
      'Load the answers received up to the end of a UTC day, or up to an instant such as 2026-03-05T12:00:00Z, into tables in a schema of their own; accepts no names. The present tables do not change.',
    ),
    schema: text('NAME', 'With --as-of: the schema to create (default: sluice_as_of_2026_03_05 for that day).'),
    drop: text('NAME', 'Drop a schema that --as-of created.'),
  },
  positionals: {
    names: { takes: 'many', completes: 'syncs', about: 'Syncs whose answers are loaded again (default: all).' },
  },
  examples: [
    { line: 'sluice replay pages', about: 'Load the answers of one sync again.' },
    { line: 'sluice replay --rebuild', about: 'Rebuild every table, after an update of Sluice.' },
    {
      line: 'sluice replay --as-of 2026-03-05 --schema march',
      about: 'Load the tables as they were at the end of a day into the schema march.',
    },
    { line: 'sluice replay --drop march', about: 'Drop these tables again.' },
  ],
  run: async ({ names, rebuild, config: flag, 'as-of': asOf, schema, drop }, context) => {
    if (asOf !== undefined || schema !== undefined || drop !== undefined) {
      const { replayBeside } = await import('./replay/replay-beside.ts');
      return replayBeside(context, flag, { names, rebuild, asOf, schema, drop });
    }
    if (rebuild && names.length > 0) {
      throw new UsageError('replay: --rebuild rebuilds the tables of all syncs, so it accepts no names', {
        next: 'Leave out the names, or --rebuild.',
      });
    }
    const config = await readConfig(context, flag);
    const { selectSyncs } = await import('../../plan/order.ts');
    selectSyncs(config.syncs, names);
    return withWarehouse(context, config, async (warehouse) => {
      const isCreated = await hasSchema(warehouse);
      const summary = await replayWithProgress(context, warehouse, isCreated, { names, rebuild, quarantined: false });
      show(context, 'replay/1', withRetryable(summary), () => replayText(summary, context.out));
      return summary.exitCode;
    });
  },
});

const NOTHING: ReplaySummary = {
  exitCode: 0,
  answers: 0,
  received: 0,
  loaded: 0,
  unchanged: 0,
  superseded: 0,
  quarantined: 0,
  written: {},
  left: 0,
  gone: null,
  filled: [],
  tookMs: 0,
};

/** Replays answers and shows the progress. A warehouse without the schema has nothing to replay. */
export async function replayWithProgress(
  context: Context,
  warehouse: Warehouse,
  isCreated: boolean,
  options: ReplayOptions,
): Promise<ReplaySummary> {
  if (!isCreated) return NOTHING;
  const { replayAnswers } = await import('../../flow/replay/replay.ts');
  return withAnswerProgress(context, warehouse, (effects) =>
    replayAnswers(warehouse, options, effects, context.signal),
  );
}

/** The result of a replay: a sentence, and the rows written by table. */
export function replayText(summary: ReplaySummary, channel: Channel): string {
  const { answers, received, loaded, unchanged, superseded, quarantined, left, tookMs } = summary;
  const written = Object.entries(summary.written).filter(([, rows]) => rows > 0);
  const counts = `${withNoun(received, 'item')}: ${withThousands(loaded)} loaded, ${withThousands(unchanged)} unchanged, ${withThousands(superseded)} superseded, ${withThousands(quarantined)} quarantined`;
  const rest = left === 0 ? '' : `; ${withNoun(left, 'answer')} not replayed`;
  const lost = summary.gone
    ? `the bodies of ${withNoun(summary.gone.answers, 'answer')}, received from ${summary.gone.from} to ${summary.gone.to}, were pruned: their rows are unchanged\n`
    : '';
  const sentence = `${withNoun(answers, 'answer')} in ${duration(tookMs)}, ${counts}${rest}\n${lost}`;
  const filled = summary.filled.map(
    ({ table, column: name, rows }) =>
      `${table}.${name}: filled in ${withNoun(rows, 'row')} from values that were kept in extra\n`,
  );
  return (
    filled.join('') +
    sentence +
    tableOf(written, channel, [column('table', ([name]) => name), column('rows written', ([, rows]) => rows)])
  );
}
