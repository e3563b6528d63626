/** A statement that is stopped at the server: given up, also behind a pooler, which gives its clients other keys, or out of time. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { freshDatabase } from '../support/database.ts';
import { startTlsProxy } from '../support/tls-proxy.ts';
import { realEffects } from '../support/warehouse.ts';

/** The message with which a server gives a client its key: a letter, the length, the process and its secret. */
const KEY = Buffer.from('4b0000000c', 'hex');
/** How a request to cancel begins: its length and its code. */
const CANCEL = Buffer.from('0000001004d2162e', 'hex');

/** What a pooler is to its clients: in each key the process number is changed, and known again in a request to cancel. */
async function startPooler(server: string): Promise<{ readonly port: number; readonly cancels: () => number }> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  let cancels = 0;
  const flip = (bytes: Buffer, at: number): void =>
    void bytes.writeUInt32BE((bytes.readUInt32BE(at) ^ 0x2a2a2a) >>> 0, at);
  const listener = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (bytes: Buffer) => {
      if (bytes.subarray(0, CANCEL.length).equals(CANCEL)) {
        cancels += 1;
        flip(bytes, CANCEL.length);
      }
      upstream.write(bytes);
    });
    let isTold = false;
    upstream.on('data', (bytes: Buffer) => {
      const at = isTold ? -1 : bytes.indexOf(KEY);
      if (at >= 0) {
        isTold = true;
        flip(bytes, at + KEY.length);
      }
      client.write(bytes);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return { port: (listener.address() as AddressInfo).port, cancels: () => cancels };
}

it.each(['without TLS', 'with TLS'])('a query is stopped at the server %s', async (how) => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const pooler = await startPooler(database.url);
  const url = new URL(database.url);
  url.hostname = '127.0.0.1';
  url.port = String(pooler.port);
  if (how === 'with TLS') {
    const proxy = await startTlsProxy(url.href);
    onTestFinished(() => proxy.close());
    url.hostname = 'localhost';
    url.port = String(proxy.port);
    url.searchParams.set('sslmode', 'require');
  }
  const warehouse = await openWarehouse({ url: new Secret(url.href), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close());
  const stop = new AbortController();
  const statement = `select pg_sleep(600)`;
  const work = readOnlyQuery(warehouse, statement, { signal: stop.signal });
  const sleeping = async (): Promise<number> =>
    (
      await sql`select from pg_stat_activity where query = ${statement} and wait_event = 'PgSleep'`.execute(
        warehouse.db,
      )
    ).rows.length;
  await expect.poll(sleeping, { timeout: 30_000 }).toBe(1);
  stop.abort(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  await expect.poll(sleeping, { timeout: 30_000 }).toBe(0);
  expect(pooler.cancels()).toBe(1);
});

it('a query is stopped when its user’s time limit is over, and says so', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const url = new URL(database.url);
  url.searchParams.set('options', '-c statement_timeout=2s');
  const warehouse = await openWarehouse({ url: new Secret(url.href), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close());
  await expect(readOnlyQuery(warehouse, 'select pg_sleep(600)')).rejects.toMatchObject({
    exitCode: 5,
    message: 'The query was stopped: canceling statement due to statement timeout.',
  });
});
