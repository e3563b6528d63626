/**
 * Recomputes the digests of rows that other code than the loader wrote, so that a repeated load finds them unchanged.
 */
import type { ChildRow } from '../normalize/batch.ts';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import { qualified, quotedList, sameKey } from '../warehouse/sql/identifiers.ts';
import type { ChildTable, RootTable } from '../warehouse/schema/table-types.ts';
import { childRows, contentHash, digestsFrom, digestsOf } from './merge/digest.ts';
import { keyOf, rowsOfOwners, type RowTexts } from './sets/owned-sets.ts';
import { arraysOf, typeOf } from './sql/statements.ts';
import { cellOf, loadHeads, keyArrays, loadStates } from './merge/stored-rows.ts';
import type { SqlExecutor } from './sql/executor.ts';
import { inBatches } from '../async/in-batches.ts';

/** Rows per statement. */
const CHUNK = 500;

/** Writes the digests that the loader would have written for the current rows. */
export async function rehash(run: SqlExecutor, table: RootTable, ids: readonly string[]): Promise<void> {
  for (const some of inBatches(ids, CHUNK)) await rehashSome(run, table, some);
}

async function rehashSome(run: SqlExecutor, table: RootTable, ids: readonly string[]): Promise<void> {
  const heads = await loadHeads(run, table, ids, 'no key update');
  const states = await loadStates(run, table, ids);
  const lists = await Promise.all(table.children.map((child) => listsOf(run, child, [...heads.keys()])));
  const rehashed = [...heads].flatMap(([id, { digests: parts }]) => {
    const state = states.get(id);
    if (!state) return [];
    const stored = digestsFrom(parts);
    // A list that was never reported has no rows, but differs from an empty list.
    const rows = lists.map((of, index) => ((stored.lists[index] ?? null) === null ? undefined : (of.get(id) ?? [])));
    const digests = digestsOf(table, { ...state, lists: rows }, stored);
    return [{ id, parts: digests.text, content: contentHash(table, digests) }];
  });
  const arrays = arraysOf(['text', 'text', ...table.key.map((name) => typeOf(table, name))]);
  await run.count(
    `update ${qualified(run.schema, table.name)} t set _part_hashes = u.parts, _content_hash = u.content
     from ${arrays} as u(parts, content, ${quotedList(table.key)}) where ${sameKey('t', table.key, 'u')}`,
    [
      arrayLiteral(rehashed.map(({ parts }) => parts)),
      arrayLiteral(rehashed.map(({ content }) => content)),
      ...keyArrays(
        table,
        rehashed.map(({ id }) => id),
      ),
    ],
  );
}

/** The rows of a list by parent, as the normalizer makes them. */
async function listsOf(
  run: SqlExecutor,
  child: ChildTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ChildRow[]>> {
  const owners = ids.map((id) => {
    const parts = id.split('\0');
    return Object.fromEntries(child.parentKey.map((name, at) => [name, parts[at] ?? null]));
  });
  const found = await rowsOfOwners(run, { table: child, names: child.parentKey, hold: 'not' }, owners);
  const own = child.columns.slice(child.parentKey.length);
  const placeOf = (row: RowTexts): number => Number(row['position'] ?? 0);
  return new Map(
    owners.map((owner, at) => {
      const rows = (found.get(keyOf(child.parentKey, owner)) ?? []).toSorted((a, b) => placeOf(a) - placeOf(b));
      const cells = rows.map((row) => own.map(({ name, type }) => cellOf(type, row[name] ?? null)));
      return [ids[at] ?? '', childRows(child, cells)];
    }),
  );
}
