/** Growth of tables: rows by the day each was first seen, one small chart a table. */
import { drawing, frameOf } from '../chart.ts';
import { withNoun, withThousands } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import { filled } from '../marks.ts';
import type { Report, TableGrowth } from '../report.ts';
import { dayTime, emptyState, figuresBehind, panel } from '../table.ts';
import type { Section } from './section.ts';

const FIGURES = 'growth-figures';

export function growthSection({ days, growth }: Report): Section {
  return {
    id: 'growth',
    title: 'Growth of tables',
    body:
      growth.length === 0
        ? emptyState('No table holds rows yet.', html`<code>sluice sync</code> fills them.`)
        : growthBody(days, growth),
  };
}

const lastOf = ({ byDay }: TableGrowth): number => byDay.at(-1) ?? 0;

function growthBody(days: readonly string[], growth: readonly TableGrowth[]): Markup {
  return html`<p class="lead">Rows by the day on which each was first seen. Each chart has a scale of its own.</p>
<div class="multiples">
${growth.map((it) => tablePanel(days, it))}
</div>
${figuresBehind({
  id: FIGURES,
  caption: 'rows at the end of each day, by table',
  columns: [{ name: 'Day' }, ...growth.map(({ table }) => ({ name: named(table), kind: 'figure' as const }))],
  rows: days.map((day, place) => [dayTime(day), ...growth.map(({ byDay }) => withThousands(byDay[place] ?? 0))]),
})}`;
}

function tablePanel(days: readonly string[], it: TableGrowth): Markup {
  const rows = lastOf(it);
  const added = rows - (it.byDay[0] ?? 0);
  const frame = frameOf({ days, maxValue: rows, plotHeight: 64 });
  return panel({
    title: named(it.table),
    figure: withNoun(rows, 'row'),
    note: html`${withThousands(added)} of them new after ${dayTime(days[0] ?? '')}`,
    chart: drawing(frame, {
      label: `Rows of ${it.table} by day: ${withNoun(rows, 'row')} on ${days.at(-1) ?? ''}, ${withThousands(rows - added)} on ${days[0] ?? ''}.`,
      figures: FIGURES,
      marks: filled(frame, it.byDay, (value) => withNoun(value, 'row')),
    }),
  });
}
