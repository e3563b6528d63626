import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { SluiceError } from '../../src/errors.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { builtProgram } from '../support/built.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { copyEmbedded } from '../support/templates.ts';
import { AUTHORITY, startTlsProxy, type TlsProxy } from '../support/tls-proxy.ts';
import { realEffects } from '../support/warehouse.ts';

const built = await builtProgram();
const LOCK_HOLDER = built.pathOf('test/support/lock-holder.ts');

const opened: Warehouse[] = [];
const open = async (url: string, schema = 'sluice'): Promise<Warehouse> => {
  const warehouse = await openWarehouse({ url: new Secret(url), schema }, realEffects);
  opened.push(warehouse);
  return warehouse;
};
afterEach(async () => {
  for (const it of opened.splice(0)) await it.close();
});

/** A way to the server that keeps its side open when the server has ended its own, as a pooler or a slow network does. */
async function startDeafProxy(url: string): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    client.pipe(upstream).pipe(client, { end: false });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

describe('any warehouse', () => {
  it.each([
    ['mysql://x', 'sluice', 'warehouse.url is neither embedded:FOLDER nor a postgres:// address.'],
    ['embedded:', 'sluice', 'warehouse.url is “embedded:” without a folder.'],
    ['embedded:memory://', '', 'warehouse.schema is empty or contains a NUL character'],
    ['embedded:memory://', 'pg_x', 'warehouse.schema is pg_x, which is reserved by Postgres'],
    ['embedded:memory://', 'ä'.repeat(30), 'warehouse.schema is 60 bytes long'],
  ])('%s with schema %s is refused', async (url, schema, message) => {
    await expect(open(url, schema)).rejects.toMatchObject({ exitCode: 2, message, next: expect.any(String) });
  });
});

describe('an embedded warehouse', () => {
  let root: string;
  let folder: string;
  let count = 0;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'sluice-embedded-'));
  });
  beforeEach(() => {
    folder = join(root, `warehouse-${count++}`);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  /** A warehouse's folder, as one that was used and closed left it. */
  const used = (): Promise<void> => copyEmbedded(folder);

  it('is made in a folder of its owner’s, with nothing but its data', async () => {
    await (await open(`embedded:${folder}`)).close();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(folder)).toEqual(['data']);
  });

  it('keeps its rows', async () => {
    await used();
    const first = await open(`embedded:${folder}`);
    expect(first).toMatchObject({ kind: 'embedded', schema: 'sluice', ops: 'sluice_ops', place: folder });
    await sql`create table kept (id int)`.execute(first.db);
    await sql`insert into kept values (1)`.execute(first.db);
    await first.close();
    await first.close();
    const second = await open(`embedded:${folder}`);
    expect((await sql`select * from kept`.execute(second.db)).rows).toEqual([{ id: 1 }]);
  });

  it('is taken over from a process that was killed, with all that it had acknowledged', async () => {
    await used();
    const killed = spawn(process.execPath, [LOCK_HOLDER, 'open', `embedded:${folder}`], {
      env: built.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: killed.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    killed.stdin.write('take\n');
    expect((await lines.next()).value).toBe('taken');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await readdir(folder)).toContain('lock.json');
    const warehouse = await open(`embedded:${folder}`);
    expect((await sql`select note from taken`.execute(warehouse.db)).rows).toEqual([{ note: 'acknowledged' }]);
  });

  it('belongs to one process at a time', async () => {
    await used();
    await open(`embedded:${folder}`);
    let clock = 0;
    const effects = { now: () => new Date(clock), sleep: (ms: number) => Promise.resolve(void (clock += ms)) };
    const second = openWarehouse({ url: new Secret(`embedded:${folder}`), schema: 'sluice' }, effects);
    await expect(second).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining(`The embedded warehouse is in use by process ${process.pid} (sluice`),
    });
    expect(clock).toBe(10_000);
  });

  it('is not mistaken for finished when its making was cut short', async () => {
    await used();
    await rename(join(folder, 'data'), join(folder, 'data.new'));
    await rm(join(folder, 'data.new', 'global'), { recursive: true });
    const again = await open(`embedded:${folder}`);
    expect((await sql`select 1 as one`.execute(again.db)).rows).toEqual([{ one: 1 }]);
  });

  it('that can’t be opened says so and lets go of its lock', async () => {
    await used();
    await rm(join(folder, 'data', 'global'), { recursive: true });
    await expect(open(`embedded:${folder}`)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining(`The embedded warehouse in ${folder} can’t be opened`),
    });
    expect(await readdir(folder)).toEqual(['data']);
  });

  it('says when its folder can’t be used', async () => {
    await mkdir(root, { recursive: true });
    await writeFile(folder, 'a file');
    await expect(open(`embedded:${join(folder, 'below')}`)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('can’t be used'),
    });
  });
});

