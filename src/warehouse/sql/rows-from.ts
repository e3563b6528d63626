/**
 * SQL rows from values in memory. Each column is one array parameter, so a statement is the same for any number of
 * rows.
 */
import { type Expression, type RawBuilder, sql } from 'kysely';
import { arrayLiteralOf } from './array-literal.ts';

/** The values of an item by the type of their column; a query returns `selected`. */
interface ColumnTypes {
  readonly bigint: { readonly given: string | number; readonly selected: string };
  readonly boolean: { readonly given: boolean; readonly selected: boolean };
  readonly int: { readonly given: number; readonly selected: number };
  readonly jsonb: { readonly given: object; readonly selected: object };
  readonly numeric: { readonly given: string | number; readonly selected: string };
  readonly text: { readonly given: string; readonly selected: string };
  readonly timestamptz: { readonly given: Date | string; readonly selected: Date };
  readonly uuid: { readonly given: string; readonly selected: string };
}

type ColumnType = keyof ColumnTypes;

/** A column: its SQL type, and its value in the item with an index. */
type Column<Item, Type extends ColumnType> = readonly [
  type: Type,
  valueIn: (item: Item, index: number) => ColumnTypes[Type]['given'] | null,
];

/** Columns by name. */
export type Columns<Item> = Readonly<Record<string, { [Type in ColumnType]: Column<Item, Type> }[ColumnType]>>;

/** A row with these columns, as a query returns it. A text keeps the type of its values, and so does JSON. */
type RowOf<C extends Columns<never>> = {
  readonly [Name in keyof C]: ReturnType<C[Name][1]> extends infer Value
    ? C[Name][0] extends 'text' | 'jsonb'
      ? Value
      : ColumnTypes[C[Name][0]]['selected'] | Extract<Value, null>
    : never;
};

/** Returns the items as a subquery: a row for each item, in no promised order. */
export const rowsFrom = <Item, const C extends Columns<Item>>(items: readonly Item[], columns: C) =>
  rowsOfArrays(columns, arraysOf(items, columns));

/** Returns the array of each column as the text of a parameter. */
export const arraysOf = <Item, C extends Columns<Item>>(items: readonly Item[], columns: C) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, [, valueIn]]) => [
      name,
      arrayLiteralOf(items, (item, index) => {
        const value = valueIn(item, index);
        if (value instanceof Date) return value.toISOString();
        return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      }),
    ]),
  ) as Readonly<Record<keyof C, string>>;

/** Returns the rows of these arrays, or of parameters for them, as a subquery. */
export function rowsOfArrays<C extends Columns<never>>(
  columns: C,
  arrays: Readonly<Record<keyof C, unknown>>,
): RawBuilder<RowOf<C>> {
  const names = namesOf(columns);
  const typed = names.map((name) => sql`${arrays[name]}::${sql.raw(columns[name]?.[0] ?? '')}[]`);
  return sql`(select * from unnest(${sql.join(typed)}) as u(${sql.join(names.map((name) => sql.ref(name)))}))`;
}

/** Returns the names of the columns. */
export const namesOf = <C extends object>(columns: C) => Object.keys(columns) as (keyof C & string)[];

/** Selects a value for each of these columns: a reference such as `r.id`, or an expression. For `insert into ... select`. */
export const valuesFor = (columns: Readonly<Record<string, string | Expression<unknown>>>) =>
  Object.entries(columns).map(([name, value]) => (typeof value === 'string' ? sql.ref(value) : sql`${value}`).as(name));

/** Returns the names of the columns with a query of the items, for `insert into`. */
export const insertion = <Item, const C extends Columns<Item>>(items: readonly Item[], columns: C) => ({
  columns: namesOf(columns),
  rows: sql<RowOf<C>>`select * from ${rowsFrom(items, columns)} as rows`,
});
