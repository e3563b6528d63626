/** Coverage: how much of what was asked for came, and the slices of which more may exist. */
import { filtersText } from '../../text/filters.ts';
import { rounded } from '../chart.ts';
import { withNoun, withThousands, percent } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import type { Coverage, Report, TruncatedSlice } from '../report.ts';
import { emptyState, tableOf, timeOf } from '../table.ts';
import type { Section } from './section.ts';
import { quietZero } from './syncs.ts';

const TABLE = 'coverage-table';

export function coverageSection({ coverage, truncated }: Report): Section {
  return {
    id: 'coverage',
    title: 'Coverage',
    body:
      coverage.length === 0
        ? emptyState('No sync has searched yet, so there are no slices to cover.', 'Syncs of filings and of people do.')
        : html`${coverageTable(coverage)}${truncatedPart(coverage, truncated)}`,
  };
}

function coverageTable(coverage: readonly Coverage[]): Markup {
  const most = Math.max(...coverage.map(slicesOf));
  return html`<p class="lead">Each slice of a question counts once, at its newest answer. An answer as long as was asked for is a lower bound: more may exist. Open slices were asked again in parts, or their last day had not ended. An item may be in several slices.</p>
${tableOf({
  id: TABLE,
  caption: 'Slices of each sync that searches',
  columns: [
    { name: 'Sync' },
    {
      name: html`<span class="key"><i class="good"></i>complete</span> <span class="key"><i class="warn"></i>lower bound</span> <span class="key"><i class="idle"></i>open</span>`,
      kind: 'drawing',
    },
    { name: 'Complete', kind: 'figure' },
    { name: 'Lower bound', kind: 'figure' },
    { name: 'Open', kind: 'figure' },
    { name: 'Complete share', kind: 'figure' },
    { name: 'Items', kind: 'figure' },
    { name: 'Newest answer' },
  ],
  rows: coverage.map((it) => {
    const judged = it.complete + it.lowerBound;
    return [
      html`${named(it.sync)}<span class="sub">${named(it.endpoint)}</span>`,
      bar(it, most),
      withThousands(it.complete),
      quietZero(it.lowerBound),
      withThousands(it.open),
      judged === 0 ? '–' : percent(it.complete / judged),
      withThousands(it.returned),
      timeOf(it.newestAt),
    ];
  }),
})}`;
}

const slicesOf = ({ complete, lowerBound, open }: Coverage): number => complete + lowerBound + open;

function bar(it: Coverage, most: number): Markup {
  const parts = [
    ['good', it.complete, 14],
    ['warn', it.lowerBound, 14],
    ['idle', it.open, 6],
  ] as const;
  let before = 0;
  const rects = parts.map(([tone, count, height]) => {
    const x = before / most;
    before += count;
    return (
      count > 0 &&
      html`<rect class="${tone}" x="${rounded(x * 100)}%" y="${14 - height}" width="${rounded(Math.max(0.5, (count / most) * 100))}%" height="${height}"/>`
    );
  });
  const label = `Slices of ${it.sync}: ${withThousands(it.complete)} complete, ${withThousands(it.lowerBound)} lower bounds, ${withThousands(it.open)} open.`;
  return html`<svg class="strip" width="100%" height="15" role="img" aria-label="${label}" aria-details="${TABLE}" data-figures="${TABLE}">${rects}</svg>`;
}

/** Text that is no JSON, since a secret was taken out of it, stays as it is. */
function filtersIn(json: string): string {
  try {
    return filtersText(JSON.parse(json));
  } catch {
    return json;
  }
}

function truncatedPart(coverage: readonly Coverage[], truncated: readonly TruncatedSlice[]): Markup {
  const all = coverage.reduce((sum, { lowerBound }) => sum + lowerBound, 0);
  if (all === 0)
    return html`<h3 class="set">Truncated slices</h3><p class="fine">None: what was asked for is all there.</p>`;
  const some = truncated.length < all ? html` The newest ${withThousands(truncated.length)} are shown.` : '';
  return html`<h3 class="set">Truncated slices</h3>
<p class="lead">${withNoun(all, 'slice')} came back full and could not be cut further.${some} A larger <code>count</code>, a <code>window</code>, or more values in <code>split_by</code> make them smaller.</p>
${tableOf({
  id: 'truncated-table',
  caption: 'Slices of which more may exist',
  columns: [
    { name: 'Sync' },
    { name: 'Narrowed by', kind: 'long' },
    { name: 'Asked for', kind: 'figure' },
    { name: 'Came', kind: 'figure' },
    { name: 'Why', kind: 'long' },
    { name: 'As of' },
  ],
  rows: truncated.map((it) => [
    named(it.sync),
    html`<code>${named(filtersIn(it.filters))}</code>`,
    it.asked === null ? '–' : withThousands(it.asked),
    withThousands(it.returned),
    named(it.reason ?? '–'),
    timeOf(it.asOf),
  ]),
})}`;
}
