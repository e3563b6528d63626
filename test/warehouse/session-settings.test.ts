/** What roles and databases set for their sessions changes nothing. */
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type QueryExecutorProvider, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { inSnapshot } from '../../src/warehouse/connect/in-snapshot.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { arrayLiteral } from '../../src/warehouse/sql/array-literal.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { realEffects } from '../support/warehouse.ts';

const ROLE = `odd_${randomBytes(4).toString('hex')}`;
const ODD = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  array_nulls: 'off',
  extra_float_digits: '-10',
  quote_all_identifiers: 'on',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
};

let database: FreshDatabase;
let url: URL;
beforeAll(async () => {
  database = await freshDatabase();
  url = new URL(database.url);
  await execute(database.url, `create role ${ROLE} login password 'odd' `);
  await execute(database.url, `grant all on database ${url.pathname.slice(1)} to ${ROLE}`);
  url.username = ROLE;
  url.password = 'odd';
});
afterAll(async () => {
  await database.drop();
  await execute(database.url.replace(/\/[^/]*$/, '/postgres'), `drop role ${ROLE}`);
});

const set = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  await execute(database.url, `alter role ${ROLE} reset all`);
  for (const [name, value] of Object.entries(settings))
    await execute(database.url, `alter role ${ROLE} set ${name} = ${value.includes(',') ? value : `'${value}'`}`);
};

async function open(address: string): Promise<Warehouse> {
  const warehouse = await openWarehouse({ url: new Secret(address), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close());
  return warehouse;
}

interface Values {
  readonly at: Date;
  readonly latitude: number;
  readonly bytes: Buffer;
  readonly missing: readonly (string | null)[];
  readonly isolation: string;
}

const valuesOf = async ({ db }: Warehouse): Promise<Values | undefined> => {
  const { rows } =
    await sql<Values>`select '2026-03-04T05:06:07Z'::timestamptz as at, 0.1234567890123456::float8 as latitude,
    ${Buffer.from([0, 255])}::bytea as bytes, ${arrayLiteral(['a', null])}::text[] as missing,
    current_setting('transaction_isolation') as isolation`.execute(db);
  return rows[0];
};

const EXPECTED = {
  at: new Date('2026-03-04T05:06:07Z'),
  latitude: 0.1234567890123456,
  bytes: Buffer.from([0, 255]),
  missing: ['a', null],
  isolation: 'read committed',
};

describe('the settings of a role', () => {
  it.each(Object.entries(ODD))('%s = %s changes no value and no comparison of schemas', async (name, value) => {
    await set({ [name]: value });
    const warehouse = await open(url.href);
    await ensureSchema(warehouse);
    expect(await valuesOf(warehouse)).toEqual(EXPECTED);
    expect(await schemaDrift(warehouse)).toEqual([]);
    const { rows } = await readOnlyQuery(warehouse, `select '2026-03-04'::date as day, 0.1::float8 as share`);
    expect(rows).toEqual([{ day: '2026-03-04', share: 0.1 }]);
  });
});

it('a server that compiles expensive statements does not compile those of Sluice', async () => {
  await set({ jit: 'on' });
  const { db } = await open(url.href);
  const { rows } = await sql<{ jit: string }>`select current_setting('jit') as jit`.execute(db);
  expect(rows).toEqual([{ jit: 'off' }]);
});

it('the transaction_timeout of a role limits reads, and no transaction that writes', async () => {
  const { db: owner } = await open(database.url);
  const { rows: known } = await sql`select from pg_settings where name = 'transaction_timeout'`.execute(owner);
  // Servers before Postgres 17 have no such setting.
  const [ofRole, ofWrites] = known.length === 0 ? [null, null] : ['10min', '0'];
  await set(ofRole === null ? {} : { transaction_timeout: ofRole });
  const { db } = await open(url.href);
  const timeout = async (of: QueryExecutorProvider): Promise<string | null | undefined> => {
    const { rows } = await sql<{ timeout: string | null }>`
      select current_setting('transaction_timeout', true) as timeout`.execute(of);
    return rows[0]?.timeout;
  };
  expect([await timeout(db), await db.transaction().execute(timeout)]).toEqual([ofRole, ofWrites]);
});

/** How the message with the number of the server's process begins. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

function errorMessage(code: string, message: string, routine = 'x'): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0R${routine}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

/**
 * Refuses settings that it does not keep for its clients, and `refused`, as PgBouncer does; hands everything else on, with
 * a process number of its own.
 */
async function startPooler(refused?: { readonly text: string; readonly message: string }): Promise<string> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    sockets.add(client.on('error', () => undefined));
    client.once('data', (first: Buffer) => {
      if (refused && first.includes(refused.text)) {
        client.end(errorMessage('08P01', refused.message));
        return;
      }
      if (first.includes('array_nulls')) {
        client.end(errorMessage('08P01', 'unsupported startup parameter: array_nulls'));
        return;
      }
      const upstream = connect(Number(url.port), url.hostname);
      sockets.add(upstream.on('error', () => undefined));
      upstream.write(first);
      upstream.on('data', (data: Buffer) => {
        const key = data.indexOf(KEY_DATA);
        if (key >= 0) data.writeInt32BE(data.readInt32BE(key + KEY_DATA.length) + 1, key + KEY_DATA.length);
      });
      if (refused) {
        client.on('data', (data: Buffer) => {
          if (data.includes(refused.text)) client.end(errorMessage('08P01', refused.message));
        });
      }
      client.pipe(upstream).pipe(client);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await once(proxy, 'close');
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  return through.href;
}

describe('a pooler that keeps few settings for its clients', () => {
  it('is connected through, with the settings that it keeps', async () => {
    await set({ DateStyle: 'SQL, DMY', TimeZone: 'Asia/Kathmandu' });
    expect(await valuesOf(await open(await startPooler()))).toEqual(EXPECTED);
  });

  it.each([
    ['array_nulls', 'off', 'on'],
    ['extra_float_digits', '-10', '1'],
  ])('cannot change %s of the role: the error names the setting and the way out', async (name, value, required) => {
    await set({ [name]: value });
    await expect(open(await startPooler())).rejects.toMatchObject({
      exitCode: 2,
      message: `The session has ${name} = ${value}; Sluice needs ${required}.`,
      next: expect.stringContaining(`SET ${name} TO '${required}'`),
    });
  });
});

describe('a pooler that cannot be used', () => {
  beforeAll(() => set({}));

  it('has no transactions: the error says so, and a retry is not advised', async () => {
    const message = 'transaction blocks not allowed in statement pooling mode';
    await expect(open(await startPooler({ text: 'begin', message }))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^The pooler at 127\.0\.0\.1:\d+ has no transactions\.$/),
      next: expect.stringContaining('pool_mode=transaction'),
    });
  });

  it.each([
    ['password authentication failed', 3],
    ['SASL authentication failed', 3],
    ['password authentication failed for user "postgres"', 3],
    ['no such user: nobody', 3],
    ['no such database: none', 2],
    ['database "none" does not exist', 2],
    ['no more connections allowed (max_client_conn)', 5],
  ])('refuses the login with %s: the exit code is %i, as without a pooler', async (message, exitCode) => {
    await expect(open(await startPooler({ text: 'user', message }))).rejects.toMatchObject({ exitCode });
  });

  it('refuses a parameter of the address: the error names it, and a retry is not advised', async () => {
    const message = 'unsupported startup parameter: options';
    await expect(
      open(`${await startPooler({ text: 'options', message })}?options=-c%20work_mem%3D8MB`),
    ).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
  });
});

