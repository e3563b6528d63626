/** What the sightings of one entity by many answers make of its row: the same as if each answer came alone; pure. */
import type { Cell, ChildRow, RootRow } from '../../normalize/batch.ts';
import type { Detail } from '../../service/model.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { RowChange } from './receipt-builder.ts';
import { childRows, contentNames, type Digests, digestsFrom, digestsOf, isKeyed, sameContent } from './digest.ts';
import { observeOlder, isMoreDetailed, observe, type RowState } from './observe.ts';

/** As much of a row as tells whether it is to be written. */
export interface StoredHead {
  readonly answerId: bigint;
  /** Its digests, as one text. */
  readonly digests: string;
  readonly detail: Detail;
  readonly counts: Readonly<Record<string, Cell>>;
}

/** What one answer shows of an entity. */
export interface Observation {
  /** The answer's place among those that are loaded together. */
  readonly answer: number;
  readonly rows: RootRow[];
  /** How many top-level items it is. */
  items: number;
}

/** What one answer came to, for one entity. */
export interface MergeStep {
  readonly answer: number;
  readonly items: number;
  readonly change: RowChange;
  /** The lists that it replaced, by their place among the table's children. */
  readonly lists: ReadonlyMap<number, readonly ChildRow[]>;
}

/** How a row is to be written. */
export interface RowWrite {
  readonly state: RowState;
  readonly counts: Readonly<Record<string, Cell>>;
  readonly digests: Digests;
  /** Answers, by their places: the first and the last that wrote it, and the last that changed it, if any. */
  readonly first: number;
  readonly last: number;
  readonly changed: number | undefined;
}

/** What became of an entity. */
export interface MergeResult {
  readonly id: string;
  readonly steps: readonly MergeStep[];
  /** What rested in the warehouse; undefined when there was no row. */
  readonly stored: StoredHead | undefined;
  /** Absent when nothing differs. */
  readonly write: RowWrite | undefined;
}

/**
 * True when the row must be read before its sightings can be judged: the first that counts tells a part of it, or is
 * older and tells more.
 */
export function needsStoredRow(
  table: RootTable,
  sightings: readonly Observation[],
  answerIds: readonly bigint[],
  head: StoredHead,
): boolean {
  const isOlder = ({ answer }: Observation): boolean => head.answerId > (answerIds[answer] ?? 0n);
  const first = sightings.find((it) => !isOlder(it) || isFuller(it, head));
  return first !== undefined && (isOlder(first) || isPartial(table, first));
}

/** True when the first sighting tells a part of the row: unless a newer answer spoke, what rests is then to be read too. */
export const startsPartial = (table: RootTable, [first]: readonly Observation[]): boolean =>
  first !== undefined && isPartial(table, first);

const isPartial = (table: RootTable, { rows }: Observation): boolean => !rows.some((row) => isTotal(table, row));

/** Folds sightings, in the order of their answers, over what rests in the warehouse. */
export function mergeObservations(
  table: RootTable,
  id: string,
  sightings: readonly Observation[],
  answerIds: readonly bigint[],
  stored: StoredHead | undefined,
  row: RowState | undefined,
): MergeResult {
  const steps: MergeStep[] = [];
  let head = stored;
  let known = row;
  let write: RowWrite | undefined;
  for (const { answer, items, rows } of sightings) {
    const answerId = answerIds[answer] ?? 0n;
    const newer = head && head.answerId > answerId ? head : undefined;
    if (newer && !isFuller({ rows }, newer)) {
      steps.push({ answer, items, change: 'superseded', lists: NO_LISTS });
      continue;
    }
    const base = head && !newer && !rows.some((it) => isTotal(table, it)) ? known : undefined;
    const seen = rows.reduce<RowState | undefined>((before, it) => observe(table, before, it), base);
    const state = newer && known && seen ? observeOlder(table, known, seen) : seen;
    if (!state) throw new Error(`no sighting of ${table.name}`);
    const told = collapsed(table, state);
    const before = head && digestsFrom(head.digests);
    const digests = digestsOf(table, told, before);
    const change = changeOf(table, head, before, digests);
    const counts = head?.counts ?? {};
    if (change === 'unchanged') steps.push({ answer, items, change, lists: NO_LISTS });
    else {
      steps.push({ answer, items, change, lists: listsOf(table, told, digests, before) });
      const changed = change === 'refreshed' ? write?.changed : answer;
      write = { state: told, counts, digests, first: write?.first ?? answer, last: answer, changed };
      head = { answerId, digests: digests.text, detail: told.detail, counts: countsOf(table, told, counts) };
    }
    if (sightings.length > 1) known = asRow(table, told, head?.counts ?? {});
  }
  return { id, steps, stored, write };
}

const NO_LISTS: MergeStep['lists'] = new Map();

function changeOf(
  table: RootTable,
  head: StoredHead | undefined,
  before: Digests | undefined,
  digests: Digests,
): Exclude<RowChange, 'superseded'> {
  if (!head || !before) return 'inserted';
  if (head.digests === digests.text) return 'unchanged';
  return sameContent(table, before, digests) ? 'refreshed' : 'changed';
}

/**
 * True of a sighting that tells more than the row that rests. Workers that share a run may load its answers in another
 * order than they came, and what tells less never takes the place of what tells more.
 */
const isFuller = ({ rows }: Pick<Observation, 'rows'>, head: StoredHead): boolean =>
  rows.some((row) => isMoreDetailed(row.detail, head.detail));

/** True of a sighting that leaves nothing of an older row standing but lists it does not tell. */
const isTotal = (table: RootTable, row: RootRow): boolean =>
  row.detail === 'full' &&
  table.resource.unfinished?.(row.cells) !== true &&
  contentNames(table).all.every((name) => name in row.cells);

function collapsed(table: RootTable, state: RowState): RowState {
  if (!table.children.some(isKeyed)) return state;
  const lists = { ...state.lists };
  for (const child of table.children) {
    const rows = lists[child.name];
    if (rows) lists[child.name] = childRows(child, rows);
  }
  return { ...state, lists };
}

/** The lists that differ from those that are there. */
function listsOf(table: RootTable, state: RowState, digests: Digests, before: Digests | undefined): MergeStep['lists'] {
  const lists = new Map<number, readonly ChildRow[]>();
  for (const [index, { name }] of table.children.entries()) {
    const rows = state.lists[name];
    if (rows && digests.lists[index] !== (before?.lists[index] ?? null)) lists.set(index, rows);
  }
  return lists;
}

/** How long the lists are: as told, else as known. */
export function countsOf(
  table: RootTable,
  { cells }: Pick<RowState, 'cells'>,
  counts: StoredHead['counts'] = {},
): StoredHead['counts'] {
  const now: Record<string, Cell> = {};
  for (const { count } of table.children) now[count] = cells[count] ?? counts[count] ?? null;
  return now;
}

/** The state as it would be read back from its row; counts are those of its lists, even if what is told counts otherwise. */
const asRow = (table: RootTable, { cells, detail }: RowState, counts: StoredHead['counts']): RowState => ({
  cells: Object.fromEntries(
    table.columns.flatMap(({ name }) => (name.startsWith('_') ? [] : [[name, counts[name] ?? cells[name] ?? null]])),
  ),
  lists: {},
  detail: table.resource.shared ? detail : 'full',
});
