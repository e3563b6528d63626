/** `sluice check` only reads, also an embedded warehouse that the next sync brings up to date. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { copyEmbedded, SCHEMA } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

it('check leaves an older embedded warehouse as it is', async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const url = `embedded:${join(folder.path, 'wh')}`;
  await copyEmbedded(join(folder.path, 'wh'));
  const rowsOf = async (statement: string): Promise<readonly unknown[]> => {
    const warehouse = await openWarehouse({ url: new Secret(url), schema: SCHEMA }, realEffects);
    const { rows } = await sql.raw(statement).execute(warehouse.db);
    await warehouse.close();
    return rows;
  };
  await rowsOf(`update sluice_ops.applied_views set checksum = 'earlier' where name = 'check_status'`);
  const config = join(folder.path, 'sluice.yaml');
  await writeFile(
    config,
    `service: { url: "http://127.0.0.1:1", token: a-token }\nwarehouse: { url: "${url}" }\nsyncs: { log: { endpoint: token.requests, checks: [{ name: wrong, sql: selct }] } }\n`,
  );
  const { code, out } = await runInProcess(['check', '--config', config]);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('schema: older') });
  // The plan does not run the SQL of checks.
  expect(out).toContain(
    '1 query not checked, because the schema is not current; sluice plan updates it, at no cost; then run',
  );
  const checksum = `select checksum from sluice_ops.applied_views where name = 'check_status'`;
  expect(await rowsOf(checksum)).toEqual([{ checksum: 'earlier' }]);
});
