/** The sandbox's log of requests: what a row says, when it says it, and paging in every order. */
import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import type { Sandbox } from '../../src/sandbox/serve.ts';
import { ask, askLog, sha256, startSandbox, TODAY } from './client.ts';
import type { LogRow } from './items.ts';

/** A clock that moves on by some milliseconds whenever it is looked at. */
function tickingClock(stepMs: number): () => Date {
  let time = TODAY.getTime();
  return () => new Date((time += stepMs));
}

async function withRows(many: number, options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ now: tickingClock(1), ...options });
  for (let nth = 0; nth < many; nth++) await ask(sandbox, 'microblog.user', { user: 'acme_labs' });
  return sandbox;
}
const idsOf = (items: readonly LogRow[]): string[] => items.map(({ id }) => id);

describe('the log', () => {
  it('says what each request cost, how it ended and what is left', async () => {
    const sandbox = await startSandbox({ points: 50, now: tickingClock(100) });
    await ask(
      sandbox,
      'pronet.search.users',
      { count: 25, title: 'engineer', timeout: 60 },
      { 'x-request-id': 'first' },
    );
    await ask(sandbox, 'pronet.group', { group: 'nobody' });
    await ask(sandbox, 'pronet.group', { wrong: 1 });
    await ask(sandbox, 'pronet.search.users', { count: 1000 });
    const { items } = await askLog(sandbox);
    expect(items).toHaveLength(4);
    const [tooDear, wrong, missing, found] = items;
    expect(found).toMatchObject({
      endpoint: '/api/pronet/search/users',
      cost: 3,
      is_paid: true,
      points_left: 47,
      response_status_code: 200,
      response_error_text: null,
      response_count: 25,
      response_request_id: 'first',
      timeout: 60,
      is_token_expired: false,
      is_points_run_out: false,
      duration: expect.closeTo(0.2, 0.2),
    });
    expect(missing).toMatchObject({
      cost: 0,
      is_paid: false,
      response_status_code: 412,
      points_left: 47,
      timeout: 300,
    });
    expect(wrong).toMatchObject({
      cost: 0,
      response_status_code: 422,
      response_error_text: expect.stringContaining('group'),
    });
    expect(tooDear).toMatchObject({ cost: 0, response_status_code: 401, is_points_run_out: true });
    expect(new Set(idsOf(items)).size).toBe(4);
    expect(new Set(items.map((row) => row['token_id'])).size).toBe(1);
  });

  it('neither lists nor charges its own requests, but the sandbox remembers them', async () => {
    const sandbox = await withRows(1, { points: 1 });
    expect(sandbox.points()).toBe(0);
    expect((await askLog(sandbox)).items).toHaveLength(1);
    expect((await askLog(sandbox)).items).toHaveLength(1);
    expect(sandbox.requests().map(({ endpoint, cost }) => [endpoint, cost])).toEqual([
      ['microblog.user', 1],
      ['token.requests', 0],
      ['token.requests', 0],
    ]);
  });

  it('has the row of a running request, which is completed when its answer ends', async () => {
    const released = Promise.withResolvers<undefined>();
    const started = Promise.withResolvers<undefined>();
    const sandbox = await startSandbox({
      respond: async ({ endpoint }) => {
        if (endpoint !== 'pronet.group') return undefined;
        started.resolve(undefined);
        await released.promise;
        return undefined;
      },
    });
    const sent = ask(sandbox, 'pronet.group', { group: '1001' });
    await started.promise;
    const [row] = (await askLog(sandbox)).items;
    expect(row).toMatchObject({ cost: 0, is_paid: false, endpoint: '/api/pronet/group' });
    for (const [name, value] of Object.entries(row as LogRow)) {
      if (name.startsWith('response_') || ['duration', 'points_left'].includes(name))
        expect([name, value]).toEqual([name, null]);
    }
    released.resolve(undefined);
    await sent;
    const [completed] = (await askLog(sandbox)).items;
    expect(completed).toMatchObject({
      id: row?.id,
      started_at: row?.started_at,
      cost: 1,
      response_status_code: 200,
    });
  });

  it('starts its rows at different microseconds although the clock is stopped', async () => {
    const sandbox = await withRows(30, { now: () => TODAY });
    const started = (await askLog(sandbox, { limit: '100' })).items.map((row) => row.started_at);
    expect(started.every((at) => /^2026-03-02T09:30:00\.25\d{4}Z$/.test(at))).toBe(true);
    expect(started).toEqual([...new Set(started)].toSorted().toReversed());
  });

  const walks = (['descending', 'ascending'] as const).flatMap((logOrder) =>
    (['inclusive', 'exclusive'] as const).map((logCursor) => ({ logOrder, logCursor })),
  );
  it.each(walks)('shows every row to a walk, $logOrder with an $logCursor cursor', async (options) => {
    const sandbox = await withRows(25, options);
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 40; page++) {
      const { items } = await askLog(sandbox, { limit: '4', ...(cursor !== undefined && { cursor }) });
      const fresh = items.filter(({ id }) => !seen.includes(id));
      if (fresh.length === 0) break;
      expect(items.length - fresh.length).toBe(options.logCursor === 'inclusive' && page > 0 ? 1 : 0);
      seen.push(...idsOf(fresh));
      cursor = items.at(-1)?.started_at;
    }
    const all = idsOf((await askLog(sandbox, { limit: '100' })).items);
    expect(seen).toEqual(all);
    expect(all).toHaveLength(25);
    const started = (await askLog(sandbox, { limit: '100' })).items.map((row) => row.started_at);
    expect(started).toEqual(options.logOrder === 'ascending' ? started.toSorted() : started.toSorted().toReversed());
  });

  it('lists ten rows by default', async () => {
    expect((await askLog(await withRows(12))).items).toHaveLength(10);
  });

  it('keeps to a window of time, its ends included, with any offset', async () => {
    const sandbox = await withRows(8);
    const all = (await askLog(sandbox)).items;
    const [newest, oldest] = [all[2]?.started_at ?? '', all[5]?.started_at ?? ''];
    const within = await askLog(sandbox, { start_time: oldest, end_time: newest });
    expect(idsOf(within.items)).toEqual(idsOf(all.slice(2, 6)));
    const shifted = newest.replace('T09:', 'T11:').replace('Z', '+02:00');
    expect(idsOf((await askLog(sandbox, { start_time: oldest, end_time: shifted })).items)).toEqual(
      idsOf(all.slice(2, 6)),
    );
    const local = oldest.replace('Z', '');
    expect(idsOf((await askLog(sandbox, { start_time: local, end_time: newest })).items)).toEqual(
      idsOf(all.slice(2, 6)),
    );
    expect((await askLog(sandbox, { start_time: '2027-01-01T00:00:00Z' })).items).toEqual([]);
  });
});