describe('a warehouse on a server', () => {
  let database: FreshDatabase;
  let proxy: TlsProxy;
  const databases: FreshDatabase[] = [];
  beforeAll(async () => {
    database = await freshDatabase();
    databases.push(database);
    proxy = await startTlsProxy(database.url);
  });
  afterAll(async () => {
    await proxy.close();
    for (const it of databases) await it.drop();
  });

  /** The database's address with some of its parts changed. */
  const changed = (change: (url: URL) => void, from = database.url): string => {
    const url = new URL(from);
    change(url);
    return url.href;
  };
  const administer = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };

  it('is named without its password and seen by its application name', async () => {
    const warehouse = await open(database.url);
    expect(inspect(warehouse, { depth: 20 })).not.toContain(new URL(database.url).password);
    const name = new URL(database.url).pathname.slice(1);
    expect(warehouse).toMatchObject({ kind: 'postgres', place: `${name} on ${new URL(database.url).hostname}` });
    const { rows } = await sql<{ name: string }>`select current_setting('application_name') as name`.execute(
      warehouse.db,
    );
    expect(rows).toEqual([{ name: 'sluice' }]);
  });

  it('outlives connections that are cut, idle and between two statements', async () => {
    const warehouse = await open(database.url);
    const one = () => sql`select 1 as one`.execute(warehouse.db).then(({ rows }) => rows);
    const other = new Client({ connectionString: database.url });
    await other.connect();
    onTestFinished(() => other.end());
    const cutAll = async (): Promise<void> => {
      const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
      await other.query(`select pg_terminate_backend(pid) ${others}`);
      while ((await other.query(`select ${others}`)).rows.length > 0);
    };
    await one();
    await cutAll();
    // The statement that meets the cut connection may fail; the next may not.
    await one().catch(() => undefined);
    expect(await one()).toEqual([{ one: 1 }]);
    const lost = warehouse.db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      await cutAll();
      await sql`select 1`.execute(trx);
    });
    await expect(lost).rejects.toThrow();
    expect(await one()).toEqual([{ one: 1 }]);
  });

  it('lends no connection again whose end the server announced, although its socket is still open', async () => {
    const { port, close } = await startDeafProxy(database.url);
    onTestFinished(close);
    const warehouse = await open(changed((it) => (it.port = String(port))));
    const cut = sql`select pg_terminate_backend(pg_backend_pid())`.execute(warehouse.db);
    await expect(cut).rejects.toMatchObject({ code: '57P01' });
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(warehouse.db);
    expect(rows).toEqual([{ one: 1 }]);
    const within = warehouse.db
      .transaction()
      .execute((trx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx));
    await expect(within).rejects.toMatchObject({ code: '57P01' });
  });

  it('leaves nothing on a connection that another may get from a pooler', async () => {
    const warehouse = await open(database.url);
    await sql`select ${1}::int, ${'x'}::text`.execute(warehouse.db);
    const { rows } = await sql`select name from pg_prepared_statements`.execute(warehouse.db);
    expect(rows).toEqual([]);
  });

  it.each([
    ['a wrong password', (it: URL) => (it.password = 'wrong-password'), 3, /refused the password of postgres/],
    ['no password', (it: URL) => (it.password = ''), 3, /requires a password for postgres, and none is set/],
    ['a wrong user', (it: URL) => (it.username = 'nobody_here'), 3, /refused the password of nobody_here/],
    [
      'a wrong database',
      (it: URL) => (it.pathname = '/no_such_database'),
      2,
      /The server has no database no_such_database/,
    ],
    [
      'an unknown host',
      (it: URL) => (it.hostname = 'no-such-host.invalid'),
      2,
      /The host no-such-host.invalid does not exist|can’t be resolved/,
    ],
    ['TLS where the server has none', (it: URL) => (it.search = 'sslmode=require'), 2, /does not support TLS/],
  ])('with %s says what is wrong', async (_what, change, exitCode, message) => {
    const url = changed(change);
    const error: unknown = await open(url).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), next: expect.any(String) });
    if (!url.includes('invalid')) expect(error).toMatchObject({ exitCode });
    if (new URL(url).password !== '') expect((error as Error).message).not.toContain(new URL(url).password);
  });

  it('that does not run can be tried again', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await expect(open(`postgres://me:hidden@127.0.0.1:${port}/x`)).rejects.toMatchObject({
      exitCode: 5,
      message: `Nothing answers at 127.0.0.1:${port}.`,
    });
    await expect(open(`postgres://me:hidden@localhost:${port}/x`)).rejects.toMatchObject({
      exitCode: 5,
      message: `Nothing answers at localhost:${port}.`,
    });
    await expect(open('postgres://me@%2Fno%2Fsuch%2Ffolder/x')).rejects.toMatchObject({
      exitCode: 5,
      message: 'There is no database socket in /no/such/folder.',
    });
  });

  it('that does not answer is given up', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expect(open(`postgres://me:hidden@127.0.0.1:${port}/x?connect_timeout=1`)).rejects.toMatchObject({
      exitCode: 5,
      message: `127.0.0.1:${port} does not answer in time.`,
    });
    silent.close();
  });

  it('that can’t hold every text is refused', async () => {
    const name = `${new URL(database.url).pathname.slice(1)}_ascii`;
    await administer(`create database ${name} encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`);
    await expect(open(changed((it) => (it.pathname = `/${name}`)))).rejects.toMatchObject({
      exitCode: 2,
      message: 'The database’s encoding is SQL_ASCII, which can’t store every text.',
    });
    await administer(`drop database ${name}`);
  });

  describe('over TLS', () => {
    const over = (host: string, query: string): string =>
      changed((it) => {
        it.hostname = host;
        it.port = String(proxy.port);
        it.search = query;
      });
    const expectReached = async (url: string): Promise<void> => {
      const warehouse = await open(url);
      expect((await sql`select 1 as one`.execute(warehouse.db)).rows).toEqual([{ one: 1 }]);
    };

    it.each([
      ['localhost', `sslmode=verify-full&sslrootcert=${AUTHORITY}`],
      ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${AUTHORITY}`],
      ['127.0.0.1', `sslmode=require&sslrootcert=${AUTHORITY}`],
      ['127.0.0.1', 'sslmode=require'],
      ['127.0.0.1', 'sslmode=prefer'],
    ])('%s is reached with %s', async (host, query) => {
      await expectReached(over(host, query));
    });

    it.each([
      ['localhost', 'sslmode=verify-full', /The certificate of localhost:\d+ is not trusted/],
      ['localhost', 'sslmode=verify-ca', /is not trusted/],
      ['127.0.0.1', `sslmode=verify-full&sslrootcert=${AUTHORITY}`, /is for another name/],
    ])('%s is refused with %s', async (host, query, message) => {
      await expect(open(over(host, query))).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(message),
      });
    });

    it.each(['prefer', 'allow'])('is done without where sslmode=%s finds none', async (mode) => {
      await expectReached(changed((it) => (it.search = `sslmode=${mode}`)));
    });
  });
});
