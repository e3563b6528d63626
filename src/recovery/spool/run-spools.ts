/** The spools of a run: the folders in which its processes store answers that the database did not take. */
import { type SpoolPlace, OPEN_STATES } from '../../ledger/runs.ts';
import { sql } from 'kysely';
import { anyText } from '../../warehouse/sql/array-literal.ts';
import type { RunScope } from '../../ledger/run-scope.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** An open run, and the spools of its processes. */
export interface SpoolsOfRun {
  readonly runId: string;
  readonly spools: readonly SpoolPlace[];
}

const listOf = (text: string): SpoolPlace[] => JSON.parse(text) as SpoolPlace[];

/** Returns the open runs of these syncs that have spools. For a chunk, only the chunk's spools count. */
export async function openSpools(
  ops: Ops,
  which: { readonly syncs: readonly string[] } | RunScope,
): Promise<SpoolsOfRun[]> {
  const chunk = 'syncs' in which ? undefined : which.chunk;
  const rows = await ops
    .selectFrom('runs as n')
    .select('n.id')
    .select((eb) => [
      sql<string>`(coalesce(n.spools, '[]') || coalesce(${eb
        .selectFrom('chunks as c')
        .select(sql`jsonb_agg(s)`.as('all'))
        .innerJoin(sql`lateral jsonb_array_elements(c.spools)`.as('s'), (join) => join.onTrue())
        .whereRef('c.run_id', '=', 'n.id')}, '[]'))::text`.as('of_run'),
      eb
        .selectFrom('chunks as c')
        .select(sql<string | null>`coalesce(c.spools, '[]')::text`.as('spools'))
        .whereRef('c.run_id', '=', 'n.id')
        .where('c.number', '=', chunk ?? '-1')
        .as('of_chunk'),
    ])
    .where('n.state', 'in', [...OPEN_STATES])
    .where((eb) => ('syncs' in which ? eb('n.sync', '=', anyText(which.syncs)) : eb('n.id', '=', which.id)))
    .execute();
  return rows.flatMap(({ id, of_run: ofRun, of_chunk: ofChunk }) => {
    // The run and its chunks can name the same spool.
    const spools = [...new Map(listOf(ofChunk ?? ofRun).map((it) => [it.id, it])).values()];
    return spools.length > 0 ? [{ runId: id, spools }] : [];
  });
}

/** The error of requests that an erasure ended. */
export const ENTITY_FORGOTTEN = 'the entity was forgotten';

/** A spool of a run; `isOpen` if a request of the run was sent and has neither an outcome nor a recorded loss. */
export interface NamedSpool extends SpoolPlace {
  readonly isOpen: boolean;
}

/** Returns the spools of all runs in the ledger, also of those that ended; one may appear several times. */
export async function namedSpools(ops: Ops): Promise<readonly NamedSpool[]> {
  const spools = sql<string>`spools::text`.as('spools');
  const ofRuns = await ops.selectFrom('runs').select(['id', spools]).where('spools', 'is not', null).execute();
  const ofChunks = await ops
    .selectFrom('chunks')
    .select(['run_id as id', spools])
    .where('spools', 'is not', null)
    .execute();
  const open = await ops
    .selectFrom('requests as r')
    .select('r.run_id')
    .distinct()
    .where('r.attempts', '>', '0')
    .where((eb) =>
      eb.or([
        eb('r.state', '=', 'sent'),
        // The erasure that ended it may not have found the spool.
        eb('r.state', '=', 'abandoned').and('r.error', '=', ENTITY_FORGOTTEN),
      ]),
    )
    .where((eb) =>
      notExists(
        eb
          .selectFrom('lost_answers as d')
          .select('d.attempt')
          .whereRef('d.request_id', '=', 'r.id')
          .whereRef('d.attempt', '=', 'r.attempts'),
      ),
    )
    .execute();
  const openRuns = new Set(open.map(({ run_id: id }) => id));
  return [...ofRuns, ...ofChunks].flatMap((row) =>
    listOf(row.spools).map((place) => ({ ...place, isOpen: openRuns.has(row.id) })),
  );
}

/**
 * Records the spool of the process that executes a run or a chunk. `isAlone` means that no other spool can hold its
 * answers.
 */
export async function recordSpool(ops: Ops, part: RunScope, spool: SpoolPlace, isAlone: boolean): Promise<void> {
  const own = JSON.stringify([spool]);
  const spools = isAlone ? own : sql<string>`${without(spool.id)} || ${own}::jsonb`;
  if (part.chunk !== undefined) {
    await ops
      .updateTable('chunks')
      .set({ spools })
      .where('run_id', '=', part.id)
      .where('number', '=', part.chunk)
      .execute();
    return;
  }
  await ops.updateTable('runs').set({ spools }).where('id', '=', part.id).execute();
  // Workers with which the run is shared later look for the spools of their chunk.
  await ops.updateTable('chunks').set({ spools }).where('run_id', '=', part.id).execute();
}

/** Removes spools from a run and its chunks, so that their answers count as lost. */
export async function abandonSpools(ops: Ops, runId: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const spools = without(id);
    await ops.updateTable('runs').set({ spools }).where('id', '=', runId).execute();
    await ops.updateTable('chunks').set({ spools }).where('run_id', '=', runId).execute();
  }
}

const without = (id: string) =>
  sql<string>`jsonb_path_query_array(coalesce(spools, '[]'), '$[*] ? (@.id != $id)', jsonb_build_object('id', ${id}::text))`;
