/** Formats the output of `costs` for people: a sentence, the tables that have rows, and the next steps. */
import { dayOf } from '../../day.ts';
import type { BalanceForecast } from '../../insight/cost-details.ts';
import type { BudgetUse } from '../../control/budget/budget-use.ts';
import type { CostGroup, Costs, CostSums, SyncCosts } from '../../insight/costs.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { column, duration, fields, figure, figures, tableOf, withNoun, withThousands } from '../terminal/print.ts';
import { heading } from '../terminal/paragraph.ts';
import type { EndpointPrice } from './prices.ts';
import { reconciliationLine } from './reconciliation-line.ts';

/** The costs with what helps to judge them. */
export interface CostReport {
  readonly costs: Costs;
  readonly prices: readonly EndpointPrice[];
  readonly budgets: readonly BudgetUse[];
  readonly advice: readonly string[];
  /** By the database's clock. */
  readonly now: Date;
}

/** Limits for one screen. --json has all days, runs and failures; --csv has all days. */
const MOST_DAYS = 14;
const MOST_RUNS = 5;
const MOST_FAILURES = 10;

/** The text, with a line break at the end. */
export function costsText({ costs, prices, budgets, advice, now }: CostReport, channel: Channel): string {
  const { total, syncs, since } = costs;
  const from = since === null ? '' : ` since ${since}`;
  if (total.requests === 0 && syncs.length === 0)
    return `nothing was paid${from}${since === null ? ' yet; run sluice sync' : ''}\n${nextLines(advice)}`;
  const tables = [
    ['by sync', syncTable(costs, channel)],
    ['points by loaded item and new row', yieldTable(costs, channel)],
    ['by endpoint', sumsTable('endpoint', costs.endpoints, ({ endpoint }) => endpoint, channel)],
    ['by plan', sumsTable('plan', costs.plans, ({ plan }) => plan, channel)],
    ['by day', dayTable(costs, channel)],
    ['most expensive runs', runTable(costs, channel)],
    ['prices', priceTable(prices, channel)],
    ['budgets', budgetTable(budgets, channel)],
    ['points left', balanceTable(costs.balances, now, channel)],
    ['charged for nothing', failureTable(costs, channel)],
    ['savings of a max_age, over all answers', savingTable(costs, channel)],
  ] as const;
  return [
    headline(costs),
    verified(costs),
    ...tables.map(([title, text]) => (text === '' ? '' : heading(title, channel) + text)),
    reconciliationLine(costs.reconciliation),
    advice.length > 0 ? `\n${nextLines(advice)}` : '',
  ].join('');
}

/** The sums of `costs --by` for people, with a line break at the end. */
export function groupsText(
  { by, groups }: { readonly by: string; readonly groups: readonly CostGroup[] },
  channel: Channel,
): string {
  return groups.length === 0
    ? 'the request log has no rows for this time\n'
    : sumsTable(by.replace(/^tag:/, ''), groups, ({ name }) => name, channel);
}

const nextLines = (advice: readonly string[]): string => advice.map((it) => `next: ${escapeControls(it)}\n`).join('');

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

const share = (part: number, total: number): string =>
  total > 0 ? `${withThousands(Math.round((part / total) * 1000) / 10)} %` : '';

/** False for free reads of the request log, which every sync has. */
const hasCost = ({ requests, ledgerPoints, answerPoints }: SyncCosts): boolean =>
  requests > 0 || ledgerPoints > 0 || answerPoints > 0;

function syncTable({ syncs, total }: Costs, channel: Channel): string {
  const shown = syncs.filter(hasCost);
  if (shown.length === 0) return '';
  const ledgerPoints = syncs.reduce((sum, it) => sum + it.ledgerPoints, 0);
  const last = { ...total, sync: 'total', endpoint: '', ledgerPoints };
  return tableOf([...shown, last], channel, [
    ...fields('sync', 'endpoint'),
    ...figures('requests', 'points'),
    figure('share', (it) => (it === last ? '' : share(it.points, total.points))),
    figure('for failed', (it) => it.failedPoints),
    figure('by ledger', (it) => it.ledgerPoints),
  ]);
}

function yieldTable({ syncs }: Costs, channel: Channel): string {
  const answered = syncs.filter((it) => it.answers > 0 && hasCost(it));
  return tableOf(answered, channel, [
    ...fields('sync', 'endpoint'),
    figure('loaded', (it) => it.loaded),
    figure('each', (it) => it.pointsPerLoaded),
    figure('new rows', (it) => it.newRows),
    figure('each', (it) => it.pointsPerNewRow),
    figure('for nothing new', (it) => it.nothingNewPoints),
    figure('share', (it) => share(it.nothingNewPoints, it.answerPoints)),
  ]);
}

function sumsTable<T extends CostSums>(
  name: string,
  sums: readonly T[],
  nameOf: (it: T) => string,
  channel: Channel,
): string {
  const all = sums.reduce((total, it) => total + it.points, 0);
  return tableOf(sums, channel, [
    column(name, nameOf),
    ...figures('requests', 'points'),
    figure('share', (it) => share(it.points, all)),
    figure('failed', (it) => it.failedRequests),
    figure('for failed', (it) => it.failedPoints),
  ]);
}

