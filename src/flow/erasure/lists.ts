/** Removes an entity from lists whose elements have no declared shape, by the rules for stored answers. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { redactElement } from '../../normalize/erasure/redact-items.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { parseExact } from '../../service/exact-json.ts';
import { isTombstone } from '../../service/names/forgotten.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { longestPlainPart } from './sweep.ts';
import { noteChanged, type TouchedRows } from './tables.ts';
import { type ErasureSearch, tableId } from './target.ts';

/** Rows per statement. */
const PAGE = 1000;

/** The column with the element of a list without a declared shape. */
const ITEM = 'item';

const hasItems = ({ columns }: ChildTable): boolean =>
  columns.some(({ name, type }) => name === ITEM && type === 'jsonb');

/**
 * Deletes the elements that are about the entity, and removes it from the others. An answer loses the same elements, so a
 * later replay finds the same rows.
 */
export async function eraseFromLists(
  db: QueryExecutorProvider,
  schema: string,
  search: ErasureSearch,
  touched: TouchedRows,
): Promise<void> {
  for (const root of rootTables)
    for (const list of root.children.filter(hasItems)) await eraseFromList(db, schema, { root, list, search }, touched);
}

interface ListErasure {
  readonly root: RootTable;
  readonly list: ChildTable;
  readonly search: ErasureSearch;
}

async function eraseFromList(
  db: QueryExecutorProvider,
  schema: string,
  { root, list, search: { forgotten, hints } }: ListErasure,
  touched: TouchedRows,
): Promise<void> {
  const table = tableId(schema, list.name);
  const parent = list.parentKey.map((name, index) => sql`t.${sql.ref(name)}::text as ${sql.ref(`k${index}`)}`);
  const item = sql.ref(`t.${ITEM}`);
  for (let after = '(0,0)'; ; ) {
    const { rows } = await sql<Record<string, string>>`
      select t.ctid::text as at, ${item}::text as item, ${sql.join(parent)} from ${table} t
      where t.ctid > ${after}::tid and exists (
        select from unnest(${arrayLiteral(hints.map(longestPlainPart))}::text[]) as u(hint)
        where position(hint in ${item}::text) > 0)
      order by t.ctid limit ${sql.lit(PAGE)}`.execute(db);
    const gone: string[] = [];
    for (const row of rows) {
      const at = row['at'] ?? '';
      const before = parseExact(row['item'] ?? 'null');
      const element = redactElement(before, { forgotten, resource: root.resource });
      if (element === before) continue;
      if (isTombstone(element)) gone.push(at);
      else
        await sql`update ${table} set ${sql.ref(ITEM)} = ${canonicalJson(element)}::text::jsonb where ctid = ${at}::tid`.execute(
          db,
        );
      touched.note(list.name, 1);
      noteChanged(touched, root, list.parentKey.map((_, index) => row[`k${index}`] ?? '').join('\0'));
    }
    if (gone.length > 0) await sql`delete from ${table} where ctid = any(${arrayLiteral(gone)}::tid[])`.execute(db);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.['at'] ?? after;
  }
}
