/** The request log: every row of it, whatever its order, rows that are completed later, and a watermark that skips none. */
import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { dyingAt, expireLeases, STEP } from './crash.ts';
import { door, until } from '../control/limiter-calls.ts';
import { rowsOf, select } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const costs = (more = ''): string => `${service()}
syncs:
  costs:
    endpoint: token.requests
    ${more}
`;

/** Sends this many requests to the sandbox, as other clients with the token could; every request is in its log. */
async function ask({ sandbox, clock }: Scene, times: number, everyMs = 0): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await askOnce(sandbox.url);
    clock.advance(everyMs);
  }
}
const askOnce = (url: string): Promise<string> =>
  fetch(`${url}/api/microblog/user`, {
    method: 'POST',
    headers: { 'access-token': SANDBOX_TOKEN, 'content-type': 'application/json' },
    body: '{"user":"acme_labs"}',
  }).then((it) => it.text());

const logged = ({ sandbox }: Scene): number =>
  sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests').length;
const loaded = async (scene: Scene): Promise<number> =>
  Number((await select<{ n: string }>(scene.warehouse, 'select count(*) as n from sluice.fact_request_costs'))[0]?.n);
const mark = async (scene: Scene): Promise<string | undefined> =>
  (await select<{ value: string }>(scene.warehouse, "select value from sluice_ops.marks where name = 'log'"))[0]?.value;
const startTimes = (scene: Scene): (string | undefined)[] => [
  ...new Set(
    scene
      .arrived()
      .filter(({ endpoint }) => endpoint === 'token.requests')
      .map(({ body }) => (body as { start_time?: string }).start_time),
  ),
];

const ORDERS: readonly SandboxOptions[] = (['ascending', 'descending'] as const).flatMap((logOrder) =>
  (['inclusive', 'exclusive'] as const).map((logCursor) => ({ logOrder, logCursor })),
);

