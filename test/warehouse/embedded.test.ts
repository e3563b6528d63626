/** The embedded database in its thread: what the process can do meanwhile, and how either of them ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { openPool } from '../../src/warehouse/embedded/pool.ts';
import { openThread } from '../../src/warehouse/embedded/thread.ts';
import { serveReads } from '../../src/warehouse/read-server/server.ts';
import { copyInto } from '../../src/warehouse/sql/copy.ts';
import { builtProgram } from '../support/built.ts';
import { countOf } from '../support/long.ts';
import { copyEmbedded } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

const built = await builtProgram();
const LONG_STATEMENT = built.pathOf('test/support/long-statement.ts');
/** Takes hours. */
const LONG = 'select count(*) from (select generate_series(1, 100000000000)) g';
/** Far below the time of the statement, and enough for a busy machine. */
const SOON_MS = 10_000;

let root: string;
let folder: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-thread-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A folder with a warehouse that no other test uses. */
async function nextFolder(): Promise<string> {
  const path = join(await mkdtemp(join(root, 'f')), 'w');
  await copyEmbedded(path);
  return path;
}
beforeEach(async () => {
  folder = await nextFolder();
});

const openIn = (path: string): Promise<Warehouse> =>
  openWarehouse({ url: new Secret(`embedded:${path}`), schema: 'sluice' }, realEffects);

async function open(): Promise<Warehouse> {
  const warehouse = await openIn(folder);
  onTestFinished(() => warehouse.close());
  return warehouse;
}

const within = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    wait(SOON_MS, undefined, { ref: false }).then(() => expect.unreachable(`took more than ${SOON_MS} ms`)),
  ]);

describe('values and errors that pass between the threads', () => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await openIn(await nextFolder());
  });
  afterAll(() => warehouse.close());

  it('are those of a server', async () => {
    const { db } = warehouse;
    const { rows } =
      await sql`select ${'9007199254740993'}::bigint as long, ${Buffer.from([0, 255, 7])}::bytea as bytes,
      ${[1, null, 3]}::int[] as numbers, ${['a"b', '\\', 'ü']}::text[] as texts, ${new Date(86_400_000)}::timestamptz as at,
      ${{ a: [1, 'é'] }}::jsonb as doc, null as nothing, 'NaN'::float8 as nan, true as yes`.execute(db);
    expect(rows).toEqual([
      {
        long: '9007199254740993',
        bytes: Buffer.from([0, 255, 7]),
        numbers: [1, null, 3],
        texts: ['a"b', '\\', 'ü'],
        at: new Date(86_400_000),
        doc: { a: [1, 'é'] },
        nothing: null,
        nan: Number.NaN,
        yes: true,
      },
    ]);
  });

  it('keep code, message, detail, constraint and position', async () => {
    const { db } = warehouse;
    await sql`create table u (id int constraint only_once unique, n int check (n > 0))`.execute(db);
    await sql`insert into u values (1, 1)`.execute(db);
    await expect(sql`insert into u values (${1}, 2)`.execute(db)).rejects.toMatchObject({
      code: '23505',
      message: 'duplicate key value violates unique constraint "only_once"',
      detail: 'Key (id)=(1) already exists.',
      constraint: 'only_once',
      table: 'u',
    });
    await expect(sql.raw('select 1 +').execute(db)).rejects.toMatchObject({ code: '42601', position: '11' });
    // The session is usable afterwards.
    expect((await sql`select count(*)::int as n from u`.execute(db)).rows).toEqual([{ n: 1 }]);
  });

  it('are complete in a large result and in a large copy, whose errors leave no row', async () => {
    const { db } = warehouse;
    await sql`create table c (id int, note text)`.execute(db);
    const copy = (last: string): Promise<unknown> => {
      const rows = Array.from({ length: 30_000 }, (_, id) => `${id}\t${'x'.repeat(100)}é\n`);
      const statement = copyInto('public', 'c', ['id', 'note']);
      return db.executeQuery({ ...sql.raw(statement).compile(db), parameters: [[...rows, last]] });
    };
    await expect(copy('no number\tx\n')).rejects.toMatchObject({
      code: '22P02',
      where: 'COPY c, line 30001, column id: "no number"',
    });
    expect((await sql`select 1 as one from c`.execute(db)).rows).toEqual([]);
    expect(await copy('30000\tlast\n')).toMatchObject({ numAffectedRows: 30_001n });
    const { rows } = await sql<{ id: number; note: string }>`select * from c order by id`.execute(db);
    expect([rows.length, rows[29_999], rows[30_000]]).toEqual([
      30_001,
      { id: 29_999, note: `${'x'.repeat(100)}é` },
      { id: 30_000, note: 'last' },
    ]);
  });
});

