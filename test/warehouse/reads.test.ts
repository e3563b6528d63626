import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { HeldError, SchemaError, TransientError, UsageError } from '../../src/errors.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { readInParts } from '../../src/warehouse/connect/query-parts.ts';
import { findOwner } from '../../src/warehouse/read-server/client.ts';
import {
  frameOf,
  LONGEST_REQUEST_BYTES,
  messagesIn,
  type ReadReply,
} from '../../src/warehouse/read-server/protocol.ts';
import { serveReads } from '../../src/warehouse/read-server/server.ts';
import { builtProgram } from '../support/built.ts';
import { copyEmbedded } from '../support/templates.ts';
import { embeddedWarehouses, realEffects } from '../support/warehouse.ts';

const built = await builtProgram();
/** Long enough for any process of a test. */
const PATIENT_MS = 60_000;
const PROGRAM = built.pathOf('test/support/reads-owner.ts');

/** The process that has the warehouse. */
class Owner {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(folder: string) {
    this.process = spawn(process.execPath, [PROGRAM, folder], { env: built.env, stdio: ['pipe', 'pipe', 'inherit'] });
    if (!this.process.stdout) throw new Error('no output');
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async says(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? 'nothing more' : value;
  }

  does(order: string): Promise<string> {
    this.process.stdin?.write(`${order}\n`);
    return this.says();
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}

let root: string;
let folder: string;
let owner: Owner;
const opened: Warehouse[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-reads-'));
  folder = join(root, 'w');
  await copyEmbedded(folder);
  owner = new Owner(folder);
  expect(await owner.says()).toBe('ready');
});
afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));
afterAll(async () => {
  await owner.kill();
  await rm(root, { recursive: true, force: true });
});

async function openToRead(where = folder, schema = 'sluice'): Promise<Warehouse> {
  const settings = { url: new Secret(`embedded:${where}`), schema };
  const warehouse = await openWarehouse(settings, { ...realEffects, isReadOnly: true });
  opened.push(warehouse);
  return warehouse;
}

