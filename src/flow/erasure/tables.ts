/** Removes an entity from the tables: its row with all dependent rows, and its data in other rows. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { catalog } from '../../service/catalog.ts';
import { cleanText } from '../../normalize/erasure/clean.ts';
import { PERMANENT_FIELDS } from '../../normalize/erasure/identifying-fields.ts';
import { isPseudonym } from '../../service/names/forgotten.ts';
import { referenceColumnNames } from '../../warehouse/schema/references.ts';
import { anyBigint, anyText } from '../../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { type BridgeTable, bridgeTables, rootTables } from '../../warehouse/schema/tables.ts';
import type { ChangeTable, ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import { eraseExtra } from './extra.ts';
import { type Reference, referencesTo } from './references.ts';
import { containsAny, keyEquals, type ErasureSearch, type ErasureTarget } from './target.ts';

/** What an erasure has touched so far. */
export interface TouchedRows {
  readonly note: (table: string, rows: number) => void;
  /** Root rows of other entities that differ from what the loader wrote, by table. */
  readonly changed: Map<RootTable, Set<string>>;
}

/** Executes a statement that changes or deletes rows of a table, and notes how many. */
export async function executeNoted(
  db: QueryExecutorProvider,
  touched: TouchedRows,
  table: string,
  statement: RawBuilder<unknown>,
): Promise<void> {
  const { numAffectedRows = 0n } = await statement.execute(db);
  touched.note(table, Number(numAffectedRows));
}

export const noteChanged = ({ changed }: TouchedRows, table: RootTable, id: string): void => {
  changed.set(table, (changed.get(table) ?? new Set()).add(id));
};

/** The entity, and how it is recognised in rows of others. */
export interface ErasedEntity {
  readonly target: ErasureTarget;
  readonly search: ErasureSearch;
}

/** Deletes the entity's rows and its data in other rows. `answers` are the answers to requests for it. */
export async function eraseRows(
  db: QueryExecutorProvider,
  schemas: SchemaNames,
  erased: ErasedEntity,
  answers: readonly string[],
  touched: TouchedRows,
): Promise<void> {
  const { schema, ops } = schemas;
  const { table, key } = erased.target;
  const erase = (from: string, where: RawBuilder<boolean>, of = schema): Promise<void> =>
    executeNoted(db, touched, from, sql`delete from ${sql.id(of, from)} where ${where}`);
  for (const { name, where } of ownedBy(erased.target, answers)) await erase(name, where);
  for (const bridge of bridgeTables) await eraseTies(db, schema, bridge, erased, touched);
  await eraseReferences(db, schema, erased, touched);
  // Dependent rows are deleted by cascade, so they are deleted explicitly first to be counted.
  for (const owned of [...table.children, table.daily, table.changes])
    if (owned) await erase(owned.name, keyEquals('entityKey' in owned ? owned.entityKey : owned.parentKey, key));
  for (const { changes, parentKey } of table.children)
    if (changes) await erase(changes.name, keyEquals(parentKey, key));
  await erase(table.name, keyEquals(table.key, key));
  await erase('identities', sql`resource = ${table.resource.name} and entity = ${JSON.stringify(key)}`, ops);
}

/** The tables with rows that belong to the entity or come from answers to requests for it, with the rows in question. */
function ownedBy(
  { table, key }: ErasureTarget,
  answers: readonly string[],
): { readonly name: string; readonly where: RawBuilder<boolean> }[] {
  const asOwner = referenceColumnNames(table.resource.noun, table.key);
  return rootTables.flatMap((other) => {
    const isGiven = other.key.some((name) => other.resource.fields[name]?.shape === 'given');
    const isOwned = other.resource.owner?.join() === asOwner.join();
    // The log of owned rows stays when an answer removes them.
    const withLog = other.resource.owner && other.changes ? [other, other.changes] : [other];
    return withLog.flatMap((it) => {
      const owner = 'entityKey' in it ? asOwner.map((name) => it.entityKey[other.key.indexOf(name)] ?? '') : asOwner;
      return [
        ...(isGiven && answers.length > 0
          ? [{ name: it.name, where: sql<boolean>`_answer_id = ${anyBigint(answers)}` }]
          : []),
        ...(isOwned ? [{ name: it.name, where: keyEquals(owner, key) }] : []),
      ];
    });
  });
}

