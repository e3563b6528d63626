/** Durations of calls: median, 95th percentile and slowest of each endpoint, then the slowest single calls. */
import { scaleLog } from 'd3-scale';
import { rounded } from '../chart.ts';
import { bytes, withThousands, milliseconds } from '../figures.ts';
import { html, type Markup, named } from '../markup.ts';
import type { EndpointCalls, Report, SlowCall } from '../report.ts';
import { column, emptyState, figure, syncName, tableOf, timeOf } from '../table.ts';
import type { Section } from './section.ts';

const TABLE = 'calls-table';

export function callsSection({ days, calls, slowest }: Report): Section {
  return {
    id: 'calls',
    title: 'Slowest calls',
    body:
      calls.length === 0
        ? emptyState('No answer was received in these days.', html`Run <code>sluice sync</code>.`)
        : html`<p class="lead">Time from the first byte sent to the last byte received, for calls answered since ${days[0]}. The bar goes from the median to the 95th percentile; the ring is the slowest call. The scale is logarithmic.</p>
${callsTable(calls)}
<h3 class="set">The slowest ${withThousands(slowest.length)}</h3>
${slowestTable(slowest)}`,
  };
}

function callsTable(calls: readonly EndpointCalls[]): Markup {
  const least = Math.max(1, Math.min(...calls.map(({ medianMs }) => medianMs)));
  const most = Math.max(least * 10, ...calls.map(({ longestMs }) => longestMs));
  const scale = scaleLog().domain([least, most]).nice().range([5, 95]).clamp(true);
  const [low = 1, high = 1] = scale.domain();
  const decades = Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, exponent) => low * 10 ** exponent);
  const across = (ms: number): number => rounded(scale(Math.max(ms, low)));
  return tableOf(calls, {
    id: TABLE,
    caption: 'Durations of the calls of each endpoint',
    columns: [
      column('Endpoint', (it) => named(it.endpoint)),
      column(axis(decades, across), (it) => range(it, decades, across), 'drawing'),
      figure('Calls', (it) => it.calls),
      figure('Median', (it) => milliseconds(it.medianMs)),
      figure('95th percentile', (it) => milliseconds(it.p95Ms)),
      figure('Slowest', (it) => milliseconds(it.longestMs)),
    ],
  });
}

/** Up to this many decades, each has a label; beyond it, every second one. */
const MOST_NAMED = 4;

function axis(decades: readonly number[], across: (ms: number) => number): Markup {
  const texts = decades
    .filter((_, index) => decades.length <= MOST_NAMED || index % 2 === 0)
    .map((ms) => html`<text class="tick middle" x="${across(ms)}%" y="11">${milliseconds(ms)}</text>`);
  return html`<span class="hidden">Range</span><svg class="strip" width="100%" height="14" aria-hidden="true">${texts}</svg>`;
}

function range(it: EndpointCalls, decades: readonly number[], across: (ms: number) => number): Markup {
  const [median, slow, longest] = [across(it.medianMs), across(it.p95Ms), across(it.longestMs)];
  const label = `Calls of ${it.endpoint}: median ${milliseconds(it.medianMs)}, 95th percentile ${milliseconds(it.p95Ms)}, slowest ${milliseconds(it.longestMs)}.`;
  return html`<svg class="strip" width="100%" height="16" role="img" aria-label="${label}" aria-details="${TABLE}" data-figures="${TABLE}">${decades.map((ms) => html`<line class="rule" x1="${across(ms)}%" x2="${across(ms)}%" y1="0" y2="16"/>`)}<line class="whisker" x1="${median}%" x2="${longest}%" y1="8" y2="8"/><rect class="bar" x="${median}%" y="4" width="${rounded(Math.max(0.6, slow - median))}%" height="8"/><circle class="ring" cx="${longest}%" cy="8" r="3.5"/></svg>`;
}

const slowestTable = (slowest: readonly SlowCall[]): Markup =>
  tableOf(slowest, {
    id: 'slowest-table',
    caption: 'The slowest calls, slowest first',
    columns: [
      column('Sync', syncName),
      column('Input', ({ input }) => (input === null || input === '' ? '–' : named(input)), 'long'),
      figure('Took', (it) => milliseconds(it.tookMs)),
      figure('HTTP status', (it) => it.status),
      figure('Size', (it) => bytes(it.bytes)),
      column('Received', (it) => timeOf(it.receivedAt)),
      figure('Answer', (it) => it.answerId),
    ],
  });
