/** Deletes analyst rows that cover only a part of something and would be read as the complete data. */
import { type Expression, type Kysely, sql } from 'kysely';

/** The table, and the runs whose rows are deleted. */
export interface RunRows {
  readonly schema: string;
  readonly table: string;
  /** A query for the ids of the runs. */
  readonly runs: Expression<unknown>;
}

/** Deletes the rows of one root table that these runs wrote; the stored answers keep their contents. */
export async function deleteRunRows<D>(db: Kysely<D>, { schema, table, runs }: RunRows): Promise<void> {
  await sql`delete from ${sql.id(schema, table)} where _run_id in ${runs}`.execute(db);
}
