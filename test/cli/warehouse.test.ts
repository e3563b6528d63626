/** The commands that work on a warehouse, against a real Postgres and a sandbox that misbehaves on request. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess, type InProcessOptions } from './in-process.ts';
import type { Ran } from './program-run.ts';

const TOKEN = 'sandbox-token';
/** What a terminal would obey, in the middle of a name. */
const HOSTILE = 'a\u001b[2Jb\u202ec';

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;

const group = (value: string, name: string) => ({
  '@type': '@pronet_group',
  urn: { type: 'group', value },
  name,
  url: `https://example.com/${value}`,
  member_count: 1,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  database = await freshDatabase();
  sandbox = await serveSandbox({
    token: TOKEN,
    respond: ({ endpoint, body }) => {
      const asked = (body as { group?: string }).group;
      if (endpoint !== 'pronet.group') return undefined;
      return { body: asked === '3' ? [{ name: 'no urn' }] : [group(asked ?? '', asked === '2' ? HOSTILE : 'plain')] };
    },
  });
  await writeFile(
    join(folder, 'sluice.yaml'),
    [
      'service: { url: "${SLUICE_SERVICE_URL}", token: "${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }',
      'warehouse: { url: "${DATABASE_URL}" }',
      'syncs:',
      '  groups: { endpoint: pronet.group, for_each: { group: ["1", "2", "3"] }, max_age: 30d }',
      '  costs: { endpoint: token.requests, after: [groups] }',
    ].join('\n'),
  );
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const sluice = (words: readonly string[], { env = {}, ...options }: InProcessOptions = {}): Promise<Ran> =>
  runInProcess(words, {
    ...options,
    env: {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: TOKEN,
      DATABASE_URL: database.url,
      ...env,
    },
  });

async function result(...words: string[]): Promise<unknown> {
  return JSON.parse((await sluice([...words, '--json'])).out) as unknown;
}

const withoutToken = { env: { SLUICE_SERVICE_TOKEN: '' } };

describe('before anything ran', () => {
  it('says so, and creates nothing', async () => {
    expect(await sluice(['status'], withoutToken)).toMatchObject({
      code: 0,
      out: 'nothing has run yet; run sluice sync\n',
    });
    expect((await sluice(['quarantine'], withoutToken)).out).toBe('nothing is in quarantine\n');
    expect((await sluice(['replay'], withoutToken)).out).toMatch(/^0 answers/);
    expect(await sluice(['query', 'select * from pronet_groups'], withoutToken)).toMatchObject({
      code: 2,
      err: expect.stringContaining('The warehouse is empty: run sluice sync first.'),
    });
    expect(await result('migrate', 'status')).toMatchObject({ state: 'empty' });
    expect(await sluice(['check'])).toMatchObject({ code: 0, out: expect.stringContaining('ok      schema: empty') });
  });

  it('warns of a superuser', async () => {
    const { warnings } = JSON.parse((await sluice(['check', '--json'])).out) as { readonly warnings: string[] };
    expect(warnings).toContainEqual(expect.stringMatching(/^the database user is a superuser/));
    const owner = `sluice_owner_${process.pid}`;
    await execute(database.url, `create role ${owner} login password 'owner'`);
    await execute(database.url, `grant all on database ${new URL(database.url).pathname.slice(1)} to ${owner}`);
    try {
      const url = Object.assign(new URL(database.url), { username: owner, password: 'owner' });
      const checked = await sluice(['check', '--json'], { env: { DATABASE_URL: url.href } });
      expect(JSON.parse(checked.out)).toMatchObject({ ok: true, warnings: [] });
    } finally {
      await execute(database.url, `drop owned by ${owner}`);
      await execute(database.url, `drop role ${owner}`);
    }
  });

  it('sends nothing without a token', async () => {
    const { code, err } = await sluice(['sync'], { env: { SLUICE_SERVICE_TOKEN: '', CI: '1' } });
    expect([code, err]).toEqual([3, expect.stringContaining('no token')]);
    const checked = await sluice(['check', '--json'], withoutToken);
    expect(checked.code).toBe(3);
    expect(JSON.parse(checked.out)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'token', ok: false })]),
    });
  });

  it('plans in a table and a sentence, and spends nothing', async () => {
    const { code, out } = await sluice(['plan'], withoutToken);
    expect(code).toBe(0);
    expect(out).toMatch(/^groups +pronet\.group +0 +3 +3 +3 +3 +guess +2 ms$/m);
    expect(out).toContain('2 syncs would send 4 requests for 3 points or more (a guess');
    expect(await result('plan', 'groups')).toMatchObject({
      syncs: [{ sync: 'groups', requests: 3, fresh: 0, mostPoints: 3 }],
      total: { requests: 3 },
    });
    expect(sandbox.requests()).toHaveLength(0);
    expect((await sluice(['plan', 'grups'])).err).toContain('did you mean "groups"?');
  });
});

