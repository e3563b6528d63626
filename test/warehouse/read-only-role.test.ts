/** A role or database whose transactions are read-only: commands that read work, and others name the setting. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { runInProcess } from '../cli/in-process.ts';
import type { Ran } from '../cli/program-run.ts';
import { execute, freshDatabase, type FreshDatabase } from '../support/database.ts';
import { realEffects } from '../support/warehouse.ts';

const CONFIG = 'syncs:\n  groups: { endpoint: pronet.group, for_each: { group: ["1"] } }\n';

let database: FreshDatabase;
let name: string;
let role: string;
let roleUrl: string;
let folder: string;
/** Runs a statement in another database, which stays writable. */
const administer = (statement: string): Promise<void> => execute(new URL('/postgres', database.url).href, statement);
const sluice = (words: readonly string[], url = roleUrl): Promise<Ran> =>
  runInProcess(words, {
    env: { SLUICE_CONFIG: join(folder, 'sluice.yaml'), SLUICE_SERVICE_TOKEN: 'some-token', DATABASE_URL: url },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-read-only-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  database = await freshDatabase();
  name = new URL(database.url).pathname.slice(1);
  role = `${name} Reader`;
  const url = new URL(database.url);
  [url.username, url.password] = [encodeURIComponent(role), 'reads'];
  roleUrl = url.href;
  expect(await sluice(['migrate'], database.url)).toMatchObject({ code: 0 });
  await administer(`create role "${role}" login password 'reads' in role pg_read_all_data`);
});
afterAll(async () => {
  await database.drop();
  await administer(`drop role "${role}"`);
  await rm(folder, { recursive: true });
});

const ON = 'default_transaction_read_only = on';
const OFF = 'reset all';

describe('a role with read-only transactions', () => {
  beforeAll(() => administer(`alter role "${role}" set ${ON}`));
  afterAll(() => administer(`alter role "${role}" ${OFF}`));

  const commands: readonly (readonly string[])[] = [
    ['query', 'select 1'],
    ['status'],
    ['costs'],
    ['report'],
    ['check'],
    ['export', 'pronet_groups', '--output', 'groups.csv'],
    ['plan'],
    ['plan', '--explain'],
    ['plan', '--output', 'plan.json'],
    ['plan', '--against', 'sluice.yaml'],
    ['plan', '--for', '30d'],
  ];

  it.each(commands.map((words) => [words.join(' '), words] as const))('runs %s', async (_, words) => {
    const given = words.map((it) => (it.includes('.') ? join(folder, it) : it));
    expect(await sluice(given)).toMatchObject({ code: 0 });
  });

  it('plans nothing in an empty warehouse, and does not wait for a failover to create its schema', async () => {
    await writeFile(join(folder, 'empty.yaml'), `warehouse: { url: "\${DATABASE_URL}", schema: nothing }\n${CONFIG}`);
    const ran = await sluice(['plan', '--config', join(folder, 'empty.yaml')]);
    expect(ran).toMatchObject({ code: 8 });
    expect(ran.err).toContain('Run sluice migrate');
  });

  it('ends a sync with a usage error that names the role', async () => {
    const ran = await sluice(['sync', '--json']);
    expect(JSON.parse(ran.err.trim().split('\n').at(-1) ?? '')).toMatchObject({
      exitCode: 2,
      retryable: false,
      message: `The database accepts no writes from "${role}": default_transaction_read_only is on.`,
      next: `Run ALTER ROLE "${role}" RESET default_transaction_read_only, or set DATABASE_URL to a role that may write.`,
    });
    expect(ran.code).toBe(2);
  });
});

describe('a read-only setting', () => {
  afterEach(async () => {
    await administer(`alter database ${name} ${OFF}`);
    await administer(`alter role "${role}" in database ${name} ${OFF}`);
  });
  const open = (url: string, isReadOnly = false) =>
    openWarehouse({ url: new Secret(url), schema: 'sluice' }, { ...realEffects, isReadOnly });

  it.each([
    ['a database', () => `DATABASE ${name}`, () => `alter database ${name} set ${ON}`],
    [
      'a role in a database',
      () => `ROLE "${role}" IN DATABASE ${name}`,
      () => `alter role "${role}" in database ${name} set ${ON}`,
    ],
  ])('of %s is named with the statement that resets it', async (_, target, statement) => {
    await administer(statement());
    const next = expect.stringContaining(`Run ALTER ${target()} RESET default_transaction_read_only,`);
    await expect(open(roleUrl)).rejects.toMatchObject({ exitCode: 2, next });
    await (await open(roleUrl, true)).close();
  });

  it('in the address is named', async () => {
    const url = `${roleUrl}?options=${encodeURIComponent('-c default_transaction_read_only=on')}`;
    const next = expect.stringContaining('options in DATABASE_URL');
    await expect(open(url)).rejects.toMatchObject({ exitCode: 2, next });
  });

  it('in the configuration of the server may end by itself, so the command may be repeated', async () => {
    // A view of this name before that of the catalog makes the setting look like one of the server.
    await execute(
      database.url,
      `create view public.pg_settings as select name, setting, 'configuration file' as source from pg_catalog.pg_settings`,
    );
    await administer(`alter database ${name} set search_path = public, pg_catalog`);
    await administer(`alter database ${name} set ${ON}`);
    await expect(open(roleUrl)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('in the configuration of the server') as string,
    });
    await execute(database.url, 'set transaction_read_only = off; drop view public.pg_settings');
  });

  it('on a standby is not the cause, and readers wait for the failover too', async () => {
    // A function of this name before that of the catalog makes the primary look like a standby.
    await execute(database.url, `create function public.pg_is_in_recovery() returns boolean language sql return true`);
    await administer(`alter database ${name} set search_path = public, pg_catalog`);
    await administer(`alter database ${name} set ${ON}`);
    for (const isReadOnly of [false, true])
      await expect(open(roleUrl, isReadOnly)).rejects.toMatchObject({
        exitCode: 5,
        message: 'The database accepts no writes: it is a standby.',
      });
  });
});
