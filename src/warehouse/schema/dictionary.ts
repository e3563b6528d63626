/** Describes every table and view of the warehouse as data, for the docs and for the comments in the database. */
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import type { DdlColumn, DdlTable } from './ddl.ts';
import { operationsTables } from './operations.ts';
import type { Table } from './table-types.ts';
import { tables } from './tables.ts';
import { views } from './views/views.ts';

export interface DictionaryColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly about: string;
  readonly isPersonal: boolean;
}

export interface DictionaryReference {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
}

export interface DictionaryEntry {
  /** The schema of the table or view. */
  readonly area: 'analyst' | 'operations';
  /**
   * table: a row for each entity. list: the elements of a list of an entity. bridge: what a request returned. fact: numbers
   * at a time. history: a log of changes.
   */
  readonly kind: 'table' | 'list' | 'bridge' | 'fact' | 'history' | 'view';
  readonly table: string;
  readonly about: string;
  /** Columns of the primary key; for a view, the columns that identify a row. */
  readonly key: readonly string[];
  readonly columns: readonly DictionaryColumn[];
  readonly references: readonly DictionaryReference[];
}

/** Every table and view with its columns, in the order of creation, analyst tables first. */
export const dictionary = (): readonly DictionaryEntry[] => [
  ...tables.map((it) => entryOf(it, 'analyst', it.name === LOG_TABLE ? 'fact' : KINDS[it.kind])),
  ...views.map(
    ({ name, about, key, columns }): DictionaryEntry => ({
      area: 'analyst',
      kind: 'view',
      table: name,
      about,
      key,
      columns: columns.map((it) => columnOf({ ...it, nullable: !key.includes(it.name) })),
      references: [],
    }),
  ),
  ...operationsTables.map((it) => entryOf(it, 'operations', 'table')),
];

const KINDS: Readonly<Record<Table['kind'], DictionaryEntry['kind']>> = {
  root: 'table',
  child: 'list',
  bridge: 'bridge',
  daily: 'fact',
  changes: 'history',
};

const entryOf = (
  { name, about, key, columns, foreignKeys }: DdlTable,
  area: DictionaryEntry['area'],
  kind: DictionaryEntry['kind'],
): DictionaryEntry => ({
  area,
  kind,
  table: name,
  about,
  key,
  columns: columns.map(columnOf),
  references: foreignKeys.map((it) => ({ columns: it.columns, table: it.table, references: it.references })),
});

/** The column; its description says that it is personal. */
function columnOf({ name, type, nullable, about, personal }: DdlColumn): DictionaryColumn {
  const isPersonal = personal !== undefined;
  return { name, type, nullable, about: isPersonal ? `${about} Personal data.` : about, isPersonal };
}
