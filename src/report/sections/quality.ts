/** Quality: results of the received items, the quarantine with its reasons, and differences from the contract. */
import { drawing, frameOf, bars } from '../chart.ts';
import { shareOf, withNoun, withThousands } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import type { ReportedDrift, Quality, Quarantine, Report } from '../report.ts';
import { column, dayTime, emptyState, figure, figuresBehind, panel, syncName, tableOf, timeOf } from '../table.ts';
import type { Section } from './section.ts';
import { quietZero } from './syncs.ts';

const FIGURES = 'quarantine-figures';

export function qualitySection({ days, quality, quarantine, drift }: Report): Section {
  return {
    id: 'quality',
    title: 'Quality and quarantine',
    body:
      quality.length === 0
        ? emptyState('No answer was loaded yet.', html`Run <code>sluice sync</code>.`)
        : html`${itemsTable(quality)}${quarantinePart(days, quarantine)}${driftPart(drift)}`,
  };
}

const ITEMS = ['received', 'loaded', 'unchanged', 'superseded', 'quarantined'] as const;

function itemsTable(quality: readonly Quality[]): Markup {
  const sum = (name: (typeof ITEMS)[number] | 'openQuarantine' | 'lastFailed' | 'lastMissing'): number =>
    quality.reduce((all, it) => all + it[name], 0);
  return html`<p class="lead">Current results of the items of all answers: received = loaded + unchanged + superseded + quarantined.</p>
${tableOf(quality, {
  id: 'quality-table',
  caption: 'Results of the items that each sync received',
  columns: [
    column('Sync', syncName),
    figure('Items received', (it) => it.received),
    figure('Loaded', (it) => it.loaded),
    figure('Unchanged', (it) => it.unchanged),
    figure('Superseded', (it) => it.superseded),
    figure('Quarantined', (it) => quietZero(it.quarantined)),
    figure('Share quarantined', (it) => shareOf(it.quarantined, it.received)),
    figure('Open in quarantine', (it) => quietZero(it.openQuarantine)),
    figure('Failed in newest run', (it) => quietZero(it.lastFailed)),
    figure('Missing in newest run', (it) => quietZero(it.lastMissing)),
  ],
  sums: [
    'Sum',
    ...ITEMS.map((name) => withThousands(sum(name))),
    shareOf(sum('quarantined'), sum('received')),
    withThousands(sum('openQuarantine')),
    withThousands(sum('lastFailed')),
    withThousands(sum('lastMissing')),
  ],
})}`;
}

function quarantinePart(days: readonly string[], { byDay, reasons }: Quarantine): Markup {
  const total = byDay.reduce((sum, it) => sum + it, 0);
  const chart = total > 0 && quarantineChart(days, byDay, total);
  if (reasons.length === 0) {
    return html`<h3 class="set">Quarantine</h3>${chart}<p class="fine">Nothing is in quarantine.</p>`;
  }
  return html`<h3 class="set">Quarantine</h3>
${chart}
<p class="lead"><code>sluice quarantine list</code> shows each entry; <code>sluice quarantine retry</code> loads it again from the stored answer, which costs nothing.</p>
${tableOf(reasons, {
  id: 'quarantine-table',
  caption: 'Open entries in quarantine, by reason',
  columns: [
    column('Sync', (it) => named(it.sync)),
    column('Resource', (it) => named(it.resource)),
    column('Reason', (it) => named(it.reason), 'long'),
    figure('Entries', (it) => it.entries),
    column('Newest', (it) => timeOf(it.newestAt)),
  ],
})}`;
}

function quarantineChart(days: readonly string[], byDay: readonly number[], total: number): Markup {
  const frame = frameOf({ days, maxValue: Math.max(...byDay), plotHeight: 64, unit: 'entries a day' });
  const label = `Entries put in quarantine by day: ${withNoun(total, 'entry', 'entries')} from ${days[0] ?? ''} to ${days.at(-1) ?? ''}.`;
  return html`${panel({
    title: 'Put in quarantine',
    figure: withNoun(total, 'entry', 'entries'),
    note: `From ${days[0] ?? ''} to ${days.at(-1) ?? ''}, including entries that were resolved since.`,
    chart: drawing(frame, {
      label,
      figures: FIGURES,
      marks: bars(frame, byDay, (value) => withNoun(value, 'entry', 'entries')),
    }),
  })}
${figuresBehind(days, {
  id: FIGURES,
  caption: 'entries put in quarantine, by day',
  columns: [column('Day', dayTime), figure('Entries', (_, dayIndex) => byDay[dayIndex] ?? 0)],
  sums: ['Sum', withThousands(total)],
})}`;
}

function driftPart(drift: readonly ReportedDrift[]): Markup {
  const head = html`<h3 class="set">Differences from the contract</h3>`;
  if (drift.length === 0) return html`${head}<p class="fine">None: all answers match the contract.</p>`;
  return html`${head}
<p class="lead">Where answers of the service differ from its contract. No value is lost: a value that fits no column is kept in <code>extra</code>.</p>
${tableOf(drift, {
  id: 'drift-table',
  caption: 'Differences from the contract, most frequent first',
  columns: [
    column('Where', (it) => html`<code>${named(`${it.resource}.${it.path}`)}</code>`, 'long'),
    column('Difference', (it) => named(it.kind)),
    figure('Times seen', (it) => it.seen),
    column('Last seen', (it) => timeOf(it.lastSeenAt)),
  ],
})}`;
}
