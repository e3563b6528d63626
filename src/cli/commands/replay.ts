/** `sluice replay`: stored answers, loaded again. */
import { UsageError } from '../../errors.ts';
import type { ReplayOptions, ReplaySummary } from '../../flow/replay/replay.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import type { Channel } from '../terminal/channel.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, duration, table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { withProgress } from '../terminal/with-progress.ts';

export const replay = command({
  about:
    'Loads the stored answers of all syncs, or of those named, again in the order in which they came. In place, what did not change is only read; ' +
    '--rebuild fills new tables from all answers, then brings the present ones to the same rows in one transaction. ' +
    'It keeps columns, views and references that users added, and refuses to delete rows that they depend on. Needs no token.',
  logs: true,
  options: { ...configOption, rebuild: { type: 'flag', about: 'Fill all tables anew; takes no names.' } },
  positionals: {
    names: { takes: 'many', completes: 'syncs', about: 'Syncs whose answers are loaded again; none means all.' },
  },
  examples: [
    { line: 'sluice replay pages', about: 'The answers of one sync, in place.' },
    { line: 'sluice replay --rebuild', about: 'Every table anew, after an update of Sluice.' },
  ],
  run: async ({ names, rebuild, config: flag }, context) => {
    if (rebuild && names.length > 0) {
      throw new UsageError('replay: --rebuild fills the tables of all syncs, so no names are allowed with it', {
        next: 'Leave out the names, or --rebuild.',
      });
    }
    const config = await readConfig(context, flag);
    const { selectSyncs } = await import('../../plan/order.ts');
    selectSyncs(config.syncs, names);
    return withWarehouse(context, config, async (warehouse) => {
      const there = await hasSchema(warehouse);
      const summary = await replayWithProgress(context, warehouse, there, { names, rebuild, quarantined: false });
      show(context, summary, () => replayText(summary, context.out));
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
  tookMs: 0,
};

/** Replays with the progress shown; a warehouse where nothing was ever put has nothing to replay. */
export async function replayWithProgress(
  context: Context,
  warehouse: Warehouse,
  there: boolean,
  options: ReplayOptions,
): Promise<ReplaySummary> {
  if (!there) return NOTHING;
  const { replayAnswers } = await import('../../flow/replay/replay.ts');
  const { sleep, random, newId, signal } = context;
  const { now } = warehouse.clock;
  return withProgress(context, ({ onProgress }) =>
    replayAnswers(
      warehouse,
      options,
      { now, sleep, random, newId, onProgress: (done, total) => onProgress({ sync: 'answers', done, total }) },
      signal,
    ),
  );
}

/** What a replay did, in a sentence and by table. */
export function replayText(summary: ReplaySummary, channel: Channel): string {
  const { answers, received, loaded, unchanged, superseded, quarantined, left, tookMs } = summary;
  const written = Object.entries(summary.written).filter(([, rows]) => rows > 0);
  const counts = `${withNoun(received, 'item')}: ${loaded} loaded, ${unchanged} unchanged, ${superseded} superseded, ${quarantined} quarantined`;
  const rest = left === 0 ? '' : `; ${withNoun(left, 'answer')} left as before`;
  const lost = summary.gone
    ? `the bodies of ${withNoun(summary.gone.answers, 'answer')}, received from ${summary.gone.from} to ${summary.gone.to}, were pruned: their rows stand as they were\n`
    : '';
  const sentence = `${withNoun(answers, 'answer')} in ${duration(tookMs)}, ${counts}${rest}\n${lost}`;
  if (written.length === 0) return sentence;
  return sentence + table([{ name: 'table' }, { name: 'rows written' }], written, channel);
}
