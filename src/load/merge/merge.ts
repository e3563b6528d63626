/** Merges the observations of one entity by many answers into its row, as if each answer came alone; pure. */
import type { Cell, Lists, RootRow, Values } from '../../normalize/batch.ts';
import type { Detail } from '../../service/model.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { RowChange } from './receipt-builder.ts';
import { childRows, type Digests, digestsFrom, digestsOf, sameContent } from './digest.ts';
import { observeOlder, isMoreDetailed, isUnfinished, observe, type RowState, slotsIn } from './observe.ts';

/** The part of a row that shows whether it must be written. */
export interface StoredHead {
  readonly answerId: bigint;
  /** The row's digests, as one text. */
  readonly digests: string;
  readonly detail: Detail;
  readonly counts: ListCounts;
}

/** The number of elements of each list, by the index of the child table; null if it was never reported. */
export type ListCounts = readonly Cell[];

/** What one answer shows of an entity. */
export interface Observation {
  /** The answer's index among those that are loaded together. */
  readonly answer: number;
  readonly rows: RootRow[];
  /** The number of top-level items. */
  items: number;
}

/** The result of one answer for one entity. */
export interface MergeStep {
  readonly answer: number;
  readonly items: number;
  readonly change: RowChange;
  /** The lists that it replaced. */
  readonly lists: Lists;
}

/** How a row must be written. */
export interface RowWrite {
  readonly state: RowState;
  readonly counts: ListCounts;
  readonly digests: Digests;
  /** Indexes of answers: the first and the last that wrote the row, and the last that changed it, if any. */
  readonly first: number;
  readonly last: number;
  readonly changed: number | undefined;
}

/** The result for one entity. */
export interface MergeResult {
  readonly id: string;
  readonly steps: readonly MergeStep[];
  /** The stored row; undefined if there was none. */
  readonly stored: StoredHead | undefined;
  /** The state of the stored row; undefined if the observations did not need it. */
  readonly row: RowState | undefined;
  /** Absent if nothing differs. */
  readonly write: RowWrite | undefined;
}

/**
 * True if the row must be read before its observations can be merged: the first one that counts is partial, or older
 * and more detailed.
 */
export function needsStoredRow(
  table: RootTable,
  observations: readonly Observation[],
  answerIds: readonly bigint[],
  head: StoredHead,
): boolean {
  const isOlder = ({ answer }: Observation): boolean => head.answerId > (answerIds[answer] ?? 0n);
  const first = observations.find((it) => !isOlder(it) || isFuller(it, head));
  return first !== undefined && (isOlder(first) || isPartial(table, first));
}

/** True if the first observation is partial, so the stored row is needed unless a newer answer wrote it. */
export const startsPartial = (table: RootTable, [first]: readonly Observation[]): boolean =>
  first !== undefined && isPartial(table, first);

const isPartial = (table: RootTable, { rows }: Observation): boolean => !rows.some((row) => isTotal(table, row));

/** A table, and the ids of the answers that are loaded into it together. */
export interface MergeInto {
  readonly table: RootTable;
  readonly answerIds: readonly bigint[];
}

/** Merges observations, in the order of their answers, into the stored row. */
export function mergeObservations(
  { table, answerIds }: MergeInto,
  id: string,
  observations: readonly Observation[],
  stored: StoredHead | undefined,
  row: RowState | undefined,
): MergeResult {
  const steps: MergeStep[] = [];
  let state: Merging = { head: stored, known: row, write: undefined };
  for (const observation of observations) {
    const { answer, items } = observation;
    const answerId = answerIds[answer] ?? 0n;
    const merged = mergedState(table, state, answerId, observation);
    if (!merged) {
      steps.push({ answer, items, change: 'superseded', lists: NO_LISTS });
      continue;
    }
    const { head } = state;
    const before = head && digestsFrom(head.digests);
    const digests = digestsOf(table, merged, before);
    const change = changeOf(table, head, before, digests);
    const lists = change === 'unchanged' ? NO_LISTS : listsOf(table, merged, digests, before);
    steps.push({ answer, items, change, lists });
    if (change !== 'unchanged') state = written(table, state, { answer, answerId, change, merged, digests });
    // Only a later observation needs the row.
    if (observations.length > 1) state = { ...state, known: asRow(table, merged, state.head?.counts) };
  }
  return { id, steps, stored, row, write: state.write };
}