describe('a long statement', () => {
  it('leaves the process free, and one that is abandoned ends before the next begins', async () => {
    const { session, db } = await open();
    const stop = new AbortController();
    let ticks = 0;
    const asked = session(async (run) => {
      await run(`select set_config('role', 'pg_read_all_data', true)`);
      const running = run('select count(*) from generate_series(1, 2000000)');
      const ticking = setInterval(() => ticks++, 1);
      await vi.waitFor(() => expect(ticks).toBeGreaterThan(3));
      clearInterval(ticking);
      stop.abort(new Error('stopped'));
      await running;
    }, stop.signal);
    await expect(asked).rejects.toMatchObject({ exitCode: 5 });
    const { rows } = await sql`select current_setting('transaction_read_only') as "readOnly",
      current_user = session_user as "isSelf"`.execute(db);
    expect(rows).toEqual([{ readOnly: 'off', isSelf: true }]);
  });

  it('that was abandoned and does not end keeps nobody waiting: the database is opened again with all that was committed', async () => {
    const database = await openThread({ dataDir: join(folder, 'data') }, { failure: (reason) => reason });
    onTestFinished(() => database.close());
    const { runScript, session } = openPool({
      exchange: (messages, onReply) => database.exchange(messages, onReply),
      limitRunning: () => database.limitRunning(1),
    });
    await runScript('create table kept as select 1 as id');
    const stop = new AbortController();
    const asked = session((run) => {
      setImmediate(() => stop.abort());
      return run(LONG);
    }, stop.signal);
    const writing = runScript(
      "insert into kept values (2); select id, current_setting('transaction_read_only') as r from kept",
    );
    await within(expect(asked).rejects.toThrow('The query was stopped.'));
    expect((await within(writing)).rows).toEqual([
      { id: 1, r: 'off' },
      { id: 2, r: 'off' },
    ]);
    expect(await session((run) => run('select count(*) from kept'))).toMatchObject({ rows: [['2']] });
  });

  it('that was abandoned does not hold up the end, and nothing that was committed is lost', async () => {
    const warehouse = await open();
    const { session, db } = warehouse;
    await sql`create table kept as select 1 as id`.execute(db);
    const stop = new AbortController();
    const asked = session((run) => {
      setImmediate(() => stop.abort());
      return run(LONG);
    }, stop.signal);
    await within(expect(asked).rejects.toThrow());
    await within(warehouse.close());
    expect(await readdir(folder)).toEqual(['data']);
    expect((await sql`select * from kept`.execute((await open()).db)).rows).toEqual([{ id: 1 }]);
  });
});

it('a reader beside the owner is ended at its limit during a statement, which does not hold up the owner’s end', async () => {
  const owner = await open();
  const limits = { maxHeldMs: 200, idleMs: 5_000, graceMs: 5_000, connections: 8 };
  const reads = await serveReads(owner, folder, realEffects, limits);
  const reader = await openWarehouse(
    { url: new Secret(`embedded:${folder}`), schema: 'sluice' },
    { ...realEffects, isReadOnly: true },
  );
  expect(reader.isRemote).toBe(true);
  await within(expect(reader.session((run) => run(LONG))).rejects.toMatchObject({ code: '57014' }));
  await reader.close();
  await within(reads?.close() ?? Promise.reject(new Error('no socket')));
  await within(owner.close());
  expect(await readdir(folder)).toEqual(['data']);
});

function start(how: string): { readonly child: ChildProcess; readonly running: Promise<unknown> } {
  const child = spawn(process.execPath, [LONG_STATEMENT, folder, how], {
    env: built.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, running: once(createInterface(child.stdout), 'line') };
}

describe('a process', () => {
  it.each(
    (
      [
        ['SIGTERM', 'read', [143, null]],
        ['SIGKILL', 'write', [null, 'SIGKILL']],
        ['SIGTERM', 'write', [143, null]],
      ] as const
    ).slice(0, countOf(2, 3)),
  )('that ends on %s during a statement (%s) leaves a folder that opens', async (signal, how, end) => {
    const { child, running } = start(how);
    await running;
    child.kill(signal);
    expect(await within(once(child, 'exit'))).toEqual(end);
    // A thread could still write, so the lock stays until it is certain that the process ended.
    expect(await readdir(folder)).toContain('lock.json');
    expect((await sql`select * from kept`.execute((await open()).db)).rows).toEqual([{ id: 1 }]);
  });

  it('whose database fails to write to its log fails the statement with the reason, and loses nothing', async () => {
    const before = await open();
    // The log continues 6 MB after the beginning of a file, which the process may not write beyond 4 MB. A quota has the
    // same effect, and neither shows as a full disk.
    await sql`select pg_switch_wal()`.execute(before.db);
    await sql`select pg_logical_emit_message(false, '', repeat('x', 6000000))`.execute(before.db);
    await before.close();
    const limited = ['-c', 'ulimit -f 8000; exec "$@"', 'sh', process.execPath, LONG_STATEMENT, folder, 'none'];
    const child = spawn('sh', limited, { env: built.env, stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await within(once(child, 'close'));
    expect(errors).toContain(`The embedded database in ${folder} ended: could not write to log file`);
    expect((await sql`select to_regclass('kept') as kept`.execute((await open()).db)).rows).toEqual([{ kept: null }]);
  });

  it('ends by itself without closing its warehouse, and releases it', async () => {
    const { child } = start('none');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await readdir(folder)).toEqual(['data']);
  });
});

describe('a thread that ends', () => {
  it('fails the running statement and all later ones with an error that names the folder', async () => {
    const threads: Worker[] = [];
    const listen = (thread: Worker): void => void threads.push(thread);
    process.on('worker', listen);
    onTestFinished(() => void process.off('worker', listen));
    const warehouse = await open();
    const { db, session } = warehouse;
    const failure = {
      exitCode: 5,
      message: `The embedded database in ${folder} ended: its thread ended`,
      next: expect.stringContaining('Run the same command again.') as string,
    };
    const running = sql.raw(LONG).execute(db);
    const waiting = sql`select 1`.execute(db);
    await wait(0);
    await threads[0]?.terminate();
    await expect(running).rejects.toMatchObject(failure);
    await expect(waiting).rejects.toMatchObject(failure);
    await expect(db.transaction().execute((tx) => sql`select 1`.execute(tx))).rejects.toMatchObject(failure);
    await expect(session((run) => run('select 1'))).rejects.toMatchObject(failure);
    await warehouse.close();
    expect(await readdir(folder)).toEqual(['data']);
    expect((await sql`select 1 as one`.execute((await open()).db)).rows).toEqual([{ one: 1 }]);
  });
});
