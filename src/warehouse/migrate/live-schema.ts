/** Reads the tables, columns, keys, indexes and views of the database from its system catalogs. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Warehouse } from '../connect/connect.ts';
import { quoted } from '../sql/identifiers.ts';
import type { ColumnShape, ForeignKeyShape, IndexShape, KeyShape, TableShape, ViewShape } from './table-shape.ts';

export interface Catalog {
  readonly tables: readonly TableShape[];
  readonly views: readonly (ViewShape & { readonly definition: string })[];
}

/** The live state of both schemas. */
export interface LiveCatalog {
  readonly analyst: Catalog;
  readonly operations: Catalog;
}

/** The tables of the migrator and its library, which are not declared. */
const MIGRATOR = ['kysely_migration', 'kysely_migration_lock', 'applied_views'];

/** Both schemas in one snapshot, or within the current transaction. A missing schema has no tables. */
export async function readCatalog({ db, schema, ops }: Pick<Warehouse, 'db' | 'schema' | 'ops'>): Promise<LiveCatalog> {
  const read = async (trx: QueryExecutorProvider): Promise<LiveCatalog> => {
    // Postgres omits the schema of a name that the search path finds.
    await sql`select set_config('search_path', ${`${quoted(schema)}, ${quoted(ops)}`}, true)`.execute(trx);
    return { analyst: await readSchema(trx, schema), operations: await readSchema(trx, ops) };
  };
  return db.isTransaction ? read(db) : db.transaction().setIsolationLevel('repeatable read').execute(read);
}

async function readSchema(db: QueryExecutorProvider, schema: string): Promise<Catalog> {
  const columns = await readColumns(db, schema);
  const keys = await readKeys(db, schema);
  const indexes = await readIndexes(db, schema);
  const relations = await sql<{ name: string; kind: string; definition: string | null }>`
    select c.relname as name, c.relkind as kind,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid, true) end as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'p', 'f', 'v', 'm') and c.relname <> all (${MIGRATOR})
    order by c.relname collate "C"`.execute(db);
  const ofRelation = <T>(rows: readonly OfRelation<T>[], name: string) =>
    rows.flatMap(({ relation, ...shape }) => (relation === name ? [shape] : []));
  const isView = (kind: string): boolean => kind === 'v' || kind === 'm';
  return {
    tables: relations.rows
      .filter(({ kind }) => !isView(kind))
      .map(({ name }) => ({
        name,
        columns: ofRelation(columns, name),
        ...keysOf(ofRelation(keys, name)),
        indexes: ofRelation(indexes, name),
      })),
    views: relations.rows
      .filter(({ kind }) => isView(kind))
      .map(({ name, definition }) => ({
        name,
        columns: ofRelation(columns, name).map((it) => ({ name: it.name, type: it.type })),
        definition: definition ?? '',
      })),
  };
}

/** A row about a part of a table or view. */
type OfRelation<T> = T & { readonly relation: string };

async function readColumns(db: QueryExecutorProvider, schema: string): Promise<OfRelation<ColumnShape>[]> {
  const { rows } = await sql<OfRelation<ColumnShape>>`
    select c.relname as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      not a.attnotnull as nullable, pg_get_expr(d.adbin, d.adrelid, true) as default,
      a.attidentity = 'a' as identity, case when a.attstorage = 'e' and t.typstorage <> 'e' then 'external' end as storage
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where n.nspname = ${schema} and a.attnum > 0 and not a.attisdropped
    order by a.attnum`.execute(db);
  return rows;
}

interface KeyRow {
  readonly kind: 'p' | 'u' | 'f';
  readonly name: string;
  readonly columns: string[];
  readonly table: string | null;
  readonly references: string[] | null;
  readonly action: string;
}

async function readKeys(db: QueryExecutorProvider, schema: string): Promise<OfRelation<KeyRow>[]> {
  const names = (numbers: string, relation: string) => sql`
    array(select a.attname::text from unnest(${sql.raw(numbers)}) with ordinality as u(number, place)
      join pg_attribute a on a.attrelid = ${sql.raw(relation)} and a.attnum = u.number order by u.place)`;
  const { rows } = await sql<OfRelation<KeyRow>>`
    select c.relname as relation, k.contype as kind, k.conname as name, k.confdeltype as action, r.relname as table,
      ${names('k.conkey', 'k.conrelid')} as columns,
      case when k.contype = 'f' then ${names('k.confkey', 'k.confrelid')} end as references
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_class r on r.oid = k.confrelid
    where n.nspname = ${schema} and k.contype in ('p', 'u', 'f')
    order by k.conname collate "C"`.execute(db);
  return rows;
}

const ACTIONS: Readonly<Record<string, string>> = {
  a: 'no action',
  r: 'restrict',
  c: 'cascade',
  n: 'set null',
  d: 'set default',
};

function keysOf(rows: readonly KeyRow[]): Pick<TableShape, 'key' | 'uniques' | 'foreignKeys'> {
  const keyShape = ({ name, columns }: KeyRow): KeyShape => ({ name, columns });
  const [key] = rows.filter(({ kind }) => kind === 'p');
  return {
    key: key ? keyShape(key) : null,
    uniques: rows.filter(({ kind }) => kind === 'u').map(keyShape),
    foreignKeys: rows
      .filter(({ kind }) => kind === 'f')
      .map(
        (it): ForeignKeyShape => ({
          ...keyShape(it),
          table: it.table ?? '',
          references: it.references ?? [],
          onDelete: ACTIONS[it.action] ?? it.action,
        }),
      ),
  };
}

/** The indexes of a schema, without those of keys. */
async function readIndexes(db: QueryExecutorProvider, schema: string): Promise<OfRelation<IndexShape>[]> {
  const { rows } = await sql<OfRelation<IndexShape>>`
    select c.relname as relation, i.relname as name, m.amname as using, x.indisunique as unique,
      array(
        select coalesce(a.attname::text, pg_get_indexdef(x.indexrelid, place, true)) || case x.indoption[place - 1] when 0 then '' when 3 then ' desc' else ' other order' end
        from generate_series(1, x.indnkeyatts) as place
        left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = x.indkey[place - 1]
        order by place
      ) as parts,
      pg_get_expr(x.indpred, x.indrelid, true) as where
    from pg_index x
    join pg_class i on i.oid = x.indexrelid
    join pg_class c on c.oid = x.indrelid
    join pg_am m on m.oid = i.relam
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and x.indisvalid
      and not exists (select from pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
    order by i.relname collate "C"`.execute(db);
  return rows;
}