describe('a reader beside the owner of an embedded warehouse', () => {
  it('statements give what they would give there', async () => {
    const warehouse = await openToRead();
    expect(warehouse.isRemote).toBe(true);
    const result = await readOnlyQuery(warehouse, 'select count(*), min(name), max(data::text)::jsonb as d from seen');
    expect(result).toEqual({ columns: ['count', 'min', 'd'], rows: [{ count: 5000, min: 'row 1', d: { a: [1] } }] });
    const { rows } = await sql`select number, name, at, data, array[1,2] as list, null::text as nothing
      from public.seen where number = any(${'{7}'}::int[]) and name = ${'row 7'}`.execute(warehouse.db);
    expect(rows).toEqual([
      { number: 7, name: 'row 7', at: expect.any(Date), data: { a: [1] }, list: [1, 2], nothing: null },
    ]);
  });

  it('results arrive complete, in order, however long, and have columns even without rows', async () => {
    const warehouse = await openToRead();
    const { rows } = await readOnlyQuery(warehouse, 'select number from seen order by number desc');
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 5000 }, (_, at) => 5000 - at));
    const wide = await readOnlyQuery(warehouse, "select repeat('é', 1000000) as text from generate_series(1, 9)");
    expect(wide.rows.map(({ text }) => (text as string).length)).toEqual(Array.from({ length: 9 }, () => 1_000_000));
    expect(await readOnlyQuery(warehouse, 'select number, at from seen where false')).toEqual({
      columns: ['number', 'at'],
      rows: [],
    });
    expect((await readOnlyQuery(warehouse, 'show server_encoding')).rows).toEqual([{ server_encoding: 'UTF8' }]);
    expect((await readOnlyQuery(warehouse, 'explain select 1; ')).rows.length).toBeGreaterThan(0);
    expect((await readOnlyQuery(warehouse, 'table seen -- all')).rows.length).toBe(5000);
  });

  it('only as many rows are read as were requested', async () => {
    const failing = 'select 6 / (3 - g) as n from generate_series(1, 9) as g; ';
    const warehouse = await openToRead();
    for (const statement of [failing, `${failing} -- a; note\n/* and another */`]) {
      const { rows } = await readOnlyQuery(warehouse, statement, { mostRows: 2 });
      expect(rows).toEqual([{ n: 3 }, { n: 6 }]);
    }
    const noted = `${failing.replace('9', '2')} -- a note`;
    expect((await readOnlyQuery(warehouse, noted)).rows).toEqual([{ n: 3 }, { n: 6 }]);
  });

  it('a result in parts is complete, or ends after the most rows, also for a statement that ends in a comment', async () => {
    const warehouse = await openToRead();
    const rowsIn = async (statement: string, mostRows?: number): Promise<number> => {
      let found = 0;
      await readInParts(warehouse, statement, {
        ...(mostRows !== undefined && { mostRows }),
        onPart: ({ rows }) => void (found += rows.length),
      });
      return found;
    };
    expect(await rowsIn('table seen -- all')).toBe(5000);
    expect(await rowsIn('table seen -- all', 120)).toBe(120);
    expect(await rowsIn('select 1 as a, 2 as a where false; ', 120)).toBe(0);
    expect(await rowsIn('show server_encoding', 120)).toBe(1);
    await expect(rowsIn('select nonsense from seen', 120)).rejects.toThrow('column "nonsense" does not exist');
  });

  it('a query that is given up before its connection is there is not run', async () => {
    const warehouse = await openToRead();
    const stop = new AbortController();
    const work = readOnlyQuery(warehouse, 'select count(*) from (select generate_series(1, 100000000000)) g', {
      signal: stop.signal,
    });
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    expect((await readOnlyQuery(warehouse, 'select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('a transaction sees one moment, whatever the owner does meanwhile', async () => {
    const warehouse = await openToRead();
    const count = (db: Warehouse['db']) => sql<{ n: string }>`select count(*) as n from public.moments`.execute(db);
    expect(await owner.does('create table public.moments as select 1 as n')).toBe('done');
    await warehouse.db.transaction().execute(async (tx) => {
      expect((await count(tx)).rows).toEqual([{ n: '1' }]);
      const inserted = owner.does('insert into public.moments values (2)');
      expect((await count(tx)).rows).toEqual([{ n: '1' }]);
      // It waits for the reader, and does not fail.
      void inserted.catch(() => undefined);
    });
    await expect.poll(async () => (await count(warehouse.db)).rows).toEqual([{ n: '2' }]);
  });

  it.each([
    'delete from seen',
    'with gone as (delete from seen returning 1) select count(*) from gone',
    "select set_config('transaction_read_only', 'off', true)",
    'select number into taken from seen',
    "select setval('sluice_ops.runs_id_seq', 99)",
    'select number from seen for update',
    'explain analyze delete from seen',
    'select 1; delete from seen',
    'select lo_create(77)',
  ])('nothing can be written by: %s', async (statement) => {
    const warehouse = await openToRead();
    await expect(sql.raw(statement).execute(warehouse.db)).rejects.toThrow();
    await expect(readOnlyQuery(warehouse, statement)).rejects.toBeInstanceOf(UsageError);
    expect((await readOnlyQuery(warehouse, 'select count(*) from seen')).rows).toEqual([{ count: 5000 }]);
  });

  it.each(['set transaction read write', 'begin', 'commit', 'reset all', 'copy seen to stdout', 'lock table seen', ''])(
    'no other statement is run at all: %s',
    async (statement) => {
      const warehouse = await openToRead();
      await expect(sql.raw(statement).execute(warehouse.db)).rejects.toMatchObject({ code: '25006' });
    },
  );

  it('no setting of a reader stays behind for the next or for the owner', async () => {
    const warehouse = await openToRead();
    await sql`select set_config('search_path', 'nowhere', false)`.execute(warehouse.db);
    const { rows } = await sql<{ path: string }>`select current_setting('search_path') as path`.execute(warehouse.db);
    expect(rows[0]?.path).not.toBe('nowhere');
  });

  it('an error of the database is reported as without a reader', async () => {
    const warehouse = await openToRead();
    await expect(readOnlyQuery(warehouse, 'select nothing from nowhere')).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('relation "nowhere" does not exist'),
    });
    await expect(sql`select 1/0`.execute(warehouse.db)).rejects.toMatchObject({ code: '22012' });
  });

  it('the schema counts as there, and nothing is migrated', async () => {
    await expect(ensureSchema(await openToRead())).resolves.toBeUndefined();
    await expect(ensureSchema(await openToRead(folder, 'other'))).rejects.toBeInstanceOf(SchemaError);
  });

  it('who wants to write is refused as before, naming the owner', async () => {
    let now = 0;
    const opening = openWarehouse(
      { url: new Secret(`embedded:${folder}`), schema: 'sluice' },
      { now: () => new Date((now += 20_000)), sleep: () => Promise.resolve() },
    );
    await expect(opening).rejects.toThrow(HeldError);
    await expect(opening).rejects.toThrow(/reads-owner/);
  });

  it('the socket is accessible only to its user, and nothing else is beside it', async () => {
    const socket = await lstat(join(folder, 'reads.sock'));
    expect(socket.isSocket()).toBe(true);
    expect(socket.mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.startsWith('reads'))).toEqual(['reads.sock']);
  });
});

