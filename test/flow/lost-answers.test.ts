/** Lost answers are looked up in the request log before they are requested again, and each is reported with its outcome. */
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import type { Fault, FaultEffect } from '../../src/sandbox/fault.ts';
import { embeddedWarehouses, postgresWarehouses } from '../support/warehouse.ts';
import { type Clock, clockFrom, DAY_MS } from './clock.ts';
import { Died, dyingAt, expireLeases, STEP } from './crash.ts';
import { door, until } from '../control/limiter-calls.ts';
import { at, groups, GROUPS, paid } from './groups.ts';
import { select, states } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const CUT: FaultEffect = { kind: 'cut', afterBytes: 40 };
const logFails = (effect: FaultEffect): Fault => ({ on: { endpoint: 'token.requests', nth: 'every' }, do: effect });

/** How often the log was read. */
const readings = ({ sandbox }: Scene): number =>
  sandbox.requests().filter(({ endpoint }) => endpoint === 'token.requests').length;
const lostAnswers = (scene: Scene) =>
  select<{ attempt: number; verdict: string | null; points: number | null; in_log: boolean }>(
    scene.warehouse,
    `select attempt::int, verdict, points::int, log_id is not null as in_log from sluice_ops.lost_answers
     order by request_id, attempt`,
  );
const points = async (scene: Scene): Promise<number | undefined> =>
  (
    await select<{ n: number }>(
      scene.warehouse,
      "select sum(points)::int as n from sluice_ops.requests where endpoint = 'pronet.group'",
    )
  )[0]?.n;

