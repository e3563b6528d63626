/** Copies databases of a Postgres server. */
import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';

/** Creates a copy of a database without connections, and returns its unique name. */
export async function copyDatabase(server: Pick<ClientBase, 'query'>, template: string): Promise<string> {
  const version = `select current_setting('server_version_num')::int as version`;
  const { rows } = await server.query<{ readonly version: number }>(version);
  // Otherwise the complete copy goes through the write-ahead log first, which takes up to three times as long. Before
  // Postgres 15, files are copied and there is no such option.
  const strategy = (rows[0]?.version ?? 0) >= 150_000 ? 'strategy file_copy' : '';
  const name = `sluice_test_${randomBytes(8).toString('hex')}`;
  await server.query(`create database ${name} template ${template} ${strategy}`);
  return name;
}
