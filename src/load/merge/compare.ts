/** What becomes of a table's entities, from what rests in the warehouse and what answers show. */
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { LoadContext } from './receipts.ts';
import { beginsInPart, type Fate, fateOf, needsRow, type Sighting, type Write } from './merge.ts';
import { type Resting, restingOf, statesOf } from './stored-rows.ts';
import type { Run } from '../sql/executor.ts';

/** A table on a connection, and the answers that are loaded into it. */
export interface Target {
  readonly run: Run;
  readonly schema: string;
  readonly table: RootTable;
  readonly contexts: readonly LoadContext[];
}

/** What rests in the warehouse of the entities of a table, as far as their sightings make it needed. */
export function lookAt(
  { run, schema, table }: Target,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Sighting[]>,
): Promise<Resting> {
  return restingOf(run, schema, table, ids, (id) => beginsInPart(table, seen.get(id) ?? []));
}

/** Entities that are judged at a time: about a millisecond. */
const PART = 100;

/** The fates of these entities, in their order; lets other work go on between two parts of it by `pause`. */
export async function judge(
  { run, schema, table, contexts }: Target,
  ids: readonly string[],
  seen: ReadonlyMap<string, readonly Sighting[]>,
  { heads, states }: Resting,
  pause?: () => Promise<unknown>,
): Promise<Fate[]> {
  const answerIds = contexts.map(({ answerId }) => BigInt(answerId));
  const late = ids.filter((id) => {
    const head = heads.get(id);
    return head && !states.has(id) && needsRow(table, seen.get(id) ?? [], answerIds, head);
  });
  const more = await statesOf(run, schema, table, late);
  const fates: Fate[] = [];
  for (const [at, id] of ids.entries()) {
    if (pause && at % PART === PART - 1) await pause();
    fates.push(fateOf(table, id, seen.get(id) ?? [], answerIds, heads.get(id), states.get(id) ?? more.get(id)));
  }
  return fates;
}

/** A fate whose row is to be written. */
export type Due = Fate & { readonly write: Write };

export const isDue = (fate: Fate): fate is Due => fate.write !== undefined;