describe('a lost answer', () => {
  const open = postgresWarehouses();

  it.each([
    { name: 'paid and lost', fault: at(2, CUT), verdict: 'paid_and_lost', cost: 1 },
    { name: 'not charged', fault: at(2, CUT, false), verdict: 'not_charged', cost: 0 },
    { name: 'reset amid its body', fault: at(2, { kind: 'reset', stage: 'body' }), verdict: 'paid_and_lost', cost: 1 },
    {
      name: 'reset before its headers',
      fault: at(2, { kind: 'reset', stage: 'headers' }),
      verdict: 'paid_and_lost',
      cost: 1,
    },
  ])(
    '$name is found in the log, by a reading that the ledger records like any other',
    async ({ fault, verdict, cost }) => {
      const scene = await sceneIn(await open(), { faults: [fault] });

      const run = only(await scene.sync(GROUPS));

      expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 4, answers: 3, points: 3 + cost });
      expect(run.lostAnswers).toEqual([
        {
          requestId: expect.any(String),
          attempt: 1,
          input: { group: '1002' },
          sentAt: expect.stringMatching(/^2026-03-06T15:0/),
          reason: expect.stringContaining('lost'),
          verdict,
          points: cost,
        },
      ]);
      expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict, points: cost, in_log: true }]);
      expect(await points(scene)).toBe(paid(scene));
      expect(
        await select(scene.warehouse, 'select sync, state, exit_code::int from sluice_ops.runs order by id'),
      ).toEqual([
        { sync: 'groups', state: 'complete', exit_code: 0 },
        { sync: 'groups:log', state: 'complete', exit_code: 0 },
      ]);
      expect(readings(scene)).toBeLessThanOrEqual(2);
      const [read] = scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'token.requests');
      expect(read?.body).toMatchObject({
        start_time: expect.stringMatching(/Z$/),
        end_time: expect.stringMatching(/Z$/),
      });
      // It was stored, and loaded from the stored answer.
      const stored =
        "select count(*)::int as n, count(loaded_at)::int as loaded from sluice_ops.answers where sync = 'groups:log'";
      expect(await select(scene.warehouse, stored)).toEqual([{ n: readings(scene), loaded: readings(scene) }]);
      expect((await readStatus(scene.warehouse)).syncs.map(({ sync }) => sync)).toEqual(['groups']);
    },
  );

  it('that never reached the service is reported so, and its points are released', async () => {
    const faults = [at(3, { kind: 'reset', stage: 'before' })];
    const scene = await sceneIn(await open(), { faults });
    // Three points for three groups: none is left for what was never bought.
    const run = only(await scene.sync(GROUPS, { maxPoints: 3 }));
    expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 4, points: 3 });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'not_sent', points: 0, in_log: false }]);
  });

  it('whose points are spent leaves none for another', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, CUT)] });
    const run = only(await scene.sync(GROUPS, { maxPoints: 3 }));
    expect(run).toMatchObject({ exitCode: 6, state: 'out_of_points', points: 3, left: 1 });
    expect(paid(scene)).toBe(3);
  });

  it('of the first request: without any other in the log, a missing row proves nothing', async () => {
    const scene = await sceneIn(await open(), { faults: [at(1, { kind: 'reset', stage: 'before' })] });
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, points: 4 });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'unknown', points: null, in_log: false }]);
    // The log itself shows it later.
    const costs = GROUPS.replace('syncs:', 'syncs:\n  costs: { endpoint: token.requests }');
    await scene.sync(costs, { names: ['costs'] });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'not_sent', points: 0, in_log: false }]);
    expect(await points(scene)).toBe(paid(scene));
  });

  it.each([
    { name: 'missing', effect: { kind: 'status', status: 404 }, most: 1 },
    { name: 'forbidden', effect: { kind: 'status', status: 403 }, most: 1 },
    { name: 'failing', effect: { kind: 'status', status: 500 }, most: 1 },
    { name: 'too busy for long', effect: { kind: 'status', status: 429, headers: { 'retry-after': '300' } }, most: 1 },
    { name: 'too busy', effect: { kind: 'status', status: 503 }, most: 6 },
    { name: 'no JSON', effect: { kind: 'html' }, most: 1 },
    { name: 'cut', effect: { kind: 'cut', afterBytes: 1 }, most: 1 },
    { name: 'reset', effect: { kind: 'reset', stage: 'before' }, most: 1 },
  ] as const)('whose log is $name: unknown, asked again, and the run ends well', async ({ effect, most }) => {
    const scene = await sceneIn(await open(), { faults: [at(2, CUT), logFails(effect)] });
    const run = only(await scene.sync(GROUPS));
    expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 4, answers: 3, points: 4 });
    expect(run.lostAnswers).toMatchObject([{ verdict: 'unknown', points: null }]);
    expect(readings(scene)).toBeLessThanOrEqual(most);
    expect(scene.notices).toHaveLength(1);
    const reading = "select state, exit_code::int from sluice_ops.runs where sync = 'groups:log'";
    const [read] = await select(scene.warehouse, reading);
    expect([read]).toEqual([{ state: 'failed', exit_code: 5 }]);
    // Its own lost answers are listed and never looked for.
    const own =
      "select verdict from sluice_ops.lost_answers where endpoint = 'token.requests' and verdict <> 'unknown'";
    expect(await select(scene.warehouse, own)).toEqual([]);
  });

  it('while the log was read for another is listed, also when it is never read again', async () => {
    const warehouse = await open();
    const scene = await sceneIn(warehouse, { faults: [at(2, CUT)] });
    const crash = dyingAt(warehouse, { when: 'after', statement: STEP.send, nth: 3 });
    await expect(scene.sync(GROUPS, { warehouse: crash.warehouse })).rejects.toThrow(Died);
    await expireLeases(warehouse);
    const reading = "select state from sluice_ops.requests where sync = 'groups:log'";
    expect(await select(warehouse, reading)).toEqual([{ state: 'sent' }]);

    await scene.sync(groups('in_doubt: stop'));
    expect(await select(warehouse, reading)).toEqual([{ state: 'abandoned' }]);
    const listed = "select attempt::int from sluice_ops.lost_answers where sync = 'groups:log'";
    expect(await select(warehouse, listed)).toEqual([{ attempt: 1 }]);
  });

  it('whose verdict dies with the process is resolved again, and no row of the log stays', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, CUT)] });
    const point = { when: 'before', statement: /^delete from "sluice"\."fact_request_costs"/, nth: 1 } as const;
    const dying = dyingAt(scene.warehouse, point);
    await expect(scene.sync(GROUPS, { warehouse: dying.warehouse })).rejects.toThrow(Died);
    await expireLeases(scene.warehouse);
    const costs = () => select(scene.warehouse, 'select count(*)::int as n from sluice.fact_request_costs');
    expect(await costs()).not.toEqual([{ n: 0 }]);

    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, state: 'complete', continued: true });

    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'paid_and_lost', points: 1, in_log: true }]);
    expect(await points(scene)).toBe(paid(scene));
    expect(await costs()).toEqual([{ n: 0 }]);
  });

  it('is found although another sync ends and deletes the rows of its own reads while the log is read', async () => {
    const two = groups('', { in_flight: 2 });
    let other: Promise<Summary> | undefined;
    const scene: Scene = await sceneIn(await open(), {
      faults: [at(2, CUT)],
      respond: async ({ endpoint, body }) => {
        if (endpoint === 'token.requests' && 'cursor' in (body as object) && !other) {
          other = scene.sync(two.replace('groups:', 'others:'), { maxPoints: 100 });
          await other;
        }
        return undefined;
      },
    });

    expect(only(await scene.sync(two))).toMatchObject({ exitCode: 0, answers: 3, points: 4 });

    expect(await other).toMatchObject({ exitCode: 0, syncs: [{ answers: 3 }] });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'paid_and_lost', points: 1, in_log: true }]);
    expect(await select(scene.warehouse, 'select id from sluice.fact_request_costs')).toEqual([]);
  });

  it('whose log could not be read is not looked for each time', async () => {
    const every: Fault[] = [1, 3, 5].map((nth) => at(nth, CUT));
    const scene = await sceneIn(await open(), { faults: [...every, logFails({ kind: 'status', status: 404 })] });
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, sent: 6 });
    expect(readings(scene)).toBe(1);
    expect((await lostAnswers(scene)).map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('whose request another sync buys meanwhile is served by that answer, and stays listed', async () => {
    const scene = await sceneIn(await open(), {
      faults: [at(2, CUT, false), logFails({ kind: 'status', status: 404 })],
    });
    const yaml = groups('max_age: 1d');
    let isBought = false;
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      if (!beside && !isBought && (await states(scene.warehouse))['in_doubt'] === 1) {
        isBought = true;
        const others = only(await scene.sync(yaml.replace('groups:', 'others:')));
        expect(others).toMatchObject({ exitCode: 0, sent: 2, fresh: 1 });
      }
      await scene.clock.sleep(ms, signal, beside);
    };
    const run = only(await scene.sync(yaml, { sleep }));
    expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 2, fresh: 2, inDoubt: 0, points: 2 });
    expect(run.lostAnswers).toMatchObject([{ attempt: 1, verdict: 'unknown', points: null }]);
    // The log shows later that the lost answer was not charged.
    scene.sandbox.setFaults([]);
    await scene.sync(yaml.replace('syncs:', 'syncs:\n  costs: { endpoint: token.requests }'), { names: ['costs'] });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'not_charged', points: 0, in_log: true }]);
    expect(await points(scene)).toBe(paid(scene));
  });

  it('whose log has no end is looked for on so many pages and no more', async () => {
    const rowAt = (seconds: number) => ({
      id: `00000000-0000-4000-8000-${String(seconds).padStart(12, '0')}`,
      cost: 1,
      is_paid: true,
      endpoint: '/other',
      plan: 'p',
      started_at: new Date(seconds * 1000).toISOString(),
      duration: 1,
    });
    const scene = await sceneIn(await open(), {
      faults: [at(2, { kind: 'reset', stage: 'before' })],
      // A row for each second, the newest first.
      respond: ({ endpoint, body }) => {
        if (endpoint !== 'token.requests') return undefined;
        const { cursor = '2026-03-06T15:01:00Z' } = body as { readonly cursor?: string };
        const newest = Math.floor(Date.parse(cursor) / 1000);
        return { body: [rowAt(newest), rowAt(newest - 1)] };
      },
    });
    const run = only(await scene.sync(GROUPS));
    expect(run).toMatchObject({ exitCode: 0, truncated: 0 });
    expect(readings(scene)).toBe(50);
    expect(run.lostAnswers).toMatchObject([{ verdict: 'unknown' }]);
  });

  it('is one of several that are lost together: one reading serves them all', async () => {
    const [three, go] = [door(), door()];
    let arrived = 0;
    const scene = await sceneIn(await open(), {
      faults: [1, 2, 3].map((nth) => at(nth, CUT)),
      respond: async ({ endpoint }) => {
        if (endpoint !== 'pronet.group') return undefined;
        arrived += 1;
        if (arrived === 3) three.open();
        await go.opened;
        return undefined;
      },
    });
    let retries = 0;
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      // The wait for the log to list them continues until all three wait for it.
      if (ms > 1000 && !signal?.aborted && !beside) await until(() => retries === 3);
      await scene.clock.sleep(ms, signal, beside);
      if (ms <= 1000) retries += 1;
    };
    const running = scene.sync(groups('', { in_flight: 3 }), { sleep });
    await three.opened;
    go.open();
    const run = only(await running);
    expect(run).toMatchObject({ exitCode: 0, sent: 6, answers: 3, points: 6 });
    expect(run.lostAnswers.map(({ verdict, points: cost }) => [verdict, cost])).toEqual(
      [1, 2, 3].map(() => ['paid_and_lost', 1]),
    );
    expect(
      await select(scene.warehouse, "select count(*)::int as n from sluice_ops.runs where sync = 'groups:log'"),
    ).toEqual([{ n: 1 }]);
  });

  it('is not looked for once a signal came; the next run finds out', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await open(), {
      faults: [at(2, CUT)],
      respond: ({ body }) => {
        if ((body as { group?: string }).group === '1002') stop.abort(new Error('SIGTERM'));
        return undefined;
      },
    });
    const first = only(await scene.sync(GROUPS, { signal: stop.signal }));
    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted' });
    expect(first.lostAnswers).toMatchObject([{ verdict: null, points: null }]);
    expect(readings(scene)).toBe(0);

    const second = only(await scene.sync(GROUPS));
    expect(second).toMatchObject({ exitCode: 0, continued: true, points: 4 });
    expect(second.lostAnswers).toMatchObject([{ attempt: 1, verdict: 'paid_and_lost', points: 1 }]);
  });

  it('is looked for no longer when a signal comes meanwhile', async () => {
    const [stop, read, go] = [new AbortController(), door(), door()];
    const scene = await sceneIn(await open(), {
      faults: [at(2, CUT)],
      respond: async ({ endpoint }) => {
        if (endpoint !== 'token.requests') return undefined;
        read.open();
        await go.opened;
        return undefined;
      },
    });
    const running = scene.sync(GROUPS, { signal: stop.signal });
    await read.opened;
    stop.abort(new Error('SIGTERM'));
    // No request waits for the log.
    const first = only(await running);
    go.open();
    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted', inDoubt: 1, lostAnswers: [{ verdict: null }] });
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, lostAnswers: [{ verdict: 'paid_and_lost' }] });
  });

  it('is distinguished from the others with a wrong clock, and by the identifier', async () => {
    const AHEAD_MS = 95_000;
    const clock = clockFrom();
    const scene = await sceneIn(await open(), {
      faults: [at(2, { kind: 'reset', stage: 'before' }), at(4, CUT)],
      now: () => new Date(clock.now().getTime() + AHEAD_MS),
    });
    // The service's clock goes as fast as ours.
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      await scene.clock.sleep(ms, signal, beside);
      clock.advance(ms);
    };
    const run = only(await scene.sync(GROUPS, { sleep }));
    expect(run).toMatchObject({ exitCode: 0, sent: 5 });
    expect(run.lostAnswers.map(({ verdict, points: cost }) => [verdict, cost])).toEqual([
      ['not_sent', 0],
      ['paid_and_lost', 1],
    ]);
    expect(await points(scene)).toBe(paid(scene));
  });

  it('with in_doubt: stop is listed, and nothing is sent, not to the log either', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, CUT)] });
    const run = only(await scene.sync(groups('in_doubt: stop')));
    expect(run).toMatchObject({ exitCode: 5, state: 'partial', inDoubt: 1, lostAnswers: [{ verdict: null }] });
    expect(readings(scene)).toBe(0);
    // A log that is read anyway settles it.
    const costs = groups('in_doubt: stop').replace('syncs:', 'syncs:\n  costs: { endpoint: token.requests }');
    await scene.sync(costs, { names: ['costs'] });
    expect(await lostAnswers(scene)).toEqual([{ attempt: 1, verdict: 'paid_and_lost', points: 1, in_log: true }]);
    expect(await states(scene.warehouse)).toMatchObject({ in_doubt: 1 });
  });

  it('each time: a request that is no longer sent is still looked up, once', async () => {
    const scene = await sceneIn(await open(), { faults: [at(2, CUT), at(3, CUT)] });
    const first = only(await scene.sync(GROUPS));
    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted', inDoubt: 1, points: 4 });
    expect(first.lostAnswers.map(({ attempt, verdict, points: cost }) => [attempt, verdict, cost])).toEqual([
      [1, 'paid_and_lost', 1],
      [2, 'paid_and_lost', 1],
    ]);
    const before = readings(scene);
    expect(only(await scene.sync(GROUPS))).toMatchObject({ exitCode: 0, continued: true, points: 5 });
    expect(readings(scene)).toBe(before);
  });

  it('for the last time: its request has failed, and is still looked up, once', async () => {
    const scene = await sceneIn(await open(), { faults: [at('every', CUT)] });
    const yaml = groups('', { retries: 0 });
    for (const attempts of [1, 2, 3]) {
      await scene.sync(yaml);
      expect((await lostAnswers(scene)).map(({ verdict, points: cost }) => [verdict, cost])).toEqual(
        Array.from({ length: 3 * attempts }, () => ['paid_and_lost', 1]),
      );
    }
    expect(await states(scene.warehouse)).toMatchObject({ failed: 3 });
    expect(await points(scene)).toBe(paid(scene));
    const before = readings(scene);
    await scene.sync(yaml);
    expect(readings(scene)).toBe(before);
  });

  it('of the request log’s own sync leads to no reading of the log', async () => {
    const scene = await sceneIn(await open(), {
      faults: [{ on: { endpoint: 'token.requests', nth: 1 }, do: CUT }],
      respond: ({ endpoint }) => (endpoint === 'token.requests' ? { body: [{ id: 'x'.repeat(60) }] } : undefined),
    });
    const costs = `${service()}\nsyncs:\n  costs: { endpoint: token.requests, accept: { rejects: 100% } }\n`;
    const run = only(await scene.sync(costs));
    expect(run.lostAnswers).toMatchObject([{ attempt: 1, verdict: 'unknown' }]);
    expect(await select(scene.warehouse, 'select distinct sync from sluice_ops.runs')).toEqual([{ sync: 'costs' }]);
  });

  it('moves no watermark of the config’s own log sync', async () => {
    const scene = await sceneIn(await open());
    const both = GROUPS.replace('syncs:', 'syncs:\n  costs: { endpoint: token.requests }');
    await scene.sync(both);
    const marks = 'select sync, name, value from sluice_ops.marks order by 1, 2';
    const before = await select(scene.warehouse, marks);
    expect(before).toHaveLength(2);
    scene.clock.advance(DAY_MS);
    scene.sandbox.setFaults([at(1, CUT)]);
    await scene.sync(both, { names: ['groups'] });
    expect(await select(scene.warehouse, marks)).toEqual(before);
  });
});

