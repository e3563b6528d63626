/** `sluice sync`: the syncs of a config, run and summed up. */
import type { Summary } from '../../ledger/summary.ts';
import type { SyncOptions } from '../../flow/run/sync-run.ts';
import { command, configOption } from '../command.ts';
import { requireToken } from '../credential.ts';
import type { Context } from '../context.ts';
import { readConfig, withWarehouse } from '../open.ts';
import type { Config } from '../../config/definition.ts';
import { show } from '../terminal/show.ts';
import { formerSpoolFolder, spoolFolder } from '../spool-folder.ts';
import { nextStepLine } from '../next-step.ts';
import { summaryText } from '../text/summary.ts';
import { withProgress } from '../terminal/with-progress.ts';

export const sync = command({
  about:
    'Asks the service for what is not fresh, keeps every answer, and loads it. A run that was interrupted is taken up where it stopped. ' +
    'An empty warehouse gets its schema first. The exit code is the gravest of the syncs’. ' +
    'Answers that the database can’t take are kept in the spool until the next sync: in SLUICE_SPOOL, else in spool/ of the embedded warehouse’s folder, else in .sluice/spool beside the config.',
  logs: true,
  options: {
    ...configOption,
    refresh: { type: 'flag', about: 'Ask even for what was asked within max_age.' },
    'fail-on-truncated': {
      type: 'flag',
      about: 'End with exit code 4 when more may exist than was returned.',
    },
    'abandon-spool': {
      type: 'flag',
      about:
        'Give up spool folders that can’t be found: answers in them count as lost, and their requests may be paid twice.',
    },
    from: { type: 'day', value: 'DAY', about: 'First day, YYYY-MM-DD, in place of the window’s.' },
    to: { type: 'day', value: 'DAY', about: 'Last day, YYYY-MM-DD, in place of the window’s.' },
    'max-points': { type: 'number', value: 'POINTS', about: 'Most points that this invocation may spend.' },
  },
  positionals: { names: { takes: 'many', completes: 'syncs', about: 'Syncs to run; none means all.' } },
  examples: [
    { line: 'sluice sync', about: 'Every sync of the config.' },
    { line: 'sluice sync pages costs --max-points 50', about: 'Two of them, for at most 50 points.' },
    { line: 'sluice sync filings --from 2024-01-01 --to 2024-03-31', about: 'A quarter again.' },
  ],
  run: async (args, context) => {
    const config = await readConfig(context, args.config);
    requireToken(config);
    const summary = await runWithProgress(context, config, {
      names: args.names,
      refresh: args.refresh,
      failOnTruncated: args['fail-on-truncated'],
      abandonSpool: args['abandon-spool'],
      ...(args.from !== undefined && { from: args.from }),
      ...(args.to !== undefined && { to: args.to }),
      ...(args['max-points'] !== undefined && { maxPoints: args['max-points'] }),
    });
    const look = await nextStepLine(summary);
    show(context, summary, () => `${summaryText(summary, context.out)}${look}`);
    return summary.exitCode;
  },
});

/** Runs syncs with their progress shown; the schema is brought about first where that is allowed, and alerts are told last. */
export async function runWithProgress(context: Context, config: Config, options: SyncOptions): Promise<Summary> {
  const [{ runSyncs }, { ensureSchema }, { openSpool }, { openTracing }] = await Promise.all([
    import('../../syncs.ts'),
    import('../../warehouse/migrate/migrate.ts'),
    import('../../recovery/spool/files.ts'),
    import('../../telemetry/tracing.ts'),
  ]);
  const { sleep, random, newId, signal, env, redactor } = context;
  const tracing = await openTracing(env, sleep);
  return withWarehouse(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const { now } = warehouse.clock;
    const spool = openSpool({ folder: spoolFolder(context, config) });
    const formerSpools = [formerSpoolFolder(context)];
    const effects = {
      now,
      sleep,
      random,
      newId,
      spool,
      formerSpools,
      ...(tracing && { beginSpan: tracing.beginSpan }),
    };
    return withProgress(context, async (watch) => {
      const summary = await runSyncs(config, warehouse, options, { ...effects, ...watch }, signal);
      if (config.alerts) {
        const { sendAlerts } = await import('../../alerts/send-alerts.ts');
        const { onNotice } = watch;
        await sendAlerts(config, warehouse, summary, { now, sleep, env, redact: redactor.redact, onNotice });
      }
      await tracing?.flush();
      return summary;
    });
  });
}
