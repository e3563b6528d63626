/** Coverage: the share of slices that are complete, and the slices that are lower bounds. */
import { filtersText } from '../../text/filters.ts';
import { rounded } from '../chart.ts';
import { shareOf, withNoun, withThousands } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import type { Coverage, Report, TruncatedSlice } from '../report.ts';
import { column, emptyState, figure, syncName, tableOf, timeOf } from '../table.ts';
import type { Section } from './section.ts';
import { quietZero } from './syncs.ts';

const TABLE = 'coverage-table';

export function coverageSection({ coverage, truncated }: Pick<Report, 'coverage' | 'truncated'>): Section {
  return {
    id: 'coverage',
    title: 'Coverage',
    body:
      coverage.length === 0
        ? emptyState('No sync has searched yet, so there are no slices.', 'Syncs of filings and of people search.')
        : html`${coverageTable(coverage)}${truncatedPart(coverage, truncated)}`,
  };
}

/** The sums of the slices of each sync. */
export function coverageTable(coverage: readonly Coverage[]): Markup {
  const most = Math.max(...coverage.map(slicesOf));
  return html`<p class="lead">Each slice of a search counts once, with its newest answer. An answer with as many items as requested is a lower bound: more may exist. Open slices were split and requested in parts, or their last day had not ended. An item can be in several slices.</p>
${tableOf(coverage, {
  id: TABLE,
  caption: 'Slices of each sync that searches',
  columns: [
    column('Sync', syncName),
    column(
      html`<span class="key"><i class="good"></i>complete</span> <span class="key"><i class="warn"></i>lower bound</span> <span class="key"><i class="idle"></i>open</span>`,
      (it) => bar(it, most),
      'drawing',
    ),
    figure('Complete', (it) => it.complete),
    figure('Lower bound', (it) => quietZero(it.lowerBound)),
    figure('Open', (it) => it.open),
    figure('Complete share', (it) => shareOf(it.complete, it.complete + it.lowerBound)),
    figure('Items', (it) => it.returned),
    column('Newest answer', (it) => timeOf(it.newestAt)),
  ],
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

/** The filters in words. A text that redaction made invalid JSON stays as it is. */
export function filtersIn(json: string): string {
  try {
    return filtersText(JSON.parse(json));
  } catch {
    return json;
  }
}

function truncatedPart(coverage: readonly Coverage[], truncated: readonly TruncatedSlice[]): Markup {
  const all = coverage.reduce((sum, { lowerBound }) => sum + lowerBound, 0);
  if (all === 0)
    return html`<h3 class="set">Truncated slices</h3><p class="fine">None: every search is complete or still open.</p>`;
  const some = truncated.length < all ? html` The newest ${withThousands(truncated.length)} are shown.` : '';
  return html`<h3 class="set">Truncated slices</h3>
<p class="lead">${withNoun(all, 'slice')} may be incomplete: the answer was full and could not be split further, or could not be read, as the column Why says.${some} For full answers, set a larger <code>count</code>, a <code>window</code>, or more values in <code>split_by</code>. For unreadable ones, run the sync again.</p>
${tableOf(truncated, {
  id: 'truncated-table',
  caption: 'Slices that are lower bounds: more may exist',
  columns: [
    column('Sync', (it) => named(it.sync)),
    column('Filters', (it) => html`<code>${named(filtersIn(it.filters))}</code>`, 'long'),
    figure('Requested', (it) => it.asked ?? '–'),
    figure('Returned', (it) => it.returned),
    column('Why', (it) => named(it.reason ?? '–'), 'long'),
    column('As of', (it) => timeOf(it.asOf)),
  ],
})}`;
}
