/** Bridges: what questions returned, as one set of rows for each question. */
import type { Cell } from '../../normalize/batch.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { copyText } from '../../warehouse/sql/copy.ts';
import type { BridgeTable } from '../../warehouse/schema/tables.ts';
import type { LoadItem } from '../merge/receipt-builder.ts';
import { isNewer, keyOf, lockSets, rowsOfOwners, type RowTexts } from './owned-sets.ts';
import type { SqlExecutor } from '../sql/executor.ts';
import { deleteRows, updatedColumns, updateRows } from '../sql/statements.ts';

type Row = Readonly<Record<string, Cell>>;

interface BridgeQuestion {
  /** The answer's index among those that are loaded together. */
  readonly answer: number;
  readonly answerId: string;
  readonly isReplaced: boolean;
  readonly questionCells: Row;
  readonly complete: boolean;
  /** By key. */
  readonly rows: ReadonlyMap<string, Row>;
}

interface Changes {
  readonly question: BridgeQuestion;
  /** New rows by key. */
  readonly fresh: readonly (readonly [id: string, row: Row])[];
  readonly moved: readonly Row[];
  readonly gone: readonly RowTexts[];
}

const sizeOf = ({ fresh, moved, gone }: Changes): number => fresh.length + moved.length + gone.length;

/**
 * Writes what the questions of many answers returned. A complete answer replaces the set; another one adds to it. Calls
 * `wrote` with the number of changed rows of each answer.
 */
export async function loadBridges(
  run: SqlExecutor,
  table: BridgeTable,
  group: readonly LoadItem[],
  wrote: (answer: number, rows: number) => void,
): Promise<void> {
  const changes = async (of: readonly BridgeQuestion[], hold: 'not' | 'update'): Promise<Changes[]> => {
    const questions = of.map((it) => it.questionCells);
    const stored = await rowsOfOwners(run, { table, names: table.questionKey, hold }, questions);
    return of
      .map((it) => changesOf(table, stored.get(keyOf(table.questionKey, it.questionCells)) ?? [], it))
      .filter((it) => sizeOf(it) > 0);
  };
  const differing = await changes(questionsOf(table, group), 'not');
  if (differing.length === 0) return;
  await lockSets(
    run,
    table,
    differing.map(({ question }) => keyOf(table.questionKey, question.questionCells)),
  );
  // Locked in key order to avoid deadlocks, and read again, since another writer may have changed them.
  const due = await changes(
    differing.map(({ question }) => question),
    'update',
  );
  const gone = due.flatMap((it) => it.gone);
  if (gone.length > 0) await run.write(deleteRows(run.schema, table), arraysOf(table.key, gone));
  const moved = due.flatMap((it) => it.moved);
  if (moved.length > 0) await run.write(updateRows(run.schema, table), arraysOf(updatedColumns(table), moved));
  const fresh = due.flatMap((it) => it.fresh).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = table.columns.map(({ name }) => name);
  if (fresh.length > 0)
    await run.copyRows(
      table,
      copyText([{ begin: '', rows: fresh.map(([, row]) => names.map((name) => row[name] ?? null)) }]),
    );
  for (const it of due) wrote(it.question.answer, sizeOf(it));
}

const arraysOf = (names: readonly string[], rows: readonly Row[]): string[] =>
  names.map((name) => arrayLiteral(rows.map((row) => row[name] ?? null)));

const questionsOf = (table: BridgeTable, group: readonly LoadItem[]): BridgeQuestion[] =>
  group.flatMap(({ batch: { bridge }, context }, answer): BridgeQuestion[] => {
    if (bridge?.table !== table.name) return [];
    const { answerId, isSetReplaced: isReplaced = false } = context;
    const { questionCells, complete } = bridge;
    const cells = bridge.rows.map((row): Row => ({ ...questionCells, ...row, _answer_id: answerId }));
    const rows = new Map(cells.map((row) => [keyOf(table.key, row), row]));
    return [{ answer, answerId, isReplaced, questionCells, complete, rows }];
  });

/** Returns what an answer changes in the bridge of its question; nothing if a newer answer wrote or replaced it. */
function changesOf(table: BridgeTable, stored: readonly RowTexts[], question: BridgeQuestion): Changes {
  const { rows: returned, complete, answerId, isReplaced } = question;
  if (isReplaced || stored.some((row) => isNewer(row, answerId))) return { question, fresh: [], moved: [], gone: [] };
  const known = new Map(stored.map((row) => [keyOf(table.key, row), row]));
  return {
    question,
    fresh: [...returned].filter(([id]) => !known.has(id)),
    moved: [...returned].flatMap(([id, row]) => {
      const before = known.get(id);
      const now = before && { ...row, ...unreported(before, row) };
      return now && differs(table, before, now) ? [now] : [];
    }),
    gone: complete ? stored.filter((row) => !returned.has(keyOf(table.key, row))) : [],
  };
}

/** The cells of the stored row that the answer leaves open: its items may omit a user that an earlier answer reported. */
const unreported = (known: RowTexts, row: Row): Row =>
  Object.fromEntries(Object.entries(known).filter(([name]) => (row[name] ?? null) === null));

const differs = (table: BridgeTable, known: RowTexts, row: Row): boolean =>
  table.columns.some(
    ({ name }) =>
      !name.startsWith('_') &&
      (known[name] ?? null) !== (row[name] === null || row[name] === undefined ? null : String(row[name])),
  );
