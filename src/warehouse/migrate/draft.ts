/** Drafts the migration that brings a live schema to the declared one; a person reads it before it is kept. */
import type { Catalog } from './live-schema.ts';
import {
  columnClause,
  createTable,
  type DdlTable,
  foreignKeyClause,
  foreignKeysOf,
  indexesOf,
  storageClause,
  uniqueClause,
  uniquesOf,
} from '../schema/ddl.ts';
import { tableDrift } from './drift.ts';
import { quoted } from '../sql/identifiers.ts';
import { shapeOf, type TableShape } from './table-shape.ts';

export interface MigrationDraft {
  /** Unqualified, in an order in which they run. */
  readonly statements: readonly string[];
  /** What takes them back, in an order in which they run. */
  readonly undo: readonly string[];
  /** Differences that no statement here mends, because only a person knows what should become of the rows. */
  readonly undecided: readonly string[];
}

/** Statements that make one thing, and the one that takes it back. */
interface Change {
  readonly make: readonly string[];
  readonly undo: string;
}

/** The statements that create what is declared and not there: tables, columns, keys and indexes. */
export function draftMigration(live: Catalog, declared: readonly DdlTable[]): MigrationDraft {
  const there = new Map(live.tables.map((it) => [it.name, it]));
  const changed = declared.flatMap((table) => {
    const have = there.get(table.name);
    return have ? [{ table, have }] : [];
  });
  const undeclared = live.tables.filter(({ name }) => declared.every((it) => it.name !== name));
  const changes = [
    ...declared.filter(({ name }) => !there.has(name)).map(newTable),
    ...changed.flatMap(({ table, have }) => additions(table, have)),
  ];
  return {
    statements: changes.flatMap(({ make }) => make),
    undo: changes.map(({ undo }) => undo).toReversed(),
    undecided: [
      ...undeclared.map(({ name }) => `table ${name} is there and not declared`),
      ...changed.flatMap(({ table, have }) => undecided(table, have)),
    ],
  };
}

const newTable = (table: DdlTable): Change => ({ make: createTable(table), undo: `drop table ${quoted(table.name)}` });

interface Named {
  readonly name: string;
}
const lackedBy = (have: readonly Named[]) => (want: Named) => have.every(({ name }) => name !== want.name);

function additions(table: DdlTable, have: TableShape): Change[] {
  const alter = `alter table ${quoted(table.name)}`;
  const constraint = (name: string, clause: string): Change => ({
    make: [`${alter} add ${clause}`],
    undo: `${alter} drop constraint ${quoted(name)}`,
  });
  return [
    ...table.columns.filter(lackedBy(have.columns)).map((it) => ({
      make: [`${alter} add column ${columnClause(it)}`, ...storageClause(table.name, it)],
      undo: `${alter} drop column ${quoted(it.name)}`,
    })),
    ...uniquesOf(table)
      .filter(lackedBy(have.uniques))
      .map((it) => constraint(it.name, uniqueClause(it))),
    ...foreignKeysOf(table)
      .filter(lackedBy(have.foreignKeys))
      .map((it) => constraint(it.name, foreignKeyClause(it))),
    ...indexesOf(table)
      .filter(lackedBy(have.indexes))
      .map(({ name, statement }) => ({ make: [statement], undo: `drop index ${quoted(name)}` })),
  ];
}

function undecided(table: DdlTable, have: TableShape): string[] {
  const rest = tableDrift('', shapeOf(table), have).filter(
    ({ kind, message }) => kind !== 'missing' || message.startsWith('primary key'),
  );
  const unfilled = table.columns
    .filter(lackedBy(have.columns))
    .filter((it) => !it.nullable && it.default === undefined && !it.identity)
    .map((it) => `column ${it.name} is added as not null without a default, which fails where the table has rows`);
  return [...rest.map(({ message }) => message), ...unfilled].map((message) => `${table.name}: ${message}`);
}
