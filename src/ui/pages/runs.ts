/** The runs, newest first, and one run with its counts and requests. */
import { sql } from 'kysely';
import { milliseconds, withThousands } from '../../report/figures.ts';
import { html } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { stateMark } from '../../report/sections/section.ts';
import { quietZero } from '../../report/sections/syncs.ts';
import { column, emptyState, figure, tableOf } from '../../report/table.ts';
import {
  addressOf,
  idBefore,
  isId,
  link,
  linkTo,
  type NamedRow,
  paged,
  parameter,
  READ,
  rowDetails,
  syncLink,
  textOr,
  timeOf,
} from '../parts.ts';
import { filterForm, syncNames } from '../filters.ts';
import type { Page, ConsoleView } from '../view.ts';
import { readRequests, requestsTable } from './requests.ts';

interface RunRow {
  readonly id: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly state: string;
  readonly scope: string | null;
  readonly startedAt: Date;
  readonly seconds: number | null;
  readonly sent: number;
  readonly loaded: number;
  readonly quarantined: number;
  readonly failed: number;
  readonly points: number | null;
  readonly error: string | null;
}

export async function runsPage(view: ConsoleView): Promise<Page> {
  const sync = parameter(view, 'sync');
  const before = idBefore(view);
  const rows = await rowsOf(
    view,
    sql<RunRow>`
      select run_id::text as id, sync, endpoint, state, scope, started_at as "startedAt", duration_s as seconds,
        asked::float8 as sent, loaded::float8 as loaded, quarantined::float8 as quarantined, failed::float8 as failed,
        points::float8 as points, error
      from ${relation(view, 'sync_runs')}
      where (${sync ?? null}::text is null or sync = ${sync ?? null})
        and (${before ?? null}::bigint is null or run_id < ${before ?? null}::bigint)
      order by run_id desc limit ${sql.lit(READ)}`,
  );
  const { shown, pager } = paged(rows, { path: '/runs', filters: { sync }, isOlder: before !== undefined });
  return {
    title: 'Runs',
    body: html`${filterForm('/runs', [{ name: 'sync', label: 'Sync', options: await syncNames(view), value: sync }])}
${
  shown.length === 0
    ? emptyState('There are no such runs.', html`Run <code>sluice sync</code>.`)
    : tableOf(shown, {
        id: 'runs',
        caption: 'Runs, newest first',
        columns: [
          column('Run', ({ id }) => linkTo('/runs', id)),
          column('Sync', syncLink),
          column(
            'State',
            ({ state, scope, error }) =>
              html`${stateMark(state)}${scope !== null && html`<span class="sub">${scope}</span>`}${error !== null && html`<span class="sub">${textOr(error)}</span>`}`,
            'outcome',
          ),
          column('Started', ({ startedAt }) => timeOf(startedAt)),
          figure('Took', ({ seconds }) => (seconds === null ? '–' : milliseconds(seconds * 1000))),
          figure('Sent', ({ sent }) => sent),
          figure('Loaded', ({ loaded }) => loaded),
          figure('Quarantined', ({ quarantined }) => quietZero(quarantined)),
          figure('Failed', ({ failed }) => quietZero(failed)),
          figure('Points', ({ points }) => points ?? '–'),
        ],
      })
}
${pager}`,
  };
}

/** Counts of a run, by the names of their columns. */
const COUNTS: Readonly<Record<string, string>> = {
  planned: 'Planned requests',
  fresh: 'Fresh',
  asked: 'Sent',
  stored: 'Stored answers',
  failed: 'Failed',
  missing: 'Missing',
  truncated: 'Truncated',
  unreadable: 'Unreadable',
  received: 'Items received',
  loaded: 'Loaded',
  changed: 'Changed',
  unchanged: 'Unchanged',
  superseded: 'Superseded',
  quarantined: 'Quarantined',
  points: 'Points',
};

export async function runPage(view: ConsoleView): Promise<Page | undefined> {
  if (!isId(view.id)) return undefined;
  const run = sql`from ${relation(view, 'sync_runs')} where run_id = ${view.id}::bigint`;
  const [facts] = await rowsOf(
    view,
    sql<NamedRow>`
      select sync as "Sync", endpoint as "Endpoint", state as "State", exit_code::text as "Exit code", scope as "Scope",
        started_at as "Started", ended_at as "Ended", duration_s as "Seconds", tags as "Tags", error as "Error" ${run}`,
  );
  if (!facts) return undefined;
  const counted = Object.keys(COUNTS).map((name) => sql`${sql.ref(name)}::float8 as ${sql.ref(name)}`);
  const [counts = {}] = await rowsOf(view, sql<Record<string, number | null>>`select ${sql.join(counted)} ${run}`);
  const { shown, pager } = paged(await readRequests(view, { run: view.id }), {
    path: '/requests',
    filters: { run: view.id },
    isOlder: false,
  });
  return {
    title: `Run ${view.id}`,
    body: html`${rowDetails(facts, { State: stateMark, Sync: (sync) => link(addressOf('/runs', { sync }), sync) })}
<dl class="facts">${Object.entries(counts).map(
      ([name, count]) =>
        count !== null && html`<div><dt>${COUNTS[name]}</dt><dd><strong>${withThousands(count)}</strong></dd></div>`,
    )}</dl>
<h2>Requests</h2>
${requestsTable(shown)}${pager}`,
  };
}
