/** Growth of tables: rows by the day on which each was first seen, with one small chart for each table. */
import { drawing, frameOf, filled } from '../chart.ts';
import { withNoun, withThousands } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import type { Report, TableGrowth } from '../report.ts';
import { column, dayTime, emptyState, figure, figuresBehind, panel } from '../table.ts';
import type { Section } from './section.ts';

const FIGURES = 'growth-figures';

export function growthSection({ days, growth }: Report): Section {
  return {
    id: 'growth',
    title: 'Growth of tables',
    body:
      growth.length === 0
        ? emptyState('No table has rows yet.', html`Run <code>sluice sync</code>.`)
        : growthBody(days, growth),
  };
}

const lastOf = ({ byDay }: TableGrowth): number => byDay.at(-1) ?? 0;

function growthBody(days: readonly string[], growth: readonly TableGrowth[]): Markup {
  return html`<p class="lead">Rows by the day on which each was first seen. Each chart has its own scale.</p>
<div class="multiples">
${growth.map((it) => tablePanel(days, it))}
</div>
${figuresBehind(days, {
  id: FIGURES,
  caption: 'rows at the end of each day, by table',
  columns: [
    column('Day', dayTime),
    ...growth.map(({ table, byDay }) => figure(named(table), (_: string, dayIndex) => byDay[dayIndex] ?? 0)),
  ],
})}`;
}

function tablePanel(days: readonly string[], it: TableGrowth): Markup {
  const rows = lastOf(it);
  const added = rows - (it.byDay[0] ?? 0);
  const frame = frameOf({ days, maxValue: rows, plotHeight: 64 });
  return panel({
    title: named(it.table),
    figure: withNoun(rows, 'row'),
    note: html`${withThousands(added)} of them first seen after ${dayTime(days[0] ?? '')}`,
    chart: drawing(frame, {
      label: `Rows of ${it.table} by day: ${withNoun(rows, 'row')} on ${days.at(-1) ?? ''}, ${withThousands(rows - added)} on ${days[0] ?? ''}.`,
      figures: FIGURES,
      marks: filled(frame, it.byDay, (value) => withNoun(value, 'row')),
    }),
  });
}