describe('after a sync', () => {
  let synced: Ran;
  beforeAll(async () => {
    synced = await sluice(['sync'], { env: { CI: '1' } });
  });

  it('prints the outcome of each sync, with the worst exit code', () => {
    expect(synced.code).toBe(4);
    expect(synced.out).toMatch(/^groups +3 +0 +2 +0 +0 +1 +0 +3 .* partial$/m);
    expect(synced.out).toMatch(/^total .* exit 4$/m);
    expect(synced.out).toMatch(/^next: /m);
    expect(synced.err).toMatch(/^groups: \d of 3 \| /m);
  });

  it('buys nothing that is fresh again, and logs as JSON for a collector', async () => {
    const before = sandbox.requests().length;
    const { code, out, err } = await sluice(['sync', 'groups', '--json']);
    expect(sandbox.requests()).toHaveLength(before);
    expect(JSON.parse(out)).toMatchObject({ exitCode: code, syncs: [{ sync: 'groups', fresh: 3, sent: 0 }] });
    for (const line of err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('shows a live line on a terminal, and takes it away', async () => {
    const { out, err } = await sluice(['sync', 'costs'], { columns: 100, color: true });
    expect(err).toContain('\r\u001b[K\u001b[2mcosts: ');
    expect(err.endsWith('\r\u001b[K')).toBe(true);
    expect(out).toContain('\u001b[1msync ');
    for (const env of [{ CI: '1' }, { TERM: 'dumb' }] as const) {
      const plain = await sluice(['sync', 'costs'], { columns: 100, env });
      expect(plain.err).toMatch(/^costs: \d of \d/);
      expect(plain.err).not.toContain('\u001b');
    }
    const quiet = await sluice(['sync', 'costs', '--quiet'], { columns: 100 });
    expect(quiet.err).toBe('');
  });

  it.each([
    [
      'can’t be read',
      { SLUICE_SERVICE_TOKEN: '', SLUICE_SERVICE_TOKEN_FILE: '/nowhere/token', CI: '1' },
      /can't be read \(ENOENT\)/,
    ],
    ['no header can carry', { SLUICE_SERVICE_TOKEN: 'two words', CI: '1' }, /token is not a valid header value/],
  ])('refuses only commands that send requests if there is a token that %s', async (_, env, says) => {
    const before = sandbox.requests().length;
    for (const words of [['query', 'select 1 as one'], ['migrate', 'status'], ['status'], ['costs'], ['plan']])
      expect([words, await sluice(words, { env })]).toMatchObject([words, { code: 0 }]);
    for (const words of [['sync'], ['schedule'], ['worker'], ['check']]) {
      const { code, out, err } = await sluice(words, { env });
      expect([words, code]).toEqual([words, 2]);
      expect(`${out}${err}`).toMatch(/sluice\.yaml:1:\d+: /);
      expect(`${out}${err}`).toMatch(says);
      expect(`${out}${err}`).not.toContain('two words');
    }
    expect(sandbox.requests()).toHaveLength(before);
  });

  it('needs an address only for commands that use it', async () => {
    const config = join(folder, 'addresses.yaml');
    await writeFile(
      config,
      'service: { url: "${API_URL:?ask the platform team}", token: "${API_TOKEN:?ask the platform team}" }\n' +
        'warehouse: { url: "${WAREHOUSE:?ask the platform team}" }\n' +
        'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }\n',
    );
    const env = { SLUICE_CONFIG: config, CI: '1' };
    for (const words of [['describe', 'groups'], ['dbt'], ['schedule', '--explain']])
      expect([words, await sluice(words, { env })]).toMatchObject([words, { code: 0 }]);
    const read = [['query', 'select 1 as one'], ['migrate', 'status'], ['status'], ['costs'], ['plan']];
    for (const words of [...read, ['schedule'], ['sync'], ['check']]) {
      const { code, out, err } = await sluice(words, { env });
      expect([words, code]).toEqual([words, 2]);
      expect(`${out}${err}`).toMatch(/addresses\.yaml:2:\d+: the variable WAREHOUSE is not set: ask/);
    }
    const there = { ...env, WAREHOUSE: database.url };
    for (const words of read) expect([words, await sluice(words, { env: there })]).toMatchObject([words, { code: 0 }]);
    for (const words of [['sync'], ['schedule'], ['check'], ['plan', '--output', join(folder, 'plan.json')]]) {
      const { code, out, err } = await sluice(words, { env: { ...there, API_TOKEN: 't' } });
      expect([words, code]).toEqual([words, 2]);
      expect(`${out}${err}`).toMatch(/addresses\.yaml:1:\d+: the variable API_URL is not set: ask the platform team/);
    }
  });

  it('refuses only commands that send alerts if the file of the webhook can’t be read', async () => {
    const config = join(folder, 'alerts.yaml');
    await writeFile(
      config,
      'alerts: { webhook: "${HOOK}" }\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }\n',
    );
    const env = { HOOK_FILE: '/nowhere/hook', SLUICE_CONFIG: config, CI: '1' };
    for (const words of [['alerts'], ['status'], ['plan']])
      expect([words, await sluice(words, { env })]).toMatchObject([words, { code: 0 }]);
    for (const words of [['alerts', 'test'], ['sync'], ['check']]) {
      const { code, out, err } = await sluice(words, { env });
      expect([words, code]).toEqual([words, 2]);
      expect(`${out}${err}`).toMatch(/alerts\.yaml:1:\d+: HOOK_FILE names "\/nowhere\/hook", which can't be read/);
    }
  });

  it('shows the status', async () => {
    expect(await result('status')).toMatchObject({
      syncs: expect.arrayContaining([expect.objectContaining({ sync: 'groups', quarantined: 1 })]),
    });
    expect((await sluice(['status'])).out).toMatch(/^groups +\w+ .* ago/m);
  });

  it('lists what is in quarantine, shows it, and loads it again without asking', async () => {
    const [entry] = (await result('quarantine')) as { id: string }[];
    expect(await result('quarantine', 'show', entry?.id ?? '')).toMatchObject({
      pointer: '/0',
      item: { name: 'no urn' },
    });
    expect((await sluice(['quarantine', 'show', '999'])).err).toContain('there is no entry 999');
    const before = sandbox.requests().length;
    expect(await result('quarantine', 'retry')).toMatchObject({ answers: 1, quarantined: 1 });
    expect(await result('replay', 'groups')).toMatchObject({ answers: 3, unchanged: 2, quarantined: 1 });
    expect(sandbox.requests()).toHaveLength(before);
    expect((await sluice(['replay', 'grups'])).code).toBe(2);
  });

  it('shows the tables as of an earlier time, and drops them again', async () => {
    expect(await result('replay', '--as-of', '2199-01-01')).toMatchObject({
      schema: 'sluice_as_of_2199_01_01',
      asOf: '2199-01-01T23:59:59.999Z',
      left: 0,
    });
    const count = 'select count(*)::int as n from';
    expect(await result('query', `${count} sluice_as_of_2199_01_01.pronet_groups`)).toEqual(
      await result('query', `${count} sluice.pronet_groups`),
    );
    expect(await sluice(['replay', '--as-of', '2000-01-01T00:00:00Z', '--schema', 'empty'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('empty holds the tables as of 2000-01-01T00:00:00.000Z: 0 answers, 0 rows written'),
    });
    for (const name of ['sluice_as_of_2199_01_01', 'empty'])
      expect(await sluice(['replay', '--drop', name])).toMatchObject({ code: 0, out: `dropped the schema ${name}\n` });
    for (const [words, because] of [
      [['--drop', 'sluice'], '--as-of created no schema'],
      [['--as-of', '2026-02-30'], '; allowed is a day such as 2026-03-05'],
      [['--schema', 'a'], '--schema requires --as-of'],
      [['--as-of', '2026-03-05', '--rebuild'], '--rebuild, --as-of cannot be combined'],
      [['--drop', 'a', '--as-of', '2026-03-05'], '--as-of, --drop cannot be combined'],
    ] as const)
      expect(await sluice(['replay', ...words])).toMatchObject({ code: 2, err: expect.stringContaining(because) });
  });

  it('finds the schema as declared, and reports when it was changed', async () => {
    expect(await sluice(['check'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('equal to the declared one'),
    });
    expect(await result('migrate')).toEqual({ format: 'migrate/1', done: [] });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('alter table sluice.pronet_groups add column mine text');
    expect(await sluice(['check'])).toMatchObject({
      code: 8,
      out: expect.stringMatching(/failed {2}schema: not as declared in 1 place\n +sluice\.pronet_groups: .*mine/),
    });
    await client.query('alter table sluice.pronet_groups drop column mine');
    await client.query(`comment on table sluice.pronet_groups is 'x'`);
    expect(await sluice(['check'])).toMatchObject({ code: 8, out: expect.stringContaining('Run sluice migrate.') });
    expect(await sluice(['migrate'])).toMatchObject({
      code: 0,
      out: 'no migration was pending; views and comments are current\n',
    });
    expect(await sluice(['check'])).toMatchObject({ code: 0 });
    await client.end();
  });

  it('prints rows as a table that is harmless, as CSV and JSON that are exact', async () => {
    const sql = 'select urn_value, name, member_count from pronet_groups order by 1';
    const { out } = await sluice(['query', sql]);
    expect(out.split('\n')).toEqual([
      'urn_value  name           member_count',
      '---------  -------------  ------------',
      '        1  plain                     1',
      '        2  a␛[2Jb\\u202ec             1',
      '',
    ]);
    expect((await sluice(['query', '--csv', sql])).out).toBe(
      `urn_value,name,member_count\n1,plain,1\n2,${HOSTILE},1\n`,
    );
    const json = await sluice(['query', '--json', '-'], { input: sql });
    expect(json.out).not.toContain('\u001b');
    expect(JSON.parse(json.out)).toEqual([
      { urn_value: '1', name: 'plain', member_count: expect.anything() },
      { urn_value: '2', name: HOSTILE, member_count: expect.anything() },
    ]);
  });

  it('prints arrays as JSON with the digits of the database in CSV', async () => {
    const sql = `select array['{"id": 9007199254740993}'::jsonb, '1.10', null] as a, array[array[9007199254740993, 1]] as b,
      array[1.10, 'NaN'] as c, array[1.5::float8, 'Infinity'] as d, array['x', null] as e, '{}'::int[] as f`;
    const values = [
      '"[{""id"": 9007199254740993},1.10,null]"',
      '"[[9007199254740993,1]]"',
      '"[1.10,""NaN""]"',
      '"[1.5,""Infinity""]"',
      '"[""x"",null]"',
      '[]',
    ];
    expect((await sluice(['query', '--csv', sql])).out).toBe(`a,b,c,d,e,f\n${values.join(',')}\n`);
  });

  it('writes nothing by a query', async () => {
    expect(await sluice(['query', 'drop table pronet_groups'])).toMatchObject({ code: 2, out: '' });
    expect(await sluice(['query', 'select 1; drop table pronet_groups'])).toMatchObject({ code: 2, out: '' });
    expect(await result('query', 'select count(*)::int as n from pronet_groups')).toEqual([{ n: 2 }]);
    const unknown = await sluice(['query', 'select * from pronet_group']);
    expect(unknown).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Did you mean pronet_groups?') });
  });
});

describe('a schema that is not current', () => {
  it('ends with exit code 8 until it is migrated', async () => {
    const other = await freshDatabase();
    const env = { DATABASE_URL: other.url, CI: '1' };
    expect((await sluice(['migrate'], { env })).out).toMatch(/^applied 0001_ledger, /);
    expect((await sluice(['migrate', 'down'], { env })).out).toMatch(/^reverted \w+\n$/);
    for (const words of [['sync'], ['plan'], ['status'], ['replay'], ['check'], ['migrate', 'status']]) {
      const { code, out, err } = await sluice(words, { env });
      expect([words, code]).toEqual([words, 8]);
      expect(`${out}${err}`).toMatch(/sluice migrate/);
    }
    expect((await sluice(['migrate'], { env })).code).toBe(0);
    expect((await sluice(['check'], { env })).code).toBe(0);
    await other.drop();
  });

  it.each([
    ['0001_operations', /has 0 of the 20 migrations[^]*Run sluice migrate with commit \w{7} of Sluice/],
    ['9999_later', /newer than this version[^]*Update Sluice/],
  ])('ends with exit code 8 and the version that it needs, if it has migrations such as %s', async (name, says) => {
    const other = await freshDatabase(await postgresTemplate());
    await execute(other.url, `update sluice_ops.kysely_migration set name = '${name}' where name = '0001_ledger'`);
    for (const words of [['sync'], ['status'], ['check'], ['migrate']]) {
      const { code, out, err } = await sluice(words, { env: { DATABASE_URL: other.url, CI: '1' } });
      expect([words, code, `${out}${err}`]).toEqual([words, 8, expect.stringMatching(says)]);
    }
    await other.drop();
  });
});
