/** Formats the output of `costs` for people: a sentence, the tables that have rows, and the next steps. */
import type { BalanceForecast } from '../../insight/cost-details.ts';
import type { Costs, CostSums } from '../../insight/costs.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { withNoun, duration, withThousands, paint, table } from '../terminal/print.ts';
import { CONFIDENCE } from './plan-text.ts';
import type { EndpointPrice } from './prices.ts';
import { reconciliationLine } from './reconciliation-line.ts';

export interface CostsTextInput {
  readonly costs: Costs;
  readonly prices: readonly EndpointPrice[];
  readonly advice: readonly string[];
  readonly now: Date;
}

/** Limits for one screen. --json has all days, runs and failures; --csv has all days. */
const MOST_DAYS = 14;
const MOST_RUNS = 5;
const MOST_FAILURES = 10;

/** The text, with a line break at the end. */
export function costsText({ costs, prices, advice, now }: CostsTextInput, channel: Channel): string {
  const { total, syncs, since } = costs;
  const from = since === null ? '' : ` since ${since}`;
  if (total.requests === 0 && syncs.length === 0)
    return `nothing was paid${from}${since === null ? ' yet; run sluice sync' : ''}\n${nextLines(advice)}`;
  return [
    headline(costs),
    verified(costs),
    section('by sync', syncTable(costs, channel), channel),
    section('points by loaded item and new row', yieldTable(costs, channel), channel),
    section(
      'by endpoint',
      sumsTable('endpoint', costs.endpoints, ({ endpoint }) => endpoint, channel),
      channel,
    ),
    section(
      'by plan',
      sumsTable('plan', costs.plans, ({ plan }) => plan, channel),
      channel,
    ),
    section('by day', dayTable(costs, channel), channel),
    section('most expensive runs', runTable(costs, channel), channel),
    section('prices', priceTable(prices, channel), channel),
    section('points left', balanceTable(costs.balances, now, channel), channel),
    section('charged for nothing', failureTable(costs, channel), channel),
    section('savings of a max_age, over all answers', savingTable(costs, channel), channel),
    reconciliationLine(costs.reconciliation),
    advice.length > 0 ? `\n${nextLines(advice)}` : '',
  ].join('');
}

const nextLines = (advice: readonly string[]): string => advice.map((it) => `next: ${escapeControls(it)}\n`).join('');

const section = (title: string, text: string, channel: Channel): string =>
  text === '' ? '' : `\n${paint(channel, 'bold', title)}\n${text}`;

/** The points of the ledger that the log does not confirm; empty if it confirms all. */
function verified({ verification: it }: Costs): string {
  if (it.unverifiedRequests === 0) return '';
  return `${withNoun(it.unverifiedPoints, 'point')} for ${withNoun(it.unverifiedRequests, 'request')} not verified by the log\n`;
}

function headline({ total, syncs, since, verification }: Costs): string {
  const { points, requests, failedPoints, firstDay, lastDay } = total;
  if (requests === 0) {
    const known = syncs.reduce((sum, it) => sum + it.ledgerPoints, 0);
    const from = since === null ? '' : ` since ${since}`;
    const { verifiedRequests, verifiedPoints, quotedPoints } = verification;
    return verifiedRequests === 0
      ? `${withNoun(known, 'point')}${from} according to the ledger; the request log has no rows for this time\n`
      : `${withNoun(known, 'point')}${from} according to the ledger, ${withThousands(verifiedPoints)} of them verified by the log for ${withNoun(verifiedRequests, 'request')}; quoted ${withThousands(quotedPoints)}\n`;
  }
  const failed = failedPoints === 0 ? '' : `, ${withThousands(failedPoints)} of them for requests that failed`;
  return `${withNoun(points, 'point')} for ${withNoun(requests, 'request')} in the request log, ${since ?? firstDay} to ${lastDay}${failed}\n`;
}

const columnsOf = (left: readonly string[], right: readonly string[]) => [
  ...left.map((name) => ({ name })),
  ...right.map((name) => ({ name, align: 'right' as const })),
];

