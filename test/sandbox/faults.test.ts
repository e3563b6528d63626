/** Injected faults: each kind as a client sees it, the requests that get it, and its cost. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Fault, FaultEffect } from '../../src/sandbox/fault.ts';
import type { Sandbox } from '../../src/sandbox/serve.ts';
import { ask, askLog, startSandbox } from './client.ts';

const group = { group: '1001' };
const always = (effect: FaultEffect, more: Partial<Fault> = {}): Fault => ({ on: {}, do: effect, ...more });

/** What a plain client sees of one request: the status, the bytes that came, and how the connection ended. */
function watch(sandbox: Sandbox): Promise<Seen> {
  return new Promise((resolve) => {
    const seen: Seen = { bytes: 0, ended: '' };
    const end = (ended: string): void => resolve({ ...seen, ended });
    const sent = request(`${sandbox.url}/api/pronet/group`, {
      method: 'POST',
      agent: false,
      headers: { 'access-token': 'sandbox-token', 'content-type': 'application/json' },
    });
    sent.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'));
    sent.on('response', (answer) => {
      seen.status = answer.statusCode;
      seen.declared = Number(answer.headers['content-length']);
      answer.on('data', (chunk: Buffer) => {
        seen.bytes += chunk.length;
      });
      answer.on('end', () => end('whole'));
      answer.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'));
    });
    sent.end(JSON.stringify(group));
  });
}

interface Seen {
  status?: number | undefined;
  declared?: number;
  bytes: number;
  ended: string;
}

