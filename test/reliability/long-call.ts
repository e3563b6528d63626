/**
 * Shows, by a real clock, that a call is not cut off at 300 s: a service takes 301 s for a request whose `timeout` is
 * the contract's 300. Five minutes are too long for the suite: `node test/reliability/long-call.ts [SECONDS]`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/config/values/secret.ts';
import { runSyncs } from '../../src/syncs.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { configOf, service } from '../flow/scene.ts';

const seconds = Number(process.argv[2] ?? 301);
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    void wait(seconds * 1000).then(() =>
      response.end('[{"@type":"@microblog_user","rest_id":"1","internal_id":"1","name":"n","alias":"a","url":"u"}]'),
    );
  });
});
// The limits of the test server must not interfere.
server.requestTimeout = 0;
server.timeout = 0;
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const now = (): Date => new Date();
const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, undefined, signal && { signal });
const warehouse = await openWarehouse({ url: new Secret('embedded:memory://'), schema: 'sluice' }, { now, sleep });
await ensureSchema(warehouse);
const yaml = `${service()}\nsyncs: { user: { endpoint: microblog.user, request: { user: ada, timeout: 300 } } }\n`;
const startedAt = performance.now();
const { exitCode, syncs } = await runSyncs(
  await configOf(yaml, `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  warehouse,
  { names: [], refresh: false, failOnTruncated: false },
  {
    now,
    sleep,
    random: Math.random,
    newId: randomUUID,
    onProgress: () => undefined,
    onNotice: ({ message }) => process.stderr.write(`${message}\n`),
  },
  new AbortController().signal,
);
const tookSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
const { loaded, inDoubt, sent } = syncs[0] ?? { loaded: 0, inDoubt: 0, sent: 0 };
process.stdout.write(
  `timeout 300, answered after ${seconds} s: exit ${exitCode}, ${sent} sent, ${loaded} loaded, ${inDoubt} in doubt, ${tookSeconds} s in all\n`,
);
await warehouse.close();
server.close();