const share = (part: number, total: number): string =>
  total > 0 ? `${withThousands(Math.round((part / total) * 1000) / 10)} %` : '';
const each = (points: number | null): string => (points === null ? '' : withThousands(points));

function syncTable({ syncs, total }: Costs, channel: Channel): string {
  const rows = syncs.map((it) => [
    it.sync,
    it.endpoint,
    withThousands(it.requests),
    withThousands(it.points),
    share(it.points, total.points),
    withThousands(it.failedPoints),
    withThousands(it.ledgerPoints),
  ]);
  const ledger = withThousands(syncs.reduce((sum, it) => sum + it.ledgerPoints, 0));
  const last = [
    'total',
    '',
    withThousands(total.requests),
    withThousands(total.points),
    '',
    withThousands(total.failedPoints),
    ledger,
  ];
  const columns = columnsOf(['sync', 'endpoint'], ['requests', 'points', 'share', 'for failed', 'by ledger']);
  return table(columns, [...rows, last], channel);
}

function yieldTable({ syncs }: Costs, channel: Channel): string {
  const rows = syncs
    .filter(({ answers }) => answers > 0)
    .map((it) => [
      it.sync,
      it.endpoint,
      withThousands(it.loaded),
      each(it.pointsPerLoaded),
      withThousands(it.newRows),
      each(it.pointsPerNewRow),
      withThousands(it.nothingNewPoints),
      share(it.nothingNewPoints, it.answerPoints),
    ]);
  if (rows.length === 0) return '';
  const columns = columnsOf(['sync', 'endpoint'], ['loaded', 'each', 'new rows', 'each', 'for nothing new', 'share']);
  return table(columns, rows, channel);
}

function sumsTable<T extends CostSums>(
  name: string,
  sums: readonly T[],
  nameOf: (it: T) => string,
  channel: Channel,
): string {
  if (sums.length === 0) return '';
  const all = sums.reduce((total, it) => total + it.points, 0);
  const rows = sums.map((it) => [
    nameOf(it),
    withThousands(it.requests),
    withThousands(it.points),
    share(it.points, all),
    withThousands(it.failedRequests),
    withThousands(it.failedPoints),
  ]);
  return table(columnsOf([name], ['requests', 'points', 'share', 'failed', 'for failed']), rows, channel);
}

function dayTable({ days, balances }: Costs, channel: Channel): string {
  if (days.length === 0) return '';
  const shown = days.slice(-MOST_DAYS);
  // With several tokens, there is no single balance to show.
  const [own, another] = balances.filter(({ isOurs }) => isOurs);
  const left = new Map(
    another ? [] : own?.days.flatMap(({ date, pointsLeft }) => (pointsLeft === null ? [] : [[date, pointsLeft]])),
  );
  const rows = shown.map((it) => [
    it.date,
    withThousands(it.requests),
    withThousands(it.points),
    withThousands(it.failedPoints),
    ...(left.size > 0 ? [each(left.get(it.date) ?? null)] : []),
  ]);
  const more = days.length - shown.length;
  const columns = columnsOf(['day'], ['requests', 'points', 'for failed', ...(left.size > 0 ? ['points left'] : [])]);
  return `${table(columns, rows, channel)}${more > 0 ? `and ${withNoun(more, 'day')} before; --csv and --json have all\n` : ''}`;
}

function runTable({ runs }: Costs, channel: Channel): string {
  const costOf = ({ requests, points, ledgerPoints }: (typeof runs)[number]): number =>
    requests > 0 ? points : (ledgerPoints ?? 0);
  const dearest = runs
    .filter((it) => costOf(it) > 0)
    .toSorted((a, b) => costOf(b) - costOf(a))
    .slice(0, MOST_RUNS);
  if (dearest.length === 0) return '';
  const rows = dearest.map((it) => [
    it.runId,
    it.sync,
    it.startedAt.toISOString().slice(0, 10),
    it.state.replaceAll('_', ' '),
    withThousands(costOf(it)),
    each(it.quotedPoints),
    withThousands(it.loaded),
    withThousands(it.newRows),
  ]);
  return table(
    columnsOf(['run', 'sync', 'day', 'state'], ['points', 'quoted', 'items loaded', 'new rows']),
    rows,
    channel,
  );
}

