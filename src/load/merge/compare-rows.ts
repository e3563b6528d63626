/** Computes the result for a table's entities from the stored rows and the observations. */
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { LoadContext } from './receipt-builder.ts';
import {
  startsPartial,
  type MergeResult,
  mergeObservations,
  needsStoredRow,
  type Observation,
  type RowWrite,
} from './merge.ts';
import { type StoredRows, loadStoredRows, loadStates } from './stored-rows.ts';
import type { SqlExecutor } from '../sql/executor.ts';

/** A table on a connection, and the answers that are loaded into it. */
export interface MergeTarget {
  readonly executor: SqlExecutor;
  readonly schema: string;
  readonly table: RootTable;
  readonly contexts: readonly LoadContext[];
}

/** Reads the stored rows of a table's entities, as far as their observations need them. */
export function readStoredFor(
  { executor, schema, table }: MergeTarget,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Observation[]>,
): Promise<StoredRows> {
  return loadStoredRows(executor, schema, table, ids, (id) => startsPartial(table, seen.get(id) ?? []));
}

/** Entities per part: about a millisecond. */
const PART = 100;

/** Returns the results for these entities, in order; `pause` lets other work run between two parts. */
export async function compareRows(
  { executor, schema, table, contexts }: MergeTarget,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Observation[]>,
  { heads, states }: StoredRows,
  pause?: () => Promise<unknown>,
): Promise<MergeResult[]> {
  const answerIds = contexts.map(({ answerId }) => BigInt(answerId));
  const late = ids.filter((id) => {
    const head = heads.get(id);
    return head && !states.has(id) && needsStoredRow(table, seen.get(id) ?? [], answerIds, head);
  });
  const more = await loadStates(executor, schema, table, late);
  const results: MergeResult[] = [];
  for (const [index, id] of ids.entries()) {
    if (pause && index % PART === PART - 1) await pause();
    results.push(
      mergeObservations({ table, answerIds }, id, seen.get(id) ?? [], heads.get(id), states.get(id) ?? more.get(id)),
    );
  }
  return results;
}

/** A result whose row must be written. */
export type PendingWrite = MergeResult & { readonly write: RowWrite };

export const hasWrite = (result: MergeResult): result is PendingWrite => result.write !== undefined;
