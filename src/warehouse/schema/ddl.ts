/** Builds the statements that create declared tables. Names have no schema, so the search path decides. */
import type { PersonalData } from '../../service/model.ts';
import { objectName, quoted, quotedList } from '../sql/identifiers.ts';

export interface DdlColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly about: string;
  /** How the values concern a person; undefined if they do not. */
  readonly personal?: PersonalData | undefined;
  /** SQL of the default. */
  readonly default?: string;
  /** True if the database generates the number. */
  readonly identity?: boolean;
  /** `external` stores long values out of line without compression. */
  readonly storage?: 'external';
}

export interface DdlForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: 'cascade' | 'set null' | 'no action';
}

export interface DdlIndex {
  readonly columns: readonly string[];
  readonly using?: 'btree' | 'brin' | 'hash' | 'spgist';
  readonly unique?: boolean;
  /** The indexed expressions, if they are not just the columns. Written as Postgres prints them, for the comparison. */
  readonly expressions?: readonly string[];
  /** The condition of a partial index, written as Postgres prints it. */
  readonly where?: string;
  /** Replaces the columns in the index's name, if another index has the same columns. */
  readonly named?: string;
}

/** A table in the form for DDL. The analyst tables fit it too. */
export interface DdlTable {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly DdlColumn[];
  readonly key: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly foreignKeys: readonly DdlForeignKey[];
  readonly indexes: readonly DdlIndex[];
}

/** The statements that create these tables with their keys, foreign keys and indexes, in this order. */
export const createTables = (tables: readonly DdlTable[]): string[] => tables.flatMap(createTable);

/** The statements that create one table and its indexes. */
export function createTable(table: DdlTable): string[] {
  const key = keyOf(table);
  const body = [
    ...table.columns.map(columnClause),
    `constraint ${quoted(key.name)} primary key (${quotedList(key.columns)})`,
    ...uniquesOf(table).map(uniqueClause),
    ...foreignKeysOf(table).map(foreignKeyClause),
  ];
  return [
    `create table ${quoted(table.name)} (\n  ${body.join(',\n  ')}\n)`,
    ...table.columns.flatMap((it) => storageClause(table.name, it)),
    ...indexesOf(table).map(({ statement }) => statement),
  ];
}

/** The clause of one column for `create table` and `add column`. */
export function columnClause(column: DdlColumn): string {
  return [
    quoted(column.name),
    column.type,
    ...(column.identity ? ['generated always as identity'] : []),
    ...(column.default === undefined ? [] : [`default ${column.default}`]),
    ...(column.nullable ? [] : ['not null']),
  ].join(' ');
}

/** The statement that sets the declared storage of the column, or none. */
export function storageClause(table: string, { name, storage }: DdlColumn): string[] {
  return storage ? [`alter table ${quoted(table)} alter column ${quoted(name)} set storage ${storage}`] : [];
}

type Named<T> = T & { readonly name: string };

export const keyOf = (table: DdlTable): Named<{ readonly columns: readonly string[] }> => ({
  name: objectName(table.name, [], 'pkey'),
  columns: table.key,
});

export const uniquesOf = (table: DdlTable): Named<{ readonly columns: readonly string[] }>[] =>
  (table.unique ?? []).map((columns) => ({ name: objectName(table.name, columns, 'key'), columns }));

export const foreignKeysOf = (table: DdlTable): Named<DdlForeignKey>[] =>
  table.foreignKeys.map((it) => ({ ...it, name: objectName(table.name, it.columns, 'fkey') }));

/** The clause of a foreign key for `create table` and `add`. */
export function foreignKeyClause({ name, columns, table, references, onDelete }: Named<DdlForeignKey>): string {
  const to = `constraint ${quoted(name)} foreign key (${quotedList(columns)}) references ${quoted(table)} (${quotedList(references)})`;
  return onDelete === 'no action' ? to : `${to} on delete ${onDelete}`;
}

/** The clause of a unique key for `create table` and `add`. */
export const uniqueClause = ({
  name,
  columns,
}: {
  readonly name: string;
  readonly columns: readonly string[];
}): string => `constraint ${quoted(name)} unique (${quotedList(columns)})`;

export interface NamedIndex {
  readonly name: string;
  readonly index: DdlIndex;
  readonly statement: string;
}

/** The table's indexes: the declared ones, and one for each foreign key that is not the prefix of a key or index. */
export function indexesOf(table: DdlTable): NamedIndex[] {
  const declared = table.indexes;
  const covered = [
    table.key,
    ...(table.unique ?? []),
    ...declared.filter((it) => it.where === undefined).map((it) => it.columns),
  ];
  const leads = (columns: readonly string[]): boolean =>
    covered.some((it) => columns.every((name, index) => it[index] === name));
  const missing = table.foreignKeys
    .filter(({ columns }) => !leads(columns))
    .map(({ columns }): DdlIndex => ({ columns }));
  return [...declared, ...missing].map((it) => namedIndex(table.name, it));
}

function namedIndex(table: string, index: DdlIndex): NamedIndex {
  const name = objectName(table, index.named === undefined ? index.columns : [index.named], 'idx');
  const method = index.using && index.using !== 'btree' ? ` using ${index.using}` : '';
  const parts = index.expressions?.join(', ') ?? quotedList(index.columns);
  const where = index.where === undefined ? '' : ` where ${index.where}`;
  return {
    name,
    index,
    statement: `create ${index.unique ? 'unique ' : ''}index ${quoted(name)} on ${quoted(table)}${method} (${parts})${where}`,
  };
}
