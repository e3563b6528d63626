/** What the answers of runs changed in the tables: new, changed and gone rows, from the rows, their logs and presence. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { rootTables } from '../warehouse/schema/tables.ts';
import type { ChangeTable, RootTable } from '../warehouse/schema/table-types.ts';
import { CAME } from '../warehouse/schema/history-tables.ts';
import { literal, qualified, quoted, quotedList, sameKey } from '../warehouse/sql/identifiers.ts';

/** Runs whose answers count: those after one run, up to another, of one sync or of all. */
export interface RunRange {
  readonly after: string;
  /** The last run that counts; null for all later runs. */
  readonly through: string | null;
  readonly sync: string | null;
}

/** How many rows of a table differ. */
export interface TableChanges {
  readonly table: string;
  readonly new: number;
  readonly changed: number;
  readonly gone: number;
}

/** One row that differs, with the columns that changed. */
export interface ChangedRow {
  readonly change: 'new' | 'changed' | 'gone';
  readonly key: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
}

/** A table of entities with its log. */
type Logged = RootTable & { readonly changes: ChangeTable };

const logged = rootTables.filter((table): table is Logged => table.changes !== undefined);

/** The names of the tables whose changes are known. */
export const comparedTables = (): readonly string[] => logged.map(({ name }) => name);

/** The loaded answers of the runs, as the common table expression `read`. */
const readBy = (ops: string, { after, through, sync }: RunRange) => sql`
  read as materialized (
    select a.id, a.received_at from ${sql.id(ops, 'answers')} a
    where a.loaded_at is not null and a.run_id > ${after}::bigint and a.sync not like '%:%'
      and (${through}::bigint is null or a.run_id <= ${through}::bigint) and (${sync}::text is null or a.sync = ${sync}::text)
  )`;

/** SQL for the keys of rows that differ, with the columns that changed: one query for each kind of change. */
function queriesOf(
  schema: string,
  { name, key, changes, resource }: Logged,
): Readonly<Record<ChangedRow['change'], string>> {
  const from = (relation: string): string => qualified(schema, relation);
  const keys = key.map((column) => `t.${quoted(column)}`).join(', ');
  const isSame = sameKey('c', changes.entityKey, 't', key);
  const isFirst = 't.came_at in (select received_at from read)';
  const stays = (life: string): string => `(${life}.went is null or ${life}.went not in (select id from read))`;
  const none = 'array[]::text[] as columns';
  const removedKeys = key.map((column, index) => `c.${quoted(changes.entityKey[index] ?? '')} as ${quoted(column)}`);
  const present = `select ${keys}, t._first_seen_at as came_at, null::bigint as went from ${from(name)} t`;
  // Only owned rows are removed, and their log stays. One that returned later has another row now.
  const lives = resource.owner
    ? `(${present} union all select ${removedKeys.join(', ')}, c.from_value::timestamptz, c._answer_id
        from ${from(changes.name)} c where c.attribute = ${literal(CAME)} and c.to_value is null)`
    : `(${present})`;
  // A row that also came within these answers is not gone since before, and one that a later answer contains is not gone.
  const removed = `select distinct ${keys}, ${none} from ${lives} t where not ${stays('t')} and not ${isFirst}
      and not exists (select from ${lives} m where ${sameKey('m', key, 't', key)} and m.came_at > t.came_at and ${stays('m')})`;
  return {
    new: `select distinct ${keys}, ${none} from ${lives} t where ${isFirst} and ${stays('t')}`,
    changed: `select ${keys}, array_agg(distinct c.attribute order by c.attribute) as columns
      from ${from(changes.name)} c join ${lives} t on ${isSame} and c.changed_at > t.came_at
      where c._answer_id in (select id from read) and (t.went is null or t.went > c._answer_id) and ${stays('t')}
        and not ${isFirst} group by ${keys}`,
    gone: resource.owner
      ? removed
      : `select ${keys}, ${none} from ${from(`${name}_presence`)} t where t._missing_since in (select received_at from read)`,
  };
}

/** Returns the numbers of new, changed and gone rows, of the tables in which rows differ. */
export async function readRowChanges(
  { db, schema, ops }: Pick<Warehouse, 'db' | 'schema' | 'ops'>,
  range: RunRange,
): Promise<TableChanges[]> {
  const counts = logged.map((table) => {
    const { new: added, changed, gone } = queriesOf(schema, table);
    return sql`select ${table.name}::text as "table", (select count(*) from (${sql.raw(added)}) x)::float8 as "new",
      (select count(*) from (${sql.raw(changed)}) x)::float8 as "changed", (select count(*) from (${sql.raw(gone)}) x)::float8 as "gone"`;
  });
  const { rows } = await sql<TableChanges>`with ${readBy(ops, range)} ${sql.join(counts, sql` union all `)}`.execute(
    db,
  );
  return rows.filter((row) => row.new + row.changed + row.gone > 0);
}

/** Returns up to `limit` rows of a table that differ, in the order of their keys. */
export async function readChangedRows(
  { db, schema, ops }: Pick<Warehouse, 'db' | 'schema' | 'ops'>,
  range: RunRange,
  tableName: string,
  limit: number,
): Promise<ChangedRow[]> {
  const table = logged.find(({ name }) => name === tableName);
  if (!table) throw new Error(`the changes of ${tableName} are not known`);
  const kinds = Object.entries(queriesOf(schema, table)).map(
    ([change, query]) => sql`select ${change}::text as change, x.* from (${sql.raw(query)}) x`,
  );
  const { rows } = await sql<Pick<ChangedRow, 'change' | 'columns'> & Readonly<Record<string, unknown>>>`
    with ${readBy(ops, range)} select * from (${sql.join(kinds, sql` union all `)}) d
    order by ${sql.raw(quotedList(table.key))} limit ${limit}`.execute(db);
  return rows.map((row) => ({
    change: row.change,
    key: Object.fromEntries(table.key.map((column) => [column, String(row[column])])),
    columns: row.columns,
  }));
}
