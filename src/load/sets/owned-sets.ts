/** Sets of rows with an owner: which answers are late, and which rows a complete answer no longer lists. */
import { hash } from 'node:crypto';
import type { Batch, Cell, RootRow } from '../../normalize/batch.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { RootTable, Table } from '../../warehouse/schema/table-types.ts';
import type { LoadItem } from '../merge/receipt-builder.ts';
import type { SqlExecutor } from '../sql/executor.ts';
import { type RowLock, readOwned } from '../sql/statements.ts';

/** A row that a complete answer no longer lists. */
export interface DeletedRow {
  readonly id: string;
  readonly answer: number;
}

/** A row as the texts of its cells. */
export type RowTexts = Readonly<Record<string, string | null>>;

/** The named cells as one text that is equal if they are. */
export const keyOf = (names: readonly string[], row: Readonly<Record<string, Cell>>): string =>
  names.map((name) => String(row[name])).join('\0');

/** True if a newer answer wrote the row. */
export const isNewer = (row: RowTexts, answerId: string): boolean => BigInt(row['_answer_id'] ?? 0) > BigInt(answerId);

/** Returns the rows of these owners, by owner. */
export async function rowsOfOwners(
  run: SqlExecutor,
  { table, names, hold }: { readonly table: Table; readonly names: readonly string[]; readonly hold: RowLock },
  owners: readonly Readonly<Record<string, Cell>>[],
): Promise<ReadonlyMap<string, readonly RowTexts[]>> {
  if (owners.length === 0) return new Map();
  const arrays = names.map((name) => arrayLiteral(owners.map((owner) => owner[name] ?? null)));
  return Map.groupBy(await run.rows(readOwned(run.schema, table, names, hold), arrays), (row) => keyOf(names, row));
}

/** More would fill the server's lock table. Sets that share a lock only wait for each other. */
const LOCKS = 256;

/**
 * Locks these sets against other loads until the transaction ends. Row locks are not enough: missing rows cannot be
 * locked, and an older answer could add a row that a newer one omits. Locks are taken before any row of the table, in
 * one order.
 */
export async function lockSets(run: SqlExecutor, table: Table, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const locks = new Set(keys.map((key) => lockOf(key) % LOCKS));
  await run.count(
    'select pg_advisory_xact_lock($1::int, n) from (select n from unnest($2::int[]) as u(n) order by n) as o',
    [lockOf(table.name), arrayLiteral([...locks])],
  );
}

const lockOf = (text: string): number => hash('sha256', text, 'buffer').readInt32BE() & 0x7fffffff;

interface OwnedSet {
  readonly answer: number;
  readonly answerId: string;
  readonly isReplaced: boolean;
  readonly owner: NonNullable<Batch['owner']>;
  readonly rows: readonly RootRow[];
}

/** The sets of one table that a group of answers reports. */
export interface OwnedSets {
  /** Returns the indexes of late answers: a newer one wrote or replaced the owner's set, so they add nothing. */
  readonly late: () => Promise<ReadonlySet<number>>;
  /** Returns the rows that complete answers, except late ones, do not list. */
  readonly deletedRows: (late: ReadonlySet<number>) => Promise<readonly DeletedRow[]>;
}

/** Returns the sets of this table; an answer whose owner has no key has none. */
export function ownedSets(run: SqlExecutor, table: RootTable, group: readonly LoadItem[]): OwnedSets {
  const names = table.resource.owner ?? [];
  const sets = group.flatMap(
    ({ batch, context: { answerId, isSetReplaced: isReplaced = false } }, answer): OwnedSet[] => {
      const { owner, roots } = batch;
      const isNamed = owner?.table === table.name && !Object.values(owner.key).includes(null);
      return isNamed ? [{ answer, answerId, isReplaced, owner, rows: roots.get(table.name) ?? [] }] : [];
    },
  );
  const stored = (of: readonly OwnedSet[]) =>
    rowsOfOwners(
      run,
      { table, names, hold: 'not' },
      of.map(({ owner }) => owner.key),
    );
  return {
    late: async () => {
      await lockSets(
        run,
        table,
        sets.map(({ owner }) => keyOf(names, owner.key)),
      );
      const rows = await stored(sets);
      const isLate = ({ owner, answerId, isReplaced }: OwnedSet): boolean =>
        isReplaced || (rows.get(keyOf(names, owner.key)) ?? []).some((row) => isNewer(row, answerId));
      return new Set(sets.filter(isLate).map(({ answer }) => answer));
    },
    deletedRows: async (late) => {
      const trimming = sets.filter(({ owner, answer }) => owner.complete && !late.has(answer));
      const rows = await stored(trimming);
      return trimming.flatMap(({ owner, answer, answerId, rows: reported }) => {
        const listed = new Set(reported.map(({ id }) => id));
        return (rows.get(keyOf(names, owner.key)) ?? [])
          .filter((row) => !listed.has(keyOf(table.key, row)) && !isNewer(row, answerId))
          .map((row) => ({ id: keyOf(table.key, row), answer }));
      });
    },
  };
}
