/** Drafts the migration that brings a live schema to the declared one; a person reads it before it is kept. */
import type { Catalog } from './catalog.ts';
import { columnClause, createTables, type DdlTable, foreignKeyClause, foreignKeysOf, indexesOf, storageClause, uniqueClause, uniquesOf } from './ddl.ts';
import { tableDrift } from './drift.ts';
import { quoted } from './identifier.ts';
import { shapeOf, type TableShape } from './shape.ts';

export interface Draft {
  /** Unqualified, in an order in which they run. */
  readonly statements: readonly string[];
  /** Differences that no statement here mends, because only a person knows what should become of the rows. */
  readonly undecided: readonly string[];
}

/** The statements that create what is declared and not there: tables, columns, keys and indexes. */
export function draftMigration(live: Catalog, declared: readonly DdlTable[]): Draft {
  const there = new Map(live.tables.map((it) => [it.name, it]));
  const changed = declared.flatMap((table) => {
    const have = there.get(table.name);
    return have ? [{ table, have }] : [];
  });
  const undeclared = live.tables.filter(({ name }) => declared.every((it) => it.name !== name));
  return {
    statements: [...createTables(declared.filter(({ name }) => !there.has(name))), ...changed.flatMap(({ table, have }) => additions(table, have))],
    undecided: [
      ...undeclared.map(({ name }) => `table ${name} is there and not declared`),
      ...changed.flatMap(({ table, have }) => undecided(table, have)),
    ],
  };
}

function additions(table: DdlTable, have: TableShape): string[] {
  const lacks =
    (of: readonly { readonly name: string }[]) =>
    ({ name }: { readonly name: string }): boolean =>
      of.every((it) => it.name !== name);
  const alter = `alter table ${quoted(table.name)}`;
  const columns = table.columns.filter(lacks(have.columns));
  return [
    ...columns.map((it) => `${alter} add column ${columnClause(it)}`),
    ...columns.flatMap((it) => storageClause(table.name, it)),
    ...uniquesOf(table).filter(lacks(have.uniques)).map((it) => `${alter} add ${uniqueClause(it)}`),
    ...foreignKeysOf(table).filter(lacks(have.foreignKeys)).map((it) => `${alter} add ${foreignKeyClause(it)}`),
    ...indexesOf(table).filter(lacks(have.indexes)).map(({ statement }) => statement),
  ];
}

function undecided(table: DdlTable, have: TableShape): string[] {
  const rest = tableDrift('', shapeOf(table), have).filter(({ kind, message }) => kind !== 'missing' || message.startsWith('primary key'));
  const unfilled = table.columns
    .filter((it) => !it.nullable && it.default === undefined && !it.identity && have.columns.every(({ name }) => name !== it.name))
    .map((it) => `column ${it.name} is added as not null without a default, which fails where the table has rows`);
  return [...rest.map(({ message }) => message), ...unfilled].map((message) => `${table.name}: ${message}`);
}
