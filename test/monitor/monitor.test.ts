import { once } from 'node:events';
import { createServer, type IncomingMessage, request as open } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { metrics } from '../../src/monitor/metrics.ts';
import { startMonitor } from '../../src/monitor/monitor.ts';
import type { HttpServer } from '../../src/monitor/http-server.ts';
import type { MonitoredProcess } from '../../src/monitor/monitored-process.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { type Read, readExposition } from './exposition-text.ts';

const HOSTILE = 'a"b\\c\nd} 1\n# TYPE evil counter\nevil 1';
const monitors: HttpServer[] = [];
afterEach(() => Promise.all(monitors.splice(0).map((it) => it.close())));

/** Time that passes only on command, so that a cache of seconds lasts as long as the test needs. */
const NOW = Date.parse('2026-03-04T12:00:00Z');
const clock = { at: NOW };
beforeEach(() => {
  clock.at = NOW;
});
/** Waits for the database for as long as a slow machine needs. */
const forever = (_ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve());
  });
const watched = (warehouse: Warehouse, more: Partial<MonitoredProcess> = {}): MonitoredProcess => ({
  warehouse,
  version: '1.2.3',
  role: 'worker',
  isDraining: () => false,
  now: () => new Date(clock.at),
  sleep: forever,
  ...more,
});

