/** `sluice plan`: shows what a sync would request, its cost, and how reliable the estimate is. */
import type { Planned } from '../../flow/forecast/quote-syncs.ts';
import { command, configOption, day, flag, number, text } from '../command.ts';
import { requireUsable, readConfig, withWarehouseToPlan } from '../open.ts';
import { configFlag, planningFlags } from './plan/config-flag.ts';
import { refuseFlags } from './plan/refuse-flags.ts';
import { asJson } from '../terminal/json.ts';
import { writeOutputFile } from '../terminal/output-file.ts';
import { planText, type SavedPlanFile } from '../text/plan-text.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { show } from '../terminal/show.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

export const plan = command({
  about:
    'Plan each sync as a run would plan it now, without requests to the service. Needs no token.\n\n' +
    '- low, likely: the lower end of the range that holds nine of ten costs, and the likely cost, if future answers resemble past ones.\n' +
    '- most: the cost of all requests, with all parts into which full answers can be split. A run exceeds it only if requests are billed again (service.retries), or if the query of for_each returns more rows when it runs. A + marks the request log, whose pages have no maximum.\n' +
    `- confidence: guess until the request log (${LOG_ENDPOINT}) shows the prices, then some or good.\n\n` +
    'If a sync reads a table that another sync fills, its plan uses the current rows. If the warehouse is empty, the command creates its schema.',
  options: {
    ...configOption,
    refresh: flag('As for sync --refresh: plan requests with fresh answers too.'),
    failed: flag('As for sync --failed: plan only what failed in the last run of each sync.'),
    from: day('As for sync --from.'),
    to: day('As for sync --to.'),
    limit: number('REQUESTS', 'As for sync --limit.', { min: 1 }),
    explain: flag(
      'List each request of a new run with its decision, its max_age and the reason, instead of the quote. While answers arrive, a run may split full answers and windows in other parts.',
    ),
    output: text(
      'FILE',
      'Save the plan in this file. sluice sync --plan FILE sends exactly its requests, and refuses if anything changed since. ' +
        'The file contains digests, and the fields of up to 1,000 requests of each sync.',
    ),
    against: text(
      'OTHER',
      'Show what the config costs a month compared with another config file, or with the same file at a git revision such as main.',
    ),
    'fail-above': number(
      'POINTS',
      'With --against: end with exit code 4 if a month costs over POINTS more than OTHER.',
      { min: 0 },
    ),
    for: text(
      'TIME',
      'Show what the schedules will spend in a time such as 30d: points per sync, day and tag, and when the balance and the budgets end. Later forecasts show how it compares with what was spent.',
    ),
    until: day('The same as --for, up to the end of this UTC day.'),
    markdown: flag('With --against: print Markdown for a comment on a pull request.'),
  },
  positionals: { names: { takes: 'many', completes: 'syncs', about: 'Syncs to plan (default: all).' } },
  examples: [
    { line: 'sluice plan', about: 'Plan every sync of the config.' },
    { line: 'sluice plan --json filings', about: 'Plan one sync, for a program.' },
    { line: 'sluice plan --for 30d', about: 'Show what the schedules will spend in 30 days.' },
    {
      line: 'sluice plan --output plan.json',
      about: 'Save the plan, to review it before sluice sync --plan plan.json.',
    },
  ],
  run: async (args, context) => {
    const config = await readConfig(context, args.config);
    refuseFlags(args);
    // A saved plan is for one service.
    if (args.output !== undefined) requireUsable(config, ['service.url']);
    const { against } = args;
    if (against !== undefined) {
      const { comparePlans } = await import('./plan/compare-plans.ts');
      return comparePlans(context, config, { ...args, against, failAbove: args['fail-above'] });
    }
    if (args.for !== undefined || args.until !== undefined) {
      const { forecastSpending } = await import('./plan/forecast-spending.ts');
      return forecastSpending(context, config, args);
    }
    const { refresh, failed, from, to, limit } = args;
    const options = { refresh, failed, from, to, limit, signal: context.signal };
    const { plannedNames } = await import('./plan/planned-names.ts');
    const names = plannedNames(context, config, args.names, options);
    if (args.explain) {
      const { explainRequests } = await import('./plan/explain-requests.ts');
      return explainRequests(context, config, names, options);
    }
    const made = await withWarehouseToPlan(context, config, async (warehouse) => {
      const [{ quotePlan }, { makeSavedPlan }] = await Promise.all([
        import('./plan/quote-plan.ts'),
        import('../../flow/saved-plan/save-plan.ts'),
      ]);
      const { planned, quoted, now } = await quotePlan(warehouse, config, names, options);
      return { planned, saved: await makeSavedPlan(warehouse, config, quoted, options, now) };
    });
    const { output } = args;
    if (output !== undefined)
      await writeOutputFile('plan', '--output', {
        path: output,
        content: context.redactor.redact(asJson(made.saved)),
      });
    const saved =
      output === undefined ? undefined : { file: output, most: made.saved.most, leftOut: made.saved.leftOut };
    const syncCommand = saved
      ? `sluice sync ${[...configFlag(args), '--plan', shellWord(saved.file)].join(' ')}`
      : ['sluice sync', ...configFlag(args), ...planningFlags(args).flat(), ...args.names].join(' ');
    show(context, 'plan/1', planResult(made.planned, saved), () =>
      planText(made.planned, { syncCommand, budget: config.budget, saved, isFailedOnly: args.failed }, context.out),
    );
    return 0;
  },
});

/** The plan, with what was saved. */
export const planResult = (planned: Planned, saved?: SavedPlanFile) => ({ ...planned, ...(saved && { saved }) });