async function raw(bytes: Buffer): Promise<ReadReply[]> {
  const socket = connect(join(folder, 'reads.sock'));
  socket.on('error', () => undefined);
  socket.end(bytes);
  const answered = await buffer(socket).catch(() => Buffer.alloc(0));
  const replies: ReadReply[] = [];
  for await (const it of messagesIn(chunked(answered), 2 ** 20))
    if (!('ready' in (it as ReadReply))) replies.push(it as ReadReply);
  return replies;
}

async function* chunked(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 3) yield await Promise.resolve(bytes.subarray(at, at + 3));
}

describe('a client that is no reader', () => {
  const select = frameOf({ v: 1, sql: 'select 1 as one', parameters: [] });

  it('understands what a reader understands', async () => {
    expect(await raw(select)).toEqual([{ fields: [{ name: 'one', oid: 23 }] }, { rows: [['1']] }, { end: true }]);
  });

  it.each([
    ['a web page', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), []],
    ['a length beyond all measure', Buffer.from('ffffffff00', 'hex'), []],
    ['a message that is no JSON', Buffer.from('00000002 7b7b'.replace(' ', ''), 'hex'), []],
    ['a message that is cut off', select.subarray(0, -1), []],
    ['nothing', Buffer.alloc(0), []],
    ['a list', framed('[]'), [{ error: expect.objectContaining({ code: '57014' }) }]],
    ['null', framed('null'), [{ error: expect.anything() }]],
    ['another version', framed('{"v":2,"sql":"select 1","parameters":[]}'), [{ error: expect.anything() }]],
    ['parameters of other kinds', framed('{"v":1,"sql":"select 1","parameters":[{}]}'), [{ error: expect.anything() }]],
    ['too few parameters', framed('{"v":1,"sql":"select $1::int","parameters":[]}'), [{ error: expect.anything() }]],
  ])('gets nothing for %s, and the next reader is answered', async (_what, bytes, replies) => {
    expect(await raw(bytes)).toEqual(replies);
    expect(await raw(select)).toHaveLength(3);
  });

  it('may not send more than a statement', async () => {
    const long = frameOf({ v: 1, sql: `select '${'x'.repeat(LONGEST_REQUEST_BYTES)}'`, parameters: [] });
    expect(await raw(long)).toEqual([]);
  });
});

