/** What the next run of each sync would request, and the most that it can cost. */
import { milliseconds, withThousands } from '../../report/figures.ts';
import { type Content, html, type Markup, named } from '../../report/markup.ts';
import { column, emptyState, figure, tableOf } from '../../report/table.ts';
import type { Planned } from '../../flow/forecast/quote-syncs.ts';
import { parameter, syncLink } from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';

/** The value that selects all syncs. */
const ALL = 'all syncs';

/** Planning reads inputs and may take a while, so the page plans on demand. */
export async function planPage(view: ConsoleView): Promise<Page> {
  const sync = parameter(view, 'sync');
  const names = view.syncs.map(({ name }) => name);
  return {
    title: 'Plan',
    body: html`<p class="lead">Plans syncs as a run would plan them now. It sends nothing to the service and spends nothing.</p>
${names.length === 0 ? emptyState('The config has no syncs.', html`Add one under <code>syncs</code>.`) : planForm([ALL, ...names], sync)}
${sync !== undefined && (await planned(view, sync === ALL ? [] : [sync]))}`,
  };
}

const planForm = (options: readonly string[], selected: string | undefined): Markup =>
  html`<form class="filters" method="get" action="/plan"><label>Sync<select name="sync">${options.map((it) => html`<option${it === selected && html` selected`}>${it}</option>`)}</select></label><button>Plan</button></form>`;

type Quote = Planned['total'];

const points =
  (name: 'low' | 'likely' | 'most') =>
  (it: Quote): string =>
    `${withThousands(it[name])}${it.mayGrow ? '+' : ''}`;

/** The columns of a quote, also for the total. */
const FIGURES: readonly (readonly [name: string, cell: (it: Quote) => Content])[] = [
  ['Requests to send', ({ requests, fresh }) => withThousands(requests - fresh)],
  ['Fresh', ({ fresh }) => withThousands(fresh)],
  ['Points, low', points('low')],
  ['Likely', points('likely')],
  ['Most', points('most')],
  ['Least time', ({ leastMs }) => (leastMs === 0 ? '–' : milliseconds(leastMs))],
];

async function planned(view: ConsoleView, names: readonly string[]): Promise<Markup> {
  const { planned: plan, lines } = await view.plan(view.warehouse, names);
  return html`${tableOf(plan.syncs, {
    id: 'plan',
    caption: 'Planned requests and points of each sync',
    columns: [column('Sync', syncLink), ...FIGURES.map(([name, cell]) => figure(name, cell))],
    sums: ['Total', ...FIGURES.map(([, cell]) => cell(plan.total))],
  })}
<ul class="lines">${lines.map((line) => html`<li>${named(view.redact(line))}</li>`)}</ul>`;
}
