/** The ledger of requests, newest first, with filters. */
import { sql } from 'kysely';
import { html, type Markup } from '../../report/markup.ts';
import { rowsOf } from '../../report/reading/rows.ts';
import { stateMark } from '../../report/sections/section.ts';
import { column, emptyState, figure, tableOf } from '../../report/table.ts';
import { catalog } from '../../service/catalog.ts';
import type { RequestState } from '../../warehouse/connect/operations-db.ts';
import { filterForm, syncNames } from '../filters.ts';
import { idBefore, isId, linkTo, paged, parameter, READ, syncLink, textOr, timeOf } from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';

interface RequestRow {
  readonly id: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly state: string;
  readonly input: string;
  readonly attempts: number;
  readonly points: number | null;
  readonly status: number | null;
  readonly at: Date;
  readonly error: string | null;
}

interface RequestFilters {
  readonly run?: string | undefined;
  readonly sync?: string | undefined;
  readonly state?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly before?: string | undefined;
}

const COLUMN_OF = { run: 'run_id', sync: 'sync', state: 'state', endpoint: 'endpoint' } as const;

/** The requests that the filters select, newest first. */
export function readRequests(view: ConsoleView, { before, ...filters }: RequestFilters): Promise<RequestRow[]> {
  const conditions = [
    ...(before === undefined ? [] : [sql`requests.id < ${before}::bigint`]),
    ...(Object.keys(COLUMN_OF) as (keyof typeof COLUMN_OF)[]).flatMap((name) =>
      filters[name] === undefined ? [] : [sql`${sql.ref(COLUMN_OF[name])} = ${filters[name]}`],
    ),
  ];
  return rowsOf(
    view,
    sql<RequestRow>`
      select id::text as id, sync, endpoint, state, case when input = '{}' then body else input end::text as input,
        attempts::float8 as attempts, coalesce(charged, points)::float8 as points, status::float8 as status,
        coalesce(sent_at, planned_at) as at, error
      from ${sql.id(view.warehouse.ops, 'requests')}
      where ${conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)}
      order by requests.id desc limit ${sql.lit(READ)}`,
  );
}

/** The requests as a table. */
export const requestsTable = (rows: readonly RequestRow[]): Markup =>
  rows.length === 0
    ? emptyState('There are no such requests.', html`<code>sluice sync</code> records each request before it is sent.`)
    : tableOf(rows, {
        id: 'requests',
        caption: 'Requests, newest first',
        columns: [
          column('Request', ({ id }) => linkTo('/requests', id)),
          column('Sync', syncLink),
          column('Input', ({ input }) => html`<code>${textOr(input)}</code>`, 'long'),
          column(
            'State',
            ({ state, error }) =>
              html`${stateMark(state)}${error !== null && html`<span class="sub">${textOr(error)}</span>`}`,
            'outcome',
          ),
          figure('Status', ({ status }) => (status === null ? '–' : String(status))),
          figure('Attempts', ({ attempts }) => attempts),
          figure('Points', ({ points }) => points ?? '–'),
          column('Sent or planned', ({ at }) => timeOf(at)),
        ],
      });

const STATES: Readonly<Record<RequestState, true>> = {
  planned: true,
  fresh: true,
  sent: true,
  stored: true,
  loaded: true,
  quarantined: true,
  empty: true,
  missing: true,
  failed: true,
  in_doubt: true,
  skipped: true,
  abandoned: true,
};

export async function requestsPage(view: ConsoleView): Promise<Page> {
  const run = parameter(view, 'run');
  const filters = {
    run: run !== undefined && isId(run) ? run : undefined,
    sync: parameter(view, 'sync'),
    state: parameter(view, 'state'),
    endpoint: parameter(view, 'endpoint'),
  };
  const before = idBefore(view);
  const rows = await readRequests(view, { ...filters, before });
  const { shown, pager } = paged(rows, { path: '/requests', filters, isOlder: before !== undefined });
  return {
    title: filters.run === undefined ? 'Requests' : `Requests of run ${filters.run}`,
    body: html`${filterForm('/requests', [
      { name: 'sync', label: 'Sync', options: await syncNames(view), value: filters.sync },
      { name: 'state', label: 'State', options: Object.keys(STATES), value: filters.state },
      { name: 'endpoint', label: 'Endpoint', options: catalog.map(({ name }) => name), value: filters.endpoint },
    ])}
${requestsTable(shown)}${pager}`,
  };
}
