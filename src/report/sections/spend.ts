/** Spending by day in total, then for each endpoint on a common scale. */
import { drawing, type ChartFrameOptions, frameOf, bars } from '../chart.ts';
import { withNoun, withThousands, percent } from '../figures.ts';
import { type Content, html, type Markup, named } from '../markup.ts';
import type { EndpointSpend, Money, Report } from '../report.ts';
import { column, dayTime, dayOfInstant, emptyState, figure, figuresBehind, panel } from '../table.ts';
import type { Section } from './section.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

const FIGURES = 'spend-figures';

export function spendSection({ days, money }: Pick<Report, 'days' | 'money'>): Section {
  return { id: 'spend', title: 'Spend by endpoint', body: money ? spendBody(days, money) : noLog() };
}

/** The notice that the request log was never read, with the next step. */
export const noLog = (): Markup =>
  emptyState(
    'The request log of the service was never read, so the spending is unknown.',
    html`Add a sync of <code>${LOG_ENDPOINT}</code> to the config and run <code>sluice sync</code>; reading the log costs nothing.`,
  );

function spendBody(days: readonly string[], { endpoints, readUpTo, chargedFailures }: Money): Markup {
  const source = html`<p class="lead">Points that the service charged according to its request log, read up to ${dayOfInstant(readUpTo)}. The last day is not over.</p>`;
  const total = endpoints.reduce((sum, { points }) => sum + points, 0);
  if (total === 0) {
    return html`${source}${emptyState('Nothing was charged in these days.', html`<code>sluice plan</code> shows what the next sync would request.`)}`;
  }
  const charged = endpoints.filter(({ points }) => points > 0);
  const free = endpoints.filter(({ points }) => points === 0);
  const byDay = days.map((_, dayIndex) => charged.reduce((sum, it) => sum + (it.byDay[dayIndex] ?? 0), 0));
  return html`${source}
${panel({
  title: 'All endpoints',
  figure: withNoun(total, 'point'),
  note: failuresNote(chargedFailures),
  chart: spendChart(days, byDay, 'all endpoints', {
    maxValue: Math.max(...byDay),
    plotHeight: 150,
    unit: 'points a day',
  }),
})}
<h3 class="set">Points a day by endpoint, on a common scale</h3>
<div class="multiples">
${charged.map((it) => endpointPanel(days, it, total, Math.max(...charged.flatMap((each) => each.byDay))))}
</div>${freeNote(free)}
${figuresBehind(days, {
  id: FIGURES,
  caption: 'points charged, by day and endpoint',
  columns: [
    column('Day', dayTime),
    ...charged.map((it) => figure(named(it.endpoint), (_: string, dayIndex) => it.byDay[dayIndex] ?? 0)),
    figure('All', (_, dayIndex) => byDay[dayIndex] ?? 0),
  ],
  sums: ['Sum', ...charged.map(({ points }) => withThousands(points)), withThousands(total)],
})}`;
}

function endpointPanel(days: readonly string[], it: EndpointSpend, total: number, maxValue: number): Markup {
  return panel({
    title: named(it.endpoint),
    figure: withNoun(it.points, 'point'),
    note: `${percent(it.points / total)} of all, for ${withNoun(it.requests, 'request')}`,
    chart: spendChart(days, it.byDay, it.endpoint, { maxValue, plotHeight: 64 }),
  });
}

function spendChart(
  days: readonly string[],
  byDay: readonly number[],
  subject: string,
  shape: Omit<ChartFrameOptions, 'days'>,
): Markup {
  const frame = frameOf({ days, ...shape });
  const most = Math.max(...byDay);
  const peak = most > 0 ? `, the most ${withNoun(most, 'point')} on ${days[byDay.indexOf(most)] ?? ''}` : '';
  const sum = byDay.reduce((all, it) => all + it, 0);
  return drawing(frame, {
    label: `Points by day for ${subject}: ${withNoun(sum, 'point')} from ${days[0] ?? ''} to ${days.at(-1) ?? ''}${peak}.`,
    figures: FIGURES,
    marks: bars(frame, byDay, (value) => withNoun(value, 'point')),
  });
}

const freeNote = (free: readonly EndpointSpend[]): Content =>
  free.length > 0 &&
  html`<p class="fine">Nothing was charged for ${free.map(({ endpoint, requests }, index) => html`${index > 0 && ', '}${named(endpoint)} (${withNoun(requests, 'request')})`)}.</p>`;

function failuresNote({ requests, points }: Money['chargedFailures']): string {
  return requests === 0
    ? 'None of it for requests that failed or whose answer was lost.'
    : `${withNoun(points, 'point')} of it for ${withNoun(requests, 'request')} that failed or whose answer was lost.`;
}