function framed(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

describe('reading through an owner', () => {
  const open = embeddedWarehouses();
  const limits = { maxHeldMs: 60_000, idleMs: 60_000, graceMs: 60_000, connections: 4 };

  it('reaches it also at a path that is longer than a socket’s address', async () => {
    const deep = join(root, 'd'.repeat(80), 'e'.repeat(80));
    await mkdir(deep, { recursive: true });
    const reads = await serveReads(await open(), deep, realEffects, limits);
    expect((await lstat(join(deep, 'reads.sock'))).mode & 0o777).toBe(0o600);
    const warehouse = await openToRead(deep);
    expect((await readOnlyQuery(warehouse, 'select 2 as two')).rows).toEqual([{ two: 2 }]);
    await reads?.close();
    expect(await readdir(deep)).toEqual([]);
  });

  it('ends when it takes too long, with the reason', async () => {
    const slow = join(root, 'slow');
    await mkdir(slow);
    let over = (): void => undefined;
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
      ms === limits.maxHeldMs
        ? new Promise((resolve) => {
            over = resolve;
          })
        : realEffects.sleep(ms, signal);
    const reads = await serveReads(await open(), slow, { sleep }, limits);
    const warehouse = await openToRead(slow);
    await expect(
      warehouse.db.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx);
        over();
        // The message about it may arrive with the answer after the next.
        for (let tries = 0; tries < 1000; tries++) await sql`select 1`.execute(tx);
      }),
    ).rejects.toThrow(/allows a reader 60 s|ended or stopped answering/);
    expect((await readOnlyQuery(warehouse, 'select 2 as two')).rows).toEqual([{ two: 2 }]);
    await reads?.close();
  });

  it('gives up a reader that leaves it waiting, and the owner continues', async () => {
    const idle = join(root, 'idle');
    await mkdir(idle);
    const own = await open();
    const reads = await serveReads(own, idle, realEffects, { ...limits, idleMs: 50 });
    const socket = connect(join(idle, 'reads.sock'));
    socket.on('error', () => undefined);
    socket.write(frameOf({ v: 1, sql: 'select 1', parameters: [] }));
    await once(socket, 'connect');
    socket.resume();
    await once(socket, 'close');
    await expect(sql`select 1`.execute(own.db)).resolves.toBeDefined();
    await reads?.close();
  });

  it('waits for who reads when it ends, and no longer than it must', async () => {
    const ending = join(root, 'ending');
    await mkdir(ending);
    const reads = await serveReads(await open(), ending, realEffects, limits);
    const warehouse = await openToRead(ending);
    let closed: Promise<void> | undefined;
    await warehouse.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      closed = reads?.close();
      await sql`select 2`.execute(tx);
    });
    await closed;
    const impatient = await serveReads(await open(), ending, realEffects, { ...limits, graceMs: 0 });
    const cut = warehouse.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await impatient?.close();
      await sql`select 2`.execute(tx);
    });
    await expect(cut).rejects.toBeInstanceOf(TransientError);
  });

  it('is not tried where no process serves: a file, a folder, the socket of a killed process', async () => {
    const where = await mkdtemp(join(root, 'stale-'));
    const path = join(where, 'reads.sock');
    expect(await findOwner(where, PATIENT_MS)).toBeUndefined();
    await writeFile(path, '');
    expect(await findOwner(where, PATIENT_MS)).toBeUndefined();
    await rm(path);
    await mkdir(path);
    expect(await findOwner(where, PATIENT_MS)).toBeUndefined();
    await rm(path, { recursive: true });
    const listen = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', listen, path]), 'exit');
    expect((await lstat(path)).isSocket()).toBe(true);
    expect(await findOwner(where, PATIENT_MS)).toBeUndefined();
    const reads = await serveReads(await open(), where, realEffects, limits);
    expect(await findOwner(where, PATIENT_MS)).toBeDefined();
    await reads?.close();
    // The system accepts connections for a suspended process.
    const suspended = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGSTOP'))`,
      path,
    ]);
    await expect
      .poll(() => readFile(`/proc/${suspended.pid}/stat`, 'utf8'), { timeout: PATIENT_MS })
      .toMatch(/^\d+ \(.*\) T/s);
    expect(await findOwner(where, 100)).toBeUndefined();
    suspended.kill('SIGKILL');
  });

  it('is not given where no socket can be made', async () => {
    expect(await serveReads(await open(), join(root, 'nowhere'), realEffects, limits)).toBeUndefined();
  });
});

describe('when the owner is killed', () => {
  it('an active reader gets an error, and the next one opens the folder itself', async () => {
    const warehouse = await openToRead();
    await chmod(folder, 0o700);
    const cut = warehouse.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await owner.kill();
      await sql`select 2`.execute(tx);
    });
    await expect(cut).rejects.toMatchObject({ name: 'TransientError', exitCode: 5 });
    await warehouse.close();
    const own = await openToRead();
    expect(own.isRemote).toBeUndefined();
    expect((await readOnlyQuery(own, 'select count(*) from seen')).rows).toEqual([{ count: 5000 }]);
  });
});
