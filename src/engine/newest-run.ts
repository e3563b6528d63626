/** How a sync's newest run stands: by it a job that is taken up again knows whether its work was done before its worker died. */
import { sql } from 'kysely';
import { toUserError } from '../warehouse/connect/retry-transient.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';

export interface NewestRun {
  /** Tells this end of this run from every other, without comparing clocks; empty where nothing ran. */
  readonly endKey: string;
  /** Null while it is under way. */
  readonly exitCode: number | null;
  readonly error: string | null;
  /** A chunk's worker concluded it. */
  readonly byChunk: boolean;
}

/** The newest run of a sync. Throws a TransientError for a database that can't be used now. */
export async function newestRun({ db, ops }: Pick<Warehouse, 'db' | 'ops'>, sync: string): Promise<NewestRun> {
  const { rows } = await sql<Omit<NewestRun, 'exitCode'> & { readonly exitCode: string | null }>`
    select r.id || ' ' || coalesce(extract(epoch from r.ended_at)::text, '') as "endKey", r.exit_code::text as "exitCode", r.error,
      exists (select from ${sql.id(ops, 'chunks')} c where c.run_id = r.id and c.state = 'concluded') as "byChunk"
    from ${sql.id(ops, 'runs')} r where r.sync = ${sync} order by r.id desc limit 1`
    .execute(db)
    .catch((error: unknown) => {
      throw toUserError(error);
    });
  const [row] = rows;
  if (!row) return { endKey: '', exitCode: null, error: null, byChunk: false };
  return { ...row, exitCode: row.exitCode === null ? null : Number(row.exitCode) };
}
