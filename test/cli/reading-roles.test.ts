/** Commands that only read, for database users with few rights. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const role = `sluice_few_rights_${process.pid}`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  await execute(database.url, `create role ${role} login password 'few'`);
  await writeFile(
    join(folder.path, 'sluice.yaml'),
    [
      'service: { url: "http://127.0.0.1:1", token: some-token }',
      'warehouse: { url: "${DATABASE_URL}" }',
      'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }',
    ].join('\n'),
  );
});
afterAll(async () => {
  await execute(database.url, `drop owned by ${role}`);
  await execute(database.url, `drop role ${role}`);
  await database.drop();
  await folder.remove();
});

const sluice = (...words: string[]) =>
  runInProcess([...words, '--config', join(folder.path, 'sluice.yaml')], {
    env: { DATABASE_URL: Object.assign(new URL(database.url), { username: role, password: 'few' }).href },
  });

describe('a database user with few rights', () => {
  it('gets every line of check, with the missing right as the failed one', async () => {
    const { code, out } = await sluice('check', '--json');
    const { checks } = JSON.parse(out) as {
      readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
    };
    expect([code, checks.map(({ name, ok }) => `${name} ${ok}`)]).toEqual([
      2,
      ['config true', 'inputs true', 'token true', 'warehouse true', 'schema false'],
    ]);
    expect(checks.at(-1)).toMatchObject({
      message: expect.stringContaining('permission denied for schema sluice_ops'),
      next: expect.stringContaining('Grant the right to the user in DATABASE_URL'),
    });
  });

  it('reads the status of the migrations, also if its transactions are read-only', async () => {
    await execute(database.url, `grant pg_read_all_data to ${role}`);
    await execute(database.url, `alter role ${role} set default_transaction_read_only = on`);
    expect(await sluice('migrate', 'status')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^The schema is current\./),
    });
    expect(await sluice('migrate')).toMatchObject({
      code: 2,
      err: expect.stringContaining('default_transaction_read_only is on'),
    });
  });
});
