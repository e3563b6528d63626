/**
 * Removes an entity from JSON whose shape is not declared, by the rules for stored answers: elements of lists, and
 * fields without a column with their logged changes.
 */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { isByPosition, redactExtra } from '../../normalize/erasure/redact-extra.ts';
import { redactElement, redactScalar } from '../../normalize/erasure/redact-items.ts';
import { isObject } from '../../normalize/scope.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { parseExact } from '../../service/exact-json.ts';
import type { ListElement } from '../../service/model.ts';
import { type Forgotten, isTombstone } from '../../service/names/forgotten.ts';
import { anyBigint, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { jsonColumnsOf, longestPlainPart } from './sweep.ts';
import { executeNoted, noteChanged, rootKeyIn, type TouchedRows } from './tables.ts';
import { containsAny, type ErasureSearch, keyEquals } from './target.ts';

/** Rows per statement. */
const PAGE = 1000;

/** A column with JSON without a declared shape, or a column with such values in a log. */
interface JsonColumn {
  readonly table: string;
  readonly column: string;
  readonly type: 'jsonb' | 'text';
  /** The rows with such values, with the alias `t`. */
  readonly where: RawBuilder<boolean>;
  /** The root row whose digest covers the value, by its key columns in this table; undefined in logs. */
  readonly owner?: { readonly root: RootTable; readonly key: readonly string[] };
  readonly redact: (value: unknown) => unknown;
  /** The value is a complete list element, which has no row without the entity. */
  readonly isElement: boolean;
}

/**
 * Deletes the elements and the logged changes that say nothing without the entity, and removes it from the others. An
 * answer loses the same values, so a later replay finds the same rows. Columns keep a tombstone, as the answers do.
 */
export async function eraseFromUndeclared(
  db: QueryExecutorProvider,
  schema: string,
  search: ErasureSearch,
  touched: TouchedRows,
): Promise<void> {
  for (const root of rootTables)
    for (const place of placesOf(root, search.forgotten)) await eraseFrom(db, schema, place, search, touched);
}

function placesOf(root: RootTable, forgotten: Forgotten): readonly JsonColumn[] {
  const redaction = { forgotten, resource: root.resource };
  const placesIn = (of: RootTable | ChildTable, element: ListElement, isEntity: boolean): readonly JsonColumn[] =>
    jsonColumnsOf(of).flatMap((column) => {
      const isElement = element.of === 'json';
      const redact = (value: unknown): unknown => {
        if (isElement) return redactElement(value, redaction);
        if (column !== 'extra' || element.of !== 'object' || !isObject(value)) return redactScalar(value, redaction);
        const left = redactExtra(value, { ...redaction, fields: element.fields, isEntity });
        return left !== value && Object.keys(left).length === 0 ? null : left;
      };
      const where = sql<boolean>`t.attribute = ${column}`;
      const values = of.changes?.digested.includes(column) ? [] : ['from_value', 'to_value'];
      return [
        {
          table: of.name,
          column,
          type: 'jsonb',
          where: sql<boolean>`true`,
          owner: { root, key: rootKeyIn(of) },
          redact,
          isElement,
        },
        ...values.flatMap((value) =>
          of.changes ? { table: of.changes.name, column: value, type: 'text' as const, where, redact, isElement } : [],
        ),
      ];
    });
  return [
    ...placesIn(root, { of: 'object', fields: root.resource.fields, key: root.key }, true),
    ...root.children.flatMap((list) =>
      placesIn(list, list.element, list.element.of === 'object' && list.element.observation !== undefined),
    ),
  ];
}

async function eraseFrom(
  db: QueryExecutorProvider,
  schema: string,
  place: JsonColumn,
  { hints }: ErasureSearch,
  touched: TouchedRows,
): Promise<void> {
  const { table: name, column, type, where, owner, redact, isElement } = place;
  const table = sql.id(schema, name);
  const key = (owner?.key ?? []).map((it, index) => sql`t.${sql.ref(it)}::text as ${sql.ref(`k${index}`)}`);
  const value = sql.ref(`t.${column}`);
  for (let after = '(0,0)'; ; ) {
    const { rows } = await sql<Record<string, string>>`
      select ${sql.join([sql`t.ctid::text as at`, sql`${value}::text as value`, ...key])} from ${table} t
      where t.ctid > ${after}::tid and ${where} and ${containsAny(sql`${value}::text`, hints.map(longestPlainPart))}
      order by t.ctid limit ${sql.lit(PAGE)}`.execute(db);
    const gone: string[] = [];
    for (const row of rows) {
      const at = row['at'] ?? '';
      const before = parseExact(row['value'] ?? 'null');
      const left = redact(before);
      if (left === before) continue;
      if (isElement && isTombstone(left)) gone.push(at);
      else {
        const text = left === null ? null : canonicalJson(left);
        await sql`update ${table} set ${sql.ref(column)} = ${text}::text::${sql.raw(type)} where ctid = ${at}::tid`.execute(
          db,
        );
      }
      touched.note(name, 1);
      await updateOwner(db, schema, place, { row, before, left }, touched);
    }
    if (gone.length > 0) await sql`delete from ${table} where ctid = any(${arrayLiteral(gone)}::tid[])`.execute(db);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.['at'] ?? after;
  }
}

interface ChangedValue {
  /** Has the owner's key as `k0`, `k1` and so on. */
  readonly row: Readonly<Record<string, string>>;
  readonly before: unknown;
  readonly left: unknown;
}

/**
 * Notes the owner of a changed value. Deletes the rows of its list elements that were no texts and that `extra` no longer
 * has: the answer has tombstones there.
 */
async function updateOwner(
  db: QueryExecutorProvider,
  schema: string,
  { table, column, owner }: JsonColumn,
  { row, before, left }: ChangedValue,
  touched: TouchedRows,
): Promise<void> {
  if (!owner) return;
  const id = owner.key.map((_, index) => row[`k${index}`] ?? '');
  noteChanged(touched, owner.root, id.join('\0'));
  if (table !== owner.root.name || column !== 'extra') return;
  for (const { name, element, parentKey, path } of owner.root.children) {
    if (element.of !== 'scalar') continue;
    const kept = positionsAt(left, path);
    const gone = positionsAt(before, path).filter((it) => !kept.includes(it));
    if (gone.length === 0) continue;
    const rows = sql`delete from ${sql.id(schema, name)} where ${keyEquals(parentKey, id)} and position = ${anyBigint(gone)}`;
    await executeNoted(db, touched, name, rows);
  }
}

function positionsAt(extra: unknown, path: readonly string[]): readonly string[] {
  const elements = path.reduce((value: unknown, name) => (isObject(value) ? value[name] : undefined), extra);
  return isObject(elements) && isByPosition(elements) ? Object.keys(elements) : [];
}
