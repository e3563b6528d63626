/** The entity that is to be forgotten: its table, its key, and the names under which it is known. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { NAME_FIELDS } from '../../normalize/erasure/redact-items.ts';
import { isObject, type JsonObject } from '../../normalize/scope.ts';
import { type Forgotten, nameVariants } from '../../service/names/forgotten.ts';
import { isKeyedByQuestion } from '../../service/resource.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { referencesTo } from './references.ts';
import { scrubberOf } from './scrub.ts';
import { traceOf, wholeTraces } from '../../service/names/traces.ts';

export interface ErasureTarget {
  readonly table: RootTable;
  readonly key: readonly string[];
}

type Schemas = Pick<Warehouse, 'schema' | 'ops'>;

/** The fields that tell who somebody is beside those by which a request can name them. */
const TELLING = ['name', 'email', 'phone', 'whatsapp_number', 'share_url', 'code', 'requested_url'];
const FIELDS: readonly string[] = [...NAME_FIELDS, ...TELLING];

/** Texts that tell who the entity is, by the field that held them. */
export type NamesByField = ReadonlyMap<string, ReadonlySet<string>>;

/** What is known of an entity's names, growing as more is read. */
export interface NameRegister {
  readonly names: NamesByField;
  /** Takes note of an object or a row that is the entity; columns may have a prefix. */
  readonly note: (found: JsonObject, prefix?: string) => void;
  /** How many texts are known. */
  readonly size: () => number;
}

/** A register of the entity's names that knows its key. */
export function openNameRegister({ table, key }: ErasureTarget): NameRegister {
  const names = new Map<string, Set<string>>();
  const add = (field: string, value: unknown): void => {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    if (text !== '') names.set(field, (names.get(field) ?? new Set()).add(text));
  };
  table.key.forEach((column, at) => {
    if (!column.endsWith('_type')) add(column, key[at]);
  });
  return {
    names,
    note: (found, prefix = '') => {
      for (const field of FIELDS) {
        const value = found[prefix + field];
        add(field, isObject(value) ? value['value'] : (value ?? found[`${prefix}${field}_value`]));
      }
    },
    size: () => [...names.values()].reduce((sum, texts) => sum + texts.size, 0),
  };
}

/** Notes what the tables know of the entity: its row, what it was before, and what others tell of it. */
export async function noteRows(
  db: QueryExecutorProvider,
  where: Schemas,
  target: ErasureTarget,
  register: NameRegister,
): Promise<void> {
  const { table, key } = target;
  const own = await sql<JsonObject>`
    select * from ${tableId(where.schema, table.name)} where ${keyEquals(table.key, key)}`.execute(db);
  for (const row of own.rows) register.note(row);
  if (table.changes) {
    const { name, entityKey } = table.changes;
    const before = await sql<{ attribute: string; texts: readonly (string | null)[] }>`
      select attribute, array[from_value, to_value] as texts from ${tableId(where.schema, name)}
      where ${keyEquals(entityKey, key)}`.execute(db);
    for (const { attribute, texts } of before.rows)
      for (const text of texts) register.note({ [attribute.replace(/^internal_id_value$/, 'internal_id')]: text });
  }
  const known = await sql<{ name: string }>`
    select name from ${tableId(where.ops, 'identities')}
    where resource = ${table.resource.name} and entity = ${JSON.stringify(key)}`.execute(db);
  for (const { name } of known.rows) register.note({ alias: name });
  for (const { table: other, key: columns, columns: all } of referencesTo(table)) {
    const prefix = (columns[0] ?? '').slice(0, -(table.key[0] ?? '').length);
    if (!all.some((column) => FIELDS.includes(column.slice(prefix.length)))) continue;
    const told = await sql<JsonObject>`
      select distinct ${sql.join(all.filter((it) => !it.startsWith('_')).map((it) => sql`${sql.ref(it)}::text as ${sql.ref(it)}`))}
      from ${tableId(where.schema, other.name)} where ${keyEquals(columns, key)}`.execute(db);
    for (const row of told.rows) register.note(row, prefix);
  }
}

/** The table of that name in a schema. */
export const tableId = (schema: string, table: string) => sql.id(schema, table);

