import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Kysely, sql } from 'kysely';
import { afterEach, expect, inject, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { PLANNED_ONCE } from '../../src/warehouse/sql/compile-once.ts';
import { realEffects } from '../support/warehouse.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Connection = Kysely<OperationsTables>;

/** Returns the value that it is given, by a statement that ends with a text. */
const selecting =
  (text: string) =>
  async (connection: Connection, given: number): Promise<number> => {
    const { rows } = await sql<{ it: number }>`select ${given}::int4 as it${sql.raw(text)}`.execute(connection);
    return rows[0]?.it ?? Number.NaN;
  };

/** How many plans a connection keeps after it ran a statement twice. */
async function plansKept(
  url: string,
  run: (connection: Connection, given: number) => Promise<number>,
): Promise<{ readonly plans: number; readonly answers: number[] }> {
  const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, realEffects);
  closers.push(() => warehouse.close());
  return warehouse.db.connection().execute(async (connection) => {
    const answers: number[] = [];
    for (const given of [1, 2]) answers.push(await run(connection, given));
    const { rows } = await sql<{ plans: number }>`
      select count(*)::int4 as plans from pg_prepared_statements`.execute(connection);
    return { plans: rows[0]?.plans ?? Number.NaN, answers };
  });
}

/** A proxy that announces a session of its own to clients, as a pooler does. */
async function pooler(server: string): Promise<string> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    client.pipe(upstream);
    upstream.on('data', (data: Buffer) => {
      // BackendKeyData: its letter, its length, the process, the key.
      const at = data.indexOf(Buffer.from('4b0000000c', 'hex'));
      if (at >= 0) data.writeInt32BE(1, at + 5);
      client.write(data);
    });
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await once(proxy, 'close');
  });
  const url = new URL(server);
  url.port = String((proxy.address() as AddressInfo).port);
  return url.href;
}

it('a statement that is marked for it is planned once a connection', async () => {
  expect(await plansKept(inject('postgresUrl'), selecting(PLANNED_ONCE))).toEqual({ plans: 1, answers: [1, 2] });
});

it('a statement of a load is planned once a connection', async () => {
  const run = async (connection: Connection, given: number): Promise<number> => {
    const select = `select json_build_object('it', $1::text)::text as row`;
    return Number((await sqlExecutorOn(connection, 'sluice').rows(select, [given]))[0]?.['it']);
  };
  expect(await plansKept(inject('postgresUrl'), run)).toEqual({ plans: 1, answers: [1, 2] });
});

it('any other statement is planned each time', async () => {
  expect(await plansKept(inject('postgresUrl'), selecting(''))).toEqual({ plans: 0, answers: [1, 2] });
});

it('no statement is planned once behind a pooler, as the next one may reach another session', async () => {
  const url = await pooler(inject('postgresUrl'));
  expect(await plansKept(url, selecting(PLANNED_ONCE))).toEqual({ plans: 0, answers: [1, 2] });
});
