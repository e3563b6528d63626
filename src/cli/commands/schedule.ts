/** `sluice schedule`: fires syncs by their schedules and works on them, or prints when they fire. */
import { UsageError } from '../../errors.ts';
import { command, configOption, flag, flagConflict } from '../command.ts';
import type { Config } from '../../config/definition.ts';
import type { Context } from '../context.ts';
import { requireToken, hasSchema, readConfig, withWarehouse } from '../open.ts';
import { engineOptions, runEngine } from '../engine.ts';
import { withNoun, table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

/** The number of firings that `--explain` prints for each sync. */
const FIRINGS = 10;

export const schedule = command({
  about:
    'Run syncs when their schedules are due. It also does the work of a sluice worker. With an embedded warehouse, it is the only process that you need.\n\n' +
    '- If firings were missed while no scheduler ran, only the last one runs, at the start.\n' +
    '- A sync never overlaps itself, and any number of schedulers fire it once.\n' +
    '- A sync can name other syncs in its key after. Without a schedule, it starts when all of them are done. With a schedule, it waits while they are running.\n' +
    '- A run that ends with a transient error is repeated for about three hours. After that, and after other errors, its job is given up: sluice status lists it, and --redrive requeues it.\n' +
    '- The config is read only at the start: restart the process after a change.',
  logs: true,
  options: {
    ...configOption,
    ...engineOptions,
    explain: flag('Print the next ten firings of each sync and exit; needs no database and no token.'),
    redrive: flag(
      'Requeue the jobs that were given up, of the named syncs or of all that did not complete since, and exit.',
    ),
  },
  positionals: {
    names: { takes: 'many', completes: 'syncs', about: 'Only these syncs, with --explain or --redrive.' },
  },
  examples: [
    { line: 'sluice schedule', about: 'Run until stopped.' },
    { line: 'sluice schedule --explain', about: 'Show when each sync fires next.' },
    { line: 'sluice schedule --redrive pages', about: 'Requeue the jobs of pages that were given up.' },
  ],
  run: async (args, context) => {
    const config = await readConfig(context, args.config, args.explain ? [] : ['warehouse.url']);
    const { names } = args;
    const unknown = names.find((name) => !config.syncs.some((it) => it.name === name));
    if (unknown !== undefined)
      throw new UsageError(`The config has no sync ${JSON.stringify(unknown)}.`, {
        next: `Name one of ${config.syncs.map(({ name }) => name).join(', ')}.`,
      });
    if (args.explain && args.redrive) throw flagConflict('schedule', ['--explain', '--redrive']);
    if (args.explain) return explain(context, config, names);
    if (args.redrive) return redrive(context, config, names);
    if (names.length > 0)
      throw new UsageError(
        'schedule: it runs every sync of the config that has a schedule; only --explain and --redrive accept names.',
        {
          next: 'Leave out the names; to run some syncs once, use sluice sync.',
        },
      );
    requireToken(config);
    if (config.syncs.every(({ schedule: own }) => own === undefined))
      context.log.warn('no sync of the config has a schedule, so none will fire', { file: config.file });
    await runEngine(context, config, 'schedule', args);
    return 0;
  },
});

async function explain(context: Context, { syncs }: Config, names: readonly string[]): Promise<number> {
  const { firingsOf } = await import('../../engine/firings.ts');
  const from = context.now();
  const wanted = syncs.filter(({ name }) => names.length === 0 || names.includes(name));
  const lines = wanted.map(({ name, schedule: own, after }) => ({
    sync: name,
    cron: own?.cron ?? null,
    timezone: own?.timezone ?? null,
    after: [...after],
    firings: own ? firingsOf(own, from, FIRINGS).map((at) => at.toISOString()) : [],
  }));
  show(context, 'schedule-explain/1', lines, () => lines.map((it) => explained(it, context)).join('\n'));
  return 0;
}

interface ScheduleLine {
  readonly sync: string;
  readonly cron: string | null;
  readonly timezone: string | null;
  readonly after: readonly string[];
  readonly firings: readonly string[];
}

function explained({ sync, cron, timezone, after, firings }: ScheduleLine, { out }: Context): string {
  const parents = after.join(', ');
  if (cron === null || timezone === null)
    return `${sync}: ${after.length > 0 ? `when ${parents} ${after.length === 1 ? 'is' : 'are'} done` : 'never: it has no schedule'}\n`;
  const localTime = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  const weekday = new Intl.DateTimeFormat('en', { timeZone: timezone, weekday: 'short' });
  const rows = firings.map((text) => {
    const at = new Date(text);
    return [weekday.format(at), localTime.format(at), text];
  });
  const wait = after.length > 0 ? `, and waits while ${parents} ${after.length === 1 ? 'is' : 'are'} running` : '';
  return `${sync}: ${cron} in ${timezone}${wait}\n${table([{ name: '' }, { name: timezone }, { name: 'UTC' }], rows, out)}`;
}

async function redrive(context: Context, config: Config, names: readonly string[]): Promise<number> {
  const { openJobs } = await import('../../engine/boss.ts');
  const syncs = await withWarehouse(context, config, async (warehouse) => {
    if (!(await hasSchema(warehouse))) return [];
    const jobs = await openJobs(warehouse, { onError: ({ message }) => context.log.warn(message), retry: context });
    try {
      return await jobs.redrive(names);
    } finally {
      await jobs.close();
    }
  });
  show(
    context,
    'schedule-redrive/1',
    { redriven: syncs },
    () => `${withNoun(syncs.length, 'job')} requeued${syncs.length > 0 ? `: ${syncs.join(', ')}` : ''}\n`,
  );
  return 0;
}