/** Removes what rows of other entities say of the entity, now and in their change logs. */
async function eraseReferences(
  db: QueryExecutorProvider,
  schema: string,
  erased: ErasedEntity,
  touched: TouchedRows,
): Promise<void> {
  const { table, key } = erased.target;
  for (const reference of referencesTo(table)) {
    const { table: of, key: columns, columns: all, path, isElement } = reference;
    const root = parentOf(of);
    const inTable = { schema, name: of.name };
    const refers = await refersTo(db, schema, reference, erased);
    if (!isElement) await eraseExtra(db, inTable, ['extra'], path, refers);
    const rootKey = rootKeyIn(of);
    const change = isElement
      ? sql`delete from ${sql.id(schema, of.name)}`
      : sql`update ${sql.id(schema, of.name)} set ${sql.join(all.map((name) => sql`${sql.ref(name)} = null`))}`;
    const { rows } = await sql<Record<string, string>>`
      ${change} where ${refers}
      returning ${sql.join(rootKey.map((name) => sql.ref(name)))}`.execute(db);
    touched.note(of.name, rows.length);
    if (isElement && of.changes) {
      const logged = sql`delete from ${sql.id(schema, of.changes.name)} where ${keyEquals(columns, key)}`;
      await executeNoted(db, touched, of.changes.name, logged);
    }
    const ids = rows.map((row) => rootKey.map((name) => row[name] ?? ''));
    for (const id of ids) noteChanged(touched, root, id.join('\0'));
    if (of === root && root.changes)
      await eraseLoggedReference(db, schema, root.changes, { of: root, columns, all, path, key, ids }, touched);
  }
}

/**
 * SQL condition for rows that refer to the entity: by its key, by an id that never changes or, without a key, by one of its
 * names. Stored answers lose the same objects.
 */
