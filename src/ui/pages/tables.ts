/** The tables and views with their numbers of rows, and one of them with its columns, keys and first rows. */
import { sql } from 'kysely';
import { html, type Markup } from '../../report/markup.ts';
import { column, emptyState, figure, tableOf } from '../../report/table.ts';
import { type DictionaryEntry, dictionary } from '../../warehouse/schema/dictionary.ts';
import { qualified, quoted } from '../../warehouse/sql/identifiers.ts';
import { readRowCounts } from '../../warehouse/sql/row-counts.ts';
import { addressOf, details, link, linkTo, parameter } from '../parts.ts';
import { BEYOND_CELL, MOST_CELL, redactedCell, resultTable } from '../result-table.ts';
import type { Page, ConsoleView } from '../view.ts';

export async function tablesPage({ db, schema, warehouse }: ConsoleView): Promise<Page> {
  const entries = dictionary();
  const isOurs = (area: DictionaryEntry['area']) => (name: string) =>
    entries.some((it) => it.area === area && it.table === name);
  const counts = {
    analyst: await readRowCounts(db, schema, isOurs('analyst')),
    operations: await readRowCounts(db, warehouse.ops, isOurs('operations')),
  };
  const part = (area: DictionaryEntry['area'], hasRows: boolean, title: string): Markup =>
    html`<section><h2>${title}</h2>${tableOf(
      entries.filter((it) => it.area === area && isTable(it) === hasRows),
      {
        id: `${area}-${hasRows ? 'table' : 'view'}`,
        caption: title,
        columns: [
          column('Name', ({ table }) => linkTo('/tables', table)),
          ...(hasRows
            ? [
                figure<DictionaryEntry>(
                  'Rows',
                  ({ table }) => counts[area].find((it) => it.table === table)?.rows ?? '–',
                ),
              ]
            : []),
          column('Contents', ({ about }) => about),
        ],
      },
    )}</section>`;
  return {
    title: 'Tables',
    body: html`<p class="lead">Large tables show the estimate of the database. The schema ${schema} is for analysts, ${warehouse.ops} is internal.</p>
${part('analyst', true, 'Tables for analysts')}${part('analyst', false, 'Views for analysts')}${part('operations', true, 'Internal tables')}`,
  };
}

const isTable = ({ kind }: DictionaryEntry): boolean => kind !== 'view';

/** The first rows of a table: few, because one row may contain a page of megabytes. */
const FIRST_ROWS = 20;

export async function tablePage(view: ConsoleView): Promise<Page | undefined> {
  const entry = dictionary().find(({ table }) => table === view.id);
  if (!entry) return undefined;
  const { area, table, about, key, columns, references } = entry;
  const name = area === 'analyst' ? quoted(table) : qualified(view.warehouse.ops, table);
  // Views can be slow, so their rows are read on demand.
  const isRead = isTable(entry) || parameter(view, 'rows') !== undefined;
  return {
    title: table,
    body: html`<p class="lead">${about}</p>
${details([
  ['Schema', area === 'analyst' ? view.schema : view.warehouse.ops],
  ['Key', html`<code>${key.join(', ')}</code>`],
  ...references.map(
    (it) => ['Refers to', html`${linkTo('/tables', it.table)} by <code>${it.columns.join(', ')}</code>`] as const,
  ),
])}
<p class="actions">${link(addressOf('/sql', { statement: `select * from ${name}` }), 'Query it')}${!isRead && link(`${addressOf(`/tables/${table}`, { rows: 'first' })}#rows`, 'Show the first rows')}</p>
<h2>Columns</h2>
${tableOf(columns, {
  id: 'columns',
  caption: 'Columns with their types and meanings',
  columns: [
    column('Column', (it) => html`<code>${it.name}</code>`),
    column('Type', ({ type }) => type),
    column('Null', ({ nullable }) => (nullable ? 'yes' : '')),
    column('Meaning', (it) => it.about, 'long'),
  ],
})}
${isRead && html`<h2 id="rows">First rows</h2>${await firstRows(view, entry)}`}`,
  };
}

async function firstRows(
  { db, schema, warehouse, redact }: ConsoleView,
  { area, table, columns }: DictionaryEntry,
): Promise<Markup> {
  const cells = columns.map(({ name, type }) =>
    type === 'bytea'
      ? sql`octet_length(${sql.ref(name)}) || ' bytes' as ${sql.ref(name)}`
      : sql`left(${sql.ref(name)}::text, ${sql.lit(MOST_CELL + BEYOND_CELL)}) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<Readonly<Record<string, string | null>>>`
    select ${sql.join(cells)} from ${sql.id(area === 'analyst' ? schema : warehouse.ops, table)}
    limit ${sql.lit(FIRST_ROWS)}`.execute(db);
  if (rows.length === 0) return emptyState('The table has no rows yet.', html`Run <code>sluice sync</code>.`);
  const names = columns.map(({ name }) => name);
  return resultTable(
    names,
    rows.map((row) => names.map((name) => redactedCell(row[name] ?? null, redact))),
  );
}
