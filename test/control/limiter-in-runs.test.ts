/** Slots of a run: held until a call's answer is stored and no longer; a call that is stopped before its start is not sent. */
import { describe, expect, it } from 'vitest';
import { embeddedWarehouses, postgresWarehouses } from '../support/warehouse.ts';
import { disturbedAt, STEP } from '../flow/crash.ts';
import { door, until } from './limiter-calls.ts';
import { select, states } from '../flow/rows.ts';
import { only, type Scene, sceneIn, service } from '../flow/scene.ts';

const GROUPS = '\n  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }';
const USERS = '\n  users: { endpoint: microblog.user, request: { user: acme_labs } }';
const config = (sync: string, settings: Readonly<Record<string, number>> = {}): string =>
  `${service(settings)}\nsyncs:${sync}\n`;

/** A slot that is not given back is free after this time. */
const EXPIRES = '12 seconds';

/** Slots that no other process can have now. */
async function held({ warehouse }: Scene): Promise<number | undefined> {
  const [row] = await select<{ n: number }>(
    warehouse,
    'select count(*)::int as n from sluice_ops.limiter_slots where expires_at >= clock_timestamp()',
  );
  return row?.n;
}

/** The moment by the clock of the database. */
async function momentOf({ warehouse }: Scene): Promise<string> {
  const [row] = await select<{ at: string }>(warehouse, 'select clock_timestamp()::text as at');
  return String(row?.at);
}

/** Waits until no slot is held. True if none ran out by itself, that is later than `EXPIRES` after it was taken. */
async function areGivenBack(scene: Scene, before: string): Promise<boolean> {
  await until(async () => (await held(scene)) === 0);
  const [row] = await select<{ sooner: boolean }>(
    scene.warehouse,
    `select bool_and(expires_at < timestamptz '${before}' + interval '${EXPIRES}') as sooner from sluice_ops.limiter_slots`,
  );
  return row?.sooner === true;
}

describe('with one slot for the token, another process', () => {
  const open = postgresWarehouses();

  it('makes its calls while a run waits to try again', async () => {
    const [waiting, go] = [door(), door()];
    const scene = await sceneIn(await open(), {
      faults: [{ on: { nth: 1 }, do: { kind: 'status', status: 503, headers: { 'retry-after': '30' } } }],
    });
    const before = await momentOf(scene);
    const first = scene.sync(config(GROUPS), {
      sleep: async (ms, signal, beside) => {
        if (ms >= 30_000) {
          waiting.open();
          await go.opened;
        }
        await scene.clock.sleep(ms, signal, beside);
      },
    });
    await waiting.opened;
    expect(await areGivenBack(scene, before)).toBe(true);
    expect(only(await scene.sync(config(USERS)))).toMatchObject({ exitCode: 0, answers: 1 });
    go.open();
    expect(only(await first)).toMatchObject({ exitCode: 0, answers: 3 });
  });

  it('makes none before the answer to a call of another is stored', async () => {
    const [storing, go] = [door(), door()];
    const scene = await sceneIn(await open());
    const slow = disturbedAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 }, async () => {
      storing.open();
      await go.opened;
    });
    const first = scene.sync(config(GROUPS), { warehouse: slow });
    await storing.opened;
    const looks = { count: 0 };
    const second = scene.sync(config(USERS), {
      sleep: async (ms, signal, beside) => {
        if (ms > 50 && ms <= 100) looks.count += 1;
        if (looks.count === 5) {
          // A process that died now would leave one call without an outcome, as many as may be in flight.
          expect(scene.sandbox.requests()).toHaveLength(1);
          expect(await states(scene.warehouse)).toMatchObject({ sent: 1 });
          go.open();
        }
        await scene.clock.sleep(ms, signal, beside);
      },
    });
    expect(only(await second)).toMatchObject({ exitCode: 0, answers: 1 });
    expect(only(await first)).toMatchObject({ exitCode: 0, answers: 3 });
    expect(looks.count).toBeGreaterThanOrEqual(5);
  });

  it('makes none while a call of another process is in flight', async () => {
    const [called, go] = [door(), door()];
    const scene = await sceneIn(await open(), {
      respond: async ({ number }) => {
        if (number !== 1) return undefined;
        called.open();
        await go.opened;
        return undefined;
      },
    });
    const first = scene.sync(config(GROUPS));
    await called.opened;
    const looks = { count: 0 };
    const second = scene.sync(config(USERS), {
      sleep: async (ms, signal, beside) => {
        // It looks for a slot.
        if (ms > 50 && ms <= 100) looks.count += 1;
        if (looks.count === 5) go.open();
        await scene.clock.sleep(ms, signal, beside);
      },
    });
    expect(only(await second)).toMatchObject({ exitCode: 0, answers: 1 });
    expect(only(await first)).toMatchObject({ exitCode: 0, answers: 3 });
    expect(looks.count).toBeGreaterThanOrEqual(5);
    expect(Math.max(...scene.sandbox.requests().map(({ inFlight }) => inFlight))).toBe(1);
  });

  it('finds every slot free when a run has ended, however it did', async () => {
    const warehouse = await open();
    const scene = await sceneIn(warehouse);
    await scene.sync(config(GROUPS, { in_flight: 3 }));
    expect(await held(scene)).toBe(0);

    const broken = disturbedAt(warehouse, { when: 'after', statement: STEP.send, nth: 1 }, () => {
      throw new Error('a fault of this program');
    });
    await expect(scene.sync(config(GROUPS, { in_flight: 3 }), { warehouse: broken })).rejects.toThrow('a fault');
    expect(await held(scene)).toBe(0);
  });
});

describe('a call that a signal stops before its turn', () => {
  // Its turns are by the test's clock.
  const open = embeddedWarehouses();

  it('was none: nothing is sent or paid, and the request is planned as before', async () => {
    const scene = await sceneIn(await open());
    const stop = new AbortController();
    const points = 'select sum(points)::int as points from sluice_ops.requests';
    const run = only(
      await scene.sync(config(GROUPS, { requests_per_second: 11 }), {
        signal: stop.signal,
        sleep: async (ms, signal, beside) => {
          const isTurn = ms > 50 && ms <= 91 && scene.sandbox.requests().length === 1;
          if (isTurn) stop.abort(new Error('SIGTERM'));
          await scene.clock.sleep(ms, signal, beside);
        },
      }),
    );
    expect(run).toMatchObject({ exitCode: 5, state: 'interrupted', answers: 1, left: 2, inDoubt: 0 });
    expect(scene.sandbox.requests()).toHaveLength(1);
    expect(await states(scene.warehouse)).toEqual({ loaded: 1, planned: 2 });
    expect(await select(scene.warehouse, points)).toEqual([{ points: 1 }]);
    expect(only(await scene.sync(config(GROUPS)))).toMatchObject({ exitCode: 0, continued: true, answers: 3 });
    expect(scene.sandbox.requests()).toHaveLength(3);
  });
});