function dayTable({ days, balances }: Costs, channel: Channel): string {
  // With several tokens, there is no single balance to show.
  const [own, another] = balances.filter(({ isOurs }) => isOurs);
  const left = new Map(another ? [] : own?.days.map(({ date, pointsLeft }) => [date, pointsLeft]));
  const isKnown = [...left.values()].some((it) => it !== null);
  const text = tableOf(days.slice(-MOST_DAYS), channel, [
    column('day', (it) => it.date),
    ...figures('requests', 'points'),
    figure('for failed', (it) => it.failedPoints),
    ...(isKnown ? [figure('points left', ({ date }: { date: string }) => left.get(date) ?? null)] : []),
  ]);
  const more = days.length - MOST_DAYS;
  return `${text}${more > 0 ? `and ${withNoun(more, 'day')} before; --csv and --json have all\n` : ''}`;
}

function runTable({ runs }: Costs, channel: Channel): string {
  const costOf = ({ requests, points, ledgerPoints }: (typeof runs)[number]): number =>
    requests > 0 ? points : (ledgerPoints ?? 0);
  const dearest = runs
    .filter((it) => costOf(it) > 0)
    .toSorted((a, b) => costOf(b) - costOf(a))
    .slice(0, MOST_RUNS);
  return tableOf(dearest, channel, [
    column('run', (it) => it.runId),
    column('sync', (it) => it.sync),
    column('day', (it) => dayOf(it.startedAt)),
    column('state', (it) => it.state.replaceAll('_', ' ')),
    figure('points', costOf),
    figure('quoted', (it) => it.quotedPoints),
    figure('items loaded', (it) => it.loaded),
    figure('new rows', (it) => it.newRows),
  ]);
}

function priceTable(prices: readonly EndpointPrice[], channel: Channel): string {
  const known = prices.filter(({ samples, points }) => samples > 0 || points !== 0);
  return tableOf(known, channel, [
    column('endpoint', (it) => it.endpoint),
    column('price', priceInWords),
    column('confidence', (it) => it.confidence),
    ...figures('low', 'median', 'high'),
    figure('spread', (it) => (it.samples > 0 ? share(it.deviation, 1) : '')),
    figure('samples', (it) => it.samples),
  ]);
}

function priceInWords({ by, per, points }: EndpointPrice): string {
  if (by === null || points === null) return 'varies without a known rule';
  if (by === 'call') return `${withThousands(points)} a call`;
  const items = per === 1 ? 'item' : `started ${withThousands(per ?? 1)} items`;
  return `${withThousands(points)} per ${items} ${by === 'asked' ? 'requested' : 'returned'}`;
}

function budgetTable(budgets: readonly BudgetUse[], channel: Channel): string {
  return tableOf(budgets, channel, [
    ...fields('budget', 'period'),
    ...figures('spent', 'limit'),
    figure('share', (it) => share(it.spent, it.limit)),
    figure('left', (it) => Math.max(0, it.limit - it.spent)),
  ]);
}

function balanceTable(balances: readonly BalanceForecast[], now: Date, channel: Channel): string {
  const known = balances.filter(({ pointsLeft }) => pointsLeft !== null);
  return tableOf(known, channel, [
    column('token', (it) => it.token),
    column('ours', (it) => (it.isOurs ? 'yes' : 'no')),
    figure('points left', (it) => it.pointsLeft),
    figure('reported', ({ toldAt }) => toldAt && `${duration(Math.max(0, now.getTime() - toldAt.getTime()))} ago`),
    figure('a day (7 days)', (it) => Math.round(it.pointsPerDay7 * 10) / 10),
    figure('a day (30 days)', (it) => Math.round(it.pointsPerDay30 * 10) / 10),
    column('run out on', ({ runsOutAt7 }) => (runsOutAt7 ? dayOf(runsOutAt7) : 'never')),
  ]);
}

function failureTable({ failures }: Costs, channel: Channel): string {
  const text = tableOf(failures.slice(0, MOST_FAILURES), channel, [
    ...fields('sync', 'endpoint', 'kind'),
    column('status', (it) => it.status ?? ''),
    ...figures('requests', 'points'),
    column('error', (it) => it.error ?? ''),
  ]);
  const more = failures.length - MOST_FAILURES;
  return `${text}${more > 0 ? `and ${withThousands(more)} more kinds; --json has all\n` : ''}`;
}

function savingTable({ savings }: Costs, channel: Channel): string {
  const ages = [...new Set(savings.map(({ maxAgeDays }) => maxAgeDays))].toSorted((a, b) => a - b);
  const syncs = [...Map.groupBy(savings, ({ sync }) => sync)]
    .filter(([, found]) => found.some((it) => it.savedPoints > 0))
    .map(([sync, found]) => ({ sync, found, at: new Map(found.map((it) => [it.maxAgeDays, it])) }));
  return tableOf(syncs, channel, [
    column('sync', (it) => it.sync),
    figure('points', ({ found }) => found[0]?.points ?? null),
    ...ages.flatMap((days) => [
      figure(`saved by ${days}d`, ({ at }: (typeof syncs)[number]) => at.get(days)?.savedPoints ?? null),
      figure('late answers', ({ at }: (typeof syncs)[number]) => at.get(days)?.lateAnswers ?? null),
    ]),
  ]);
}
