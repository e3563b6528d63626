/** `sluice costs`: shows spending with its results, the balance and the forecast, and advises what to do. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { CostCell, CostGroup, Costs, CostsBy, Verification } from '../../insight/costs.ts';
import { csv } from '../../text/csv.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption, day, flag, text, flagConflict } from '../command.ts';
import type { Context } from '../context.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import type { CostReport } from '../text/costs-text.ts';
import { show } from '../terminal/show.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

const COLUMNS = [
  ['date', 'date'],
  ['endpoint', 'endpoint'],
  ['plan', 'plan'],
  ['sync', 'sync'],
  ['requests', 'requests'],
  ['points', 'points'],
  ['failed_requests', 'failedRequests'],
  ['failed_points', 'failedPoints'],
] as const;

export const costs = command({
  about:
    `Add up the request log of the service by sync, endpoint, plan of the account, day and run. A sync of ${LOG_ENDPOINT} reads the log. Needs no token.\n\n` +
    '- points: points that the service charged.\n' +
    '- (other programs): requests that no sync of this warehouse sent.\n' +
    '- for failed: points for requests that failed.\n' +
    '- for nothing new: points for answers that contained nothing new.\n' +
    '- by ledger: points that Sluice recorded itself.\n' +
    '- late answers: answers that a max_age would have saved, although they contained something new.\n\n' +
    'Further tables show learned prices with their spread, points left with the day on which they run out at the recent rate, points charged for nothing, and what a max_age would have saved. ' +
    'The last lines show how the log agrees with the ledger, and what to do next. ' +
    '--csv prints the sums by day, endpoint, plan and sync, from which all others are derived, except those by run and tag.',
  options: {
    ...configOption,
    since: day('Count from this UTC day on (default: from the beginning).'),
    by: text(
      'GROUP',
      'Add up by day, endpoint, plan, sync or a tag, such as tag:team, and print only these sums. Requests of syncs without the tag are added up as (no tag).',
    ),
    tune: flag(
      'Propose settings that would save points, as a patch of the config with the reason and the saving of each line. Proposals come from all stored answers: refreshes without anything new, requests that two syncs bought, inputs that the service does not know, and counts above what is returned.',
    ),
    csv: flag('Print points by day, endpoint, plan and sync as CSV; with --by, only its sums.'),
  },
  positionals: {},
  examples: [
    { line: 'sluice costs', about: 'Show all costs so far.' },
    { line: 'sluice costs --since 2026-03-01', about: 'Show costs from a day on.' },
    { line: 'sluice costs --by tag:team', about: 'Show the costs of each team, by the tags of the syncs.' },
    { line: 'sluice costs --tune', about: 'Show settings that would save points.' },
    { line: 'sluice costs --csv > costs.csv', about: 'Export sums by day, endpoint, plan and sync to a spreadsheet.' },
    { line: 'sluice costs --json', about: 'Print every figure for a program.' },
  ],
  run: async ({ config: file, since, by, tune, csv: asCsv }, context) => {
    if (tune && (asCsv || by !== undefined || since !== undefined))
      throw flagConflict('costs', ['--tune', '--csv, --by or --since'], {
        because: 'it reads all stored answers',
        next: 'Leave the others out.',
      });
    if (asCsv && context.json) throw flagConflict('costs', ['--csv', '--json']);
    const config = await readConfig(context, file);
    if (tune) return showTuning(context, config);
    if (by !== undefined) return showGroups(context, config, { by, since, asCsv });
    if (asCsv) {
      const cells = await withWarehouseToRead(context, config, (warehouse) => cellsOf(warehouse, since));
      context.status.clear();
      context.out.write(context.redactor.redact(csvText(cells)));
      return 0;
    }
    const [found, { costsText }] = await Promise.all([
      withWarehouseToRead(context, config, (warehouse) => readCostReport(config, warehouse, since)),
      import('../text/costs-text.ts'),
    ]);
    show(context, 'costs/1', costsResult(found), () => costsText(found, context.out));
    return 0;
  },
});

const csvText = (cells: readonly CostCell[]): string =>
  csv(
    COLUMNS.map(([name]) => name),
    cells.map((cell) => COLUMNS.map(([, field]) => cell[field])),
  );

/** Prints the proposals of `--tune`; returns the exit code. */
async function showTuning(context: Context, config: Config): Promise<number> {
  const [{ readTuningFacts }, { readCosts }, { endpointPrices }, { proposeChanges, tuningPatch }] = await Promise.all([
    import('../../insight/tuning.ts'),
    import('../../insight/costs.ts'),
    import('../text/prices.ts'),
    import('../text/tuning.ts'),
  ]);
  const { days, changes } = await withWarehouseToRead(context, config, async (warehouse) => {
    if (!(await hasSchema(warehouse))) return { days: 0, changes: [] };
    const facts = await readTuningFacts(warehouse, LOG_ENDPOINT);
    const costs = await readCosts(warehouse, undefined, warehouse.clock.now());
    const prices = await endpointPrices(warehouse, config, costs);
    return { days: facts.days, changes: proposeChanges(config, { facts, savings: costs.savings, prices }) };
  });
  show(context, 'costs-tune/1', { days, changes }, () => tuningPatch(changes, days));
  return 0;
}

