/** `sluice plan`: shows what a sync would request, its cost, and how reliable the estimate is. */
import { DAY_MS } from '../../day.ts';
import type { Config, SyncDefinition } from '../../config/definition.ts';
import type { Level } from '../../plan/pricing/price-book.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import { readConfig, withWarehouse } from '../open.ts';
import { type Planned, planText, type SyncQuote } from '../text/plan-text.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { show } from '../terminal/show.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

export const plan = command({
  about:
    'Plan each sync as a run would plan it now, without requests to the service. Needs no token.\n\n' +
    '- low, likely: the lower end of the range that holds nine of ten costs, and the likely cost, if future answers resemble past ones.\n' +
    '- most: the cost of all requests, with all parts into which full answers can be split. A run spends no more, unless a request fails or its answer is lost, and it is sent and billed again (service.retries).\n' +
    `- confidence: guess until the request log (${LOG_ENDPOINT}) shows the prices, then fair or good.\n\n` +
    'If a sync reads a table that another sync fills, its plan uses the current rows. If the warehouse is empty, the command creates its schema.',
  options: {
    ...configOption,
    refresh: { type: 'flag', about: 'As for sync --refresh: plan requests with fresh answers too.' },
    failed: { type: 'flag', about: 'As for sync --failed: plan only what failed in the last run of each sync.' },
    from: { type: 'day', value: 'DAY', about: 'As for sync --from.' },
    to: { type: 'day', value: 'DAY', about: 'As for sync --to.' },
  },
  positionals: { names: { takes: 'many', completes: 'syncs', about: 'Syncs to plan (default: all).' } },
  examples: [
    { line: 'sluice plan', about: 'Plan every sync of the config.' },
    { line: 'sluice plan --json filings', about: 'Plan one sync, for a program.' },
  ],
  run: async (args, context) => {
    const config = await readConfig(context, args.config);
    const options = {
      refresh: args.refresh,
      failed: args.failed,
      ...(args.from !== undefined && { from: args.from }),
      ...(args.to !== undefined && { to: args.to }),
    };
    const quoted = await withWarehouse(context, config, (warehouse) => quote(config, warehouse, args.names, options));
    show(context, quoted, () =>
      planText(quoted, { syncCommand: syncCommandOf(args), budget: config.budget }, context.out),
    );
    return 0;
  },
});

/** The `sluice sync` command with the same names and flags, which sends the planned requests. */
function syncCommandOf(given: {
  readonly names: readonly string[];
  readonly config: string | undefined;
  readonly refresh: boolean;
  readonly failed: boolean;
  readonly from: string | undefined;
  readonly to: string | undefined;
}): string {
  const flags = [
    ...(given.config === undefined ? [] : ['--config', shellWord(given.config)]),
    ...(given.refresh ? ['--refresh'] : []),
    ...(given.failed ? ['--failed'] : []),
    ...(given.from === undefined ? [] : ['--from', given.from]),
    ...(given.to === undefined ? [] : ['--to', given.to]),
  ];
  return ['sluice sync', ...flags, ...given.names].join(' ');
}

async function quote(
  config: Config,
  warehouse: Warehouse,
  names: readonly string[],
  options: { readonly refresh: boolean; readonly failed: boolean; readonly from?: string; readonly to?: string },
): Promise<Planned> {
  const [
    { checkQueries },
    { planSync },
    { openPlan },
    { openForecast },
    { operationsOf },
    { readPrices },
    { selectSyncs },
    { QuestionTotals, quoteOf, totalQuote },
    { limiterName },
    { ensureSchema },
  ] = await Promise.all([
    import('../../flow/queries/check-queries.ts'),
    import('../../flow/prepare/plan-sync.ts'),
    import('../../flow/forecast/open-plan.ts'),
    import('../../flow/forecast/pending.ts'),
    import('../../warehouse/connect/operations-db.ts'),
    import('../../control/budget/read-price-book.ts'),
    import('../../plan/order.ts'),
    import('../../plan/pricing/quote.ts'),
    import('../../control/limiter/shared-slots.ts'),
    import('../../warehouse/migrate/migrate.ts'),
  ]);
  await ensureSchema(warehouse);
  const at = warehouse.clock.now();
  const definitions = selectSyncs(config.syncs, names);
  await checkQueries(warehouse, definitions);
  const syncs: SyncQuote[] = [];
  const seen: Record<string, readonly Level[]> = {};
  for (const definition of definitions) {
    const endpoint = definition.endpoint.name;
    const left = await openPlan(warehouse, definition, options, at);
    const { parts } = left ?? (await planSync(warehouse, definition, options, at));
    const prices = await readPrices(warehouse, config, definition);
    const ops = operationsOf(warehouse);
    const forecast = await openForecast(ops, definition, at);
    const totals = new QuestionTotals();
    let [requests, notSent, covered] = [0, 0, 0];
    for await (const part of parts(ops)) {
      requests += part.tasks.length;
      notSent += new Set([...part.givenUp, ...part.failing.keys()]).size;
      covered += 'covered' in part ? part.covered : 0;
      (await forecast(part)).forEach((question) => totals.add(question));
    }
    const quoted = quoteOf(requests - notSent, totals, prices, endpoint === LOG_ENDPOINT, config.service);
    const counts = { requests: quoted.requests + covered, fresh: quoted.fresh + covered, failing: notSent };
    syncs.push({
      sync: definition.name,
      endpoint,
      ...quoted,
      ...counts,
      waitsFor: parentsAmong(syncs, definition),
      continues: left?.continues ?? null,
    });
    seen[endpoint] = prices.levels;
  }
  const total = totalQuote(syncs, config.service);
  const known = await readPlanned(warehouse, limiterName(config.service.url, config.service.token?.reveal() ?? ''), at);
  const { balance, unverified } = known;
  return {
    syncs,
    total,
    unverified,
    balance: balance && {
      ...balance,
      leftLikely: balance.points - total.likely,
      leftAtLeast: balance.points - total.most,
    },
    prices: seen,
  };
}

/** How far back the plan looks for requests that the log has not confirmed. */
const UNVERIFIED_MS = 30 * DAY_MS;

/** The balance and the unverified points that the warehouse knows, without a request to the service. */
async function readPlanned(warehouse: Warehouse, token: string, now: Date) {
  const [{ lastBalance, readBalance }, { unverifiedPoints }, { spentSince }, { operationsOf }] = await Promise.all([
    import('../../control/budget/balance.ts'),
    import('../../ledger/log-costs.ts'),
    import('../../control/budget/shared-budget.ts'),
    import('../../warehouse/connect/operations-db.ts'),
  ]);
  const unverified = await unverifiedPoints(operationsOf(warehouse), {
    since: new Date(now.getTime() - UNVERIFIED_MS),
  });
  const [read, logged] = [await readBalance(warehouse, token), await lastBalance(warehouse)];
  const newest = read && (!logged || logged.at <= read.readAt) ? { ...read, at: read.readAt } : logged;
  if (!newest) return { balance: null, unverified };
  // The balance includes the request that shows it, so the count starts one millisecond later.
  const { points } = await spentSince(warehouse, new Date(newest.at.getTime() + 1));
  return { balance: { points: newest.points - Number(points), at: newest.at.toISOString() }, unverified };
}

/** The parents that have requests to send, if the sync reads its inputs from the warehouse. */
function parentsAmong(planned: readonly SyncQuote[], { after, forEach }: SyncDefinition): string[] {
  if (forEach?.some(({ from }) => from === 'query') !== true) return [];
  return planned.filter((it) => after.includes(it.sync) && it.requests > it.fresh).map(({ sync }) => sync);
}
