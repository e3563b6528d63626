/** Sets that belong to a question: the rows of one owner, and the bridge of what a question returned. */
import type { Batch, Cell } from '../normalize/batch.ts';
import { type BridgeTable, bridgeTables, type RootTable, rootTables, type Table } from '../warehouse/table.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import type { LoadContext } from './root.ts';
import type { Run } from './run.ts';
import { deleteRows, insertRows, readOwned, updateRows } from './statements.ts';

type Tally = (table: string, rows: number) => void;
type Texts = Readonly<Record<string, string | null>>;

const keyOf = (names: readonly string[], row: Row): string => names.map((name) => String(row[name])).join('\0');

const owned = (
  run: Run,
  schema: string,
  table: Table,
  owner: Readonly<Record<string, Cell>>,
  lock: boolean,
): Promise<readonly Texts[]> => {
  const names = Object.keys(owner);
  return run.rows(
    readOwned(schema, table, names, lock),
    names.map((name) => arrayLiteral([owner[name] ?? null])),
  );
};

const remove = (run: Run, schema: string, table: Table, rows: readonly Texts[]): Promise<number> =>
  run.count(
    deleteRows(schema, table),
    table.key.map((name) => arrayLiteral(rows.map((row) => row[name] ?? null))),
  );

const isNewer = (row: Texts, { answerId }: LoadContext): boolean => BigInt(row['_answer_id'] ?? 0) > BigInt(answerId);

/** Removes the owner's rows that a complete answer no longer lists. */
export async function trimOwned(run: Run, batch: Batch, context: LoadContext, tally: Tally): Promise<void> {
  const { owner } = batch;
  const table = rootTables.find(({ name }) => name === owner?.table);
  if (!owner?.complete || !table || Object.values(owner.key).includes(null)) return;
  const listed = new Set((batch.roots.get(table.name) ?? []).map(({ id }) => id));
  const gone = async (lock: boolean): Promise<readonly Texts[]> =>
    (await owned(run, context.schema, table, owner.key, lock)).filter(
      (row) => !listed.has(keyOf(table.key, row)) && !isNewer(row, context),
    );
  if ((await gone(false)).length === 0) return;
  // Locked in key order, or two writers could wait for each other; another may have been here since the first look.
  const rows = await gone(true);
  if (rows.length > 0) tally(table.name, await remove(run, context.schema, table, rows));
}

/** True when an answer newer than this one wrote rows of the same owner or question. */
async function newerSpoke(
  run: Run,
  table: RootTable | BridgeTable,
  key: Readonly<Record<string, Cell>>,
  context: LoadContext,
): Promise<boolean> {
  return (await owned(run, context.schema, table, key, false)).some((row) => isNewer(row, context));
}

/** True when the batch's owner was already told of by a newer answer: then this one adds nothing. */
export async function ownerIsNewer(run: Run, batch: Batch, context: LoadContext): Promise<boolean> {
  const table = rootTables.find(({ name }) => name === batch.owner?.table);
  if (!batch.owner || !table || Object.values(batch.owner.key).includes(null)) return false;
  return newerSpoke(run, table, batch.owner.key, context);
}

/** Writes what a question returned: as a set when the answer was complete, else added to what is there. */
export async function loadBridge(run: Run, batch: Batch, context: LoadContext, tally: Tally): Promise<void> {
  const { bridge } = batch;
  const table = bridgeTables.find(({ name }) => name === bridge?.table);
  if (!bridge || !table) return;
  const told = new Map(
    bridge.rows
      .map(({ cells }): Row => ({ ...bridge.asked, ...cells }))
      .map((row) => [keyOf(table.key, row), row] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const due = async (lock: boolean): Promise<Changes> =>
    changesOf(table, await owned(run, context.schema, table, bridge.asked, lock), told, bridge.complete, context);
  const first = await due(false);
  if (isNothing(first)) return;
  // Locked in key order, or two writers could wait for each other; another may have been here since the first look.
  const { fresh, moved, gone } = await due(true);
  const names = table.columns.map(({ name }) => name);
  const values = (rows: readonly Row[]): string[] =>
    names.map((name) =>
      arrayLiteral(rows.map((row) => (name === '_answer_id' ? context.answerId : (row[name] ?? null)))),
    );
  if (gone.length > 0) await remove(run, context.schema, table, gone);
  if (moved.length > 0) await run.count(updateRows(context.schema, table, names), values(moved));
  if (fresh.length > 0) await run.count(insertRows(context.schema, table, names), values(fresh));
  tally(table.name, fresh.length + moved.length + gone.length);
}

type Row = Readonly<Record<string, Cell>>;

interface Changes {
  readonly fresh: readonly Row[];
  readonly moved: readonly Row[];
  readonly gone: readonly Texts[];
}

const NOTHING: Changes = { fresh: [], moved: [], gone: [] };
const isNothing = ({ fresh, moved, gone }: Changes): boolean => fresh.length + moved.length + gone.length === 0;

/** What an answer changes in the bridge of its question; nothing when a newer one spoke. */
function changesOf(
  table: BridgeTable,
  resting: readonly Texts[],
  told: ReadonlyMap<string, Row>,
  complete: boolean,
  context: LoadContext,
): Changes {
  if (resting.some((row) => isNewer(row, context))) return NOTHING;
  const known = new Map(resting.map((row) => [keyOf(table.key, row), row]));
  return {
    fresh: [...told].filter(([id]) => !known.has(id)).map(([, row]) => row),
    moved: [...told]
      .filter(([id, row]) => known.has(id) && differs(table, known.get(id) ?? {}, row))
      .map(([, row]) => row),
    gone: complete ? resting.filter((row) => !told.has(keyOf(table.key, row))) : [],
  };
}

const differs = (table: BridgeTable, known: Texts, row: Row): boolean =>
  table.columns.some(
    ({ name }) =>
      !name.startsWith('_') &&
      (known[name] ?? null) !== (row[name] === null || row[name] === undefined ? null : String(row[name])),
  );
