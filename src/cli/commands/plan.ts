/** `sluice plan`: what a sync would ask and the most it can cost. */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import type { Quote } from '../../plan/quote.ts';
import type { Warehouse } from '../../warehouse/connect.ts';
import { command, configOption } from '../command.ts';
import type { Channel, Context } from '../context.ts';
import { readConfig, withWarehouse } from '../open.ts';
import { counted, duration, grouped, table } from '../print.ts';
import { show } from '../show.ts';

export const plan = command({
  name: 'plan',
  summary: 'Tells what a sync would ask and the most it can cost; spends nothing.',
  about:
    'Makes the plan of each sync as a run would make it now, and asks nothing. The most points are by the price book, each request sent once. ' +
    'A sync that reads what another one fills is planned on what is there now. An empty warehouse gets its schema first. Needs no token.',
  options: {
    ...configOption,
    refresh: { type: 'flag', about: 'As sync --refresh: count what is fresh too.' },
    from: { type: 'day', value: 'DAY', about: 'As sync --from.' },
    to: { type: 'day', value: 'DAY', about: 'As sync --to.' },
  },
  positionals: { names: { takes: 'many', about: 'Syncs to plan; none means all.' } },
  examples: [
    { line: 'sluice plan', about: 'Every sync of the config.' },
    { line: 'sluice plan --json filings', about: 'One, for a program.' },
  ],
  run: async (said, context) => {
    const config = await readConfig(context, said.config);
    const options = {
      refresh: said.refresh,
      ...(said.from !== undefined && { from: said.from }),
      ...(said.to !== undefined && { to: said.to }),
    };
    const quoted = await withWarehouse(context, config, (warehouse) =>
      quote(context, config, warehouse, said.names, options),
    );
    show(context, quoted, () => planText(quoted, context.out));
    return 0;
  },
});

interface Planned {
  readonly syncs: readonly (Quote & { readonly sync: string; readonly endpoint: string })[];
  readonly total: Quote;
}

async function quote(
  { now }: Context,
  config: Config,
  warehouse: Warehouse,
  names: readonly string[],
  options: { readonly refresh: boolean; readonly from?: string; readonly to?: string },
): Promise<Planned> {
  const [{ planSync, priceOf }, { selectSyncs }, { quoteOf, totalQuote }, { ensureSchema }] = await Promise.all([
    import('../../flow/prepare.ts'),
    import('../../plan/order.ts'),
    import('../../plan/quote.ts'),
    import('../../warehouse/migrate.ts'),
  ]);
  await ensureSchema(warehouse);
  const at = now();
  const syncs: Planned['syncs'][number][] = [];
  for (const definition of selectSyncs(config.syncs, names)) {
    const { tasks, fresh, covered } = await planSync(warehouse, definition, options, at);
    const price = priceOf(config, definition);
    const quoted = quoteOf(tasks, (key) => fresh.has(key), price, mayGrow(definition), config.service);
    const counts = { requests: quoted.requests + covered, fresh: quoted.fresh + covered };
    syncs.push({ sync: definition.name, endpoint: definition.endpoint.name, ...quoted, ...counts });
  }
  return { syncs, total: totalQuote(syncs, config.service) };
}

/** Whether an answer can lead to requests that the plan does not hold. */
const mayGrow = ({ endpoint, window, splitBy }: SyncDefinition): boolean =>
  endpoint.paging.by === 'cursor' || window !== undefined || Object.keys(splitBy).length > 0;

function planText({ syncs, total }: Planned, channel: Channel): string {
  const columns = [
    { name: 'sync' },
    { name: 'endpoint' },
    ...['requests', 'fresh', 'to ask', 'most points', 'least time'].map((name) => ({ name, align: 'right' as const })),
  ];
  const rows = [...syncs, { sync: 'total', endpoint: '', ...total }].map((it) => [
    it.sync,
    it.endpoint,
    grouped(it.requests),
    grouped(it.fresh),
    grouped(it.requests - it.fresh),
    `${grouped(it.mostPoints)}${it.mayGrow ? '+' : ''}`,
    duration(it.leastMs),
  ]);
  return `${table(columns, rows, channel)}${sentence(syncs.length, total)}\n`;
}

function sentence(syncs: number, { requests, fresh, mostPoints, mayGrow: grows, leastMs }: Quote): string {
  const asked = requests - fresh;
  if (asked === 0)
    return `Nothing to ask: ${counted(fresh, 'request')} of ${counted(syncs, 'sync')} ${fresh === 1 ? 'is' : 'are'} fresh.`;
  const skipped =
    fresh === 0 ? '' : `; ${grouped(fresh)} more ${fresh === 1 ? 'is' : 'are'} fresh and not bought again`;
  const more = grows ? ' Full answers and the pages of the log lead to further requests (+).' : '';
  return `${counted(syncs, 'sync')} would send ${counted(asked, 'request')} for at most ${counted(mostPoints, 'point')}, in ${duration(leastMs)} or more${skipped}.${more}`;
}
