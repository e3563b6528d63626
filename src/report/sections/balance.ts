/** Points left by day, and when they run out at the recent rate. */
import { addDays, dayNumber, dayOf, daysFrom } from '../../day.ts';
import { drawing, frameOf, expected, filled } from '../chart.ts';
import { withNoun } from '../figures.ts';
import { type Content, html, type Markup, named } from '../markup.ts';
import { type BalanceHistory, PACE_DAYS, type Report } from '../report.ts';
import { column, dayTime, emptyState, figure, figuresBehind, panel, timeOf } from '../table.ts';
import type { Section } from './section.ts';
import { noLog } from './spend.ts';

const FIGURES = 'balance-figures';
/** The forecast covers at most this fraction of the days shown: further ahead, the rate says little. */
const AHEAD = 0.5;

export function balanceSection({ days, money }: Pick<Report, 'days' | 'money'>): Section {
  const body =
    money === undefined
      ? noLog()
      : money.balances.length === 0
        ? emptyState('The request log shows no balance.', 'There is nothing to do: not every plan has a limit.')
        : balancesBody(days, money.balances);
  return { id: 'balance', title: 'Balance and forecast', body };
}

function balancesBody(days: readonly string[], balances: readonly BalanceHistory[]): Markup {
  const known = days
    .map((day, dayIndex) => ({ day, left: balances.map(({ byDay }) => byDay[dayIndex] ?? null) }))
    .filter(({ left }) => left.some((it) => it !== null));
  const many = balances.length > 1;
  return html`${balances.map((it) => balancePanel(days, it, many))}
${
  known.length > 0 &&
  figuresBehind(known, {
    id: FIGURES,
    caption: 'points left at the end of each day',
    columns: [
      column('Day', ({ day }) => dayTime(day)),
      ...balances.map(({ token }, position) =>
        figure(
          many ? html`Points left on ${named(token)}` : 'Points left',
          ({ left }: (typeof known)[number]) => left[position],
        ),
      ),
    ],
  })
}`;
}

const balancePanel = (days: readonly string[], it: BalanceHistory, many: boolean): Markup =>
  html`<p class="lead">${forecast(it)}</p>
${panel({
  title: many ? html`Points left on token ${named(it.token)}` : 'Points left',
  figure: withNoun(it.points, 'point'),
  note: html`As of ${timeOf(it.at)}, according to the newest logged request that shows a balance. The dashed line is the forecast.`,
  chart: it.byDay.some((left) => left !== null) && balanceChart(days, it),
})}`;

/** The forecast in one sentence. */
export function forecast({ pace, runsOutOn }: BalanceHistory): Content {
  if (pace === null || runsOutOn === null) return 'Recent spending is too low to forecast when the points run out.';
  return html`At the recent mean rate of ${withNoun(Math.round(pace * 10) / 10, 'point')} a day (over at most ${withNoun(PACE_DAYS, 'day')}), the points run out on <strong>${dayTime(runsOutOn)}</strong>.`;
}

function balanceChart(days: readonly string[], { byDay, points, at, pace, runsOutOn }: BalanceHistory): Markup {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const balanceDay = dayNumber(dayOf(at)) - dayNumber(first);
  const ahead =
    runsOutOn === null
      ? 0
      : Math.max(0, Math.min(Math.round(days.length * AHEAD), dayNumber(runsOutOn) - dayNumber(last) + 1));
  const shown = daysFrom(first, addDays(last, ahead));
  const frame = frameOf({
    days: shown,
    maxValue: Math.max(points, ...byDay.map((it) => it ?? 0)),
    plotHeight: 150,
    unit: 'points',
  });
  const reach = shown.length - balanceDay - 1;
  const line =
    pace !== null &&
    balanceDay >= 0 &&
    expected(frame, { at: balanceDay + 1, value: points }, endOf({ at: balanceDay + 1, points, pace, reach }));
  return drawing(frame, {
    label: `Points left by day from ${first} to ${last}: ${withNoun(points, 'point')} on ${dayOf(at)}${runsOutOn === null ? '' : `; expected to run out on ${runsOutOn}`}.`,
    figures: FIGURES,
    marks: html`${filled(frame, byDay, (value) => `${withNoun(value, 'point')} left`)}${line}`,
  });
}

/** The end of the dashed line: at zero, or at the edge of the chart. */
function endOf(from: { readonly at: number; readonly points: number; readonly pace: number; readonly reach: number }) {
  const { at, points, pace, reach } = from;
  const left = pace > 0 ? points / pace : Infinity;
  return left <= reach ? { at: at + left, value: 0 } : { at: at + reach, value: points - pace * reach };
}
