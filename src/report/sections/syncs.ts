/** The syncs: the newest run of each, the age of its data, and the outcome of its runs by day. */
import { rounded } from '../chart.ts';
import { withThousands, durationText } from '../figures.ts';
import { type Content, html, type Markup, named } from '../markup.ts';
import type { Report, SyncState } from '../report.ts';
import { column, dayTime, emptyState, figure, figuresBehind, syncName, tableOf, timeOf } from '../table.ts';
import { type Section, stateMark, stateWords, toneOf } from './section.ts';

const FIGURES = 'outcome-figures';

/** The section. `nameOf` returns the cell with the name of a sync. */
export function syncsSection(
  { days, syncs, madeAt }: Pick<Report, 'days' | 'syncs' | 'madeAt'>,
  nameOf: (it: SyncState) => Markup = syncName,
): Section {
  return {
    id: 'syncs',
    title: 'Syncs',
    body:
      syncs.length === 0
        ? emptyState('Nothing has run yet.', html`Run <code>sluice sync</code>.`)
        : syncsBody(days, syncs, madeAt, nameOf),
  };
}

function syncsBody(
  days: readonly string[],
  syncs: readonly SyncState[],
  madeAt: Date,
  nameOf: (it: SyncState) => Markup,
): Markup {
  const daysWithRuns = days
    .map((day, dayIndex) => ({ day, dayIndex }))
    .filter(({ dayIndex }) => syncs.some(({ byDay }) => byDay[dayIndex] != null));
  return html`<p class="lead">Age is the time since the end of the newest run that sent all of its planned requests. In the strip, a low bar is a day whose runs were all complete, a taller bar a day with another outcome, and a full bar a day with a failed run.</p>
${tableOf(syncs, {
  id: 'syncs-table',
  caption: 'Syncs with the outcome of their newest run, freshness and backlog',
  columns: [
    column('Sync', nameOf),
    column('Newest run', newestRun, 'outcome'),
    figure('Age', ({ refreshedAt }) =>
      refreshedAt === null ? 'never' : durationText(Math.max(0, madeAt.getTime() - refreshedAt.getTime())),
    ),
    column(`${days.length} days to ${days.at(-1) ?? ''}`, (it) => strip(days, it), 'drawing'),
    figure('Runs', (it) => it.runs),
    figure('Open requests', (it) => quietZero(it.open)),
    figure('In doubt', (it) => quietZero(it.inDoubt)),
    figure('Not yet loaded', (it) => quietZero(it.waiting)),
  ],
})}
${figuresBehind(daysWithRuns, {
  id: FIGURES,
  caption: 'worst outcome of each sync’s runs, by day with a run',
  columns: [
    column('Day', ({ day }) => dayTime(day)),
    ...syncs.map(({ sync, byDay }) =>
      column(named(sync), ({ dayIndex }: { dayIndex: number }) => stateWords(byDay[dayIndex] ?? '')),
    ),
  ],
})}`;
}

const newestRun = ({ state, startedAt, endedAt, error }: SyncState): Markup =>
  html`${stateMark(state)}<span class="sub">${timeOf(endedAt ?? startedAt)}</span>${error !== null && html`<span class="sub">${named(error)}</span>`}`;

/** The count; a zero is shown in a muted style. */
export const quietZero = (count: number): Content =>
  count === 0 ? html`<span class="quiet">0</span>` : html`<strong>${withThousands(count)}</strong>`;

const HEIGHT = 22;
const HEIGHTS: Readonly<Record<string, number>> = { good: 8, idle: 8, warn: 15, bad: HEIGHT };

/** A bar for each day with a run. Height and colour show the outcome. */
function strip(days: readonly string[], { sync, byDay }: SyncState): Markup {
  const wide = 100 / days.length;
  const bars = byDay.map((outcome, dayIndex) => {
    if (outcome === null) return undefined;
    const tone = toneOf(outcome);
    const height = HEIGHTS[tone] ?? HEIGHT;
    return html`<rect class="${tone}" x="${rounded((dayIndex + 0.1) * wide)}%" y="${HEIGHT - height}" width="${rounded(wide * 0.8)}%" height="${height}"><title>${days[dayIndex]}: ${stateWords(outcome)}</title></rect>`;
  });
  return html`<svg class="strip" width="100%" height="${HEIGHT + 1}" role="img" aria-label="${stripLabel(sync, byDay)}" aria-details="${FIGURES}" data-figures="${FIGURES}">${bars}<line class="floor" x1="0" x2="100%" y1="${HEIGHT + 0.5}" y2="${HEIGHT + 0.5}"/></svg>`;
}

function stripLabel(sync: string, byDay: readonly (string | null)[]): string {
  const counts = new Map<string, number>();
  for (const outcome of byDay) if (outcome !== null) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const outcomes = [...counts].map(([outcome, days]) => `${stateWords(outcome)} on ${days}`);
  return `Days on which ${sync} ran: ${outcomes.length === 0 ? 'none' : outcomes.join(', ')}.`;
}