/** True of rows whose columns hold these values. */
export const keyEquals = (columns: readonly string[], values: readonly string[]) =>
  sql<boolean>`(${sql.join(
    columns.map((column, index) => sql`${sql.ref(column)} = ${values[index] ?? ''}`),
    sql` and `,
  )})`;

/**
 * The names that no other row of these tables has: what several share tells of none of them, and stays where others have
 * it.
 */
export async function exclusiveNames(
  db: QueryExecutorProvider,
  { schema }: Schemas,
  { table, key }: ErasureTarget,
  names: NamesByField,
  among: readonly RootTable[],
): Promise<NamesByField> {
  const own = new Map<string, Set<string>>();
  for (const [field, texts] of names) {
    const kept = new Set(texts);
    for (const other of among) {
      const column = [field, `${field}_value`].find((it) => other.columns.some(({ name }) => name === it));
      if (column === undefined || kept.size === 0) continue;
      const isOther = other === table ? sql`not ${keyEquals(table.key, key)}` : sql`true`;
      const { rows } = await sql<{ text: string }>`
        select distinct ${sql.ref(column)}::text as text from ${tableId(schema, other.name)}
        where ${sql.ref(column)}::text = any(${arrayLiteral([...kept])}::text[]) and ${isOther}`.execute(db);
      for (const { text } of rows) kept.delete(text);
    }
    own.set(field, kept);
  }
  return own;
}

/** What a search for the entity goes by, with its names in clear. */
export interface ErasureSearch {
  readonly forgotten: Forgotten;
  /** Every spelling of a name that a request may use. */
  readonly requestNames: readonly string[];
  /** Texts that identify the entity wherever they stand, from their first word to their last. */
  readonly traces: ReadonlyMap<string, string>;
  /** Texts of which one is in whatever tells of the entity. */
  readonly hints: readonly string[];
}

/**
 * A search by the key, which is the entity's alone; by the names that no other of its table has, where requests name one
 * of that table; and in texts by those that no other of any table has.
 */
export function searchFor(
  target: ErasureTarget,
  names: NamesByField,
  texts: NamesByField,
  pseudonym: string,
): ErasureSearch {
  const { table, key } = target;
  // Requests name entities by these alone; many share a shown name.
  const lookedUp = [...names].filter(([field]) => !TELLING.includes(field) || field === 'requested_url');
  const keyTexts = key.filter((_, index) => !(table.key[index] ?? '').endsWith('_type'));
  const asked = new Set([...lookedUp.flatMap(([, of]) => [...of].flatMap(spelledOf)), ...keyTexts]);
  if (key.length === 2) asked.add(key.join(':'));
  const all = [...new Set([...texts].flatMap(([field, of]) => [...of].filter((text) => identifies(field, text))))];
  // A page is no person: other pages may go on linking to its address.
  const inTexts = isKeyedByQuestion(table.resource) ? [] : [...new Set([...all, ...keyTexts])];
  const scrub = scrubberOf(inTexts, pseudonym);
  const traces = new Map(inTexts.flatMap((text) => tracedAs(text)));
  const firsts = new Set(traces.values());
  return {
    forgotten: {
      isKey: (of, parts) => of === table.name && parts.join('\0') === key.join('\0'),
      isName: (of, text) => of === table.name && nameVariants(text).some((it) => asked.has(it)),
      isTrace: wholeTraces({ isFirst: (word) => firsts.has(word), isTrace: (text) => traces.has(text) }),
      scrub,
      pseudonym,
    },
    requestNames: [...asked],
    traces,
    hints: [...new Set([...asked, ...all, ...keyTexts])],
  };
}

/** A shown name of one word is a first name, or a word of the language; one of several is somebody's. */
const identifies = (field: string, text: string): boolean => field !== 'name' || /\S\s+\S/.test(text);

/** The text with its first word; an address also as it is written without its scheme. */
function tracedAs(text: string): (readonly [string, string])[] {
  const written = [text, ...(text.includes('://') ? [text.slice(text.indexOf('://') + '://'.length)] : [])];
  return written.flatMap((it) => {
    const found = traceOf(it);
    return found ? [[found.trace, found.first] as const] : [];
  });
}

/** A name in the spellings that stand for it alone: of an address the whole, of anything else all. */
const spelledOf = (text: string): readonly string[] => {
  const spellings = nameVariants(text);
  return text.includes('/') ? spellings.slice(0, 2) : spellings;
};