describe('a fault', () => {
  it('answers with a status, a body and headers, and charges nothing', async () => {
    const sandbox = await startSandbox({
      points: 10,
      faults: [always({ kind: 'status', status: 429, body: 'slow down', headers: { 'retry-after': '2' } })],
    });
    const reply = await ask(sandbox, 'pronet.group', group);
    expect([reply.status, reply.text, reply.headers.get('retry-after')]).toEqual([429, 'slow down', '2']);
    expect(sandbox.points()).toBe(10);
    expect(sandbox.requests()[0]).toMatchObject({ fault: 'status', status: 429, cost: 0 });
    sandbox.setFaults([]);
    expect((await askLog(sandbox)).items[0]).toMatchObject({
      response_status_code: 429,
      response_error_text: 'slow down',
    });
  });

  it('sends an error if no body is given', async () => {
    const sandbox = await startSandbox({ faults: [always({ kind: 'status', status: 503 })] });
    const reply = await ask(sandbox, 'pronet.group', group);
    expect([reply.status, reply.json]).toEqual([503, { detail: 'Status 503, injected as a fault' }]);
  });

  it('cuts the answer after some bytes, charging for it', async () => {
    const sandbox = await startSandbox({ points: 10, faults: [always({ kind: 'cut', afterBytes: 100 })] });
    const seen = await watch(sandbox);
    expect(seen).toMatchObject({ status: 200, bytes: 100, ended: 'ECONNRESET' });
    expect(seen.declared).toBeGreaterThan(100);
    expect(sandbox.points()).toBe(9);
  });

  it('never sends a complete answer despite a cut', async () => {
    const sandbox = await startSandbox({ faults: [always({ kind: 'cut', afterBytes: 1_000_000_000 })] });
    const { bytes, declared } = await watch(sandbox);
    expect(bytes).toBe((declared ?? 0) - 1);
  });

  it.each([
    ['before', { bytes: 0, ended: 'ECONNRESET' }, 10, 0],
    ['headers', { bytes: 0, ended: 'ECONNRESET' }, 9, 1],
  ] as const)('resets the connection %s, having charged or not', async (stage, seen, points, rows) => {
    const sandbox = await startSandbox({ points: 10, faults: [always({ kind: 'reset', stage })] });
    expect(await watch(sandbox)).toEqual(seen);
    expect(sandbox.points()).toBe(points);
    expect(sandbox.requests()[0]).toMatchObject({ fault: 'reset', status: null });
    sandbox.setFaults([]);
    const { items } = await askLog(sandbox);
    expect(items).toHaveLength(rows);
    if (rows > 0) expect(items[0]).toMatchObject({ response_status_code: 200, cost: 1 });
  });

  it('resets the connection amid the body', async () => {
    const sandbox = await startSandbox({ points: 10, faults: [always({ kind: 'reset', stage: 'body' })] });
    const { status, bytes, declared, ended } = await watch(sandbox);
    expect([status, ended]).toEqual([200, 'ECONNRESET']);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(declared ?? 0);
    expect(sandbox.points()).toBe(9);
  });

  it('replaces the body by what is no JSON, by a page or by other items', async () => {
    const sandbox = await startSandbox({ faults: [always({ kind: 'malformed', body: '[{"a":' })] });
    expect(await ask(sandbox, 'pronet.group', group)).toMatchObject({ status: 200, text: '[{"a":', json: undefined });
    sandbox.setFaults([always({ kind: 'html' })]);
    const page = await ask(sandbox, 'pronet.group', group);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<html>');
    sandbox.setFaults([always({ kind: 'body', items: { error: 'in an envelope' } })]);
    expect((await ask(sandbox, 'pronet.group', group)).json).toEqual({ error: 'in an envelope' });
  });

  it('redirects, and charges nothing', async () => {
    const sandbox = await startSandbox({
      points: 5,
      faults: [always({ kind: 'redirect', to: 'http://127.0.0.1:9/x' })],
    });
    const reply = await ask(sandbox, 'pronet.group', group);
    expect([reply.status, reply.headers.get('location'), sandbox.points()]).toEqual([302, 'http://127.0.0.1:9/x', 5]);
  });

  it.each([401, 402, 403] as const)('empties the balance from a request on, with status %i', async (status) => {
    const sandbox = await startSandbox({
      points: 100,
      faults: [{ on: { nth: 3 }, do: { kind: 'out_of_points', status } }],
    });
    const statuses: number[] = [];
    for (let nth = 0; nth < 5; nth++) statuses.push((await ask(sandbox, 'pronet.group', group)).status);
    expect(statuses).toEqual([200, 200, status, status, status]);
    const reply = await ask(sandbox, 'pronet.group', group);
    expect(reply.json).toEqual({ detail: expect.stringMatching(/^Points limit exhausted, /) });
    expect(reply.headers.get('x-error')).toBe('points_limit_exhausted');
    expect((await askLog(sandbox)).items[0]).toMatchObject({ is_points_run_out: true, points_left: 0 });
    sandbox.setPoints(1);
    expect((await ask(sandbox, 'pronet.group', group)).status).toBe(200);
    expect((await ask(sandbox, 'pronet.group', group)).status).toBe(401);
  });

  it('revokes the token from a request on', async () => {
    const sandbox = await startSandbox({ faults: [{ on: { nth: 2 }, do: { kind: 'revoked' } }] });
    expect((await ask(sandbox, 'pronet.group', group)).status).toBe(200);
    const reply = await ask(sandbox, 'pronet.group', group);
    expect([reply.status, reply.json]).toEqual([401, { detail: 'Invalid token' }]);
    expect((await askLog(sandbox)).status).toBe(401);
  });

  it('answers late, in its own time', async () => {
    const sandbox = await startSandbox({ now: () => new Date(), faults: [always({ kind: 'slow', ms: 60 })] });
    const reply = await ask(sandbox, 'pronet.group', group);
    expect(reply.status).toBe(200);
    expect(Number(reply.headers.get('x-execution-time'))).toBeGreaterThanOrEqual(0.055);
  });

  it('charges and completes a request whose client gave up waiting', async () => {
    const released = Promise.withResolvers<undefined>();
    const started = Promise.withResolvers<undefined>();
    const sandbox = await startSandbox({
      points: 10,
      respond: async () => {
        started.resolve(undefined);
        await released.promise;
        return undefined;
      },
    });
    const sent = request(`${sandbox.url}/api/pronet/group`, {
      method: 'POST',
      agent: false,
      headers: { 'access-token': 'sandbox-token', 'x-request-id': 'lost' },
    });
    const gone = new Promise<void>((resolve) => {
      sent.on('error', () => resolve());
    });
    sent.end(JSON.stringify(group));
    await started.promise;
    sent.destroy();
    await gone;
    released.resolve(undefined);
    await expect.poll(() => sandbox.points()).toBe(9);
    await expect
      .poll(async () => (await logOf(sandbox))[0])
      .toMatchObject({ response_request_id: 'lost', cost: 1, response_status_code: 200 });
  });

  it('can be charged, or not, against its kind', async () => {
    const sandbox = await startSandbox({
      points: 10,
      faults: [
        { on: { nth: 1 }, do: { kind: 'status', status: 500 }, billed: true },
        { on: { nth: 2 }, do: { kind: 'cut', afterBytes: 5 }, billed: false },
      ],
    });
    await watch(sandbox);
    expect(sandbox.points()).toBe(9);
    await watch(sandbox);
    expect(sandbox.points()).toBe(9);
  });
});

