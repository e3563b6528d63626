/** A common form of declared and live tables, for their comparison. */
import {
  type DdlColumn,
  type DdlIndex,
  type DdlTable,
  foreignKeysOf,
  indexesOf,
  keyOf,
  uniquesOf,
} from '../schema/ddl.ts';

export interface ColumnShape {
  readonly name: string;
  /** The type as Postgres prints it. */
  readonly type: string;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly identity: boolean;
  readonly storage: 'external' | null;
}

/** A primary or unique key. */
export interface KeyShape {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface ForeignKeyShape extends KeyShape {
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: string;
}

export interface IndexShape {
  readonly name: string;
  readonly using: string;
  readonly unique: boolean;
  /** Columns by name, and expressions as Postgres prints them. */
  readonly parts: readonly string[];
  readonly where: string | null;
}

export interface TableShape {
  readonly name: string;
  readonly columns: readonly ColumnShape[];
  readonly key: KeyShape | null;
  readonly uniques: readonly KeyShape[];
  readonly foreignKeys: readonly ForeignKeyShape[];
  readonly indexes: readonly IndexShape[];
}

export interface ViewShape {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Types that Postgres prints with another name. */
const PRINTED: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' };

/** A type as Postgres prints it. */
export const printedType = (type: string): string => PRINTED[type] ?? type;

/** The shape of a declared table after its creation. */
export const shapeOf = (table: DdlTable): TableShape => ({
  name: table.name,
  columns: table.columns.map(columnShape),
  key: keyOf(table),
  uniques: uniquesOf(table),
  foreignKeys: foreignKeysOf(table),
  indexes: indexesOf(table).map(({ name, index }) => indexShape(name, index)),
});

const columnShape = (it: DdlColumn): ColumnShape => ({
  name: it.name,
  type: printedType(it.type),
  nullable: it.nullable,
  default: it.default ?? null,
  identity: it.identity ?? false,
  storage: it.storage ?? null,
});

const indexShape = (name: string, index: DdlIndex): IndexShape => ({
  name,
  using: index.using ?? 'btree',
  unique: index.unique ?? false,
  parts: index.expressions ?? index.columns,
  where: index.where ?? null,
});
