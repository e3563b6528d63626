/** Prints the live schema as deterministic text, for comparison with the golden file. */
import { sql } from 'kysely';
import { type Catalog, readCatalog } from '../../src/warehouse/migrate/live-schema.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { quoted, quotedList } from '../../src/warehouse/sql/identifiers.ts';
import type { ColumnShape, IndexShape, TableShape } from '../../src/warehouse/migrate/table-shape.ts';

type Target = Pick<Warehouse, 'db' | 'schema' | 'ops'>;
/** Comments by `relation` or `relation.column`. */
type Comments = ReadonlyMap<string, string>;

/** SQL with every table, column, key, index, view and comment of both schemas, sorted by name. */
export async function dumpSchema(warehouse: Target): Promise<string> {
  const { analyst, operations } = await readCatalog(warehouse);
  const parts = [
    ...areaDump(warehouse.schema, analyst, await commentsOf(warehouse, warehouse.schema)),
    ...areaDump(warehouse.ops, operations, await commentsOf(warehouse, warehouse.ops)),
  ];
  return `${parts.join('\n\n')}\n`;
}

async function commentsOf({ db }: Target, schema: string): Promise<Comments> {
  const { rows } = await sql<{ place: string; text: string }>`
    select c.relname || coalesce('.' || a.attname, '') as place, d.description as text
    from pg_description d
    join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0
    where n.nspname = ${schema}`.execute(db);
  return new Map(rows.map(({ place, text }) => [place, text]));
}

const areaDump = (schema: string, { tables, views }: Catalog, comments: Comments): string[] => [
  ...tables.map((it) => tableDump(schema, it, comments)),
  ...views.map(({ name, columns, definition }) =>
    [
      ...commentLines(comments.get(name)),
      `create view ${schema}.${quoted(name)} (`,
      columns.map((it) => withComment(`${quoted(it.name)} ${it.type}`, comments.get(`${name}.${it.name}`))).join(',\n'),
      `) as`,
      definition,
    ].join('\n'),
  ),
];

function tableDump(schema: string, table: TableShape, comments: Comments): string {
  const lines = [
    ...table.columns.map((it) => withComment(columnLine(it), comments.get(`${table.name}.${it.name}`))),
    ...(table.key ? [`  constraint ${quoted(table.key.name)} primary key (${quotedList(table.key.columns)})`] : []),
    ...table.uniques.map(({ name, columns }) => `  constraint ${quoted(name)} unique (${quotedList(columns)})`),
    ...table.foreignKeys.map(
      (it) =>
        `  constraint ${quoted(it.name)} foreign key (${quotedList(it.columns)}) references ${quoted(it.table)} (${quotedList(it.references)}) on delete ${it.onDelete}`,
    ),
  ];
  return [
    ...commentLines(comments.get(table.name)),
    `create table ${schema}.${quoted(table.name)} (`,
    lines.join(',\n'),
    ');',
    ...table.indexes.map((it) => indexLine(`${schema}.${quoted(table.name)}`, it)),
  ].join('\n');
}

const columnLine = ({ name, type, nullable, default: fallback, identity, storage }: ColumnShape): string =>
  [
    quoted(name),
    type,
    ...(storage ? [`storage ${storage}`] : []),
    ...(identity ? ['generated always as identity'] : []),
    ...(fallback === null ? [] : [`default ${fallback}`]),
    ...(nullable ? [] : ['not null']),
  ].join(' ');

const indexLine = (table: string, { name, using, unique, parts, where }: IndexShape): string =>
  `create ${unique ? 'unique ' : ''}index ${quoted(name)} on ${table} using ${using} (${parts.join(', ')})${where === null ? '' : ` where ${where}`};`;

const commentLines = (text: string | undefined): string[] => [`-- ${text ?? 'NO COMMENT'}`];
const withComment = (line: string, text: string | undefined): string => `  -- ${text ?? 'NO COMMENT'}\n  ${line}`;
