/** The spool as the command line sees it: where it is, what waits there, and that a sync takes it in. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spoolFolder } from '../../src/cli/spool-folder.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { realEffects } from '../support/warehouse.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

it.each([
  [{}, 'embedded:/data/warehouse', '/data/warehouse/spool'],
  [{ SLUICE_SPOOL: '' }, 'embedded:/data/warehouse', '/data/warehouse/spool'],
  [{}, 'embedded:memory://', '/config/.sluice/spool'],
  [{}, 'postgres://u@h/d', '/config/.sluice/spool'],
  [{ SLUICE_SPOOL: 'here' }, 'embedded:/data/warehouse', '/config/here'],
  [{ SLUICE_SPOOL: '/there' }, 'postgres://u@h/d', '/there'],
])('the spool with %j and the warehouse %s is %s', (env, url, folder) => {
  const warehouse = { url: new Secret(url), schema: 'sluice' };
  expect(spoolFolder({ env }, { file: '/config/sluice.yaml', warehouse })).toBe(folder);
});

const CONFIG = `
service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }
warehouse: { url: "\${DATABASE_URL}" }
syncs: { user: { endpoint: microblog.user, request: { user: acme_labs } } }
`;

describe('answers that the database could not take', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let database: FreshDatabase;
  let sandbox: Sandbox;
  beforeAll(async () => {
    folder = await temporaryFolder();
    database = await freshDatabase();
    sandbox = await serveSandbox({ seed: 1, size: { microblogUsers: 8, people: 10, companies: 10, filings: 10 } });
    await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
  });
  afterAll(async () => {
    await sandbox.close();
    await database.drop();
    await folder.remove();
  });

  it('wait in the folder that is named, are shown by status, and stored by the next sync', async () => {
    const spool = join(folder.path, 'spool');
    const env = {
      SLUICE_CONFIG: join(folder.path, 'sluice.yaml'),
      SLUICE_SPOOL: spool,
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: database.url,
    };
    const ran = (...words: string[]) => runInProcess(words, { env });
    expect((await ran('migrate')).code).toBe(0);
    const warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
    try {
      const full =
        "create function sluice_ops.full() returns trigger language plpgsql as $$ begin raise exception 'broken' using errcode = 'XX001'; end $$";
      await select(warehouse, full);
      await select(
        warehouse,
        'create trigger full_up before insert on sluice_ops.answers for each row execute function sluice_ops.full()',
      );

      const failed = await ran('sync');
      expect(failed).toMatchObject({ code: 5, out: expect.stringContaining(`1 kept in ${spool}`) });
      expect(await spoolFiles(spool)).toHaveLength(1);
      expect((await ran('status')).out).toMatch(
        new RegExp(`^1 answer waits in ${RegExp.escape(spool)} for the next sync$`, 'm'),
      );
      await writeFile(join(spool, 'x.answer'), 'no answer');
      expect(JSON.parse((await ran('status', '--json')).out)).toMatchObject({
        spool: { folder: spool, waiting: 2, damaged: 0 },
      });

      await select(warehouse, 'drop function sluice_ops.full() cascade');
      const done = await ran('sync', '--json');
      expect(JSON.parse(done.out)).toMatchObject({ exitCode: 0, syncs: [{ continued: true, sent: 1, loaded: 1 }] });
      expect(sandbox.requests()).toHaveLength(1);
      expect((await ran('status')).out).toMatch(
        /^0 answers wait in \S+ for the next sync, and 1 file there can’t be read$/m,
      );
    } finally {
      await warehouse.close();
    }
  });
});
