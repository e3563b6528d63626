/** The sandbox as a server: its port, its points, and a clean end. */
import { Agent, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { ask, askLog, pathOf, startSandbox } from './client.ts';

describe('a sandbox', () => {
  it('takes a free port on this machine only, or the one it is given', async () => {
    const sandbox = await startSandbox();
    expect(sandbox.url).toBe(`http://127.0.0.1:${sandbox.port}`);
    await expect(serveSandbox({ port: sandbox.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await sandbox.close();
    const again = await startSandbox({ port: sandbox.port });
    expect(again.port).toBe(sandbox.port);
  });

  it('ends idle and busy connections when it closes, and can be closed twice', async () => {
    const sandbox = await startSandbox({ latencyMs: 60_000 });
    const agent = new Agent({ keepAlive: true });
    const arrived = Promise.withResolvers<undefined>();
    const busy = new Promise<string>((resolve) => {
      const sent = request(sandbox.url + pathOf('pronet.group'), {
        agent,
        method: 'POST',
        headers: { 'access-token': 'sandbox-token' },
      });
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      sent.on('socket', (socket) => socket.on('connect', () => arrived.resolve(undefined)));
      sent.end('{"group":"1001"}');
    });
    await arrived.promise;
    await expect.poll(() => sandbox.requests().length).toBe(1);
    await Promise.all([sandbox.close(), sandbox.close()]);
    expect(await busy).toBe('ECONNRESET');
    await sandbox.close();
    await expect(fetch(sandbox.url)).rejects.toThrow();
    agent.destroy();
  });

  it('accepts the token it was given and no other', async () => {
    const sandbox = await startSandbox({ token: 'another' });
    expect((await ask(sandbox, 'pronet.group', { group: '1001' })).status).toBe(401);
    expect((await ask(sandbox, 'pronet.group', { group: '1001' }, { 'access-token': 'another' })).status).toBe(200);
  });

  it('takes its time, by a number or by the request’s', async () => {
    const waited: number[] = [];
    const sandbox = await startSandbox({
      latencyMs: (number) => {
        waited.push(number);
        return 0;
      },
    });
    await ask(sandbox, 'pronet.group', { group: '1001' });
    await ask(sandbox, 'pronet.group', { group: '1002' });
    expect(waited).toEqual([1, 2]);
  });
});

describe('points', () => {
  it.each([
    ['webparser.parse', { url: 'https://site-1.example/' }, 1],
    ['sec.search.companies', { count: 100 }, 1],
    ['pronet.search.users', { count: 10 }, 1],
    ['pronet.search.users', { count: 11 }, 2],
    ['pronet.search.users', { count: 1000 }, 100],
    ['pronet.search.users', { count: 10, first_name: 'Nobody' }, 1],
    ['pronet.group', { group: '1001' }, 1],
    ['microblog.user', { user: 'acme_labs' }, 1],
    ['photoshare.user', { user: 'acme_labs', with_posts: true }, 1],
    ['photoshare.user.posts', { user: 'acme_labs', count: 13 }, 2],
    ['photoshare.user.posts', { user: 'acme_labs', count: 12 }, 1],
  ] as const)('%s %j costs %i', async (endpoint, body, cost) => {
    const sandbox = await startSandbox({ points: 1000 });
    expect((await ask(sandbox, endpoint, body)).status).toBe(200);
    expect(sandbox.points()).toBe(1000 - cost);
    expect(sandbox.requests()[0]?.cost).toBe(cost);
  });

  it('are needed for the most that a request can cost, though it may cost less', async () => {
    const sandbox = await startSandbox({ points: 5 });
    const nobody = { first_name: 'Nobody' };
    const reply = await ask(sandbox, 'pronet.search.users', { count: 51, ...nobody });
    expect([reply.status, reply.json]).toEqual([
      401,
      { detail: 'Points limit exhausted, the request may cost 6 and 5 are left' },
    ]);
    expect((await ask(sandbox, 'pronet.search.users', { count: 50, ...nobody })).status).toBe(200);
    expect(sandbox.points()).toBe(4);
  });

  it('are reserved for running requests, so that two cannot both spend the last', async () => {
    const released = Promise.withResolvers<undefined>();
    const started = Promise.withResolvers<undefined>();
    const sandbox = await startSandbox({
      points: 1,
      respond: async () => {
        started.resolve(undefined);
        await released.promise;
        return undefined;
      },
    });
    const first = ask(sandbox, 'pronet.group', { group: '1001' });
    await started.promise;
    expect((await ask(sandbox, 'pronet.group', { group: '1002' })).status).toBe(401);
    expect(sandbox.points()).toBe(1);
    released.resolve(undefined);
    expect((await first).status).toBe(200);
    expect(sandbox.points()).toBe(0);
  });

  it('never run out when there is no end of them', async () => {
    const sandbox = await startSandbox();
    const reply = await ask(sandbox, 'pronet.group', { group: '1001' });
    expect(reply.headers.get('x-token-points')).toBeNull();
    expect((await askLog(sandbox)).items[0]).toMatchObject({ points_left: null, cost: 1 });
    expect(sandbox.points()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a hook that throws', () => {
  it('is reported by a 500 with its message', async () => {
    const sandbox = await startSandbox({
      respond: () => {
        throw new Error('the hook broke');
      },
    });
    const reply = await ask(sandbox, 'pronet.group', { group: '1001' });
    expect([reply.status, reply.json]).toEqual([500, { detail: 'The sandbox failed: the hook broke' }]);
  });
});
