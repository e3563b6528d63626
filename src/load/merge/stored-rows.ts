/** Reads the stored rows of the entities in answers. */
import type { Cell } from '../../normalize/batch.ts';
import { parseExact } from '../../service/exact-json.ts';
import type { Detail } from '../../service/model.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { StoredHead } from './merge.ts';
import type { SqlExecutor } from '../sql/executor.ts';
import type { RowState } from './observe.ts';
import { type RowLock, readHeads, readOwnKeys, readRows } from '../sql/statements.ts';

/** Parameters with the keys of these entities: one array for each key column. */
export const keyArrays = (table: RootTable, ids: readonly string[]): string[] => {
  if (table.key.length === 1) return [arrayLiteral(ids)];
  const parts = ids.map((id) => id.split('\0'));
  return table.key.map((_, index) => arrayLiteral(parts.map((part) => part[index] ?? null)));
};

const idOf = (table: RootTable, row: Texts): string => table.key.map((name) => row[name]).join('\0');

/** Returns the heads of the entities that have a row, locked in key order if they will be written. */
export async function loadHeads(
  run: SqlExecutor,
  table: RootTable,
  ids: readonly string[],
  hold: RowLock,
): Promise<ReadonlyMap<string, StoredHead>> {
  if (ids.length === 0) return new Map();
  const found = await run.rows(readHeads(run.schema, table, hold), keyArrays(table, ids));
  return new Map(found.map((row) => [idOf(table, row), headOf(table, row)]));
}

/** Returns those of these entities whose rows this transaction wrote outside of savepoints. */
export async function ownIds(run: SqlExecutor, table: RootTable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const own = await run.rows(readOwnKeys(run.schema, table), keyArrays(table, ids));
  return new Set(own.map((row) => idOf(table, row)));
}

/** A stored row: its head, its state without lists, and the receipt of the first answer that contained it. */
export interface StoredRow {
  readonly head: StoredHead;
  readonly state: RowState;
  readonly firstSeenAt: string;
}

/** Returns the states of the entities that have a row, without their lists. */
export async function loadStates(
  run: SqlExecutor,
  table: RootTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowState>> {
  const rows = await loadRows(run, table, ids);
  return new Map([...rows].map(([id, { state }]) => [id, state]));
}

/** Returns the rows of the entities that have one. */
export async function loadRows(
  run: SqlExecutor,
  table: RootTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const columns = table.columns.slice(0, table.slots.size);
  const found = await run.rows(readRows(run.schema, table), keyArrays(table, ids));
  return new Map(
    found.map((row) => {
      const values = columns.map(({ name, type }) => cellOf(type, row[name] ?? null));
      const state = { values, lists: [], detail: detailOf(row) };
      return [idOf(table, row), { head: headOf(table, row), state, firstSeenAt: row['_first_seen_at'] ?? '' }];
    }),
  );
}

/** The stored rows before a write: heads, and the states of entities with partial observations. */
export interface StoredRows {
  readonly heads: ReadonlyMap<string, StoredHead>;
  readonly states: ReadonlyMap<string, RowState>;
}

/** Reads the stored rows of these entities; those with a true `isPartial` are read completely, the others without their values. */
export async function loadStoredRows(
  run: SqlExecutor,
  table: RootTable,
  ids: readonly string[],
  isPartial: (id: string) => boolean,
): Promise<StoredRows> {
  const complete = await loadRows(run, table, ids.filter(isPartial));
  const others = await loadHeads(
    run,
    table,
    ids.filter((id) => !isPartial(id)),
    'not',
  );
  return {
    heads: new Map([...others, ...[...complete].map(([id, { head }]) => [id, head] as const)]),
    states: new Map([...complete].map(([id, { state }]) => [id, state])),
  };
}

type Texts = Readonly<Record<string, string | null>>;

const headOf = (table: RootTable, row: Texts): StoredHead => ({
  answerId: BigInt(row['_answer_id'] ?? 0),
  digests: row['_part_hashes'] ?? '',
  detail: detailOf(row),
  counts: table.children.map(({ count }) => row[count] ?? null),
});

/** A row of a table with a single source is always full. */
const detailOf = (row: Texts): Detail => (row['_detail'] ?? 'full') as Detail;

/** Converts a column's text to the cell that the normalizer makes of the same value; null stays null. */
export function cellOf(type: string, text: string | null): Cell {
  if (text === null) return null;
  if (type === 'double precision') return Number(text);
  return type === 'jsonb' ? canonicalJson(parseExact(text)) : text;
}
