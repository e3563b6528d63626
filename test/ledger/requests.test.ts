/** The ledger and the stored answers: planned once, sent only by the owner, and kept exactly. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { acquireLease } from '../../src/ledger/lease.ts';
import { recordLosses } from '../../src/ledger/failures/lost-answers.ts';
import { freshAnswersByKey } from '../../src/ledger/fresh-answers.ts';
import { openRequests, planRequests, triedRequests } from '../../src/ledger/requests/planned.ts';
import { countByState, settleRequest } from '../../src/ledger/requests/states.ts';
import { createRun, type Run } from '../../src/ledger/runs.ts';
import { type Ops, operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import {
  recordSent,
  storeAndRecordSent,
  storeAnswers,
  type StoredBytes,
} from '../../src/ledger/requests/store-and-record-sent.ts';
import { readAnswer, storedAnswerId, unloadedAnswers } from '../../src/ledger/answers.ts';
import type { Task } from '../../src/plan/task.ts';
import { eachWarehouse, type Open } from '../support/warehouse.ts';

const at = new Date('2026-03-06T15:00:00.123Z');

const task = (n: number): Task => ({
  requestKey: `key ${n}`,
  request: { user: `${n}`, count: 5 },
  body: { user: `${n}` },
  input: { user: `${n}` },
  depth: 0,
});

async function begun(open: Open, tasks: number) {
  const ops = operationsOf(await open());
  const lease = await acquireLease(ops, 'sync:people', 'me', true);
  const run = await createRun(ops, {
    sync: 'people',
    endpoint: 'microblog.user',
    definitionHash: 'h',
    holder: 'me',
    now: at,
  });
  await planRequests(
    ops,
    run,
    Array.from({ length: tasks }, (_, n) => task(n)),
    { at },
  );
  return { ops, lease, run };
}

const sent = { xRequestId: randomUUID(), at, points: 2 };
const answer = (body: string | Uint8Array) => ({
  status: 200,
  headers: { 'x-request-id': 'abc' },
  receivedAt: at,
  tookMs: 12.4,
  body: typeof body === 'string' ? Buffer.from(body) : body,
});

const store = async (ops: Ops, requestId: string, stored: StoredBytes): Promise<string> =>
  (await storeAnswers(ops, [{ requestId, answer: stored }]))[0] ?? 'not stored';

const all = async (ops: Ops, run: Run) => openRequests(ops, run, '0', 10_000);

eachWarehouse('the ledger', (open) => {
  it('holds a plan of any length in its order, each request once', async () => {
    const { ops, run } = await begun(open, 2500);
    expect(await planRequests(ops, run, [task(7), task(3000), task(3000)], { at })).toBe(1);

    const first = await openRequests(ops, run, '0', 200);
    expect(first.map(({ requestKey }) => requestKey)).toEqual(Array.from({ length: 200 }, (_, n) => `key ${n}`));
    const next = await openRequests(ops, run, first.at(-1)?.id ?? '', 1);
    expect(next[0]).toMatchObject({
      requestKey: 'key 200',
      body: { user: '200' },
      request: { user: '200', count: 5 },
      attempts: 0,
      xRequestId: null,
    });
    expect(await countByState(ops, run)).toEqual({ planned: 2501 });
  });

  it.each([500, 1500, 2400])('fails a plan of which the database refuses a request, number %i', async (refused) => {
    const { ops, run } = await begun(open, 0);
    const tasks = Array.from({ length: 2500 }, (_, n) =>
      n === refused ? { ...task(n), requestKey: 'a\0b' } : task(n),
    );
    await expect(planRequests(ops, run, tasks, { at })).rejects.toThrow(/0x00|null character|invalid byte/i);
    const { planned = 0 } = await countByState(ops, run);
    expect(planned).toBe(Math.floor(refused / 1000) * 1000);
  });

  it('lets a request be sent by who holds the lease, and keeps its first id', async () => {
    const { ops, lease, run } = await begun(open, 1);
    const [request] = await all(ops, run);
    const id = request?.id ?? '';
    expect(await recordSent(ops, lease, [{ ...sent, id }])).toEqual(new Set([id]));
    await settleRequest(ops, lease, id, { state: 'planned', at, pointsBack: 1 });
    expect(await recordSent(ops, lease, [{ ...sent, id, xRequestId: randomUUID() }])).toEqual(new Set([id]));
    await settleRequest(ops, lease, id, { state: 'planned', at });
    expect(await triedRequests(ops, run)).toMatchObject([{ attempts: 2, xRequestId: sent.xRequestId }]);
    expect(await all(ops, run)).toEqual([]);
    expect(await ops.selectFrom('requests').select('points').execute()).toEqual([{ points: '3' }]);

    await acquireLease(ops, lease.name, 'another', true);
    expect(await recordSent(ops, lease, [{ ...sent, id }])).toEqual(new Set());
    expect(await triedRequests(ops, run)).toMatchObject([{ attempts: 2 }]);
  });

  it('records no refusal and no loss of a late holder, whose lease was taken over', async () => {
    const { ops, lease, run } = await begun(open, 1);
    const id = (await all(ops, run))[0]?.id ?? '';
    await recordSent(ops, lease, [{ ...sent, id }]);
    await acquireLease(ops, lease.name, 'another', true);
    await settleRequest(ops, lease, id, { state: 'planned', at, pointsBack: 1 });
    await recordLosses(ops, { requestId: id, lease }, { at, reason: 'connection reset' });
    expect(await ops.selectFrom('requests').select(['state', 'points']).execute()).toEqual([
      { state: 'sent', points: '2' },
    ]);
    expect(await ops.selectFrom('lost_answers').select('attempt').execute()).toEqual([]);
  });

  it('sends nothing that is settled', async () => {
    const { ops, lease, run } = await begun(open, 1);
    const [request] = await all(ops, run);
    const id = request?.id ?? '';
    await settleRequest(ops, lease, id, { state: 'failed', at, status: 422, error: 'no good' });
    expect(await recordSent(ops, lease, [{ ...sent, id }])).toEqual(new Set());
    await settleRequest(ops, lease, id, { state: 'planned', at });
    expect(await countByState(ops, run)).toEqual({ failed: 1 });
  });

  it('leaves a stored answer as it is, whatever a late holder says of its request', async () => {
    const { ops, lease, run } = await begun(open, 1);
    const id = (await all(ops, run))[0]?.id ?? '';
    await recordSent(ops, lease, [{ ...sent, id }]);
    await store(ops, id, answer('[1]'));
    for (const state of ['planned', 'failed', 'in_doubt'] as const) await settleRequest(ops, lease, id, { state, at });
    expect(await countByState(ops, run)).toEqual({ stored: 1 });
  });
});

eachWarehouse('the stored answers', (open) => {
  const awkward = Uint8Array.from({ length: 3000 }, (_, n) => n % 256);

  it('keeps every answer to the byte', async () => {
    const bodies = [Buffer.from([0, 255, 10]), Buffer.from(awkward), Buffer.alloc(0), gzipSync(awkward)];
    const { ops, lease, run } = await begun(open, bodies.length);
    const stored: string[] = [];
    for (const [n, request] of (await all(ops, run)).entries()) {
      await recordSent(ops, lease, [{ ...sent, id: request.id }]);
      stored.push(await store(ops, request.id, answer(bodies[n] ?? '')));
      const read = await readAnswer(ops, stored[n] ?? '');
      expect(Buffer.from(read?.body ?? []).equals(bodies[n] ?? Buffer.alloc(0))).toBe(true);
      expect(read).toMatchObject({
        requestId: request.id,
        runId: run.id,
        sync: 'people',
        requestKey: `key ${n}`,
        status: 200,
        loaded: false,
        request: { user: `${n}`, count: 5 },
        receivedAt: '2026-03-06T15:00:00.123000Z',
        tookMs: 12,
        damage: undefined,
      });
    }
    expect(await countByState(ops, run)).toEqual({ stored: 4 });
    expect(await unloadedAnswers(ops, 'people')).toEqual(
      stored.map((id, n) => ({ id, bytes: (bodies[n] ?? []).length })),
    );
    expect(await readAnswer(ops, '999')).toBeUndefined();
  });

  it('keeps every answer that was paid for, and finds exactly this one', async () => {
    const { ops, lease, run } = await begun(open, 1);
    const id = (await all(ops, run))[0]?.id ?? '';
    await recordSent(ops, lease, [{ ...sent, id }]);
    expect(await storedAnswerId(ops, id, answer('[1]'))).toBeUndefined();
    const first = await store(ops, id, answer('[1]'));
    expect(await storedAnswerId(ops, id, answer('[1]'))).toBe(first);
    expect(await storedAnswerId(ops, id, answer('[2]'))).toBeUndefined();

    const second = await store(ops, id, answer('[2]'));
    expect(BigInt(second)).toBeGreaterThan(BigInt(first));
    expect(await unloadedAnswers(ops, 'people')).toMatchObject([{ id: first }, { id: second }]);
    const third = { requestId: id, answer: answer('[3]') };
    const [unknown, last] = await storeAnswers(ops, [{ requestId: '999', answer: answer('[3]') }, third]);
    expect([unknown, last]).toEqual([undefined, await storedAnswerId(ops, id, answer('[3]'))]);
  });

  it('takes no answer for a request that has the id of another attempt, as after a failover', async () => {
    const { ops, lease, run } = await begun(open, 3);
    const [first = '', second = '', third = ''] = (await all(ops, run)).map(({ id }) => id);
    await recordSent(ops, lease, [
      { ...sent, id: first },
      { ...sent, id: second },
    ]);
    const others = { requestId: first, xRequestId: randomUUID(), answer: answer('[1]') };
    const own = { requestId: second, xRequestId: sent.xRequestId, answer: answer('[2]') };
    const unsent = { requestId: third, xRequestId: sent.xRequestId, answer: answer('[3]') };
    expect(await storeAnswers(ops, [others, unsent])).toEqual([undefined, undefined]);
    const next = { ...sent, id: third, xRequestId: others.xRequestId };
    expect(await storeAndRecordSent(ops, lease, [others, own], [next])).toEqual({
      answerIds: [undefined, await storedAnswerId(ops, second, own.answer)],
      sentIds: new Set([third]),
    });
  });

  it('gives the newest answer to a question that is young enough', async () => {
    const { ops, lease, run } = await begun(open, 2);
    const ids = (await all(ops, run)).map(({ id }) => id);
    await recordSent(
      ops,
      lease,
      ids.map((id) => ({ ...sent, id })),
    );
    await store(ops, ids[0] ?? '', { ...answer('[1]'), receivedAt: new Date('2026-03-01T00:00:00Z') });
    const newest = await store(ops, ids[0] ?? '', answer('[2]'));
    const within = (day: string, ...keys: readonly string[]) =>
      keys.map((requestKey) => ({ requestKey, since: new Date(`${day}T00:00:00Z`), until: new Date('2026-04-01') }));
    const keys = ['key 0', 'key 1', `key '"\\,{}`];
    expect(await freshAnswersByKey(ops, within('2026-03-06', ...keys))).toEqual(new Map([['key 0', newest]]));
    expect(await freshAnswersByKey(ops, within('2026-03-07', ...keys))).toEqual(new Map());
    const past = within('2026-03-01', 'key 0').map((it) => ({ ...it, until: new Date('2026-03-05') }));
    expect(await freshAnswersByKey(ops, past)).not.toEqual(new Map([['key 0', newest]]));

    const other = await store(ops, ids[1] ?? '', {
      ...answer('[3]'),
      receivedAt: new Date('2026-03-02T00:00:00Z'),
    });
    const each = [...within('2026-03-07', 'key 0'), ...within('2026-03-02', 'key 1')];
    expect(await freshAnswersByKey(ops, each)).toEqual(new Map([['key 1', other]]));
  });
});
