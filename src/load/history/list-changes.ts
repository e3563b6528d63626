/**
 * Logs which elements came to a list, changed in it and left it, for lists whose elements have keys. The first list of a
 * new parent adds no line: its elements came with the parent. A late answer adds none either, as it does not replace the
 * list.
 */
import type { ChildRow } from '../../normalize/batch.ts';
import type { ChangeTable, ChildTable } from '../../warehouse/schema/table-types.ts';
import { CAME } from '../../warehouse/schema/history-tables.ts';
import type { MergeTarget } from '../merge/changeset.ts';
import type { MergeResult } from '../merge/merge.ts';
import { cellOf, keyArrays } from '../merge/stored-rows.ts';
import { readElements } from '../sql/statements.ts';
import { type Change, removal, textOf, writeLines } from './change-log.ts';
import type { AnswerReceived } from './observations.ts';

/** An element as the texts of its attributes, and the receipt of the answer that it came with. */
interface Element {
  readonly values: readonly (string | null)[];
  readonly since: string;
}

/** The elements of a list, by the complete key. */
type Elements = ReadonlyMap<string, Element>;

/**
 * Logs the changed lists of a table's entities. Call it while the entities are locked, and before their lists are
 * written, since it reads the old elements.
 */
export async function logListChanges(target: MergeTarget, results: readonly MergeResult[]): Promise<void> {
  for (const [index, child] of target.table.children.entries()) {
    const { changes: log } = child;
    if (!log) continue;
    const changed = results.filter(({ steps }) =>
      steps.some(({ change, lists }) => change !== 'inserted' && lists[index] !== undefined),
    );
    if (changed.length === 0) continue;
    const stored = changed.filter((it) => it.stored).map(({ id }) => id);
    const before = await storedElements(target, child, log, stored);
    const lines = changed.flatMap((it) => linesOf(target, { index, child, log }, it, before.get(it.id) ?? new Map()));
    await writeLines(target.executor, log, lines);
  }
}

/** A list, and its index among the lists of its table. */
interface LoggedList {
  readonly index: number;
  readonly child: ChildTable;
  readonly log: ChangeTable;
}

/** The lines of one entity's list, in the order of the answers. */
function linesOf(
  { contexts }: MergeTarget,
  { index, child, log }: LoggedList,
  { id, steps }: MergeResult,
  before: Elements,
): Change[] {
  const lines: Change[] = [];
  let known = before;
  for (const { answer, change, lists } of steps) {
    const rows = lists[index];
    const by = contexts[answer];
    if (!rows || !by) continue;
    const now = elementsOf(child, log, id, rows, { known, receivedAt: by.receivedAt });
    if (change !== 'inserted') for (const line of differences(log, known, now, by)) lines.push(line);
    known = now;
  }
  return lines;
}

function differences({ attributes }: ChangeTable, before: Elements, now: Elements, by: AnswerReceived): Change[] {
  const left = [...before].filter(([id]) => !now.has(id));
  return [
    ...left.flatMap(([id, { values, since }]) =>
      removal(id, by, [[CAME, since], ...attributes.map((name, at) => [name, values[at] ?? null] as const)]),
    ),
    ...[...now].flatMap(([id, { values }]): Change[] => {
      const known = before.get(id);
      if (!known) return [{ id, attribute: CAME, from: null, to: by.receivedAt, by }];
      return attributes.flatMap((attribute, at) => {
        const [from = null, to = null] = [known.values[at], values[at]];
        return from === to ? [] : [{ id, attribute, from, to, by }];
      });
    }),
  ];
}

/**
 * The elements in rows of a list, which have no key columns of the parent. A known element came when it did before, another
 * one with the answer that was received at this time.
 */
function elementsOf(
  { parentKey, columns }: ChildTable,
  { entityKey, attributes }: ChangeTable,
  parent: string,
  rows: readonly ChildRow[],
  { known, receivedAt }: { readonly known: Elements; readonly receivedAt: string },
): Elements {
  const names = columns.slice(parentKey.length).map(({ name }) => name);
  const ownKey = entityKey.slice(parentKey.length).map((name) => names.indexOf(name));
  const places = attributes.map((name) => names.indexOf(name));
  return new Map(
    rows.map((row) => {
      const id = [parent, ...ownKey.map((at) => textOf(row[at]))].join('\0');
      return [id, { values: places.map((at) => textOf(row[at])), since: known.get(id)?.since ?? receivedAt }];
    }),
  );
}

/** The stored elements of these entities' lists, by entity. */
async function storedElements(
  { executor, table }: MergeTarget,
  child: ChildTable,
  log: ChangeTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Elements>> {
  if (ids.length === 0) return new Map();
  const found = await executor.rows(readElements(executor.schema, table, child, log), keyArrays(table, ids));
  const byParent = Map.groupBy(found, (row) => child.parentKey.map((name) => row[name]).join('\0'));
  const own = child.columns.slice(child.parentKey.length);
  return new Map(
    [...byParent].map(([parent, rows]) => {
      const elements = rows.flatMap((row) => {
        const cells = own.map(({ name, type }) => cellOf(type, row[name] ?? null));
        return [...elementsOf(child, log, parent, [cells], { known: new Map(), receivedAt: row[CAME] ?? '' })];
      });
      return [parent, new Map(elements)];
    }),
  );
}
