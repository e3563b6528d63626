/** Reads the version of the server. */
import { type QueryExecutorProvider, sql } from 'kysely';

/** The major version of the server, such as 18. */
export async function serverVersion(db: QueryExecutorProvider): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int / 10000 as version`.execute(db);
  return rows[0]?.version ?? 0;
}
