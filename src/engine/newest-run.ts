/** The state of a sync's newest run of all inputs. A resumed job uses it to see whether its work was done before its worker died. */
import { sql } from 'kysely';
import type { RunState } from '../ledger/summary.ts';
import { toUserError } from '../warehouse/connect/retry-transient.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';

export interface NewestRun {
  /** Undefined if the sync never ran. */
  readonly runId: string | undefined;
  /** Identifies this end of this run, without comparing clocks; empty if the sync never ran. */
  readonly endKey: string;
  /** Null while the run is running. */
  readonly exitCode: number | null;
  /** State of the run; undefined if the sync never ran. */
  readonly state: RunState | undefined;
  readonly error: string | null;
  /** A chunk's worker concluded the run. */
  readonly byChunk: boolean;
}

/** The `endKey` of a run that is running. */
export const endKeyWhileRunning = (runId: string): string => `${runId} `;

/** Returns the newest run of a sync, except runs of a part. Throws a TransientError if the database cannot be used. */
export async function newestRun({ db, ops }: Pick<Warehouse, 'db' | 'ops'>, sync: string): Promise<NewestRun> {
  const { rows } = await sql<NewestRun>`
    select r.id as "runId", r.id || ' ' || coalesce(extract(epoch from r.ended_at)::text, '') as "endKey", r.exit_code::int as "exitCode", r.state, r.error,
      exists (select from ${sql.id(ops, 'chunks')} c where c.run_id = r.id and c.state = 'concluded') as "byChunk"
    from ${sql.id(ops, 'runs')} r where r.sync = ${sync} and r.scope is null order by r.id desc limit 1`
    .execute(db)
    .catch((error: unknown) => {
      throw toUserError(error);
    });
  return rows[0] ?? { runId: undefined, endKey: '', exitCode: null, state: undefined, error: null, byChunk: false };
}
