/** Takes rows out of the analyst tables again that are a part of something and would be read as the whole of it. */
import { type Kysely, sql } from 'kysely';

/** Where rows are withdrawn, and which: those that runs wrote. */
export interface RunRows {
  readonly schema: string;
  readonly table: string;
  /** SQL for the ids of the runs. */
  readonly runs: ReturnType<typeof sql>;
}

/** Deletes the rows of one root table that these runs wrote; what they told stays in the vault. */
export async function deleteRunRows<D>(db: Kysely<D>, { schema, table, runs }: RunRows): Promise<void> {
  await sql`delete from ${sql.id(schema, table)} where _run_id in (${runs})`.execute(db);
}
