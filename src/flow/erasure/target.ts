/** The entity to forget: its table, its key and its known names. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { IDENTIFYING_FIELDS, PERMANENT_FIELDS, TEXT_FIELDS } from '../../normalize/erasure/identifying-fields.ts';
import { isObject, type JsonObject } from '../../normalize/scope.ts';
import { type Forgotten, nameVariants } from '../../service/names/forgotten.ts';
import { isKeyedByQuestion } from '../../service/resource.ts';
import { anyText, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import type { ChangeTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import { referencesTo } from './references.ts';
import { scrubberOf } from './scrub.ts';
import { scrubberByDigests, traceOf, wholeTraces } from '../../service/names/traces.ts';

export interface ErasureTarget {
  readonly table: RootTable;
  readonly key: readonly string[];
}

/** Texts that identify the entity, by the field that held them. */
export type NamesByField = ReadonlyMap<string, ReadonlySet<string>>;

/** The known names of an entity; grows as more rows and answers are read. */
export interface NameRegister {
  readonly names: NamesByField;
  /** Adds the names from an object or a row of the entity; columns may have a prefix. */
  readonly note: (found: JsonObject, prefix?: string) => void;
  /** How many texts are known. */
  readonly size: () => number;
}

/**
 * The column of the key that alone can identify a row of the table; undefined if the key has several parts besides the
 * type of a URN. Thousands of filings share a file name.
 */
function namingColumn({ key }: RootTable): string | undefined {
  const [column, ...others] = key.filter((name) => !name.endsWith('_type'));
  return others.length === 0 ? column : undefined;
}

/** Returns a register of the entity's names that starts with its key. */
export function openNameRegister({ table, key }: ErasureTarget): NameRegister {
  const names = new Map<string, Set<string>>();
  const add = (field: string, value: unknown): void => {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    if (text !== '') names.set(field, (names.get(field) ?? new Set()).add(text));
  };
  const naming = namingColumn(table);
  if (naming !== undefined) add(naming, key[table.key.indexOf(naming)]);
  return {
    names,
    note: (found, prefix = '') => {
      for (const field of IDENTIFYING_FIELDS) {
        const value = found[prefix + field];
        add(field, isObject(value) ? value['value'] : (value ?? found[`${prefix}${field}_value`]));
      }
    },
    size: () => [...names.values()].reduce((sum, texts) => sum + texts.size, 0),
  };
}

/** Adds the names in the tables: from the entity's row, its earlier values and other rows about it. */
export async function noteRows(
  db: QueryExecutorProvider,
  where: SchemaNames,
  target: ErasureTarget,
  register: NameRegister,
): Promise<void> {
  const { table, key } = target;
  const own = await sql<JsonObject>`
    select * from ${sql.id(where.schema, table.name)} where ${keyEquals(table.key, key)}`.execute(db);
  for (const row of own.rows) register.note(row);
  const noteLog = async (log: ChangeTable, of: readonly string[], prefix?: string): Promise<void> => {
    const before = await sql<{ attribute: string; texts: readonly (string | null)[] }>`
      select attribute, array[from_value, to_value] as texts from ${sql.id(where.schema, log.name)}
      where ${keyEquals(of, key)}`.execute(db);
    for (const { attribute, texts } of before.rows)
      for (const text of texts) register.note({ [attribute]: text }, prefix);
  };
  if (table.changes) await noteLog(table.changes, table.changes.entityKey);
  const known = await sql<{ name: string }>`
    select name from ${sql.id(where.ops, 'identities')}
    where resource = ${table.resource.name} and entity = ${JSON.stringify(key)}`.execute(db);
  for (const { name } of known.rows) register.note({ alias: name });
  for (const { table: other, key: columns, columns: all, isElement } of referencesTo(table)) {
    const prefix = (columns[0] ?? '').slice(0, -(table.key[0] ?? '').length);
    if (!all.some((column) => IDENTIFYING_FIELDS.includes(column.slice(prefix.length)))) continue;
    if (isElement && other.changes) await noteLog(other.changes, columns, prefix);
    const mentions = await sql<JsonObject>`
      select distinct ${sql.join(all.filter((it) => !it.startsWith('_')).map((it) => sql`${sql.ref(it)}::text as ${sql.ref(it)}`))}
      from ${sql.id(where.schema, other.name)} where ${keyEquals(columns, key)}`.execute(db);
    for (const row of mentions.rows) register.note(row, prefix);
  }
}

/** SQL condition that the columns hold these values. */
export const keyEquals = (columns: readonly string[], values: readonly string[]) =>
  sql<boolean>`(${sql.join(
    columns.map((column, index) => sql`${sql.ref(column)} = ${values[index] ?? ''}`),
    sql` and `,
  )})`;

/** SQL condition that a text contains one of these parts. */
export const containsAny = (text: RawBuilder<unknown>, parts: readonly string[]) =>
  sql<boolean>`exists (
    select from unnest(${arrayLiteral(parts)}::text[]) as u(part) where position(u.part in ${text}) > 0)`;

/**
 * Returns the names that no other row of these tables has. A shared name identifies no entity, so it stays where others
 * have it.
 */
export async function exclusiveNames(
  db: QueryExecutorProvider,
  { schema }: SchemaNames,
  { table, key }: ErasureTarget,
  names: NamesByField,
  among: readonly RootTable[],
): Promise<NamesByField> {
  const own = new Map<string, Set<string>>();
  for (const [field, texts] of names) {
    const kept = new Set(texts);
    for (const other of among) {
      const columns = columnsWith(field, other, other === table);
      if (columns.length === 0 || kept.size === 0) continue;
      const isOther = other === table ? sql`not ${keyEquals(table.key, key)}` : sql`true`;
      const { rows } = await sql<{ text: string }>`
        select distinct held.text from ${sql.id(schema, other.name)} t
        cross join unnest(array[${sql.join(columns.map((it) => sql`t.${sql.ref(it)}::text`))}]) as held(text)
        where held.text = ${anyText([...kept])} and ${isOther}`.execute(db);
      for (const { text } of rows) kept.delete(text);
    }
    own.set(field, kept);
  }
  return own;
}

