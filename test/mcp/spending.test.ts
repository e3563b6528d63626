/** The tool that spends: only on request, under a cap for the life of the server, and with a clean end. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { connect, startServer } from './client.ts';
import { type McpScene, openMcpScene } from './scene.ts';

const SOON = { timeout: 30_000, interval: 50 };

interface SyncResult {
  readonly cap: { readonly cap: number; readonly spent: number; readonly left: number };
  readonly exitCode: number;
  readonly syncs: readonly object[];
}

let database: FreshDatabase;
let scene: McpScene;
beforeEach(async () => {
  database = await freshDatabase(await postgresTemplate());
  scene = await openMcpScene(() => database.url);
});
afterEach(async () => {
  await scene.close();
  await database.drop();
});

const allowing = (points: number): readonly string[] => ['--allow-sync', '--max-points', String(points)];

/** Holds answers with data until they are released. */
function holdAnswers(of: McpScene) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  of.respond = async ({ endpoint }) => {
    if (endpoint === 'token.requests') return undefined;
    arrived.resolve();
    await released.promise;
    return undefined;
  };
  return { arrived: arrived.promise, release: released.resolve };
}

describe('the flags of sluice mcp', () => {
  it.each([
    [['--max-points', '5'], 'mcp: --max-points requires --allow-sync'],
    [['--allow-sync'], 'mcp: --allow-sync requires --max-points'],
    [['--allow-sync', '--max-points', '0'], 'mcp: --max-points: found "0", allowed is a whole number, 1 or more'],
  ])('%j are refused', async (words, message) => {
    const { code, out, err } = await scene.sluice('mcp', ...words);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) });
  });

  it('name a config that is wrong before anything is served', async () => {
    const { code, out } = await scene.sluice('mcp', '--config', 'none.yaml');
    expect([code, out]).toEqual([2, '']);
  });
});

describe('the tool sync', () => {
  it('is offered with its cap, and is no read-only tool', async () => {
    const client = await scene.serve(...allowing(7));
    const { tools } = await client.result<{ readonly tools: readonly { readonly name: string }[] }>('tools/list');
    expect(tools).toHaveLength(9);
    expect(tools.at(-1)).toMatchObject({
      name: 'sync',
      description: expect.stringContaining('All calls together may spend 7 points'),
      annotations: { readOnlyHint: false, openWorldHint: true },
    });
  });

  it('runs the named syncs, and shows what is left', async () => {
    const client = await scene.serve(...allowing(10));
    const result = await client.data<SyncResult>('sync', { names: ['groups'] });
    expect(result).toMatchObject({
      exitCode: 0,
      cap: { cap: 10, spent: 3, left: 7 },
      syncs: [{ sync: 'groups', state: 'complete', points: 3, loaded: 3 }],
    });
    expect(await client.data('query', { sql: 'select count(*) as n from pronet_groups' })).toMatchObject({
      rows: [{ n: 3 }],
    });
    expect(await client.refusal('sync', { names: [] })).toContain('names');
    expect(await client.refusal('sync', { names: ['group'] })).toMatch(
      /groups[\s\S]*\(exit code 2: usage or config\)$/,
    );
    expect(await client.refusal('sync', { names: ['groups'], max_points: 0 })).toContain('max_points');
    expect(scene.bought()).toBe(3);
  });

  it('spends no more than the cap over several calls, and then refuses each of them', async () => {
    const client = await scene.serve(...allowing(4));
    const first = await client.call('sync', { names: ['groups'], max_points: 1 });
    expect(first.isError).toBe(true);
    expect(first.structuredContent).toMatchObject({
      note: expect.stringMatching(/^Exit code 6: out of points\. .* Raise the budget or wait for points/),
      untrusted_data: { exitCode: 6, cap: { spent: 1, left: 3 }, syncs: [{ state: 'out_of_points' }] },
    });
    expect(await client.data('sync', { names: ['groups'] })).toMatchObject({ cap: { spent: 3 }, exitCode: 0 });
    const third = await client.call('sync', { names: ['groups'] });
    expect(third.structuredContent).toMatchObject({
      untrusted_data: {
        cap: { spent: 4, left: 0 },
        syncs: [{ error: expect.stringContaining('--max-points of this server is 4 points, 4 are spent') }],
      },
    });
    for (const names of [['groups'], ['profiles']])
      expect(await client.refusal('sync', { names })).toBe(
        '--max-points of this server is 4, and 4 points are spent\n' +
          'Ask the user to restart the server with more points. Requests that are left stay planned.\n' +
          '(exit code 6: out of points)',
      );
    expect(scene.bought()).toBe(4);
  });

  it('counts what a failing sync spent', async () => {
    const client = await scene.serve(...allowing(10));
    scene.respond = ({ endpoint }) => (endpoint === 'token.requests' ? undefined : { body: '<html>' });
    const { isError, structuredContent } = await client.call('sync', { names: ['groups'] });
    expect([isError, structuredContent]).toMatchObject([true, { untrusted_data: { exitCode: 4, cap: { spent: 3 } } }]);
  });

  it('reports a lease of another process with the meaning of its exit code', async () => {
    const client = await scene.serve(...allowing(10));
    const held = "('sync:groups', 'elsewhere', 1, now(), now() + interval '1 hour')";
    await execute(database.url, `insert into sluice_ops.leases values ${held}`);
    const { isError, structuredContent } = await client.call('sync', { names: ['groups'] });
    expect([isError, structuredContent]).toMatchObject([
      true,
      {
        note: expect.stringMatching(/^Exit code 7: another run holds the lease\. .* Wait for the other process\./),
        untrusted_data: {
          format: 'sync/1',
          exitCode: 7,
          retryable: true,
          cap: { spent: 0 },
          syncs: [{ exitCode: 7, retryable: true }],
        },
      },
    ]);
    expect(scene.bought()).toBe(0);
  });

  it('stores the answer in flight when its call is cancelled, and continues with the next call', async () => {
    const client = await scene.serve(...allowing(10));
    const { arrived, release } = holdAnswers(scene);
    const { id } = client.request('tools/call', { name: 'sync', arguments: { names: ['groups'] } });
    await arrived;
    expect(await client.refusal('sync', { names: ['groups'] })).toContain('another call of sync is in progress');
    client.cancel(id);
    // The server has read the cancellation when it answers what was sent after it.
    await client.result('ping');
    release();
    const status = (): Promise<object> => client.data('status');
    await expect.poll(status, SOON).toMatchObject({ syncs: [{ state: 'interrupted' }] });
    expect(scene.bought()).toBe(1);
    const again = await client.data<SyncResult>('sync', { names: ['groups'] });
    expect(again).toMatchObject({ syncs: [{ continued: true, state: 'complete' }], cap: { spent: 3 } });
    expect(scene.bought()).toBe(3);
  });
});

