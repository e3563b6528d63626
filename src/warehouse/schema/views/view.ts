/** The vocabulary for declaring views: the meaning of a row and of each column, the key, and the query. */
import { tableNamed } from '../tables.ts';
import type { PersonalData } from '../../../service/model.ts';
import type { Column } from '../table-types.ts';

/** A column of a view. */
export interface ViewColumn {
  readonly name: string;
  readonly type: string;
  readonly about: string;
  /** How the values concern a person; undefined if they do not. */
  readonly personal?: PersonalData | undefined;
}

export interface View {
  readonly name: string;
  /** The meaning of a row. */
  readonly about: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly columns: readonly ViewColumn[];
  /** The query. Its names have no schema: they are in the analyst schema or the operations schema. */
  readonly query: string;
}

type Declared = Omit<ViewColumn, 'name'>;
type Columns = Readonly<Record<string, Declared>>;
/** A column with the expression that selects it. */
type Selected = Declared & { readonly sql: string };
type SelectedColumns = Readonly<Record<string, Selected>>;

/** Declares a column. The expression is given in a selection, and is otherwise in the query of the view. */
interface ColumnOf {
  (about: string): Declared;
  (about: string, sql: string): Selected;
}

const of =
  (type: string): ColumnOf =>
  (about: string, sql: string = '') => ({ type, about, sql });

export const text = of('text');
export const bigint = of('bigint');
export const integer = of('integer');
/** A ratio or a mean. */
export const ratio = of('double precision');
export const numeric = of('numeric');
export const boolean = of('boolean');
export const date = of('date');
export const timestamp = of('timestamptz');
export const uuid = of('uuid');
export const jsonb = of('jsonb');

/** The same column, which identifies a person or something by a person. */
export const identifier = <C extends Declared>(column: C): C => ({ ...column, personal: 'identifier' });
/** The same column, which describes a person, or which a person or an error wrote. */
export const personal = <C extends Declared>(column: C): C => ({ ...column, personal: 'content' });

/** A view with its columns in declared order. */
export const view = (name: string, about: string, key: readonly string[], columns: Columns, query: string): View => ({
  name,
  about,
  key,
  columns: Object.entries(columns).map(([column, { type, about: meaning, personal: concern }]) => ({
    name: column,
    type,
    about: meaning,
    personal: concern,
  })),
  query,
});

/** A view whose query selects the expressions of its columns. `rest` is the query from its `from` on. */
export const selection = (
  name: string,
  about: string,
  key: readonly string[],
  columns: SelectedColumns,
  rest: string,
): View => {
  const list = Object.entries(columns).map(([column, { sql }]) => `${sql} as "${column}"`);
  return view(name, about, key, columns, `\n    select\n      ${list.join(',\n      ')}${rest}`);
};

/** The column of an analyst table, with its type, its comment, and how it concerns a person. */
export function columnFrom(table: string, column: string, sql = ''): Selected {
  const { type, about, personal: concern } = columnOf(table, column);
  return { type, about, personal: concern, sql };
}

/** Columns that a view takes from a table, with the same names. */
export const columnsOf = (table: string, ...columns: readonly string[]): Columns =>
  Object.fromEntries(columns.map((column) => [column, columnFrom(table, column)]));

/** The columns, each selected by the expression for its name. */
export const selected = (columns: Columns, sqlOf: (column: string) => string): SelectedColumns =>
  Object.fromEntries(Object.entries(columns).map(([column, it]) => [column, { ...it, sql: sqlOf(column) }]));

/** The columns, selected from the relation with this alias, which has them under the same names. */
export const sameIn = (alias: string, columns: Columns): SelectedColumns =>
  selected(columns, (column) => `${alias}."${column}"`);

/** Columns that a selection takes from a table under an alias, with the same names. */
export const columnsFrom = (alias: string, table: string, ...columns: readonly string[]): SelectedColumns =>
  sameIn(alias, columnsOf(table, ...columns));

function columnOf(table: string, column: string): Column {
  const found = tableNamed(table)?.columns.find(({ name }) => name === column);
  if (!found) throw new Error(`a view shows ${table}.${column}, which is not declared`);
  return found;
}

/** The times at which the entity of a row was first observed and last changed. */
export const since = (alias: string): SelectedColumns => ({
  first_seen_at: timestamp('Receipt of the first answer that contained it.', `${alias}._first_seen_at`),
  changed_at: timestamp('Receipt of the answer that last changed it.', `${alias}._changed_at`),
});
