/** The tables that keep what entities were: the values of each day, and each change of an attribute. */
import type { DailyTable, DailyMeasure, ChangeTable, Column, RootTable, SqlType } from './table-types.ts';
import type { ListSum } from '../../service/model.ts';
import { referenceColumnNames } from './references.ts';

/** A root table as declared, before it knows of its history. */
export type Declared = Omit<RootTable, 'daily' | 'changes'>;

const column = (name: string, type: SqlType, about: string, nullable = false): Column => ({
  name,
  type,
  about,
  nullable,
  volatile: false,
});

const singular = (table: string): string => table.replace(/ies$/, 'y').replace(/s$/, '');

/** The key's columns, and the foreign key by which the history goes when the entity goes. */
function entityOf(root: Declared): Pick<DailyTable, 'entityKey' | 'columns' | 'foreignKeys'> {
  const { noun, key, table } = root.resource;
  const entityKey = referenceColumnNames(noun, key);
  return {
    entityKey,
    columns: entityKey.map((name) => column(name, 'text', `Key of the ${noun}.`)),
    foreignKeys: [{ columns: entityKey, table, references: key, onDelete: 'cascade' }],
  };
}

/** The table of a resource's numbers by day; undefined when it declares none. */
export function dailyTable(root: Declared): DailyTable | undefined {
  const { measures = [], table, noun } = root.resource;
  if (measures.length === 0) return undefined;
  const { entityKey, columns, foreignKeys } = entityOf(root);
  const told = measures.map((it) => (typeof it === 'string' ? copied(root, it) : summed(root, it)));
  return {
    name: `fact_${singular(table)}_daily`,
    kind: 'daily',
    about: `Numbers of each ${noun} by day: one row for each UTC day on which an answer showed it, with the last value told that day.`,
    entityKey,
    measures: told.map(({ measure }) => measure),
    columns: [
      ...columns,
      column('date', 'date', 'The UTC day on which the answers were received; joins dim_date.'),
      ...told.map((it) => it.column),
      column(
        '_seen_at',
        'timestamptz',
        'Receipt of the answer that showed it first that day, or changed a number last.',
      ),
      column('_answer_id', 'bigint', 'That answer, in the operations schema.'),
      column(
        '_earlier',
        'jsonb',
        'Numbers that this answer did not tell, each with receipt and id of the answer that told it last; null when there are none.',
        true,
      ),
    ],
    key: [...entityKey, 'date'],
    foreignKeys,
    indexes: [{ columns: ['date'], using: 'btree' }],
  };
}

interface Told {
  readonly column: Column;
  readonly measure: DailyMeasure;
}

function copied(root: Declared, name: string): Told {
  const from = root.columns.find((it) => it.name === name);
  if (!from) throw new Error(`${root.name} has no column ${name} to measure`);
  return { column: { ...from, nullable: true }, measure: { column: name } };
}

function summed(root: Declared, { name, about, list, field }: ListSum): Told {
  const child = root.children.find((it) => it.name === `${singular(root.name)}_${list}`);
  const place = child?.columns.slice(child.parentKey.length).findIndex((it) => it.name === field) ?? -1;
  if (!child || place < 0) throw new Error(`${root.name} has no list ${list} with ${field} to measure`);
  return {
    column: column(name, 'bigint', about, true),
    measure: { column: name, sum: { child: child.name, place } },
  };
}

/** Types of attributes; instants are left out, whose text differs with their precision. */
const LOGGED: readonly SqlType[] = ['text', 'boolean', 'bigint', 'double precision', 'date'];

/** The log of changes of a resource's attributes; undefined when it is not logged. */
export function changeTable(root: Declared): ChangeTable | undefined {
  const { logged, noun, table } = root.resource;
  if (!logged) return undefined;
  const { entityKey, columns, foreignKeys } = entityOf(root);
  return {
    name: `${singular(table)}_changes`,
    kind: 'changes',
    about: `Changes of each ${noun}’s attributes: one row for each attribute that an answer showed to differ. Numbers of the day are not here, nor addresses of images, which differ in every answer.`,
    entityKey,
    attributes: attributesOf(root),
    columns: [
      ...columns,
      column('attribute', 'text', `Name of the column of ${table} that changed.`),
      column('changed_at', 'timestamptz', 'Receipt of the answer that showed the change.'),
      column('from_value', 'text', 'What it was before, as text; null for nothing.', true),
      column('to_value', 'text', 'What it became, as text; null for nothing.', true),
      column('_answer_id', 'bigint', 'The paid answer that showed the change, in the operations schema.'),
    ],
    key: [...entityKey, 'attribute', 'changed_at', '_answer_id'],
    foreignKeys,
    indexes: [{ columns: ['changed_at'], using: 'btree' }],
  };
}

function attributesOf({ key, columns, children, resource }: Declared): string[] {
  const left = new Set([
    ...key,
    ...children.map(({ count }) => count),
    ...(resource.measures ?? []).map((it) => (typeof it === 'string' ? it : it.name)),
    ...columns.filter(({ type }) => type === 'timestamptz').map(({ name }) => `${name}_epoch`),
  ]);
  return columns
    .filter((it) => !it.name.startsWith('_') && !it.volatile && !left.has(it.name) && LOGGED.includes(it.type))
    .map(({ name }) => name);
}
