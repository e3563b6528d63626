/** `sluice alerts`: what it lists. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

it('lists active alerts, and with --all those that are over too', async () => {
  const folder = await temporaryFolder();
  const database = await freshDatabase(await postgresTemplate());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
    await folder.remove();
  });
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(file, 'syncs: { groups: { endpoint: pronet.group, request: { group: "1" } } }\n');
  const env = { SLUICE_CONFIG: file, DATABASE_URL: database.url, SLUICE_SERVICE_URL: 'http://127.0.0.1:1' };
  const run = (...words: string[]) => runInProcess(['alerts', ...words], { env });
  const kinds = async (...words: string[]): Promise<readonly unknown[]> =>
    (JSON.parse((await run('--json', ...words)).out) as { kind: unknown; state: unknown }[]).map(({ kind, state }) => [
      kind,
      state,
    ]);
  await client.query(`insert into sluice_ops.alerts (sync, kind, state, since, because) values
    ('groups', 'failed', 'raised', '2026-05-04', 'the service is away'),
    ('groups', 'partial', 'cleared', '2026-05-05', 'its newest run ended complete')`);

  expect(await kinds()).toEqual([['failed', 'raised']]);
  expect(await kinds('--all')).toEqual([
    ['failed', 'raised'],
    ['partial', 'cleared'],
  ]);
  await client.query(`update sluice_ops.alerts set state = 'cleared'`);
  expect(await kinds()).toEqual([]);
  expect((await run()).out).toBe('no alert is active\n');
  expect((await run('list', '--all')).out).toMatch(/^groups +failed +cleared /m);
  expect(await run('test', '--all')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--all cannot be combined with test'),
  });
  await client.query('delete from sluice_ops.alerts');
  expect((await run('--all')).out).toBe('no alert has been raised\n');
});
