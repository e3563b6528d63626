/** What a run does with the answers and the silence of a failing service. */
import { describe, expect, it } from 'vitest';
import type { Progress } from '../../src/ledger/summary.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { requestedGroups, at, groups, GROUPS, paid } from './groups.ts';
import { select, states } from './rows.ts';
import { only, sceneIn, service, SMALL } from './scene.ts';

describe('a failing service', () => {
  const open = postgresWarehouses();

  it.each([
    ['429 with Retry-After in seconds', { status: 429, headers: { 'retry-after': '7' } }, 7000],
    ['429 with a date', { status: 429, headers: { 'retry-after': 'Fri, 06 Mar 2026 15:00:07 GMT' } }, 7000],
    ['503 without', { status: 503 }, 0],
  ])('answers %s: the request is sent again after the wait, and only the answer counts', async (_, refusal, waitMs) => {
    const scene = await sceneIn(await open(), { faults: [at(1, { kind: 'status', ...refusal })] });

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', asked: 3, sent: 4, answers: 3, points: 3 });
    expect(Math.max(...scene.clock.slept)).toBeGreaterThanOrEqual(waitMs);
    expect(scene.sandbox.requests()).toHaveLength(4);
    expect(new Set(scene.sandbox.requests().map(({ xRequestId }) => xRequestId)).size).toBe(3);
  });

  it('answers 429 with a long Retry-After: the requests wait and are not in flight, and a line says so', async () => {
    const refused = { kind: 'status', status: 429, headers: { 'retry-after': '280' } } as const;
    const scene = await sceneIn(await open(), { faults: [1, 2, 3].map((nth) => at(nth, refused)) });
    const duringWaits: Progress[] = [];
    const sleep: typeof scene.clock.sleep = async (ms, ...others) => {
      if (ms >= 280_000) duringWaits.push(...scene.progress.slice(-1));
      await scene.clock.sleep(ms, ...others);
    };

    await scene.sync(GROUPS, { sleep });

    expect(duringWaits).toHaveLength(3);
    for (const it of duringWaits) expect(it).toMatchObject({ inFlight: 0, waiting: 1, waitStatuses: [429] });
    expect(duringWaits[0]?.nextAttemptAt).toEqual(new Date('2026-03-06T15:04:40.500Z'));
    expect(scene.progress.at(-1)).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(scene.notices).toContainEqual({
      level: 'info',
      sync: 'groups',
      message: 'pronet.group answered 429; the next attempt is in 281 s',
    });
  });

  it('answers 429 to several requests at once: one line says that they wait', async () => {
    const refused = { kind: 'status', status: 429, headers: { 'retry-after': '60' } } as const;
    const scene = await sceneIn(await open(), { faults: [1, 2, 3].map((nth) => at(nth, refused)) });
    let waiting = 0;
    const everyoneWaits = Promise.withResolvers<void>();
    const sleep: typeof scene.clock.sleep = async (ms, ...others) => {
      if (ms < 60_000) return scene.clock.sleep(ms, ...others);
      if ((waiting += 1) === 3) everyoneWaits.resolve();
      await everyoneWaits.promise;
    };

    const run = only(await scene.sync(GROUPS.replace('in_flight: 1', 'in_flight: 3'), { sleep }));

    expect(run).toMatchObject({ exitCode: 0, sent: 6, answers: 3 });
    expect(Math.max(...scene.progress.map((it) => it.waiting))).toBe(3);
    expect(scene.notices.filter(({ message }) => message.includes('answered 429'))).toHaveLength(1);
  });

  it('answers 500 once: the request is sent again, and both attempts count as paid', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'status', status: 500 })] });

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 0, sent: 4, answers: 3, points: 4 });
  });

  it('always answers 500 to one input: only that one stays planned, and the next run requests only it', async () => {
    const refuse1002 = (request: { readonly body: unknown }) =>
      broken && JSON.stringify(request.body).includes('1002') ? { status: 500, body: { detail: 'oops' } } : undefined;
    let broken = true;
    const scene = await sceneIn(await open(), { respond: refuse1002 });

    const first = only(await scene.sync(GROUPS));
    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted', answers: 2, left: 1, failed: 0 });
    expect(requestedGroups(scene)).toEqual(['1001', '1002', '1002', '1003']);

    broken = false;
    expect(only(await scene.sync(GROUPS))).toMatchObject({
      exitCode: 0,
      state: 'complete',
      continued: true,
      answers: 3,
    });
    expect(requestedGroups(scene)).toEqual(['1002']);
  });

  it('is rate limited and then answers 500 to one input: that was one invocation, and the next one requests it', async () => {
    const scene = await sceneIn(await open(), {
      faults: [1, 2, 3, 4].map((nth) => at(nth, { kind: 'status', status: 429 })),
      respond: ({ number }) => (number === 5 || number === 6 ? { status: 500, body: {} } : undefined),
    });
    const one = GROUPS.replace('["1001", "1002", "1003"]', '["1001"]');

    expect(only(await scene.sync(one))).toMatchObject({ exitCode: 5, left: 1, failed: 0, sent: 6 });
    expect(only(await scene.sync(one))).toMatchObject({ exitCode: 0, continued: true, answers: 1 });
  });

  it('answers 500 to one input in run after run: after three invocations it counts as failed and the run ends', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => (JSON.stringify(body).includes('1002') ? { status: 500, body: {} } : undefined),
    });
    for (let round = 0; round < 2; round += 1)
      expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 5, state: 'interrupted', left: 1 });

    const third = only(await scene.sync(GROUPS));

    expect(third).toMatchObject({ exitCode: 4, state: 'partial', answers: 2, failed: 1, left: 0, sent: 8 });
    expect(
      await select(scene.warehouse, "select failure_class, error from sluice_ops.requests where state = 'failed'"),
    ).toEqual([{ failure_class: 'failing', error: 'the service answered 500 and gave no reason' }]);
    expect(only(await scene.sync(GROUPS))).toMatchObject({ continued: false, sent: 4 });
  });

  it('keeps failing: the endpoint is paused, then the run stops and leaves the other requests planned', async () => {
    const inputs = Array.from({ length: 60 }, (_, n) => `"${2000 + n}"`).join(', ');
    const config = `${service({ in_flight: 3 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${inputs}] } }
`;
    const scene = await sceneIn(await open(), { faults: [at('every', { kind: 'status', status: 502 })] });

    const run = only(await scene.sync(config));

    expect(run).toMatchObject({ exitCode: 5, state: 'interrupted', left: 60, failed: 0, answers: 0 });
    expect(run.sent).toBeLessThan(30);
    expect(scene.clock.slept.filter((ms) => ms === 30_000)).toHaveLength(4);
  });

  it('fails for the first of many inputs: later runs request the others first, so that bad inputs do not delay them', async () => {
    const bad = Array.from({ length: 40 }, (_, n) => `"${1000 + n}"`);
    const good = Array.from({ length: 8 }, (_, n) => `"${2000 + n}"`);
    const config = `${service({ in_flight: 2 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${[...bad, ...good].join(', ')}] } }
`;
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => {
        const { group } = body as { group: string };
        return group < '2000'
          ? { status: 500, body: {} }
          : { body: [{ urn: { type: 'group', value: group }, name: 'n' }] };
      },
    });
    const answers: number[] = [];
    for (let round = 0; round < 4; round += 1) answers.push(only(await scene.sync(config)).answers);

    expect(answers[0]).toBe(0);
    expect(answers.at(-1)).toBe(8);
    expect(await states(scene.warehouse)).toEqual({ loaded: 8, planned: 40 });
  });

  it('cannot be reached: nothing is spent, and the next run continues', async () => {
    const scene = await sceneIn(await open());
    await scene.sandbox.close();

    const run = only(await scene.sync(GROUPS));
    expect(run).toMatchObject({ exitCode: 5, state: 'interrupted', answers: 0, left: 3, points: 0, inDoubt: 0 });
    expect(run.error).toContain('connection refused');

    const back = await serveSandbox({ port: scene.sandbox.port, seed: 7, size: SMALL });
    try {
      expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true, answers: 3 });
    } finally {
      await back.close();
    }
  });

  it('sends a page for people with 200: it is kept, quarantined, and requested again only by the next run', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'html' })] });

    const run = only(await scene.sync(groups('max_age: 1d')));

    expect(run).toMatchObject({
      exitCode: 4,
      state: 'partial',
      sent: 3,
      answers: 3,
      quarantined: 1,
      loaded: 2,
      points: 3,
    });
    expect(run.received).toBe(3);
    const [kept] = await select<{ body: Buffer }>(
      scene.warehouse,
      'select a.body from sluice_ops.answers a join sluice_ops.quarantine q on q.answer_id = a.id where q.position is null and resolved_at is null',
    );
    expect(String(kept?.body)).toContain('One moment');
    scene.arrived();
    expect(only(await scene.sync(groups('max_age: 1d')))).toMatchObject({ exitCode: 0, sent: 1, fresh: 2 });
    expect(requestedGroups(scene)).toHaveLength(1);
    expect(only(await scene.sync(groups('max_age: 1d')))).toMatchObject({ exitCode: 0, sent: 0, fresh: 3 });
  });

  it('knows no such entity: it is missing and no reject, and nothing is deleted', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(GROUPS);
    scene.sandbox.setFaults([at(2, { kind: 'status', status: 412, body: 'null' })]);

    const run = only(await scene.sync(groups('accept: { rejects: 0 }')));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', missing: 1, failed: 0, quarantined: 0, unchanged: 2 });
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: 3 }]);
    expect(await states(scene.warehouse)).toEqual({ loaded: 5, missing: 1 });
  });

  it.each([404, 415, 422])('refuses an input with %i: it failed and counts as a reject', async (status) => {
    const detail = JSON.stringify({ detail: [{ loc: ['body', 'group'], msg: 'no good' }] });
    const scene = await sceneIn(await open(), { faults: [at(2, { kind: 'status', status, body: detail })] });

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 4, state: 'partial', failed: 1, answers: 2, left: 0 });
    expect(
      await select(scene.warehouse, "select error, status from sluice_ops.requests where state = 'failed'"),
    ).toEqual([{ error: `the service answered ${status}: body.group: no good`, status: String(status) }]);
    scene.sandbox.setFaults([at(2, { kind: 'status', status })]);
    const lenient = only(await scene.sync(groups('accept: { rejects: 50% }')));
    expect(lenient).toMatchObject({ exitCode: 0, state: 'partial', failed: 1 });
  });

  it.each([1, 4])(
    'forbids the endpoint: with %i in flight nothing more is asked of it, whatever was loaded',
    async (inFlight) => {
      const many = Array.from({ length: 1000 }, (_, n) => ({ urn: { type: 'group', value: `g${n}` }, name: 'x' }));
      let served = 0;
      const scene = await sceneIn(await open(), {
        respond: () => ((served += 1) === 3 ? { status: 403, body: { detail: 'not in your plan' } } : { body: many }),
      });
      const inputs = Array.from({ length: 12 }, (_, n) => `"${n}"`).join(', ');
      const config = `${service({ in_flight: inFlight })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${inputs}] } }
`;

      const run = only(await scene.sync(config));

      expect(run).toMatchObject({ exitCode: 4, state: 'partial', failed: 1 });
      expect(run.error).toContain('not in your plan');
      expect(run.sent).toBeLessThanOrEqual(2 + inFlight);
      const { skipped = 0, failed, loaded = 0 } = await states(scene.warehouse);
      expect({ failed, all: skipped + loaded }).toEqual({ failed: 1, all: 11 });
      expect(run.left).toBe(skipped);
    },
  );

  it('refuses the token: exit 3, no other sync begins, and with a good one the run continues', async () => {
    const refusal = { kind: 'status', status: 401, body: '{"detail":"Invalid token"}' } as const;
    const scene = await sceneIn(await open(), { faults: [at(2, refusal)] });
    const config = `${GROUPS}  costs: { endpoint: token.requests }\n`;

    const summary = await scene.sync(config);
    expect(summary.exitCode).toBe(3);
    expect(summary.syncs).toMatchObject([
      { exitCode: 3, state: 'interrupted', answers: 1, left: 2, points: 1 },
      { exitCode: 3, state: 'interrupted', planned: 0 },
    ]);
    expect(requestedGroups(scene)).toEqual(['1001', '1002']);

    scene.sandbox.setFaults([]);
    const [run] = (await scene.sync(config)).syncs;
    expect(run).toMatchObject({ exitCode: 0, continued: true, answers: 3 });
    expect(requestedGroups(scene).slice(0, 2)).toEqual(['1003', '1002']);
  });

  it('has no points left: exit 6, and with new ones the run continues without sending anything twice', async () => {
    const scene = await sceneIn(await open(), { points: 2 });

    const run = only(await scene.sync(groups('', { in_flight: 2 })));
    expect(run).toMatchObject({ exitCode: 6, state: 'out_of_points', answers: 2, left: 1, points: 2 });

    scene.arrived();
    scene.sandbox.setPoints(10);
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true, answers: 3, points: 3 });
    expect(requestedGroups(scene)).toHaveLength(1);
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    expect(paid(scene)).toBe(3);
  });
});
