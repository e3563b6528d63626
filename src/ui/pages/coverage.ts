/** The coverage of each sync, and the slices that its searches requested, newest first. */
import { sql } from 'kysely';
import { html, type Markup } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { readSlices } from '../../report/reading/syncs.ts';
import { coverageTable, filtersIn } from '../../report/sections/coverage.ts';
import { stateMark } from '../../report/sections/section.ts';
import { column, emptyState, figure, tableOf } from '../../report/table.ts';
import { filterForm, syncNames } from '../filters.ts';
import { idBefore, linkTo, paged, parameter, READ, textOr, timeOf } from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';

interface SliceRow {
  readonly id: string;
  readonly sync: string;
  readonly runId: string;
  readonly filters: string;
  readonly asked: number | null;
  readonly returned: number;
  readonly extent: string;
  readonly reason: string | null;
  readonly at: Date;
}

interface SliceFilters {
  readonly sync?: string | undefined;
  readonly extent?: string | undefined;
  readonly key?: string | undefined;
  readonly before?: string | undefined;
}

/** The slices that the filters select, newest first. */
export const readSliceRows = (view: ConsoleView, { sync, extent, key, before }: SliceFilters): Promise<SliceRow[]> =>
  rowsOf(
    view,
    sql<SliceRow>`
      select slice_id::text as id, sync, run_id::text as "runId", filters, asked::float8 as asked, returned::float8 as returned,
        extent, reason, as_of as at
      from ${relation(view, 'sync_slices')}
      where (${sync ?? null}::text is null or sync = ${sync ?? null})
        and (${extent ?? null}::text is null or extent = ${extent ?? null})
        and (${key ?? null}::text is null or request_key = ${key ?? null})
        and (${before ?? null}::bigint is null or slice_id < ${before ?? null}::bigint)
      order by slice_id desc limit ${sql.lit(READ)}`,
  );

/** The slices as a table. */
export const slicesTable = (rows: readonly SliceRow[]): Markup =>
  tableOf(rows, {
    id: 'slices',
    caption: 'Slices with their newest answers, newest first',
    columns: [
      column('Sync', ({ sync }) => textOr(sync)),
      column('Filters', ({ filters }) => html`<code>${textOr(filtersIn(filters))}</code>`, 'long'),
      column('Extent', ({ extent }) => stateMark(extent)),
      figure('Requested', ({ asked }) => asked ?? '–'),
      figure('Returned', ({ returned }) => returned),
      column('Why', ({ reason }) => textOr(reason), 'long'),
      column('As of', ({ at }) => timeOf(at)),
      column('Run', ({ runId }) => linkTo('/runs', runId)),
    ],
  });

const EXTENTS = ['complete', 'lower_bound', 'open'];

export async function coveragePage(view: ConsoleView): Promise<Page> {
  const { coverage } = await readSlices({ ...view, days: [] });
  const filters = { sync: parameter(view, 'sync'), extent: parameter(view, 'extent') };
  const before = idBefore(view);
  const rows = coverage.length === 0 ? [] : await readSliceRows(view, { ...filters, before });
  const { shown, pager } = paged(rows, { path: '/coverage', filters, isOlder: before !== undefined });
  const nothing = emptyState(
    'There are no such slices.',
    html`<code>sluice sync</code> records a slice for each request of a sync that searches.`,
  );
  return {
    title: 'Coverage',
    body: html`${coverage.length > 0 && coverageTable(coverage)}
<h2>Slices</h2>
${filterForm('/coverage', [
  { name: 'sync', label: 'Sync', options: await syncNames(view), value: filters.sync },
  { name: 'extent', label: 'Extent', options: EXTENTS, value: filters.extent },
])}
${shown.length === 0 ? nothing : slicesTable(shown)}${pager}`,
  };
}