/** Takes no TLS, and knows no role; answers as a server that trusts its clients does. */
async function startWithoutRole(): Promise<string> {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.on('data', (first: Buffer) => {
      const isTlsRequest = first.length === 8;
      if (isTlsRequest) client.write('N');
      else client.end(errorMessage('28000', 'role "nobody" does not exist', 'InitializeSessionUserId'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await once(server, 'close');
  });
  return `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/x?sslmode=allow`;
}

describe('a role that does not exist', () => {
  it('is named as the reason, not TLS', async () => {
    await expect(open(await startWithoutRole())).rejects.toMatchObject({
      exitCode: 3,
      message: 'The database refuses the login of nobody: role "nobody" does not exist.',
    });
  });
});

const idleLimit = sql<{ limit: string }>`select current_setting('idle_in_transaction_session_timeout') as limit`;

describe('a process that stops in a transaction, such as one of a suspended machine', () => {
  it('holds the locks of a transaction that writes no longer than 15 s, also behind a pooler', async () => {
    await set({});
    for (const address of [url.href, await startPooler()]) {
      const { db } = await open(address);
      const { rows } = await db.transaction().execute((tx) => idleLimit.execute(tx));
      expect(rows).toEqual([{ limit: '15s' }]);
      expect((await idleLimit.execute(db)).rows).toEqual([{ limit: '0' }]);
    }
  });

  it('is not limited while it reads, because the reader of an export may be slow', async () => {
    await set({});
    const warehouse = await open(url.href);
    const { rows } = await readOnlyQuery(warehouse, 'show idle_in_transaction_session_timeout');
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
    expect(await inSnapshot(warehouse.db, async (tx) => (await idleLimit.execute(tx)).rows)).toEqual([{ limit: '0' }]);
  });
});