function priceTable(prices: readonly EndpointPrice[], channel: Channel): string {
  const shown = prices.filter(({ samples, points }) => samples > 0 || points !== 0);
  if (shown.length === 0) return '';
  const rows = shown.map((it) => [
    it.endpoint,
    priceInWords(it),
    CONFIDENCE[it.sure],
    each(it.low),
    each(it.median),
    each(it.high),
    it.samples > 0 ? `${withThousands(Math.round(it.deviation * 1000) / 10)} %` : '',
    withThousands(it.samples),
  ]);
  return table(
    columnsOf(['endpoint', 'price', 'confidence'], ['low', 'median', 'high', 'spread', 'samples']),
    rows,
    channel,
  );
}

function priceInWords({ by, per, points }: EndpointPrice): string {
  if (by === null || points === null) return 'varies without a known rule';
  if (by === 'call') return `${withThousands(points)} a call`;
  const items = per === 1 ? 'item' : `started ${withThousands(per ?? 1)} items`;
  return `${withThousands(points)} per ${items} ${by === 'asked' ? 'requested' : 'returned'}`;
}

function balanceTable(balances: readonly BalanceForecast[], now: Date, channel: Channel): string {
  const known = balances.filter(({ pointsLeft }) => pointsLeft !== null);
  if (known.length === 0) return '';
  const rows = known.map((it) => [
    it.token,
    it.isOurs ? 'yes' : 'no',
    each(it.pointsLeft),
    it.toldAt === null ? '' : `${duration(Math.max(0, now.getTime() - it.toldAt.getTime()))} ago`,
    each(Math.round(it.pointsPerDay7 * 10) / 10),
    each(Math.round(it.pointsPerDay30 * 10) / 10),
    it.runsOutAt7?.toISOString().slice(0, 10) ?? 'never',
  ]);
  const columns = [
    ...columnsOf(['token', 'ours'], ['points left', 'reported', 'a day (7 days)', 'a day (30 days)']),
    { name: 'run out on' },
  ];
  return table(columns, rows, channel);
}

function failureTable({ failures }: Costs, channel: Channel): string {
  const shown = failures.slice(0, MOST_FAILURES);
  if (shown.length === 0) return '';
  const rows = shown.map((it) => [
    it.sync,
    it.endpoint,
    it.kind,
    it.status ?? '',
    withThousands(it.requests),
    withThousands(it.points),
    it.error ?? '',
  ]);
  const more = failures.length - shown.length;
  const columns = [...columnsOf(['sync', 'endpoint', 'kind', 'status'], ['requests', 'points']), { name: 'error' }];
  return `${table(columns, rows, channel)}${more > 0 ? `and ${withThousands(more)} more kinds; --json has all\n` : ''}`;
}

function savingTable({ savings }: Costs, channel: Channel): string {
  const syncs = [...Map.groupBy(savings, ({ sync }) => sync)].filter(([, ages]) =>
    ages.some((it) => it.savedPoints > 0),
  );
  if (syncs.length === 0) return '';
  const ages = [...new Set(savings.map(({ maxAgeDays }) => maxAgeDays))].toSorted((a, b) => a - b);
  const columns = columnsOf(['sync'], ['points', ...ages.flatMap((days) => [`saved by ${days}d`, 'late answers'])]);
  const rows = syncs.map(([sync, found]) => [
    sync,
    each(found[0]?.points ?? null),
    ...ages.flatMap((days) => {
      const it = found.find(({ maxAgeDays }) => maxAgeDays === days);
      return it ? [withThousands(it.savedPoints), withThousands(it.lateAnswers)] : ['', ''];
    }),
  ]);
  return table(columns, rows, channel);
}