/** The rows without waiting for anything: the log's own requests meet no faults here. */
const logOf = async (sandbox: Sandbox) => (await askLog({ url: sandbox.url })).items;

describe('a script of faults', () => {
  it('counts the requests of an endpoint, or all', async () => {
    const sandbox = await startSandbox({
      faults: [
        { on: { endpoint: 'pronet.group', nth: 2 }, do: { kind: 'status', status: 502 } },
        { on: { nth: 4 }, do: { kind: 'status', status: 504 } },
        { on: { endpoint: 'microblog.user', nth: 'every' }, do: { kind: 'status', status: 503 } },
      ],
    });
    const statuses: number[] = [];
    for (const endpoint of [
      'photoshare.user',
      'pronet.group',
      'microblog.user',
      'microblog.user',
      'pronet.group',
      'pronet.group',
    ]) {
      const body = endpoint === 'pronet.group' ? group : { user: 'acme_labs' };
      statuses.push((await ask(sandbox, endpoint, body)).status);
    }
    expect(statuses).toEqual([200, 200, 503, 504, 502, 200]);
  });

  it('befalls a share of requests: the same ones in any order, others under another seed', async () => {
    const questions = Array.from({ length: 60 }, (_, at) => ({ group: String(1001 + at) }));
    const failures = async (seed: number, order: readonly object[]): Promise<string[]> => {
      const sandbox = await startSandbox({
        seed,
        faults: [{ on: { rate: 0.3 }, do: { kind: 'status', status: 503 } }],
      });
      for (const question of order) await ask(sandbox, 'pronet.group', question);
      for (const question of order) await ask(sandbox, 'pronet.group', question);
      const failed = new Map<string, string>();
      for (const { body, status } of sandbox.requests()) {
        const { group: id } = body as typeof group;
        failed.set(id, (failed.get(id) ?? '') + status);
      }
      return [...failed].map(([id, statuses]) => `${id} ${statuses}`).toSorted();
    };
    const once = await failures(5, questions);
    expect(await failures(5, questions.toReversed())).toEqual(once);
    expect(await failures(6, questions)).not.toEqual(once);
    const many = once.join(' ').match(/503/g)?.length ?? 0;
    expect(many).toBeGreaterThan(20);
    expect(many).toBeLessThan(55);
    // A retry of a request that failed may succeed.
    expect(once.some((line) => line.endsWith('503200'))).toBe(true);
  });

  it('takes the first fault of the script that befalls a request', async () => {
    const sandbox = await startSandbox({ faults: [always({ kind: 'status', status: 500 }), always({ kind: 'html' })] });
    expect((await ask(sandbox, 'pronet.group', group)).status).toBe(500);
  });
});

describe('the hook of a test', () => {
  it('answers in the world’s stead, and is priced and logged', async () => {
    const sandbox = await startSandbox({
      points: 100,
      respond: ({ endpoint, body, number }) => {
        if (endpoint === 'pronet.search.users') return { body: Array.from({ length: 15 }, () => ({ number, body })) };
        if (endpoint === 'pronet.group') return { status: 418, headers: { 'x-error': 'tea' }, body: 'short and stout' };
        if (endpoint === 'microblog.user') return { body: Buffer.from('[1,2]') };
        return undefined;
      },
    });
    const found = await ask(sandbox, 'pronet.search.users', { count: 20 });
    expect(found.items[14]).toEqual({ number: 1, body: { count: 20 } });
    expect(sandbox.points()).toBe(98);
    const tea = await ask(sandbox, 'pronet.group', group);
    expect([tea.status, tea.headers.get('x-error'), tea.text]).toEqual([418, 'tea', 'short and stout']);
    expect((await ask(sandbox, 'microblog.user', { user: 'acme_labs' })).json).toEqual([1, 2]);
    expect((await ask(sandbox, 'photoshare.user', { user: 'acme_labs' })).items[0]?.['alias']).toBe('acme_labs');
    expect((await askLog(sandbox)).items.map((row) => [row['response_count'], row['cost']])).toEqual([
      [1, 1],
      [2, 1],
      [null, 0],
      [15, 2],
    ]);
  });
});
