/** The vocabulary for declaring operations tables, with the JavaScript types of their columns. */
import type { ColumnType } from 'kysely';
import type { DdlColumn, DdlTable } from './ddl.ts';

/** The types that Kysely selects, inserts and updates. `value` is never set; only its type matters. */
interface Typed<Select, Insert, Update> {
  readonly value?: ColumnType<Select, Insert, Update>;
}
type Declared<Select, Insert, Update = Insert> = DdlColumn & Typed<Select, Insert, Update>;

const of =
  <Select, Insert = Select>(type: string) =>
  (about: string): Declared<Select, Insert> => ({ name: '', type, about, nullable: false });

export const text = of<string>('text');
/** An exact integer. It is text when read. */
export const bigint = of<string, string | number | bigint>('bigint');
/** An exact decimal number. It is text when read. */
export const numeric = of<string, string | number>('numeric');
export const boolean = of<boolean>('boolean');
export const timestamp = of<Date, Date | string>('timestamptz');
/** A day, YYYY-MM-DD. */
export const date = of<string>('date');
export const uuid = of<string>('uuid');
export const bytea = of<Buffer, Uint8Array>('bytea');
/** JSON, parsed when read. It is written as text, because a driver would send an array as a Postgres array. */
export const json = <T>(about: string): Declared<T, string> => of<T, string>('jsonb')(about);

/** Text with one of these values. The comment lists the values. */
export const oneOf = <const T extends string>(about: string, values: readonly T[]): Declared<T, T> =>
  of<T>('text')(`${about} One of ${values.join(', ')}.`);

/** A number that the database generates. */
export const identity = (about: string): Declared<string, never, never> => ({
  ...of<string, never>('bigint')(about),
  identity: true,
});

export const nullable = <S, I>(it: Declared<S, I>): Declared<S | null, I | null | undefined, I | null> => ({
  name: it.name,
  type: it.type,
  about: it.about,
  nullable: true,
});

/** A count with the default 0. */
export const zero = <S, I>(it: Declared<S, I>): Declared<S, I | undefined, I> => ({
  name: it.name,
  type: it.type,
  about: it.about,
  nullable: false,
  default: '0',
});

/** A `bigint` count with the default 0. */
export const counter = (about: string) => zero(bigint(about));

/** A boolean with the default false. */
export const unset = (it: Declared<boolean, boolean>): Declared<boolean, boolean | undefined, boolean> => ({
  name: it.name,
  type: it.type,
  about: it.about,
  nullable: false,
  default: 'false',
});

type Columns = Readonly<Record<string, DdlColumn & Typed<unknown, unknown, unknown>>>;
type Rest = Pick<DdlTable, 'key'> & Partial<Pick<DdlTable, 'unique' | 'indexes' | 'foreignKeys'>>;

/** A declared table with typed columns. */
export interface DeclaredTable<C extends Columns> extends Rest {
  readonly about: string;
  readonly declared: C;
}

export const table = <const C extends Columns>(about: string, declared: C, rest: Rest): DeclaredTable<C> => ({
  about,
  declared,
  ...rest,
});

/** The row type of a declared table for Kysely. */
export type RowOf<T> =
  T extends DeclaredTable<infer C>
    ? { [K in keyof C]: C[K] extends Typed<infer S, infer I, infer U> ? ColumnType<S, I, U> : never }
    : never;

/** The declared table in the form for DDL, comments and the drift check. */
export const ddlTable = (name: string, { about, declared, ...rest }: DeclaredTable<Columns>): DdlTable => ({
  name,
  about,
  columns: Object.entries(declared).map(([column, it]) => ({ ...it, name: column })),
  unique: [],
  indexes: [],
  foreignKeys: [],
  ...rest,
});
