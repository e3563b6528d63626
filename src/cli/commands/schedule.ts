/** `sluice schedule`: fires syncs by their schedules and works on them, or tells when they fire. */
import { UsageError } from '../../errors.ts';
import { command, configOption } from '../command.ts';
import type { Config } from '../../config/definition.ts';
import type { Context } from '../context.ts';
import { requireToken } from '../credential.ts';
import { engineOptions, runEngine } from '../engine.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

/** Firings of each sync that are told. */
const FIRINGS = 10;

export const schedule = command({
  about:
    'Keeps the clock for every sync that has a schedule in the config, and works like sluice worker; an embedded warehouse needs nothing else. ' +
    'Of firings that were missed while nobody kept the clock, the last is made up for at the start. A sync never overlaps itself, and any number of clocks fire it once. ' +
    'A sync without a schedule that names others in after begins when all of these are done; one with a schedule waits for those that are at work. ' +
    'Trouble that passes is tried again after longer and longer waits; what somebody has to mend is given up, shown by sluice status, and put back by --redrive. ' +
    'The config is read at the start: restart it after a change.',
  logs: true,
  options: {
    ...configOption,
    ...engineOptions,
    explain: { type: 'flag', about: 'Tell the next ten firings of each sync and end; needs no database and no token.' },
    redrive: { type: 'flag', about: 'Put the jobs back that were given up, all or those of the syncs named, and end.' },
  },
  positionals: {
    names: { takes: 'many', completes: 'syncs', about: 'With --explain or --redrive: these syncs alone.' },
  },
  examples: [
    { line: 'sluice schedule', about: 'Serves until it is stopped.' },
    { line: 'sluice schedule --explain', about: 'When each sync fires next.' },
    { line: 'sluice schedule --redrive pages', about: 'Tries pages again that were given up.' },
  ],
  run: async (args, context) => {
    const config = await readConfig(context, args.config);
    const { names } = args;
    const unknown = names.find((name) => !config.syncs.some((it) => it.name === name));
    if (unknown !== undefined)
      throw new UsageError(`The config names no sync ${JSON.stringify(unknown)}.`, {
        next: `Name one of ${config.syncs.map(({ name }) => name).join(', ')}.`,
      });
    if (args.explain) return explain(context, config, names);
    if (args.redrive) return redrive(context, config, names);
    if (names.length > 0)
      throw new UsageError('schedule: it keeps the clock for every sync of the config.', {
        next: 'Leave the names out; to run some once, use sluice sync.',
      });
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
  const told = wanted.map(({ name, schedule: own, after }) => ({
    sync: name,
    cron: own?.cron ?? null,
    timezone: own?.timezone ?? null,
    after: [...after],
    firings: own ? firingsOf(own, from, FIRINGS).map((at) => at.toISOString()) : [],
  }));
  show(context, told, () => told.map((it) => explained(it, context)).join('\n'));
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
    return `${sync}: ${after.length > 0 ? `when ${parents} ${after.length === 1 ? 'is' : 'are'} done` : 'fires never: it has no schedule'}\n`;
  const there = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  const weekday = new Intl.DateTimeFormat('en', { timeZone: timezone, weekday: 'short' });
  const rows = firings.map((text) => {
    const at = new Date(text);
    return [weekday.format(at), there.format(at), text];
  });
  const wait = after.length > 0 ? `, and waits while ${parents} ${after.length === 1 ? 'is' : 'are'} at work` : '';
  return `${sync}: ${cron} in ${timezone}${wait}\n${table([{ name: '' }, { name: timezone }, { name: 'UTC' }], rows, out)}`;
}

async function redrive(context: Context, config: Config, names: readonly string[]): Promise<number> {
  const { openJobs } = await import('../../engine/boss.ts');
  const put = await withWarehouse(context, config, async (warehouse) => {
    if (!(await hasSchema(warehouse))) return [];
    const jobs = await openJobs(warehouse, { onError: ({ message }) => context.log.warn(message), retry: context });
    try {
      return await jobs.redrive(names);
    } finally {
      await jobs.close();
    }
  });
  const syncs = put.map(({ sync }) => sync);
  show(
    context,
    { redriven: syncs },
    () => `${withNoun(syncs.length, 'job')} put back${syncs.length > 0 ? `: ${syncs.join(', ')}` : ''}\n`,
  );
  return 0;
}
