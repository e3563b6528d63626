/** Forms that select rows of a page. */
import { sql } from 'kysely';
import { html, type Markup } from '../report/markup.ts';
import { relation, rowsOf } from '../report/reading/rows.ts';
import type { ConsoleView } from './view.ts';

interface Filter {
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
  readonly value: string | undefined;
}

/** A form that selects rows. An unknown value of a filter stays selectable, because older rows may have it. */
export const filterForm = (path: string, filters: readonly Filter[]): Markup =>
  html`<form class="filters" method="get" action="${path}">${filters.map(
    ({ name, label, options, value }) =>
      html`<label>${label}<select name="${name}"><option value="">all</option>${[
        ...new Set([...options, ...(value === undefined ? [] : [value])]),
      ].map((it) => html`<option value="${it}"${it === value && html` selected`}>${it}</option>`)}</select></label>`,
  )}<button>Show</button></form>`;

/** The names of the syncs that ran, for filters. */
export async function syncNames(view: ConsoleView): Promise<readonly string[]> {
  const rows = await rowsOf(
    view,
    sql<{ sync: string }>`select sync from ${relation(view, 'dim_sync')} where is_sync order by sync`,
  );
  return rows.map(({ sync }) => sync);
}
