/** The runs, newest first, and one run with its counts and requests. */
import { sql } from 'kysely';
import { milliseconds, withThousands } from '../../report/figures.ts';
import { html } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { stateMark } from '../../report/sections/section.ts';
import { quietZero } from '../../report/sections/syncs.ts';
import { column, emptyState, figure, syncName, tableOf, timeOf } from '../../report/table.ts';
import { addressOf, details, idBefore, isId, link, linkTo, paged, parameter, READ, textOr } from '../parts.ts';
import { filterForm, syncNames } from '../filters.ts';
import type { Page, View } from '../view.ts';
import { readRequests, requestsTable } from './requests.ts';

/** The counts of a run, with the names of their columns. */
const COUNTS = [
  ['planned', 'Planned requests'],
  ['fresh', 'Fresh'],
  ['asked', 'Sent'],
  ['stored', 'Stored answers'],
  ['received', 'Items received'],
  ['loaded', 'Loaded'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['superseded', 'Superseded'],
  ['quarantined', 'Quarantined'],
  ['failed', 'Failed'],
  ['missing', 'Missing'],
  ['truncated', 'Truncated'],
  ['unreadable', 'Unreadable'],
  ['points', 'Points'],
] as const;

type Count = (typeof COUNTS)[number][0];

interface RunRow extends Readonly<Record<Count, number | null>> {
  readonly id: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly state: string;
  readonly exitCode: number | null;
  readonly scope: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly seconds: number | null;
  readonly tags: string | null;
  readonly error: string | null;
}

/** The runs that a condition selects, newest first. */
const readRuns = (view: View, condition: ReturnType<typeof sql>): Promise<RunRow[]> =>
  rowsOf(
    view,
    sql<RunRow>`
      select run_id::text as id, sync, endpoint, state, exit_code::float8 as "exitCode", scope, started_at as "startedAt",
        ended_at as "endedAt", duration_s as seconds, tags, error,
        ${sql.join(COUNTS.map(([name]) => sql`${sql.ref(name)}::float8 as ${sql.ref(name)}`))}
      from ${relation(view, 'sync_runs')} where ${condition} order by run_id desc limit ${sql.lit(READ)}`,
  );

export async function runsPage(view: View): Promise<Page> {
  const sync = parameter(view, 'sync');
  const before = idBefore(view);
  const rows = await readRuns(
    view,
    sql`(${sync ?? null}::text is null or sync = ${sync ?? null}) and (${before ?? null}::bigint is null or run_id < ${before ?? null}::bigint)`,
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
          column('Sync', syncName),
          column(
            'State',
            ({ state, scope, error }) =>
              html`${stateMark(state)}${scope !== null && html`<span class="sub">${scope}</span>`}${error !== null && html`<span class="sub">${textOr(error)}</span>`}`,
            'outcome',
          ),
          column('Started', ({ startedAt }) => timeOf(startedAt)),
          figure('Took', ({ seconds }) => (seconds === null ? '–' : milliseconds(seconds * 1000))),
          figure('Sent', ({ asked }) => asked ?? 0),
          figure('Loaded', ({ loaded }) => loaded ?? 0),
          figure('Quarantined', ({ quarantined }) => quietZero(quarantined ?? 0)),
          figure('Failed', ({ failed }) => quietZero(failed ?? 0)),
          figure('Points', ({ points }) => points ?? '–'),
        ],
      })
}
${pager}`,
  };
}

export async function runPage(view: View): Promise<Page | undefined> {
  if (!isId(view.id)) return undefined;
  const [run] = await readRuns(view, sql`run_id = ${view.id}::bigint`);
  if (!run) return undefined;
  const { shown, pager } = paged(await readRequests(view, { run: run.id }), {
    path: '/requests',
    filters: { run: run.id },
    isOlder: false,
  });
  return {
    title: `Run ${run.id}`,
    body: html`${details([
      ['Sync', link(addressOf('/runs', { sync: run.sync }), run.sync)],
      ['Endpoint', run.endpoint],
      ['State', html`${stateMark(run.state)}${run.exitCode !== null && ` (exit code ${run.exitCode})`}`],
      ['Scope', run.scope],
      ['Started', timeOf(run.startedAt)],
      ['Ended', timeOf(run.endedAt)],
      ['Took', run.seconds !== null && milliseconds(run.seconds * 1000)],
      ['Tags', run.tags],
      ['Error', run.error],
    ])}
<h2>Counts</h2>
<dl class="facts">${COUNTS.filter(([name]) => run[name] !== null).map(([name, title]) => html`<div><dt>${title}</dt><dd><strong>${withThousands(run[name] ?? 0)}</strong></dd></div>`)}</dl>
<h2>Requests</h2>
${requestsTable(shown)}${pager}`,
  };
}
