/** Jobs that are closed while the server ends their connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openJobs } from '../../src/engine/boss.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate, SCHEMA } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

/** What a client sends before it disconnects. */
const TERMINATE = Buffer.from('5800000004', 'hex');
/** The server's message to a client whose connection an administrator ends. */
const ENDED = fields('SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command');

function fields(...texts: readonly string[]): Buffer {
  const body = Buffer.from(`${texts.join('\0')}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

it('an error of a connection that the closed jobs no longer use is not reported', async () => {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  const { hostname, port } = new URL(database.url);
  const leaving: Socket[] = [];
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('data', (bytes: Buffer) => {
      if (bytes.subarray(-TERMINATE.length).equals(TERMINATE)) leaving.push(client);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
    upstream.on('close', () => leaving.includes(client) || client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const url = new URL(database.url);
  url.port = String((proxy.address() as AddressInfo).port);
  const warehouse = await openWarehouse({ url: new Secret(url.href), schema: SCHEMA }, realEffects);

  const errors: string[] = [];
  const jobs = await openJobs(warehouse, {
    onError: ({ message }) => errors.push(message),
    retry: { sleep: () => Promise.resolve(), random: () => 0.5 },
  });
  await jobs.close();
  expect(leaving.length).toBeGreaterThan(0);
  for (const client of leaving) {
    client.end(ENDED);
    await once(client, 'close');
  }
  expect(errors).toEqual([]);
  await warehouse.close();
  for (const client of leaving) client.destroy();
});