async function start(of: MonitoredProcess, listen: string | undefined = '127.0.0.1:0'): Promise<HttpServer> {
  const monitor = await startMonitor(listen, of, (message) => expect.unreachable(message));
  if (!monitor) throw new Error('nothing listens');
  monitors.push(monitor);
  return monitor;
}

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function ask({ url }: HttpServer, path: string, method = 'GET'): Promise<Got> {
  const request = open(`${url}${path}`, { method, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const scrape = async (monitor: HttpServer): Promise<Read> => readExposition((await ask(monitor, '/metrics')).body);
const valueOf = ({ samples }: Read, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
  samples.find((it) => it.name === name && JSON.stringify(it.labels) === JSON.stringify(labels))?.value;

/** Two runs of one sync, one of another with an unusual name, and a reading of the log. */
async function fill({ db, ops, schema }: Warehouse): Promise<void> {
  const runs = sql.id(ops, 'runs');
  await sql`insert into ${runs} (id, sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at, loaded, unchanged)
    overriding system value values
    (1, 'pages', 'webparser.parse', 'h', 'complete', 0, '2026-03-03', '2026-03-03T10:00:00Z', '2026-03-03T10:05:00Z', 7, 2),
    (2, 'pages', 'webparser.parse', 'h', 'failed', 5, '2026-03-04', '2026-03-04T11:00:00Z', '2026-03-04T11:05:00Z', 1, 0),
    (3, ${HOSTILE}, 'sec.search.companies', 'h', 'running', null, '2026-03-04', '2026-03-04T11:50:00Z', null, 0, 0),
    (4, 'pages:log', 'token.requests', 'h', 'complete', 0, '2026-03-04', '2026-03-04T11:59:00Z', '2026-03-04T11:59:30Z', 9, 9)`.execute(
    db,
  );
  await sql`update ${runs} set tags = jsonb_build_object('team', 'growth') where id in (1, 4)`.execute(db);
  await sql`update ${runs} set tags = jsonb_build_object('team', 'gone', ${HOSTILE}::text, 'x') where id = 2`.execute(
    db,
  );
  await sql`insert into ${sql.id(ops, 'requests')} (id, run_id, sync, endpoint, request_key, body, input, state, points, charged, planned_at, sent_at)
    overriding system value values
    (1, 1, 'pages', 'webparser.parse', 'a', '{"url":"canary"}', '{"url":"canary"}', 'loaded', 3, 5, now(), '2026-03-03T10:00:00Z'),
    (2, 2, 'pages', 'webparser.parse', 'b', '{}', '{}', 'loaded', 2, null, now(), '2026-03-04T00:00:00Z'),
    (3, 2, 'pages', 'webparser.parse', 'c', '{}', '{}', 'in_doubt', 4, null, now(), '2026-03-04T11:00:00Z'),
    (4, 4, 'pages:log', 'token.requests', 'd', '{}', '{}', 'in_doubt', 0, null, now(), '2026-03-04T11:59:00Z'),
    (5, 3, ${HOSTILE}, 'sec.search.companies', 'e', '{}', '{}', 'planned', null, null, now(), null)`.execute(db);
  await sql`insert into ${sql.id(ops, 'answers')} (id, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes)
    overriding system value values (1, 1, 1, 'pages', 'webparser.parse', 'a', now(), 1, 200, '{}', '', 'identity', '', 0)`.execute(
    db,
  );
  await sql`insert into ${sql.id(ops, 'quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at, resolved_at)
    values (1, 'pages', 'webparser.parse', 'r', 0, '/0', 'x', now(), null), (1, 'pages', 'webparser.parse', 'r', 1, '/1', 'x', now(), now()),
      (1, 'pages:log', 'token.requests', 'r', 2, '/2', 'x', now(), null)`.execute(db);
  await sql`insert into ${sql.id(schema, 'fact_request_costs')}
      (id, points_left, started_at, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    values (gen_random_uuid(), 900, '2026-03-04T11:00:00Z', now(), now(), 1, 1, '', '{}'),
      (gen_random_uuid(), 1000, '2026-03-03T11:00:00Z', now(), now(), 1, 1, '', '{}')`.execute(db);
}

anyWarehouse('the monitor', (openWarehouse) => {
  // The first one is made for all.
  beforeAll(() => openWarehouse());

  it('shows the warehouse, with the runs of every process', async () => {
    const warehouse = await openWarehouse();
    await fill(warehouse);
    const queues = () => Promise.resolve([{ queue: 'sync', state: 'waiting', jobs: 3 }]);
    const tags = [{ tag: 'team', value: 'growth' }];
    const read = await scrape(await start(watched(warehouse, { queues, tags })));
    const at = (time: string): number => Date.parse(time) / 1000;
    const readings = {
      build: valueOf(read, 'sluice_build_info', { version: '1.2.3', role: 'worker' }),
      up: valueOf(read, 'sluice_warehouse_up'),
      read: valueOf(read, 'sluice_figures_timestamp_seconds'),
      success: valueOf(read, 'sluice_sync_last_success_timestamp_seconds', { sync: 'pages' }),
      started: valueOf(read, 'sluice_sync_last_run_timestamp_seconds', { sync: 'pages' }),
      exit: valueOf(read, 'sluice_sync_last_exit_code', { sync: 'pages' }),
      loaded: valueOf(read, 'sluice_sync_items', { sync: 'pages', result: 'loaded' }),
      unchanged: valueOf(read, 'sluice_sync_items', { sync: 'pages', result: 'unchanged' }),
      requests: valueOf(read, 'sluice_requests', { endpoint: 'webparser.parse', outcome: 'loaded' }),
      planned: valueOf(read, 'sluice_requests', { endpoint: 'sec.search.companies', outcome: 'planned' }),
      doubt: valueOf(read, 'sluice_requests_in_doubt', { sync: 'pages' }),
      spent: valueOf(read, 'sluice_points_spent', { endpoint: 'webparser.parse' }),
      today: valueOf(read, 'sluice_points_spent_today', { endpoint: 'webparser.parse' }),
      tag: valueOf(read, 'sluice_points_spent_by_tag', { tag: 'team', value: 'growth' }),
      otherTeams: valueOf(read, 'sluice_points_spent_by_tag', { tag: 'team', value: '(other)' }),
      otherTags: valueOf(read, 'sluice_points_spent_by_tag', { tag: '(other)', value: '(other)' }),
      left: valueOf(read, 'sluice_points_left'),
      leftAt: valueOf(read, 'sluice_points_left_timestamp_seconds'),
      rows: valueOf(read, 'sluice_table_rows', { table: 'fact_request_costs' }),
      none: valueOf(read, 'sluice_table_rows', { table: 'web_pages' }),
      quarantine: valueOf(read, 'sluice_quarantine_open', { sync: 'pages' }),
      queue: valueOf(read, 'sluice_queue_jobs', { queue: 'sync', state: 'waiting' }),
    };
    expect(readings).toEqual({
      build: 1,
      up: 1,
      read: clock.at / 1000,
      success: at('2026-03-03T10:05:00Z'),
      started: at('2026-03-04T11:00:00Z'),
      exit: 5,
      loaded: 8,
      unchanged: 2,
      requests: 2,
      planned: 1,
      doubt: 2,
      spent: 11,
      today: 6,
      tag: 5,
      otherTeams: 6,
      otherTags: 6,
      left: 900,
      leftAt: at('2026-03-04T11:00:00Z'),
      rows: 2,
      none: 0,
      quarantine: 2,
      queue: 3,
    });
    // A name is a label whatever it holds, and nothing but names becomes one.
    expect(valueOf(read, 'sluice_sync_last_run_timestamp_seconds', { sync: HOSTILE })).toBe(at('2026-03-04T11:50:00Z'));
    expect(read.types.has('evil')).toBe(false);
    const ours = read.samples.filter(({ name }) => name.startsWith('sluice_'));
    const labels = ours.flatMap((it) => Object.values(it.labels));
    expect(labels.filter((it) => it.includes('canary'))).toEqual([]);
    expect(ours.filter(({ name }) => name === 'sluice_table_rows')).toHaveLength(tables.length);
    expect([...read.types.keys()].filter((name) => name.startsWith('sluice_')).toSorted()).toEqual(
      Object.keys(metrics).toSorted(),
    );
    expect(valueOf(read, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  it('shows no balance before the log was read, since 0 would raise an alarm', async () => {
    const warehouse = await openWarehouse();
    const monitor = await start(watched(warehouse));
    const balance = async (): Promise<unknown> => {
      const read = await scrape(monitor);
      return [valueOf(read, 'sluice_points_left'), valueOf(read, 'sluice_points_left_timestamp_seconds')];
    };
    expect(await balance()).toEqual([undefined, undefined]);
    await fill(warehouse);
    clock.at += 10_000;
    expect(await balance()).toEqual([900, Date.parse('2026-03-04T11:00:00Z') / 1000]);
    await sql`delete from ${sql.id(warehouse.schema, 'fact_request_costs')}`.execute(warehouse.db);
    clock.at += 10_000;
    expect(await balance()).toEqual([undefined, undefined]);
  });

  it('counts what is in quarantine as the status and the view do, with the reads of the log', async () => {
    const warehouse = await openWarehouse();
    await fill(warehouse);
    const read = await scrape(await start(watched(warehouse)));
    const { rows } = await sql<{ open: number }>`
      select open_quarantine::int as open from ${sql.id(warehouse.schema, 'sync_quality')} where sync = 'pages'`.execute(
      warehouse.db,
    );
    const { syncs } = await readStatus(warehouse);
    expect({
      metric: valueOf(read, 'sluice_quarantine_open', { sync: 'pages' }),
      view: rows[0]?.open,
      status: syncs.find(({ sync }) => sync === 'pages')?.quarantined,
    }).toEqual({ metric: 2, view: 2, status: 2 });
  });

  it('shows the durations of runs that ended since its start, each once', async () => {
    const warehouse = await openWarehouse();
    await fill(warehouse);
    const monitor = await start(watched(warehouse));
    const counts = async (): Promise<unknown> => {
      const read = await scrape(monitor);
      return [
        valueOf(read, 'sluice_run_duration_seconds_count', { sync: 'pages' }),
        valueOf(read, 'sluice_run_duration_seconds_sum', { sync: 'pages' }),
      ];
    };
    const runs = sql.id(warehouse.ops, 'runs');
    expect(await counts()).toEqual([undefined, undefined]);
    clock.at += 60_000;
    await sql`update ${runs} set ended_at = ${new Date(clock.at)}, exit_code = 0, sync = 'pages' where id = 3`.execute(
      warehouse.db,
    );
    expect(await counts()).toEqual([1, 660]);
    clock.at += 60_000;
    expect(await counts()).toEqual([1, 660]);
    // Continued, and ended again.
    await sql`update ${runs} set ended_at = ${new Date(clock.at)} where id = 3`.execute(warehouse.db);
    clock.at += 60_000;
    expect(await counts()).toEqual([2, 1380]);
    // A run that ended long before the next scrape.
    await sql`update ${runs} set ended_at = ${new Date(clock.at)} where id = 3`.execute(warehouse.db);
    clock.at += 3 * 3_600_000;
    expect(await counts()).toEqual([3, 2160]);
    clock.at += 60_000;
    expect(await counts()).toEqual([3, 2160]);
  });

  it('reads once for many scrapes, and again after some seconds', async () => {
    const warehouse = await openWarehouse();
    const monitor = await start(watched(warehouse));
    expect(valueOf(await scrape(monitor), 'sluice_sync_last_exit_code', { sync: 'pages' })).toBeUndefined();
    await fill(warehouse);
    const soon = await Promise.all(Array.from({ length: 20 }, () => scrape(monitor)));
    expect(new Set(soon.map((it) => valueOf(it, 'sluice_sync_last_exit_code', { sync: 'pages' })))).toEqual(
      new Set([undefined]),
    );
    clock.at += 10_000;
    expect(valueOf(await scrape(monitor), 'sluice_sync_last_exit_code', { sync: 'pages' })).toBe(5);
  });

  it('is ready if the database answers, its schema is current and the process is not ending', async () => {
    const state = { isDraining: false };
    const warehouse = await openWarehouse();
    const monitor = await start(watched(warehouse, { isDraining: () => state.isDraining }));
    expect(await ask(monitor, '/readyz')).toMatchObject({ status: 200, body: '{"ready":true}\n' });
    expect(await ask(monitor, '/healthz')).toMatchObject({ status: 200, body: '{"alive":true}\n' });
    state.isDraining = true;
    expect(await ask(monitor, '/readyz')).toMatchObject({
      status: 503,
      body: '{"ready":false,"because":["the process is ending"]}\n',
    });
    expect(await ask(monitor, '/healthz')).toMatchObject({ status: 200 });
  });

  it('is not ready with an older schema, or without its database; then it lives and says so', async () => {
    const empty = await openWarehouse({ migrated: false });
    const monitor = await start(watched(empty));
    expect(await ask(monitor, '/readyz')).toMatchObject({
      status: 503,
      body: expect.stringContaining('schema is empty') as string,
    });
    expect(valueOf(await scrape(monitor), 'sluice_warehouse_up')).toBe(0);
    await empty.close();
    clock.at += 10_000;
    const gone = await ask(monitor, '/readyz');
    expect(gone).toMatchObject({ status: 503, body: '{"ready":false,"because":["the warehouse does not answer"]}\n' });
    expect(await ask(monitor, '/healthz')).toMatchObject({ status: 200 });
    const read = await scrape(monitor);
    expect(valueOf(read, 'sluice_warehouse_up')).toBe(0);
    expect(valueOf(read, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  it('waits for no database longer than a prober does', async () => {
    const warehouse = await openWarehouse();
    const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const transaction = warehouse.db.transaction().execute(async (tx) => {
      await sql`lock table ${sql.id(warehouse.ops, 'kysely_migration')}, ${sql.id(warehouse.ops, 'runs')} in access exclusive mode`.execute(
        tx,
      );
      held.resolve();
      await over.promise;
    });
    await held.promise;
    const monitor = await start(watched(warehouse, { sleep: () => Promise.resolve() }));
    expect(await ask(monitor, '/readyz')).toMatchObject({
      status: 503,
      body: expect.stringContaining('in time') as string,
    });
    expect((await ask(monitor, '/metrics')).status).toBe(200);
    over.resolve();
    await transaction;
  });

  it('answers GET and HEAD of three paths, and no more', async () => {
    const monitor = await start(watched(await openWarehouse()));
    const head = await ask(monitor, '/healthz', 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '15' } });
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
      expect(await ask(monitor, '/metrics', method), method).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD' },
      });
    for (const path of ['/', '/metrics/', '//metrics', '/%6detrics', '/metricsx'])
      expect((await ask(monitor, path)).status, path).toBe(404);
    expect((await ask(monitor, '/healthz?verbose#x')).status).toBe(200);
    expect((await ask(monitor, '/metrics')).headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  });
});

const never: MonitoredProcess = {
  warehouse: undefined as never,
  version: '',
  role: '',
  isDraining: () => true,
  now: () => new Date(clock.at),
  sleep: forever,
};

it('the monitor is not disturbed by bytes that are not a request', async () => {
  const monitor = await start(never);
  const { port, hostname } = new URL(monitor.url);
  for (const bytes of ['\u0016\u0003\u0001', 'GET / HTTP/9\r\n\r\n', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.end(bytes);
    await buffer(socket).catch(() => undefined);
  }
  expect((await ask(monitor, '/healthz')).status).toBe(200);
});

it('the monitor listens only on loopback by default', async () => {
  const monitor = await start(never, '[::1]:0');
  expect(monitor.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await ask(monitor, '/healthz')).status).toBe(200);
  expect(await startMonitor('off', never, () => undefined)).toBeUndefined();
});

it('the monitor reports a taken address: an error if the address was set, a notice if it is the default', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(startMonitor(`127.0.0.1:${port}`, never, () => undefined)).rejects.toMatchObject({
    exitCode: 2,
    message: `Health and metrics can’t be served at 127.0.0.1:${port}: another process uses the address.`,
    next: expect.stringContaining('--listen') as string,
  });
  other.close();
  const usual = createServer().listen(9464, '127.0.0.1');
  // It is fine if another process already took it.
  const taken = Promise.withResolvers<void>();
  usual.once('listening', taken.resolve).once('error', () => taken.resolve());
  await taken.promise;
  const notices: string[] = [];
  expect(await startMonitor(undefined, never, (message) => notices.push(message))).toBeUndefined();
  expect(notices).toEqual([expect.stringMatching(/127\.0\.0\.1:9464: another process uses the address.*--listen/)]);
  usual.close();
});

it.each([
  '',
  '9464',
  'localhost',
  ':9464',
  '127.0.0.1:',
  '127.0.0.1:65536',
  '::1:9464',
  '[x]:1',
  'a b:1',
  '127.0.0.1:1/x',
])('the monitor refuses %j as an address', async (listen) => {
  await expect(startMonitor(listen, never, () => undefined)).rejects.toMatchObject({ exitCode: 2 });
});

it('health is answered beside three hundred connections that never send a request', async () => {
  const monitor = await start(watched({} as Warehouse));
  const { hostname, port } = new URL(monitor.url);
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on('error', () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\n');
  expect(await ask(monitor, '/healthz')).toMatchObject({ status: 200 });
  for (const socket of sockets) socket.destroy();
});
