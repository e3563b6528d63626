/** What the next run of each sync would request, and the most that it can cost. */
import { withThousands } from '../../report/figures.ts';
import { html, type Markup, named } from '../../report/markup.ts';
import { column, emptyState, figure, syncName, tableOf } from '../../report/table.ts';
import type { SyncQuote } from '../../flow/forecast/quote-syncs.ts';
import { parameter } from '../parts.ts';
import type { Page, View } from '../view.ts';

/** The value that selects all syncs. */
const ALL = 'all syncs';

/** Planning reads inputs and may take a while, so the page plans on demand. */
export async function planPage(view: View): Promise<Page> {
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

async function planned(view: View, names: readonly string[]): Promise<Markup> {
  const { planned: plan, lines } = await view.plan(view.warehouse, names);
  const points = (name: 'low' | 'likely' | 'most') => (it: SyncQuote) =>
    `${withThousands(it[name])}${it.mayGrow ? '+' : ''}`;
  const { total } = plan;
  return html`${tableOf(plan.syncs, {
    id: 'plan',
    caption: 'Planned requests and points of each sync',
    columns: [
      column('Sync', syncName),
      figure('Requests to send', ({ requests, fresh }) => requests - fresh),
      figure('Fresh', ({ fresh }) => fresh),
      figure('Points, low', points('low')),
      figure('Likely', points('likely')),
      figure('Most', points('most')),
    ],
    sums: ['Total', total.requests - total.fresh, total.fresh, total.low, total.likely, total.most].map((it) =>
      typeof it === 'number' ? withThousands(it) : it,
    ),
  })}
<ul class="lines">${lines.map((line) => html`<li>${named(view.redact(line))}</li>`)}</ul>`;
}