describe('what the sandbox remembers', () => {
  it('is every request with its body, its identifier, its time and the digest of its answer', async () => {
    const sandbox = await startSandbox();
    const reply = await ask(sandbox, 'pronet.group', { group: '1003' }, { 'x-request-id': 'mine' });
    expect(sandbox.requests()).toEqual([
      {
        number: 1,
        arrivedAt: TODAY,
        method: 'POST',
        path: '/api/pronet/group',
        endpoint: 'pronet.group',
        body: { group: '1003' },
        xRequestId: 'mine',
        inFlight: 1,
        status: 200,
        cost: 1,
        count: 1,
        sha256: sha256(reply.text),
        bytes: Buffer.byteLength(reply.text),
        endedAt: expect.anything(),
      },
    ]);
  });

  it('records how many requests were in flight', async () => {
    const released = Promise.withResolvers<undefined>();
    const arrived = Promise.withResolvers<undefined>();
    const sandbox = await startSandbox({
      respond: async ({ number }) => {
        if (number === 3) arrived.resolve(undefined);
        await released.promise;
        return { body: [] };
      },
    });
    const sent = [1, 2, 3].map(() => ask(sandbox, 'pronet.group', { group: '1001' }));
    await arrived.promise;
    released.resolve(undefined);
    await Promise.all(sent);
    expect(sandbox.requests().map(({ inFlight }) => inFlight)).toEqual([1, 2, 3]);
  });
});
