/** `sluice costs`: shows spending with its results, the balance and the forecast, and advises what to do. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { CostCell, Costs, Verification } from '../../insight/costs.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import { csv } from '../terminal/csv.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import type { EndpointPrice } from '../text/prices.ts';
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
    `Add up the request log of the service by sync, endpoint, plan, day and run. A sync of ${LOG_ENDPOINT} reads the log. Needs no token.\n\n` +
    '- points: points that the service charged.\n' +
    '- (other programs): requests that no sync of this warehouse sent.\n' +
    '- for failed: points for requests that failed.\n' +
    '- for nothing new: points for answers that contained nothing new.\n' +
    '- by ledger: points that Sluice recorded itself.\n\n' +
    'Further tables show learned prices with their spread, points left with the day on which they run out at the recent rate, points charged for nothing, and what a max_age would have saved. ' +
    'The last lines show how the log agrees with the ledger, and what to do next. ' +
    '--csv prints the sums by day, endpoint, plan and sync, from which all others are derived.',
  options: {
    ...configOption,
    since: { type: 'day', value: 'DAY', about: 'Count from this UTC day on (default: from the beginning).' },
    csv: { type: 'flag', about: 'Print points by day, endpoint, plan and sync as CSV.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice costs', about: 'Show all costs so far.' },
    { line: 'sluice costs --since 2026-03-01', about: 'Show costs from a day on.' },
    { line: 'sluice costs --csv > costs.csv', about: 'Export sums by day, endpoint, plan and sync to a spreadsheet.' },
    { line: 'sluice costs --json', about: 'Print every figure for a program.' },
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
