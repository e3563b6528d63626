/** The coverage of each sync, and the slices that its searches requested, newest first. */
import { sql } from 'kysely';
import { html } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { readSlices } from '../../report/reading/syncs.ts';
import { coverageTable } from '../../report/sections/coverage.ts';
import { stateMark } from '../../report/sections/section.ts';
import { column, emptyState, figure, tableOf, timeOf } from '../../report/table.ts';
import { filterForm, syncNames } from '../filters.ts';
import { idBefore, linkTo, paged, parameter, READ, textOr } from '../parts.ts';
import type { Page, View } from '../view.ts';

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

const EXTENTS = ['complete', 'lower_bound', 'open'];

export async function coveragePage(view: View): Promise<Page> {
  const { db, schema, redact } = view;
  const { coverage } = await readSlices({ db, schema, redact, days: [] });
  if (coverage.length === 0)
    return {
      title: 'Coverage',
      body: emptyState(
        'No sync has searched yet, so there are no slices.',
        html`Run <code>sluice sync</code> with a sync that searches.`,
      ),
    };
  const filters = { sync: parameter(view, 'sync'), extent: parameter(view, 'extent') };
  const before = idBefore(view);
  const rows = await readSliceRows(view, filters, before);
  const { shown, pager } = paged(rows, { path: '/coverage', filters, isOlder: before !== undefined });
  return {
    title: 'Coverage',
    body: html`${coverageTable(coverage)}
<h2>Slices</h2>
${filterForm('/coverage', [
  { name: 'sync', label: 'Sync', options: await syncNames(view), value: filters.sync },
  { name: 'extent', label: 'Extent', options: EXTENTS, value: filters.extent },
])}
${
  shown.length === 0
    ? emptyState('There are no such slices.', 'Choose another sync or extent.')
    : tableOf(shown, {
        id: 'slices',
        caption: 'Slices with their newest answers, newest first',
        columns: [
          column('Sync', ({ sync }) => textOr(sync)),
          column('Filters', ({ filters: text }) => html`<code>${textOr(text)}</code>`, 'long'),
          column('Extent', ({ extent }) => stateMark(extent)),
          figure('Requested', ({ asked }) => asked ?? '–'),
          figure('Returned', ({ returned }) => returned),
          column('Why', ({ reason }) => textOr(reason), 'long'),
          column('As of', ({ at }) => timeOf(at)),
          column('Run', ({ runId }) => linkTo('/runs', runId)),
        ],
      })
}${pager}`,
  };
}

const readSliceRows = (
  view: View,
  { sync, extent }: { readonly sync: string | undefined; readonly extent: string | undefined },
  before: string | undefined,
): Promise<SliceRow[]> =>
  rowsOf(
    view,
    sql<SliceRow>`
      select slice_id::text as id, sync, run_id::text as "runId", filters, asked::float8 as asked, returned::float8 as returned,
        extent, reason, as_of as at
      from ${relation(view, 'sync_slices')}
      where (${sync ?? null}::text is null or sync = ${sync ?? null})
        and (${extent ?? null}::text is null or extent = ${extent ?? null})
        and (${before ?? null}::bigint is null or slice_id < ${before ?? null}::bigint)
      order by slice_id desc limit ${sql.lit(READ)}`,
  );
