/** Derives the history tables: daily numbers, and the log of attribute changes. */
import type { DailyTable, DailyMeasure, ChangeTable, Column, RootTable, SqlType } from './table-types.ts';
import type { ListSum, PersonalData } from '../../service/model.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import { referenceColumnNames } from './references.ts';

/** A root table without its history tables. */
export type Declared = Omit<RootTable, 'daily' | 'changes'>;

const column = (name: string, type: SqlType, about: string, nullable = false, personal?: PersonalData): Column => ({
  name,
  type,
  about,
  nullable,
  volatile: false,
  personal,
});

const singular = (table: string): string => table.replace(/ies$/, 'y').replace(/s$/, '');

/** The entity's key columns, and a foreign key that deletes the history with the entity. */
function entityOf(root: Declared): Pick<DailyTable, 'entityKey' | 'columns' | 'foreignKeys'> {
  const { noun, key, table } = root.resource;
  const entityKey = referenceColumnNames(noun, key);
  return {
    entityKey,
    columns: entityKey.map((name, index) => {
      const own = root.columns.find((it) => it.name === key[index]);
      return column(name, own?.type ?? 'text', `Key of the ${noun}.`, false, own?.personal);
    }),
    foreignKeys: [{ columns: entityKey, table, references: key, onDelete: 'cascade' }],
  };
}

/** The table of daily numbers of a resource; undefined if it declares no measures. */
export function dailyTable(root: Declared): DailyTable | undefined {
  const { measures = [], table, noun } = root.resource;
  if (measures.length === 0) return undefined;
  const { entityKey, columns, foreignKeys } = entityOf(root);
  const numbers = measures.map((it) => (typeof it === 'string' ? copied(root, it) : summed(root, it)));
  return {
    name: `fact_${singular(table)}_daily`,
    kind: 'daily',
    about: `Daily numbers of each ${noun}: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.`,
    entityKey,
    measures: numbers.map(({ measure }) => measure),
    columns: [
      ...columns,
      column('date', 'date', 'UTC day of receipt of the answers; joins dim_date.'),
      ...numbers.map((it) => it.column),
      column(
        '_seen_at',
        'timestamptz',
        'Receipt of the first answer of that day that showed it, or of the last answer that changed a number.',
      ),
      column('_answer_id', 'bigint', 'Id of that answer in the operations schema.'),
      column(
        '_earlier',
        'jsonb',
        'Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.',
        true,
      ),
    ],
    key: [...entityKey, 'date'],
    foreignKeys,
    indexes: [{ columns: ['date'], using: 'btree' }],
  };
}

interface MeasuredColumn {
  readonly column: Column;
  readonly measure: DailyMeasure;
}

function copied(root: Declared, name: string): MeasuredColumn {
  const from = root.columns.find((it) => it.name === name);
  if (!from) throw new Error(`${root.name} has no column ${name} to measure`);
  return { column: { ...from, nullable: true }, measure: { column: name } };
}

function summed(root: Declared, { name, about, list, field }: ListSum): MeasuredColumn {
  const child = root.children.find((it) => it.name === `${singular(root.name)}_${list}`);
  const place = child?.columns.slice(child.parentKey.length).findIndex((it) => it.name === field) ?? -1;
  if (!child || place < 0) throw new Error(`${root.name} has no list ${list} with ${field} to measure`);
  return {
    column: column(name, 'bigint', about, true),
    measure: { column: name, sum: { child: child.name, place } },
  };
}

/** Types of logged attributes. Instants are excluded, because their text varies with their precision. */
const LOGGED: readonly SqlType[] = ['text', 'boolean', 'bigint', 'double precision', 'date'];

/** The log of a resource's attribute changes; undefined for the request log, whose rows are events. */
export function changeTable(root: Declared): ChangeTable | undefined {
  const { noun, table, digested = [] } = root.resource;
  if (table === LOG_TABLE) return undefined;
  const { entityKey, columns, foreignKeys } = entityOf(root);
  const attributes = attributesOf(root);
  const isPersonal = root.columns.some((it) => it.personal !== undefined && attributes.includes(it.name));
  const personal = isPersonal ? 'content' : undefined;
  return {
    name: `${singular(table)}_changes`,
    kind: 'changes',
    about: `Attribute changes of each ${noun}: one row per attribute that an answer changed. Daily numbers are not included, and neither are image addresses, which differ in every answer.${digested.length > 0 ? ` The values of ${digested.join(', ')} are SHA-256 digests, in hex.` : ''}`,
    entityKey,
    attributes,
    digested,
    columns: [
      ...columns,
      column('attribute', 'text', `Name of the changed column of ${table}.`),
      column('changed_at', 'timestamptz', 'Receipt of the answer that showed the change.'),
      column('from_value', 'text', 'Value before the change, as text; null if there was none.', true, personal),
      column('to_value', 'text', 'Value after the change, as text; null if there is none.', true, personal),
      column('_answer_id', 'bigint', 'Id of the paid answer that showed the change, in the operations schema.'),
    ],
    key: [...entityKey, 'attribute', 'changed_at', '_answer_id'],
    foreignKeys,
    indexes: [{ columns: ['changed_at'], using: 'btree' }],
  };
}

function attributesOf({ key, columns, children, resource }: Declared): string[] {
  const excluded = new Set([
    ...key,
    ...children.map(({ count }) => count),
    ...(resource.measures ?? []).map((it) => (typeof it === 'string' ? it : it.name)),
    ...columns.filter(({ type }) => type === 'timestamptz').map(({ name }) => `${name}_epoch`),
  ]);
  return columns
    .filter((it) => !it.name.startsWith('_') && !it.volatile && !excluded.has(it.name) && LOGGED.includes(it.type))
    .map(({ name }) => name);
}
