/** `sluice sync`: runs the syncs of a config and prints a summary. */
import type { Summary } from '../../ledger/summary.ts';
import type { SyncOptions } from '../../flow/run/sync-run.ts';
import { UsageError } from '../../errors.ts';
import type { SavedPlan } from '../../plan/saved/saved-plan.ts';
import { command, configOption, day, flag, number, text, flagConflict } from '../command.ts';
import { requireToken, readConfig } from '../open.ts';
import type { Context } from '../context.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Config } from '../../config/definition.ts';
import { show } from '../terminal/show.ts';
import { nextStepLine } from '../next-step.ts';
import { summaryText } from '../text/summary.ts';
import { withFlow } from '../with-flow.ts';
import { withRetryable, interruptionOf } from '../exit-codes.ts';
import { planningFlags } from './plan/config-flag.ts';

export const sync = command({
  about:
    'Send the requests that no fresh answer serves, store every answer, and load it. Continue runs that were interrupted. ' +
    'If the warehouse is empty, create its schema first. If syncs end differently, the exit code is the most severe one. ' +
    'A sync with a query in for_each is not started if a sync in its after did not finish, except for its budget: the query would read incomplete rows. ' +
    'The spool keeps answers that the database does not accept until the next sync. It is in SLUICE_SPOOL (default: spool/ in the folder of an embedded warehouse, otherwise .sluice/spool beside the config).\n\n' +
    '- The first column, `asked`, counts the requests that were sent. Figures of a continued run count from its start. fresh: requests that a stored answer served; left: requests that stay planned.\n' +
    '- loaded: items that created or changed rows; changed: those that changed a row; unchanged: items equal to their rows.\n' +
    '- superseded: items that a newer answer, or a later item with the same key, replaced, and items of forgotten entities; quarantined: items that could not be loaded.\n' +
    '- truncated: full answers that could not be split further; unreadable: answers that could not be read; in doubt: requests whose answers were lost.',
  logs: true,
  options: {
    ...configOption,
    refresh: flag('Send requests even if a fresh answer exists within max_age.'),
    failed: flag(
      'Send only what failed in the last run of each sync, also requests that normal runs have given up. The run moves no watermark, and does not count as a complete run of the sync.',
    ),
    'fail-on-truncated': flag('End with exit code 4 if more items may exist than the service returned.'),
    'abandon-spool': flag(
      'Give up spool folders that cannot be found. Answers in them count as lost, and their requests may be paid twice.',
    ),
    from: day(
      'First day, YYYY-MM-DD, instead of the start of the window. Without names, leaves out syncs without days.',
    ),
    to: day('Last day, YYYY-MM-DD, instead of the end of the window.'),
    'max-points': number('POINTS', 'Maximum number of points that this invocation may spend.'),
    limit: number(
      'REQUESTS',
      'Send at most this many requests of each sync, as a sample. Such a run is partial: it moves no watermark, and the next sync without --limit requests the rest.',
      { min: 1 },
    ),
    plan: text(
      'FILE',
      'Send exactly the requests of a plan that sluice plan --output saved, for at most its points. ' +
        'Refuse with exit code 2 if the config, inputs, fresh answers, prices or the days of a window changed since. Splits of full answers count toward its points.',
    ),
  },
  positionals: { names: { takes: 'many', completes: 'syncs', about: 'Syncs to run (default: all).' } },
  examples: [
    { line: 'sluice sync', about: 'Run every sync of the config.' },
    { line: 'sluice sync pages costs --max-points 50', about: 'Run two syncs, for at most 50 points.' },
    { line: 'sluice sync --limit 5', about: 'Try every sync with a sample, parents and children.' },
    { line: 'sluice sync --plan plan.json', about: 'Run a saved plan.' },
    { line: 'sluice sync --failed', about: 'Send failed requests again.' },
    { line: 'sluice sync filings --from 2024-01-01 --to 2024-03-31', about: 'Run a sync for one quarter.' },
  ],
  run: async (args, context) => {
    const plan = args.plan === undefined ? undefined : await readPlan(args.plan, args);
    const config = await readConfig(context, args.config);
    requireToken(config);
    const ran = await runWithProgress(context, config, {
      names: args.names,
      refresh: args.refresh,
      failed: args.failed,
      failOnTruncated: args['fail-on-truncated'],
      abandonSpool: args['abandon-spool'],
      from: args.from,
      to: args.to,
      maxPoints: args['max-points'],
      limit: args.limit,
      plan,
    });
    // The syncs keep their own codes, and the command ends with that of the signal.
    const summary = { ...ran, exitCode: interruptionOf(context.signal)?.exitCode ?? ran.exitCode };
    const look = await nextStepLine(summary);
    show(context, 'sync/1', withRetryables(summary), () => `${summaryText(summary, context.out)}${look}`);
    return summary.exitCode;
  },
});

/** Reads a saved plan. Throws a UsageError if the file is not valid, or if a flag would change the plan. */
async function readPlan(
  file: string,
  given: Readonly<Record<string, unknown>> & { readonly names: readonly string[] },
): Promise<SavedPlan> {
  const flags = planningFlags(given).map(([flag]) => flag);
  const extra = given.names.length > 0 ? ['names of syncs', ...flags] : flags;
  if (extra.length > 0)
    throw flagConflict('sync', ['--plan', extra.join(', ')], {
      because: 'the saved plan sets them',
      next: 'Leave them out, or make another plan with sluice plan --output FILE.',
    });
  const { parseSavedPlan } = await import('../../plan/saved/saved-plan.ts');
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`sync: ${file} can't be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`, {
      next: 'Name a file that sluice plan --output wrote.',
      cause,
    });
  });
  return parseSavedPlan(file, text);
}

/** The summary with `retryable` beside each exit code. */
export const withRetryables = (summary: Summary) => ({
  ...withRetryable(summary),
  syncs: summary.syncs.map(withRetryable),
});

/** Runs syncs and shows their progress. First it creates or updates the schema if that is allowed; last it sends alerts. */
export async function runWithProgress(context: Context, config: Config, options: SyncOptions): Promise<Summary> {
  const { runSyncs } = await import('../../syncs.ts');
  const { sleep, signal, env, redactor } = context;
  return withFlow(context, config, async (warehouse, effects) => {
    const summary = await runSyncs(config, warehouse, options, effects, signal);
    // A sample proves nothing about a sync, so it neither raises nor resolves an alert.
    if (config.alerts && (options.plan?.limit ?? options.limit) === undefined) {
      const { sendAlerts } = await import('../../alerts/send-alerts.ts');
      const { now, onNotice } = effects;
      await sendAlerts(config, warehouse, summary, {
        now,
        sleep,
        env,
        redact: redactor.redact,
        onNotice,
        ...((await hasScheduler(config, warehouse)) && { scheduledPoints: 'elsewhere' }),
      });
    }
    return summary;
  });
}

/** True if another process runs the schedules: its alerts know their forecast, and this one would contradict them. */
async function hasScheduler({ syncs }: Config, warehouse: Warehouse): Promise<boolean> {
  if (!syncs.some(({ schedule }) => schedule)) return false;
  const { readEngineStatus } = await import('../../engine/status.ts');
  const engine = await readEngineStatus(warehouse);
  return (engine?.workers.length ?? 0) > 0;
}