anyWarehouse('the request log', (open) => {
  it('begins where the config says', async () => {
    const scene = await sceneIn(await open());
    await ask(scene, 4, DAY_MS);
    await scene.sync(costs('from: 2026-03-08'));
    expect(await loaded(scene)).toBe(2);
  });

  it.each([
    { change: 'moved back', first: 'from: 2026-03-08', second: 'from: 2026-03-07', rows: 4 },
    { change: 'removed', first: 'from: 2026-03-08', second: '', rows: 5 },
  ])('is read from its new beginning after `from` was $change, and only once', async ({ first, second, rows }) => {
    const scene = await sceneIn(await open());
    await ask(scene, 5, DAY_MS);
    await scene.sync(costs(first));
    expect(await loaded(scene)).toBe(3);

    expect(only(await scene.sync(costs(second)))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(rows);
    scene.arrived();
    for (const from of [second, first, second]) await scene.sync(costs(from));
    expect(startTimes(scene).every((time) => time !== undefined && time > '2026-03-10')).toBe(true);
  });

  it.each(ORDERS)('is read whole when it is $logOrder with an $logCursor cursor', async (options) => {
    const scene = await sceneIn(await open(), options);
    // Two full pages within one instant of the clock, a partial one, then three days with some.
    await ask(scene, 215);
    await ask(scene, 3, DAY_MS);

    const first = only(await scene.sync(costs()));
    expect(first).toMatchObject({ exitCode: 0, state: 'complete', points: 0, truncated: 0 });
    expect(await loaded(scene)).toBe(218);

    await ask(scene, 120, 60_000);
    scene.clock.advance(2 * DAY_MS);
    await ask(scene, 7);
    expect(only(await scene.sync(costs()))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(logged(scene));
  });

  it('is read again only from an hour before its newest row, one day at a time', async () => {
    const scene = await sceneIn(await open());
    await ask(scene, 2, DAY_MS);
    await scene.sync(costs());
    expect(await mark(scene)).toBe('2026-03-07T15:00:00.000037Z');
    scene.arrived();
    scene.clock.advance(2 * DAY_MS);
    await ask(scene, 1);

    await scene.sync(costs());

    expect(startTimes(scene)).toEqual([
      '2026-03-07T14:00:00.000037Z',
      '2026-03-08T00:00:00.000000Z',
      '2026-03-09T00:00:00.000000Z',
      '2026-03-10T00:00:00.000000Z',
    ]);
    expect(await mark(scene)).toMatch(/^2026-03-10T15:00:00/);
    expect(await loaded(scene)).toBe(3);
  });

  it.each([
    { inputs: 'set the times', forEach: '[{ start_time: 2026-03-06T00:00:00Z, end_time: 2026-03-07T00:00:00Z }]' },
    { inputs: 'are none', forEach: `{ start_time: { query: "select '2026-03-06' where false" } }` },
  ])('is read completely by the next sync after one whose inputs $inputs', async ({ forEach }) => {
    const scene = await sceneIn(await open());
    await ask(scene, 6, DAY_MS);

    expect(only(await scene.sync(costs(`for_each: ${forEach}`)))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await mark(scene)).toBeUndefined();
    await scene.sync(costs());

    expect(await loaded(scene)).toBe(6);
  });

  it('is read up to the receipt of a stored answer that serves as a page, although a later row is known', async () => {
    const scene = await sceneIn(await open());
    const part = `${service()}
syncs:
  part:
    endpoint: token.requests
    request: { start_time: "2026-03-06T19:55:00Z", end_time: "2026-03-06T20:05:00Z" }
`;
    await ask(scene, 1, 60_000);
    await scene.sync(costs('max_age: 1d'));
    scene.clock.advance(HOUR_MS);
    await scene.sync(costs('max_age: 1d'));
    scene.clock.advance(HOUR_MS);
    await ask(scene, 3);
    scene.clock.advance(3 * HOUR_MS);
    await ask(scene, 1, 60_000);
    await scene.sync(part);
    expect(await loaded(scene)).toBe(2);

    expect(only(await scene.sync(costs('max_age: 1d')))).toMatchObject({ exitCode: 0, state: 'complete', sent: 0 });
    expect(await mark(scene)).toMatch(/^2026-03-06T15:00:00/);

    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(costs('max_age: 1d')))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(5);
  });

  it('has rows that are completed later: within the lookback they are, and no older word undoes it', async () => {
    const [arrival, answer] = [door(), door()];
    const scene = await sceneIn(await open(), {
      respond: async ({ endpoint }) => {
        if (endpoint !== 'microblog.user') return undefined;
        arrival.open();
        await answer.opened;
        return undefined;
      },
    });
    const slow = askOnce(scene.sandbox.url);
    await arrival.opened;
    await scene.sync(costs());
    const row =
      'select cost::int, response_status_code::int as status, response_count::int as count from sluice.fact_request_costs';
    expect(await select(scene.warehouse, row)).toEqual([{ cost: 0, status: null, count: null }]);

    scene.clock.advance(0.4 * HOUR_MS);
    answer.open();
    await slow;
    await until(() => scene.sandbox.requests()[0]?.endedAt != null);
    await scene.sync(costs());
    expect(await select(scene.warehouse, row)).toEqual([{ cost: 1, status: 200, count: 1 }]);
    const before = await rowsOf(scene.warehouse, { machinery: true });
    await scene.replay();
    expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(before);
    await scene.replay({ rebuild: true });
    expect(await select(scene.warehouse, row)).toEqual([{ cost: 1, status: 200, count: 1 }]);
  });

  it('that is interrupted keeps the complete days, and never moves its watermark back', async () => {
    const scene = await sceneIn(await open());
    await ask(scene, 2);
    await scene.sync(costs());
    const first = await mark(scene);
    for (let round = 0; round < 3; round += 1) {
      scene.sandbox.setFaults([{ on: { endpoint: 'token.requests' }, do: { kind: 'status', status: 422 } }]);
      expect(only(await scene.sync(costs()))).toMatchObject({ exitCode: 4 });
    }
    expect(await mark(scene)).toBe(first);

    // Three days to read, of which the second fails.
    scene.clock.advance(2 * DAY_MS);
    await ask(scene, 3);
    scene.sandbox.setFaults([{ on: { endpoint: 'token.requests', nth: 2 }, do: { kind: 'status', status: 422 } }]);
    expect(only(await scene.sync(costs())).exitCode).toBe(4);
    expect(await mark(scene)).toBe('2026-03-07T00:00:00.000000Z');
    scene.sandbox.setFaults([]);
    expect(only(await scene.sync(costs())).exitCode).toBe(0);
    expect(await mark(scene)).toMatch(/^2026-03-08T15:00:00/);
    expect(await loaded(scene)).toBe(5);
  });
});

anyWarehouse('a request log of many pages', (open) => {
  it.each([
    { when: 'after', statement: STEP.store, nth: 2 },
    { when: 'after', statement: STEP.record, nth: 2 },
    { when: 'before', statement: STEP.send, nth: 3 },
  ] as const)('is read on where a process died $when $statement', async (point) => {
    const scene = await sceneIn(await open(), { logOrder: 'ascending', logCursor: 'inclusive' });
    await ask(scene, 330);
    const dying = dyingAt(scene.warehouse, point);
    await expect(scene.sync(costs(), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);

    expect(only(await scene.sync(costs()))).toMatchObject({ exitCode: 0, continued: true });
    expect(await loaded(scene)).toBe(330);
  });
});