/** The columns of a table that can have the same name. In the entity's own table, any key and any id may be its id. */
function columnsWith(field: string, table: RootTable, isOwn: boolean): readonly string[] {
  const naming = namingColumn(table);
  const isId = field === naming || PERMANENT_FIELDS.includes(field);
  const fields = isOwn && isId ? [field, naming, ...PERMANENT_FIELDS] : [field];
  return table.columns
    .map(({ name }) => name)
    .filter((name) => fields.some((it) => name === it || name === `${it}_value`));
}

/** Returns the parts of the key that are also keys in other tables. Such digits identify no entity in running text. */
export async function sharedKeyTexts(
  db: QueryExecutorProvider,
  { schema }: SchemaNames,
  { table, key }: ErasureTarget,
): Promise<ReadonlySet<string>> {
  const own = arrayLiteral(key);
  const columns = rootTables.flatMap((other) =>
    other === table
      ? []
      : other.columns
          .filter(({ name, type }) => type === 'text' && other.key.includes(name) && !name.endsWith('_type'))
          // A key from a request may refer to the entity.
          .filter(({ name }) => other.resource.fields[name]?.shape !== 'given')
          .map(
            ({ name }) => sql`select ${sql.ref(name)} as text from ${sql.id(schema, other.name)}
            where ${sql.ref(name)} = any(${own}::text[])`,
          ),
  );
  const { rows } = await sql<{ text: string }>`${sql.join(columns, sql` union `)}`.execute(db);
  return new Set(rows.map(({ text }) => text));
}

/** What a search for the entity matches, with its names in clear text. */
export interface ErasureSearch {
  readonly forgotten: Forgotten;
  /** Every spelling of a name that a request may use. */
  readonly requestNames: readonly string[];
  /** Texts that identify the entity anywhere, by text with its first word. */
  readonly traces: ReadonlyMap<string, string>;
  /** Search texts: every mention of the entity contains at least one of them. */
  readonly hints: readonly string[];
}

/**
 * Builds a search by key and by name. Requests match by names that are unique in the entity's table. Running text
 * matches by names that are unique across all tables, and by a key that is among the names and not `shared`.
 */
export function searchFor(
  target: ErasureTarget,
  names: NamesByField,
  texts: NamesByField,
  shared: ReadonlySet<string>,
  pseudonym: string,
): ErasureSearch {
  const { table, key } = target;
  // Requests name entities by these fields alone; many entities share a display name.
  const lookedUp = [...names].filter(([field]) => !TEXT_FIELDS.has(field));
  const keyTexts = key.filter((_, index) => !(table.key[index] ?? '').endsWith('_type'));
  const naming = namingColumn(table) ?? '';
  const keyNames = keyTexts.filter((text) => names.get(naming)?.has(text.trim()));
  const asked = new Set([...lookedUp.flatMap(([, of]) => [...of].flatMap(spelledOf)), ...keyNames]);
  if (key.length === 2) asked.add(key.join(':'));
  const all = [...new Set([...texts].flatMap(([field, of]) => [...of].filter((text) => identifies(field, text))))];
  // A page is not a person: other pages may keep links to its address.
  const inTexts = isKeyedByQuestion(table.resource)
    ? []
    : [...new Set([...all, ...keyNames])].filter((text) => !shared.has(text));
  const traces = new Map(inTexts.flatMap((text) => tracedAs(text)));
  const firsts = new Set(traces.values());
  const known = { isFirst: (word: string) => firsts.has(word), isTrace: (text: string) => traces.has(text) };
  const withoutNames = scrubberOf(inTexts, pseudonym);
  const withoutTraces = scrubberByDigests(known, () => pseudonym);
  // Later answers and plans are compared with digests of traces, so what these would change is changed now.
  const scrub = (text: string): string => {
    const after = withoutNames(text);
    return traces.keys().some((trace) => after.includes(trace)) ? withoutTraces(after) : after;
  };
  return {
    forgotten: {
      isKey: (of, parts) => of === table.name && parts.join('\0') === key.join('\0'),
      isName: (of, text) => of === table.name && nameVariants(text).some((it) => asked.has(it)),
      isTrace: wholeTraces(known),
      scrub,
      pseudonymFor: () => pseudonym,
    },
    requestNames: [...asked],
    traces,
    hints: [...new Set([...asked, ...all, ...keyTexts])],
  };
}

/** A display name of one word is a first name or an ordinary word; a name of several words identifies a person. */
const identifies = (field: string, text: string): boolean => field !== 'name' || /\S\s+\S/.test(text);

const SCHEME = /^\s*[a-z][a-z\d+.-]*:\/\//i;

/** The text with its first word; an address also without its scheme. An address inside a name belongs to others too. */
function tracedAs(text: string): (readonly [string, string])[] {
  const written = [...new Set([text, text.replace(SCHEME, '')])];
  return written.flatMap((it) => {
    const found = traceOf(it);
    return found ? [[found.trace, found.first] as const] : [];
  });
}

/** The spellings of a name that stand for it alone: for an address only the complete one, for other names all. */
const spelledOf = (text: string): readonly string[] => {
  const spellings = nameVariants(text);
  return text.includes('/') ? spellings.slice(0, 2) : spellings;
};
