/** `sluice costs`: what was paid, for what, what it brought, what is left, and what to do about it. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { CostCell, Costs, Verification } from '../../insight/costs.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import { csv } from '../terminal/csv.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import type { EndpointPrice } from '../text/prices.ts';
import { show } from '../terminal/show.ts';

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
    'Adds up the service’s own request log (a sync of token.requests reads it) by sync, endpoint, plan, day and run. Points are those charged; (other programs) are requests that no sync here sent, ' +
    'for failed are points for requests that failed, for nothing new those for answers that said what was known, by ledger what this program noted itself. Below come learned prices with their spread, points left with the day they run out at the present pace, what was charged for nothing, what a max_age would have saved, ' +
    'how the log agrees with the ledger, and what to do next. With --csv the sums by day, endpoint, plan and sync, of which all others are made. Needs no token.',
  options: {
    ...configOption,
    since: { type: 'day', value: 'DAY', about: 'Count from this UTC day on; else from the beginning.' },
    csv: { type: 'flag', about: 'Print points by day, endpoint, plan and sync as CSV.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice costs', about: 'All that was paid so far.' },
    { line: 'sluice costs --since 2026-03-01', about: 'From a day on.' },
    { line: 'sluice costs --csv > costs.csv', about: 'By day, endpoint, plan and sync, for a spreadsheet.' },
    { line: 'sluice costs --json', about: 'Every figure, for a program.' },
  ],
  run: async ({ config: flag, since, csv: asCsv }, context) => {
    if (asCsv && context.json) throw new UsageError('costs: --csv and --json were both given; one is allowed');
    const config = await readConfig(context, flag);
    if (asCsv) {
      const cells = await withWarehouseToRead(context, config, (warehouse) => cellsOf(warehouse, since));
      context.status.clear();
      context.out.write(context.redactor.redact(csvText(cells)));
      return 0;
    }
    const found = await withWarehouseToRead(context, config, (warehouse) => read(config, warehouse, since));
    const [{ adviceOf }, { costsText }] = await Promise.all([
      import('../text/cost-advice.ts'),
      import('../text/costs-text.ts'),
    ]);
    const advice = adviceOf(found.costs, config, found.now);
    show(context, { ...found.costs, prices: found.prices, next: advice }, () =>
      costsText({ ...found, advice }, context.out),
    );
    return 0;
  },
});

const csvText = (cells: readonly CostCell[]): string =>
  csv(
    COLUMNS.map(([name]) => name),
    cells.map((cell) => COLUMNS.map(([, field]) => cell[field])),
  );

async function cellsOf(warehouse: Warehouse, since: string | undefined): Promise<readonly CostCell[]> {
  if (!(await hasSchema(warehouse))) return [];
  const { readCostCells } = await import('../../insight/costs.ts');
  return readCostCells(warehouse, since);
}

interface Found {
  /** By the database's clock. */
  readonly now: Date;
  readonly costs: Costs;
  readonly prices: readonly EndpointPrice[];
}

async function read(config: Config, warehouse: Warehouse, since: string | undefined): Promise<Found> {
  const now = warehouse.clock.now();
  const [{ NOT_SPENT, readCosts }, { endpointPrices }] = await Promise.all([
    import('../../insight/costs.ts'),
    import('../text/prices.ts'),
  ]);
  if (!(await hasSchema(warehouse))) return { now, costs: nothing(since, NOT_SPENT), prices: [] };
  const costs = await readCosts(warehouse, since, now);
  return { now, costs, prices: await endpointPrices(warehouse, config, costs) };
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