/** The row so far: as stored, then as the answers before would leave it. */
interface Merging {
  readonly head: StoredHead | undefined;
  readonly known: RowState | undefined;
  readonly write: RowWrite | undefined;
}

/** The state of the row with one more observation; undefined when a newer answer supersedes it. */
function mergedState(
  table: RootTable,
  { head, known }: Merging,
  answerId: bigint,
  observation: Observation,
): RowState | undefined {
  const { rows } = observation;
  const newer = head && head.answerId > answerId ? head : undefined;
  if (newer && !isFuller(observation, newer)) return undefined;
  const isReplaced = rows.some((it) => isTotal(table, it));
  const base = head && !newer ? (isReplaced ? remainderOf(table, head, rows) : known) : undefined;
  const observed = rows.reduce<RowState | undefined>((before, it) => observe(table, before, it), base);
  const state = newer && known && observed ? observeOlder(table, known, observed) : observed;
  if (!state) throw new Error(`no observation of ${table.name}`);
  return withoutDuplicates(table, state);
}

/**
 * What remains of a row that an observation replaces: the lengths of its lists. A lesser observation in the same answer
 * fills no list that the row has. Undefined without such an observation.
 */
function remainderOf(table: RootTable, { detail, counts }: StoredHead, rows: readonly RootRow[]): RowState | undefined {
  if (rows.length === 1 || table.children.length === 0) return undefined;
  const values = Array.from<Cell | undefined>({ length: table.slots.size });
  for (const [index, slot] of slotsIn(table).counts.entries()) values[slot] = counts[index];
  return { values, lists: [], detail };
}

interface WrittenStep {
  readonly answer: number;
  readonly answerId: bigint;
  readonly change: Exclude<RowChange, 'superseded' | 'unchanged'>;
  readonly merged: RowState;
  readonly digests: Digests;
}

function written(
  table: RootTable,
  { head, known, write }: Merging,
  { answer, answerId, change, merged, digests }: WrittenStep,
): Merging {
  const counts = head?.counts ?? [];
  return {
    known,
    write: {
      state: merged,
      counts,
      digests,
      first: write?.first ?? answer,
      last: answer,
      changed: change === 'refreshed' ? write?.changed : answer,
    },
    head: { answerId, digests: digests.text, detail: merged.detail, counts: countsOf(table, merged.values, counts) },
  };
}

const NO_LISTS: Lists = [];

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
 * True for an observation with more detail than the stored row. Workers of a shared run may load its answers out of
 * order, and less detail never replaces more.
 */
const isFuller = ({ rows }: Pick<Observation, 'rows'>, head: StoredHead): boolean =>
  rows.some((row) => isMoreDetailed(row.detail, head.detail));

/** True for an observation that replaces everything in an older row except lists that it does not include. */
function isTotal(table: RootTable, { detail, values }: RootRow): boolean {
  if (detail !== 'full' || isUnfinished(table, values)) return false;
  const { steady, volatile } = slotsIn(table);
  const isReported = (slot: number): boolean => values[slot] !== undefined;
  return steady.every(isReported) && volatile.every(isReported);
}

function withoutDuplicates(table: RootTable, state: RowState): RowState {
  const { keyedLists } = slotsIn(table);
  if (keyedLists.length === 0) return state;
  const lists = [...state.lists];
  for (const index of keyedLists) {
    const child = table.children[index];
    const rows = lists[index];
    if (child && rows) lists[index] = childRows(child, rows);
  }
  return { ...state, lists };
}

/** The lists that differ from the stored ones. */
function listsOf(table: RootTable, state: RowState, digests: Digests, before: Digests | undefined): Lists {
  return table.children.map((_, index) =>
    digests.lists[index] === (before?.lists[index] ?? null) ? undefined : state.lists[index],
  );
}

/** The lengths of the lists: as reported, otherwise as stored. */
const countsOf = (table: RootTable, values: Values, stored: ListCounts = []): ListCounts =>
  slotsIn(table).counts.map((slot, index) => values[slot] ?? stored[index] ?? null);

/**
 * The state as it would be read back from its row. Counts are those of the stored lists, whatever the observation
 * counted.
 */
function asRow(table: RootTable, { values, detail }: RowState, counts: ListCounts = []): RowState {
  const row = values.map((value) => value ?? null);
  for (const [index, slot] of slotsIn(table).counts.entries()) row[slot] = counts[index] ?? row[slot] ?? null;
  return { values: row, lists: [], detail: table.resource.shared ? detail : 'full' };
}
