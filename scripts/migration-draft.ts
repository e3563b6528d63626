/** Drafts the migration from the live schema to the declared one. A developer reviews the draft. */
import type { Catalog } from '../src/warehouse/migrate/live-schema.ts';
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
} from '../src/warehouse/schema/ddl.ts';
import { tableDrift } from '../src/warehouse/migrate/drift.ts';
import { quoted } from '../src/warehouse/sql/identifiers.ts';
import { shapeOf, type TableShape } from '../src/warehouse/migrate/table-shape.ts';

export interface MigrationDraft {
  /** The statements in the order of execution, without schema names. */
  readonly statements: readonly string[];
  /** The statements that revert them, in the order of execution. */
  readonly undo: readonly string[];
  /** Differences that the draft does not resolve, because a developer must decide what happens to the rows. */
  readonly undecided: readonly string[];
}

/** Statements that create one object, and the statement that reverts them. */
interface Change {
  readonly create: readonly string[];
  readonly undo: string;
}

/** The statements that create declared but missing tables, columns, keys and indexes. */
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
    statements: changes.flatMap(({ create }) => create),
    undo: changes.map(({ undo }) => undo).toReversed(),
    undecided: [
      ...undeclared.map(({ name }) => `table ${name} exists and is not declared`),
      ...changed.flatMap(({ table, have }) => undecided(table, have)),
    ],
  };
}

const newTable = (table: DdlTable): Change => ({
  create: createTable(table),
  undo: `drop table ${quoted(table.name)}`,
});

interface Named {
  readonly name: string;
}
const lackedBy = (have: readonly Named[]) => (want: Named) => have.every(({ name }) => name !== want.name);

function additions(table: DdlTable, have: TableShape): Change[] {
  const alter = `alter table ${quoted(table.name)}`;
  const constraint = (name: string, clause: string): Change => ({
    create: [`${alter} add ${clause}`],
    undo: `${alter} drop constraint ${quoted(name)}`,
  });
  return [
    ...table.columns.filter(lackedBy(have.columns)).map((it) => ({
      create: [`${alter} add column ${columnClause(it)}`, ...storageClause(table.name, it)],
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
      .map(({ name, statement }) => ({ create: [statement], undo: `drop index ${quoted(name)}` })),
  ];
}

function undecided(table: DdlTable, have: TableShape): string[] {
  const rest = tableDrift('', shapeOf(table), have).filter(
    ({ kind, message }) => kind !== 'missing' || message.startsWith('primary key'),
  );
  const unfilled = table.columns
    .filter(lackedBy(have.columns))
    .filter((it) => !it.nullable && it.default === undefined && !it.identity)
    .map(
      (it) =>
        `column ${it.name} is added as not null without a default, which fails if the table has rows: add it with a default for them, and drop the default (of _detail: 'full')`,
    );
  return [...rest.map(({ message }) => message), ...unfilled].map((message) => `${table.name}: ${message}`);
}