interface GroupedCosts {
  readonly by: string;
  readonly since: string | undefined;
  readonly asCsv: boolean;
}

/** Prints the sums of `--by`; returns the exit code. */
async function showGroups(context: Context, config: Config, { by, since, asCsv }: GroupedCosts): Promise<number> {
  const { COST_GROUPS, readCostsBy } = await import('../../insight/costs.ts');
  const column = COST_GROUPS.find((it) => it === by);
  const tag = /^tag:(.*)$/.exec(by)?.[1];
  const grouping: CostsBy | undefined = column ?? (tag === undefined ? undefined : { tag });
  if (grouping === undefined) throw unknownGroup(by, config, COST_GROUPS);
  const groups = await withWarehouseToRead(context, config, async (warehouse) =>
    (await hasSchema(warehouse)) ? readCostsBy(warehouse, grouping, since) : [],
  );
  // Earlier runs may have tags that the config no longer has.
  const isTagged = config.syncs.some(({ tags }) => tag !== undefined && tag in tags);
  if (!column && !isTagged && groups.every(({ name }) => name.startsWith('(')))
    throw unknownGroup(by, config, COST_GROUPS);
  if (asCsv) {
    context.status.clear();
    context.out.write(context.redactor.redact(groupsCsv(by, groups)));
    return 0;
  }
  const { groupsText } = await import('../text/costs-text.ts');
  show(context, 'costs-by/1', { by, since: since ?? null, groups }, () => groupsText({ by, groups }, context.out));
  return 0;
}

function unknownGroup(by: string, { syncs }: Config, columns: readonly string[]): UsageError {
  const names = new Set(syncs.flatMap(({ tags }) => Object.keys(tags)));
  const allowed = [...columns, ...[...names].map((name) => `tag:${name}`)].join(', ');
  return new UsageError(`costs: --by is ${JSON.stringify(by)}; allowed: ${allowed}`, {
    next: 'Choose one of these, or set tags on a sync in the config.',
  });
}

const groupsCsv = (by: string, groups: readonly CostGroup[]): string =>
  csv(
    [by, ...COLUMNS.slice(4).map(([name]) => name)],
    groups.map((group) => [group.name, ...COLUMNS.slice(4).map(([, field]) => group[field as keyof CostGroup])]),
  );

async function cellsOf(warehouse: Warehouse, since: string | undefined): Promise<readonly CostCell[]> {
  if (!(await hasSchema(warehouse))) return [];
  const { readCostCells } = await import('../../insight/costs.ts');
  return readCostCells(warehouse, since);
}

/** The report as `--json` prints it. */
export const costsResult = ({ costs, budgets, prices, advice }: CostReport) => ({
  ...costs,
  budgets,
  prices,
  next: advice,
});

/** The costs since a UTC day, or from the beginning. */
export async function readCostReport(
  config: Config,
  warehouse: Warehouse,
  since: string | undefined,
): Promise<CostReport> {
  const now = warehouse.clock.now();
  const [{ NOT_SPENT, readCosts }, { adviceOf }, { endpointPrices }, { readBudgetUse }] = await Promise.all([
    import('../../insight/costs.ts'),
    import('../text/cost-advice.ts'),
    import('../text/prices.ts'),
    import('../../control/budget/budget-use.ts'),
  ]);
  const isCreated = await hasSchema(warehouse);
  const costs = isCreated ? await readCosts(warehouse, since, now) : nothing(since, NOT_SPENT);
  const prices = isCreated ? await endpointPrices(warehouse, config, costs) : [];
  const budgets = isCreated ? await readBudgetUse(warehouse, config.budget, now) : [];
  return { now, costs, prices, budgets, advice: adviceOf(costs, config, now) };
}

const nothing = (since: string | undefined, verification: Verification): Costs => ({
  since: since ?? null,
  total: { requests: 0, points: 0, failedRequests: 0, failedPoints: 0, firstDay: null, lastDay: null },
  verification,
  days: [],
  endpoints: [],
  plans: [],
  syncs: [],
  runs: [],
  savings: [],
  failures: [],
  balances: [],
});
