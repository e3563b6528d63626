/** Derives the history tables: daily numbers, and the log of attribute changes. */
import type {
  ChangeTable,
  ChildTable,
  Column,
  DailyMeasure,
  DailyTable,
  RootTable,
  SqlType,
  Table,
} from './table-types.ts';
import type { ListSum, PersonalData } from '../../service/model.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import { literal, sameKey } from '../sql/identifiers.ts';
import { referenceColumnNames, singular } from './references.ts';

/** A root table without its history tables. */
export type Declared = Omit<RootTable, 'daily' | 'changes'>;

/** A list table without its log. */
export type DeclaredList = Omit<ChildTable, 'changes'>;

/**
 * The attribute that logs when a row came and went: null before it came, and null after an answer removed it. Otherwise
 * it is the receipt of the first answer that contained the row.
 */
export const CAME = '_first_seen_at';

const column = (name: string, type: SqlType, about: string, nullable = false, personal?: PersonalData): Column => ({
  name,
  type,
  about,
  nullable,
  volatile: false,
  personal,
});

/**
 * SQL for when a list element came, as text; null if it came with its parent. `log` is the SQL name of its log, `of` the
 * alias of the list.
 */
export const lastCame = (log: string, { entityKey }: ChangeTable, of: string): string =>
  `select c.to_value from ${log} c where ${sameKey('c', entityKey, of)} and c.attribute = ${literal(CAME)} order by c.changed_at desc, c._answer_id desc limit 1`;

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

/**
 * The log of a resource's attribute changes; undefined for the request log, whose rows are events. Answers remove the
 * rows that have an owner, and their log stays. Any other log is deleted with the row.
 */
export function changeTable(root: Declared): ChangeTable | undefined {
  const { noun, table, owner, digested = [], measures = [] } = root.resource;
  if (table === LOG_TABLE) return undefined;
  const { entityKey, columns, foreignKeys } = entityOf(root);
  const daily = measures.map((it) => (typeof it === 'string' ? it : it.name));
  const about = digested.length > 0 ? ` The values of ${digested.join(', ')} are SHA-256 digests, in hex.` : '';
  return logOf(root, {
    noun,
    about: `${daily.length > 0 ? ' Daily numbers are not included.' : ''}${about}`,
    entityKey,
    keyColumns: columns,
    foreignKeys: owner ? [] : foreignKeys,
    attributes: attributesOf(root).filter((name) => !daily.includes(name)),
    digested,
    removable: owner !== undefined,
  });
}

/** The log of a list whose elements have keys, such as the members of a group; undefined for any other list. */
export function listChangeTable(list: DeclaredList): ChangeTable | undefined {
  const { name, key, columns, parentKey, foreignKeys } = list;
  if (list.volatile || key.includes('position')) return undefined;
  return logOf(list, {
    noun: singular(name).replaceAll('_', ' '),
    about: ' The first list of a new parent is not included.',
    entityKey: key,
    keyColumns: columns.filter((it) => key.includes(it.name)),
    foreignKeys: foreignKeys.filter((it) => it.columns.join() === parentKey.join()),
    attributes: attributesOf(list),
    digested: [],
    removable: true,
  });
}

/** What logs differ in. */
interface Logged extends Pick<ChangeTable, 'entityKey' | 'attributes' | 'digested' | 'foreignKeys'> {
  readonly noun: string;
  /** Sentences that the comment of the table ends with. */
  readonly about: string;
  /** Whether answers remove rows. */
  readonly removable: boolean;
  readonly keyColumns: readonly Column[];
}

function logOf(
  { name: table }: Pick<Table, 'name'>,
  { noun, about, entityKey, keyColumns, foreignKeys, attributes, digested, removable }: Logged,
): ChangeTable {
  return {
    name: `${singular(table)}_changes`,
    kind: 'changes',
    about: `Changes of each ${noun}: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.${about}`,
    entityKey,
    attributes,
    digested,
    columns: [
      ...keyColumns,
      column(
        'attribute',
        'text',
        `Name of the changed column of ${table}${removable ? `; ${CAME} for a row that came or went` : ''}.`,
      ),
      column('changed_at', 'timestamptz', 'Receipt of the answer that showed the change.'),
      // Every log has JSON, whose contents are not declared.
      column('from_value', 'text', 'Value before the change, as text; null if there was none.', true, 'content'),
      column('to_value', 'text', 'Value after the change, as text; null if there is none.', true, 'content'),
      column('_answer_id', 'bigint', 'Id of the paid answer that showed the change, in the operations schema.'),
    ],
    key: [...entityKey, 'attribute', 'changed_at', '_answer_id'],
    foreignKeys,
    indexes: [{ columns: ['changed_at'], using: 'btree' }],
  };
}

/** Every column that an answer can change, except those that differ in every answer. */
const attributesOf = ({ key, columns }: Pick<Table, 'key' | 'columns'>): string[] =>
  columns.filter((it) => !it.name.startsWith('_') && !it.volatile && !key.includes(it.name)).map(({ name }) => name);