async function refersTo(
  db: QueryExecutorProvider,
  schema: string,
  { table: of, key: columns, names, isOfType }: Reference,
  { target: { table, key }, search: { forgotten, requestNames } }: ErasedEntity,
): Promise<RawBuilder<boolean>> {
  const conditions: RawBuilder<boolean>[] = [keyEquals(columns, key)];
  const isKeyless = sql`num_nulls(${sql.join(columns.map((it) => sql.ref(it)))}) > 0`;
  const typeColumn = columns[table.key.findIndex((it) => it.endsWith('_type'))];
  const type = typeColumn === undefined ? sql`''::text` : sql`coalesce(${sql.ref(typeColumn)}, '')`;
  for (const name of names) {
    const mayName = isPermanent(name) ? sql<boolean>`true` : isKeyless;
    const { rows } = await sql<{ text: string; type: string }>`
      select distinct ${sql.ref(name)} as text, ${type} as type from ${sql.id(schema, of.name)}
      where ${mayName} and ${containsAny(sql.ref(name), requestNames)}`.execute(db);
    for (const found of rows)
      if (isOfType(found.type) && forgotten.isName(table.name, found.text))
        conditions.push(sql`(${mayName} and ${sql.ref(name)} = ${found.text} and ${type} = ${found.type})`);
  }
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** True for a column with an id that never changes hands. */
const isPermanent = (column: string): boolean =>
  PERMANENT_FIELDS.some((field) => column.endsWith(field) || column.endsWith(`${field}_value`));

/** A reference to the erased entity: its columns, all columns and the path about it, its key, and the rows that hold it now. */
interface LoggedReference {
  readonly of: RootTable;
  readonly columns: readonly string[];
  readonly all: readonly string[];
  readonly path: readonly string[];
  readonly key: readonly string[];
  readonly ids: readonly (readonly string[])[];
}

/** Deletes what the change log says of a reference, in the rows that refer to the entity or once did. */
async function eraseLoggedReference(
  db: QueryExecutorProvider,
  schema: string,
  log: ChangeTable,
  { of, columns, all, path, key, ids }: LoggedReference,
  touched: TouchedRows,
): Promise<void> {
  const isSame = log.entityKey.map((name) => sql`o.${sql.ref(name)} = c.${sql.ref(name)}`);
  const isRow = log.entityKey.map((name, index) => sql`r.${sql.ref(of.key[index] ?? '')} = c.${sql.ref(name)}`);
  // The log has a part of the key only from its first change on.
  const had = columns.map((column, index) => {
    const part = key[index] ?? '';
    return sql`(exists (
      select from ${sql.id(schema, log.name)} o
      where ${sql.join(isSame, sql` and `)} and o.attribute = ${column} and ${part} in (o.from_value, o.to_value)
    ) or exists (
      select from ${sql.id(schema, of.name)} r where ${sql.join(isRow, sql` and `)} and r.${sql.ref(column)} = ${part}
    ))`;
  });
  const current = rowsFrom(
    ids,
    Object.fromEntries(
      log.entityKey.map((name, index) => [name, ['text', (id: readonly string[]) => id[index] ?? '']]),
    ),
  );
  const isCurrent = log.entityKey.map((name) => sql`o.${sql.ref(name)} = c.${sql.ref(name)}::text`);
  const refers = sql`(
    (${sql.join(had, sql` and `)}) or exists (select from ${current} o where ${sql.join(isCurrent, sql` and `)})
  )`;
  const logged = sql`c.attribute = 'extra' and ${refers}`;
  await eraseExtra(db, { schema, name: log.name }, ['from_value', 'to_value'], path, logged);
  const gone = sql`
    delete from ${sql.id(schema, log.name)} c
    where ${refers} and (
      c.attribute = ${anyText(all)}
      or (c.attribute = 'extra' and c.from_value is not distinct from c.to_value)
    )`;
  await executeNoted(db, touched, log.name, gone);
}

/** Returns the root table that a table's rows belong to. */
function parentOf(table: RootTable | ChildTable): RootTable {
  const root = rootTables.find((it) => it.name === table.name || it.children.some(({ name }) => name === table.name));
  if (!root) throw new Error(`${table.name} belongs to no root table`);
  return root;
}

/** The columns of a table that hold the key of its root row. */
export const rootKeyIn = (table: RootTable | ChildTable): readonly string[] =>
  table.kind === 'root' ? table.key : table.parentKey;

/** Deletes the bridge rows of the entity, and the bridge rows of requests about it. */
async function eraseTies(
  db: QueryExecutorProvider,
  schema: string,
  { name, bridge, questionKey, columns, key: rowKey }: BridgeTable,
  { target: { table, key }, search: { forgotten } }: ErasedEntity,
  touched: TouchedRows,
): Promise<void> {
  const bridgeRows = sql.id(schema, name);
  const change = (statement: RawBuilder<unknown>): Promise<void> => executeNoted(db, touched, name, statement);
  const remove = (where: RawBuilder<boolean>): Promise<void> => change(sql`delete from ${bridgeRows} where ${where}`);
  /** Another name of the entity among the same words has the same rows. */
  const rename = async (column: string, text: string, left: string): Promise<void> => {
    const rest = rowKey.filter((it) => it !== column).map((it) => sql`o.${sql.ref(it)} = b.${sql.ref(it)}`);
    const of = sql`b.${sql.ref(column)} = ${text}`;
    const isThere = sql`exists (select from ${bridgeRows} o where o.${sql.ref(column)} = ${left} and ${sql.join(rest, sql` and `)})`;
    await change(sql`delete from ${bridgeRows} b where ${of} and ${isThere}`);
    await change(sql`update ${bridgeRows} b set ${sql.ref(column)} = ${left} where ${of}`);
  };
  if (bridge.to() === table.resource) await remove(keyEquals(referenceColumnNames(bridge.prefix, table.key), key));
  const requested = referenceColumnNames(table.resource.noun, table.key);
  if (requested.every((column) => questionKey.includes(column))) await remove(keyEquals(requested, key));
  // Bridges that keep the requested text hold names in any spelling.
  const isNamed = catalog.some((it) => it.bridge?.table === name && it.naming?.resource() === table.resource);
  for (const column of questionKey.filter((it) => it.endsWith('_asked'))) {
    const { rows } = await sql<{ text: string }>`
      select distinct ${sql.ref(column)} as text from ${sql.id(schema, name)}`.execute(db);
    for (const { text } of rows) {
      const left = cleanText(text, { forgotten });
      // In the ledger, a text that begins with the name becomes a pseudonym, which has no bridge rows.
      if (isPseudonym(left) || (isNamed && forgotten.isName(table.name, text)))
        await remove(keyEquals([column], [text]));
      else if (left !== text) await rename(column, text, left);
    }
  }
  const more = requested.filter((column) => bridge.more && column in bridge.more);
  const isOfThisNetwork = bridge.to().table.split('_')[0] === table.name.split('_')[0];
  const hasAll = more.length === requested.length && more.every((it) => columns.some((has) => has.name === it));
  if (hasAll && isOfThisNetwork) {
    const nulls = sql.join(more.map((it) => sql`${sql.ref(it)} = null`));
    await change(sql`update ${bridgeRows} set ${nulls} where ${keyEquals(more, key)}`);
  }
}