describe.each([
  ['embedded', embeddedWarehouses()],
  ['postgres', postgresWarehouses()],
] as const)('an answer in flight when its run died (%s)', (_, open) => {
  it('is looked up before it is requested again', async () => {
    const scene = await sceneIn(await open());
    const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 2 });
    await expect(scene.sync(GROUPS, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    scene.clock.advance(60_000);

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 0, continued: true, sent: 4, points: 4 });
    expect(run.lostAnswers).toMatchObject([
      {
        attempt: 1,
        input: { group: '1002' },
        verdict: 'paid_and_lost',
        points: 1,
        reason: expect.stringContaining('process'),
      },
    ]);
    expect(await points(scene)).toBe(paid(scene));
  });

  it('never left: not sent, and not counted', async () => {
    const scene = await sceneIn(await open());
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.send, nth: 2 });
    await expect(scene.sync(GROUPS, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    scene.clock.advance(60_000);
    const run = only(await scene.sync(GROUPS));
    expect(run).toMatchObject({
      exitCode: 0,
      continued: true,
      points: 3,
      lostAnswers: [{ verdict: 'not_sent', points: 0 }],
    });
  });

  it('of a run that is given up is listed and looked for, a long time after', async () => {
    const scene = await sceneIn(await open());
    const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 2 });
    await expect(scene.sync(GROUPS, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    scene.clock.advance(3 * DAY_MS);

    const run = only(await scene.sync(GROUPS));

    expect(run).toMatchObject({ exitCode: 0, continued: false, sent: 3, points: 3 });
    expect(run.lostAnswers).toMatchObject([{ input: { group: '1002' }, verdict: 'paid_and_lost', points: 1 }]);
    expect(await points(scene)).toBe(paid(scene));
    // A stretch of minutes was read, not days.
    expect(readings(scene)).toBeLessThanOrEqual(2);
    expect(await until(async () => (await states(scene.warehouse))['abandoned'] === 2)).toBeUndefined();
  });
});