describe('the end of sluice mcp', () => {
  it('comes with the end of the input, after the answer in flight is stored', async () => {
    const client = await scene.serve(...allowing(10));
    const { arrived, release } = holdAnswers(scene);
    client.request('tools/call', { name: 'sync', arguments: { names: ['groups'] } });
    await arrived;
    const ended = client.end();
    release();
    expect(await ended).toMatchObject({ code: 0 });
    const { out } = await scene.sluice('status', '--json');
    expect(JSON.parse(out)).toMatchObject({ syncs: [{ sync: 'groups', state: 'interrupted', open: 2, inDoubt: 0 }] });
  });

  it('comes with SIGTERM, after the answer in flight is stored', async () => {
    const server = startServer(allowing(10), { cwd: scene.folder, env: scene.env });
    const { client } = await connect(server);
    const { arrived, release } = holdAnswers(scene);
    client.request('tools/call', { name: 'sync', arguments: { names: ['groups'] } });
    await arrived;
    const announced = server.said('err', 'SIGTERM: ending in order');
    server.child.kill('SIGTERM');
    await announced;
    release();
    expect(await server.ended).toMatchObject({ code: 143 });
    const { out } = await scene.sluice('status', '--json');
    expect(JSON.parse(out)).toMatchObject({ syncs: [{ sync: 'groups', state: 'interrupted', open: 2, inDoubt: 0 }] });
  });
});

describe('a sync on an embedded warehouse', () => {
  let embedded: McpScene;
  beforeEach(async () => {
    embedded = await openMcpScene((folder) => `embedded:${join(folder, 'w')}`);
    await copyEmbedded(join(embedded.folder, 'w'));
  });
  afterEach(() => embedded.close());

  it('can be watched by calls that read', { timeout: 120_000 }, async () => {
    const { client } = await connect(startServer(allowing(10), { cwd: embedded.folder, env: embedded.env }));
    const { arrived, release } = holdAnswers(embedded);
    const syncing = client.data<SyncResult>('sync', { names: ['groups'] });
    await arrived;
    expect(await client.data('status')).toMatchObject({ syncs: [{ sync: 'groups', state: 'running' }] });
    expect(await client.data('plan', { names: ['profiles'] })).toMatchObject({ total: { requests: 2, most: 2 } });
    const sql = 'select count(*) as n from pronet_groups';
    expect(await client.data('query', { sql })).toMatchObject({ rows: [{ n: 0 }] });
    release();
    expect(await syncing).toMatchObject({ exitCode: 0, cap: { spent: 3 } });
    expect(await client.data('query', { sql })).toMatchObject({ rows: [{ n: 3 }] });
  });
});
