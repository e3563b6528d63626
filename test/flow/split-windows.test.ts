/** Windows of days: split until nothing is missed, requested again only from the first day that may have changed. */
import { describe, expect, it } from 'vitest';
import { quoteSyncs } from '../../src/flow/forecast/quote-syncs.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { BUSY, days, filings, inTable, inWorld, range } from './filings.ts';
import { disturbedAt, dyingAt, expireLeases, STEP } from './crash.ts';
import { rowsOf, select } from './rows.ts';
import { configOf, only, type Scene, sceneIn } from './scene.ts';

const marks = async (scene: Scene): Promise<unknown[]> =>
  (
    await select<{ value: string }>(
      scene.warehouse,
      "select value from sluice_ops.marks where name like 'window:%' order by value",
    )
  ).map(({ value }) => JSON.parse(value) as unknown);

interface Days {
  readonly date_from: string;
  readonly date_to: string;
}
const daysIn = (body: unknown): Days => {
  const { date_from, date_to } = body as Days;
  return { date_from, date_to };
};

describe('a window of days', () => {
  const open = postgresWarehouses();

  it('is cut until no answer is full, and every filing in it is loaded', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const window = { date_from: '2026-01-05', date_to: '2026-02-06' };

    const run = only(await scene.sync(filings('window: { from: 2026-01-05, to: 2026-02-06 }')));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', truncated: 0, left: 0 });
    const expected = inWorld(scene, window);
    expect(expected.length).toBeGreaterThan(150);
    expect(await inTable(scene)).toEqual(expected);
    const slices = await select<{ asked: string; returned: string; complete: boolean; reason: string | null }>(
      scene.warehouse,
      'select asked, returned, complete, reason from sluice_ops.coverage',
    );
    expect(slices).toHaveLength(run.answers);
    for (const { asked, returned, complete, reason } of slices) {
      expect({ complete, reason }).toEqual({ complete: Number(returned) < Number(asked), reason: null });
    }
    // The complete slices are adjacent and leave no day out.
    const [whole] = await select(
      scene.warehouse,
      `select count(*)::int as days, count(distinct day)::int as distinct from (
         select generate_series((filters ->> 'date_from')::date, (filters ->> 'date_to')::date, '1 day') as day
         from sluice_ops.coverage where complete) d`,
    );
    expect(whole).toEqual({ days: 33, distinct: 33 });
  });

  it('has the parts of each full answer in its plan, also of stored ones, and if a signal ends the run', async () => {
    const scene = await sceneIn(await open(), { size: { filings: 300_000, companies: 200 } });
    const bought = filings(
      'window: { from: 2026-02-13, to: 2026-02-13 }\n    max_age: 30d\n    split_by: { forms: [10-K, 10-Q, 8-K, "4"], location_codes: [CA, NY, TX, WA] }',
    );
    await scene.sync(bought);
    scene.arrived();
    const signal = new AbortController();
    const point = { when: 'after', statement: /insert into "sluice_ops"."coverage"/, nth: 1 } as const;

    await scene.sync(bought.replace('  filings:', '  again:'), {
      warehouse: disturbedAt(scene.warehouse, point, () => signal.abort()),
      signal: signal.signal,
    });

    expect(scene.arrived()).toEqual([]);
    const served = (condition: string) =>
      select(
        scene.warehouse,
        `select from sluice_ops.requests r join sluice_ops.answers a on a.id = r.answer_id
        where r.sync = 'again' and r.state = 'fresh' and a.received >= a.asked and ${condition}`,
      );
    expect((await served('true')).length).toBeGreaterThan(1);
    expect(await served('not exists (select from sluice_ops.requests p where p.parent_id = r.id)')).toEqual([]);
  });

  it('is requested again only from the lookback before its last complete day', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-02-20, to: today, lookback: 3d }');

    await scene.sync(config);
    expect(range(scene)).toBe('2026-02-20..2026-03-06');
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-05', to: '2026-03-06' }]);

    scene.clock.advance(3 * DAY_MS);
    await scene.sync(config);
    expect(range(scene)).toBe('2026-03-02..2026-03-09');
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-08', to: '2026-03-09' }]);
    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-20', date_to: '2026-03-09' }));
  });

  it('moves its watermark after its last day, which was in the future, becomes today', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-02-20, to: today, lookback: 1d }');
    await scene.sync(filings('window: { from: 2026-02-20, to: 2026-12-31, lookback: 1d }'));
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-05', to: '2026-12-31' }]);
    scene.arrived();

    scene.clock.advance(3 * DAY_MS);
    await scene.sync(config);
    expect(range(scene)).toBe('2026-03-04..2026-03-09');
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-08', to: '2026-03-09' }]);

    scene.clock.advance(3 * DAY_MS);
    await scene.sync(config);
    expect(range(scene)).toBe('2026-03-07..2026-03-12');
  });

  it('takes a day for complete when it has ended where the filings are made', async () => {
    // Past midnight in Greenwich, and still Friday evening in New York.
    const scene = await sceneIn(await open(), { size: BUSY, start: '2026-03-07T02:00:00.000Z' });

    await scene.sync(filings('window: { from: 2026-03-02, to: today }'));

    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-05', to: '2026-03-07' }]);
    const unfinished = await select(
      scene.warehouse,
      "select distinct filters ->> 'date_to' as last from sluice_ops.coverage where returned < asked and not complete order by 1",
    );
    expect(unfinished.length).toBeGreaterThan(0);
    for (const { last } of unfinished) expect(['2026-03-06', '2026-03-07']).toContain(last);
  });

  it('is not complete if its last day ended while the service answered', async () => {
    const respond = (): undefined => {
      scene.clock.advance(HOUR_MS / 3);
    };
    // Ten minutes before midnight in New York.
    const scene: Scene = await sceneIn(await open(), { size: BUSY, start: '2026-03-07T04:50:00.000Z', respond });

    const run = only(await scene.sync(filings('window: { from: 2026-03-06, to: 2026-03-06 }', '{ count: 100 }')));

    expect(run).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await select(scene.warehouse, 'select complete from sluice_ops.coverage')).toEqual([{ complete: false }]);
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-05', to: '2026-03-06' }]);
  });

  it('that stored answers cover counts as planned and fresh also once its stopped run is continued', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = (names: string): string =>
      filings(
        `window: { from: 2026-03-02, to: 2026-03-04 }\n    max_age: 12h\n    for_each: { entity_name: [${names}] }`,
      );
    await scene.sync(config('AAPL'));
    const stopped = only(await scene.sync(config('AAPL, MSFT'), { maxPoints: 0 }));
    expect(stopped).toMatchObject({ exitCode: 6, planned: 2, fresh: 1, left: 1 });

    const run = only(await scene.sync(config('AAPL, MSFT')));

    expect(run).toMatchObject({ exitCode: 0, continued: true, planned: run.asked + 1, fresh: 1, quote: stopped.quote });
    const row = `select fresh::int from sluice.sync_runs where run_id = ${run.runId}`;
    expect(await select(scene.warehouse, row)).toEqual([{ fresh: 1 }]);
  });

  it('requested completely within max_age is not requested again on the same day', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-03-02, to: today }\n    max_age: 12h');
    const first = only(await scene.sync(config));
    scene.arrived();

    scene.clock.advance(HOUR_MS);
    const second = only(await scene.sync(config));
    expect(second).toMatchObject({ exitCode: 0, state: 'complete', planned: 1, fresh: 1, sent: 0 });
    const row = `select planned::int, fresh::int from sluice.sync_runs where run_id = ${second.runId}`;
    expect(await select(scene.warehouse, row)).toEqual([{ planned: 1, fresh: 1 }]);
    expect(days(scene)).toEqual([]);

    expect(first.sent).toBeGreaterThan(0);
    expect(only(await scene.sync(config, { refresh: true })).sent).toBeGreaterThan(0);
    scene.clock.advance(13 * HOUR_MS);
    scene.arrived();
    expect(only(await scene.sync(config)).sent).toBeGreaterThan(0);
  });

  it('of a backfill is requested as given, and moves no watermark', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-03-02, to: today, lookback: 1d }');
    await scene.sync(config);
    const before = await marks(scene);
    scene.arrived();

    const run = only(await scene.sync(config, { from: '2026-02-02', to: '2026-02-03' }));

    expect(run).toMatchObject({ exitCode: 0, continued: false });
    expect(range(scene)).toBe('2026-02-02..2026-02-03');
    expect(await marks(scene)).toEqual(before);
    await scene.sync(config);
    expect(range(scene)).toBe('2026-03-04..2026-03-06');
  });

  it('of a backfill is that of syncs with a window alone; others are left out, and refused by name', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const groups = '  groups: { endpoint: pronet.group, request: { group: "1001" } }\n';
    const config = `${filings('window: { from: 2026-03-02, to: today }')}${groups}`;

    const { syncs } = await scene.sync(config, { from: '2026-02-02', to: '2026-02-03' });

    expect(syncs.map(({ sync, exitCode }) => [sync, exitCode])).toEqual([['filings', 0]]);
    expect(scene.notices).toContainEqual({
      level: 'warn',
      sync: 'groups',
      message: expect.stringContaining('left out'),
    });
    expect(scene.arrived().filter(({ endpoint }) => endpoint === 'pronet.group')).toEqual([]);
    await expect(scene.sync(config, { names: ['groups'], from: '2026-02-02' })).rejects.toThrow(
      '--from and --to have no effect on groups',
    );
    expect(scene.arrived()).toEqual([]);
  });

  it('of a backfill alone does not count as a run of the sync, also if it is continued', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-03-02, to: today }');
    const days = { from: '2026-02-02', to: '2026-02-10' };
    const freshness = 'select refreshed_at, completed_at from sluice.sync_freshness';

    expect(only(await scene.sync(config, { ...days, maxPoints: 1 }))).toMatchObject({ state: 'out_of_points' });
    expect(only(await scene.sync(config, days))).toMatchObject({ exitCode: 0, state: 'complete', continued: true });

    expect(await select(scene.warehouse, 'select state, scope from sluice.sync_runs')).toEqual([
      { state: 'complete', scope: 'range' },
    ]);
    expect(await select(scene.warehouse, freshness)).toEqual([{ refreshed_at: null, completed_at: null }]);
    expect(only(await scene.sync(config))).toMatchObject({ state: 'complete', continued: false });
    expect(await select(scene.warehouse, freshness)).toEqual([
      { refreshed_at: expect.any(Date), completed_at: expect.any(Date) },
    ]);
  });

  it('of an unknown entity moves no watermark: it may have earlier items once it is known', async () => {
    let known = false;
    const scene = await sceneIn(await open(), {
      size: BUSY,
      respond: () => (known ? undefined : { status: 412, body: 'null' }),
    });
    const config = filings('window: { from: 2026-02-02, to: today }');

    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, missing: 1 });
    known = true;
    scene.clock.advance(DAY_MS);
    await scene.sync(config);

    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-02', date_to: '2026-03-07' }));
  });

  it.each([412, 422])('is requested again only for a part that is answered %i', async (status) => {
    let refused: Days | undefined;
    let isRepaired = false;
    const isRefused = (body: unknown): boolean =>
      !isRepaired &&
      refused !== undefined &&
      daysIn(body).date_from === refused.date_from &&
      daysIn(body).date_to === refused.date_to;
    const scene = await sceneIn(await open(), {
      size: BUSY,
      respond: ({ body }) => {
        if (daysIn(body).date_to < '2026-02-10') refused ??= daysIn(body);
        return isRefused(body) ? { status, body: '{"detail":"nothing here"}' } : undefined;
      },
    });
    const config = filings('window: { from: 2026-01-12, to: today }\n    accept: { rejects: 100% }');

    expect(only(await scene.sync(config)).sent).toBeGreaterThan(5);
    expect(await marks(scene)).toMatchObject([{ unread: [{ fields: refused }] }]);
    scene.arrived();
    // Each run requests it, with the days that can be new.
    scene.clock.advance(DAY_MS);
    await scene.sync(config);
    const again = scene.arrived().map(({ body }) => body);
    expect(again.filter(isRefused)).toHaveLength(1);
    expect(again.filter((body) => !isRefused(body) && daysIn(body).date_to < '2026-02-20')).toEqual([]);

    isRepaired = true;
    await scene.sync(config);

    expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-01-12', date_to: '2026-03-07' }));
    expect((await marks(scene))[0]).not.toHaveProperty('unread');
  });

  it('whose items all lack a part of their key moves its watermark: they wait in quarantine', async () => {
    const body = [{ accession_number: '0000320193-26-000001', form: '8-K' }];
    const respond = ({ number }: RespondRequest): Responded | undefined => (number === 1 ? { body } : undefined);
    const scene = await sceneIn(await open(), { size: BUSY, respond });
    const config = filings('window: { from: 2026-03-02, to: today, lookback: 1d }\n    accept: { rejects: 100% }');

    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, sent: 1, quarantined: 1, unreadable: 0 });
    expect(await marks(scene)).toMatchObject([{ lastCompleteDay: '2026-03-05', to: '2026-03-06' }]);
    scene.arrived();
    scene.clock.advance(DAY_MS);
    await scene.sync(config);

    expect(range(scene)).toBe('2026-03-04..2026-03-07');
    expect(
      await select(scene.warehouse, 'select count(*)::int as n from sluice.quarantined_items where is_open'),
    ).toEqual([{ n: 1 }]);
  });

  it('of two inputs with the same question is requested once, and its watermark serves both', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings(
      'for_each: { forms: [[10-K, 8-K], [8-K, 10-K]] }\n    window: { from: 2026-03-02, to: today, lookback: 1d }',
      '{ count: 100 }',
    );

    await scene.sync(config);
    expect(range(scene)).toBe('2026-03-02..2026-03-06');
    scene.clock.advance(DAY_MS);
    await scene.sync(config);

    expect(range(scene)).toBe('2026-03-04..2026-03-07');
  });

  it('of one day that is still full is split by forms, with a remainder, and then by places', async () => {
    const scene = await sceneIn(await open(), { size: { filings: 300_000, companies: 200 } });
    const day = { date_from: '2026-02-13', date_to: '2026-02-13' };
    const all = inWorld(scene, day);
    expect(all.length).toBeGreaterThan(100);
    const config = filings(
      'window: { from: 2026-02-13, to: 2026-02-13 }\n    split_by: { forms: [10-K, 10-Q, 8-K, "4"], location_codes: [CA, NY, TX, WA] }',
    );

    const run = only(await scene.sync(config));

    expect(run.exitCode).toBe(0);
    const bodies = scene.arrived().map(({ body }) => body as { forms?: string[]; location_codes?: string[] });
    expect(
      bodies.map(({ forms, location_codes: codes }) => `${forms?.toSorted().join() ?? '*'} ${codes?.join() ?? '*'}`),
    ).toEqual(expect.arrayContaining(['* *', '10-K *', '-10-K,-10-Q,-4,-8-K *']));
    expect(bodies.some(({ location_codes: codes }) => codes?.join() === 'CA')).toBe(true);
    const loaded = await inTable(scene);
    expect(all).toEqual(expect.arrayContaining(loaded));
    // Whatever is not there lies below a slice that says so.
    const bounds = await select(
      scene.warehouse,
      'select returned, reason from sluice_ops.coverage where reason is not null',
    );
    expect(bounds).toHaveLength(run.truncated);
    if (loaded.length < all.length) expect(run.truncated).toBeGreaterThan(0);
    expect(only(await scene.sync(config, { failOnTruncated: true, refresh: true })).exitCode).toBe(
      run.truncated > 0 ? 4 : 0,
    );
  });

  it('gives the same rows with one call in flight and with four', async () => {
    const [one, four] = [await sceneIn(await open(), { size: BUSY }), await sceneIn(await open(), { size: BUSY })];
    const window = 'window: { from: 2026-02-02, to: 2026-02-20 }';
    await one.sync(filings(window, '{ count: 20 }', { in_flight: 1 }));
    await four.sync(filings(window, '{ count: 20 }', { in_flight: 4 }));
    expect(await rowsOf(four.warehouse)).toEqual(await rowsOf(one.warehouse));
  });
});

describe('fixed dates in the request', () => {
  const open = postgresWarehouses();
  const dates = '{ count: 20, date_from: 2026-01-05, date_to: 2026-02-06 }';
  const quote = async ({ warehouse, sandbox, clock }: Scene, yaml: string) => {
    const config = await configOf(yaml, sandbox.url);
    const [quoted] = await quoteSyncs(warehouse, config, [], { refresh: false }, clock.now());
    return quoted?.quote;
  };

  it('are one request, as quoted, and a full answer is a lower bound', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('max_age: 1h', dates);

    // The second run knows that the answer is full, and the third finds it in the warehouse.
    for (const [sent, hours] of [
      [1, 2],
      [1, 0],
      [0, 0],
    ] as const) {
      expect(await quote(scene, config)).toMatchObject({ requests: 1, mostRequests: sent });
      const run = only(await scene.sync(config));
      expect(run).toMatchObject({ exitCode: 0, state: 'complete', planned: 1, sent, truncated: 1, left: 0 });
      expect(days(scene)).toEqual(sent === 1 ? ['2026-01-05..2026-02-06'] : []);
      scene.clock.advance(hours * HOUR_MS);
    }
    expect(await marks(scene)).toEqual([]);
  });

  it('are quoted with the parts of a full answer that a killed process stored and did not load', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('window: { from: 2026-01-05, to: 2026-02-06 }', '{ count: 20 }');
    const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.record, nth: 1 });
    await scene.sync(config, { warehouse: dying.warehouse }).catch(() => undefined);
    expect(dying.reached()).toBe(true);
    await expireLeases(scene.warehouse);
    const most = (await quote(scene, config))?.mostRequests ?? 0;

    scene.arrived();
    const run = only(await scene.sync(config));
    expect(run).toMatchObject({ exitCode: 0, continued: true });
    const sent = days(scene).length;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(most);
  });

  it('stay the same in the parts of split_by', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const config = filings('split_by: { location_codes: [CA, NY] }', dates);
    const most = (await quote(scene, config))?.mostRequests;

    const run = only(await scene.sync(config));

    expect(run.sent).toBeGreaterThan(1);
    expect(run.sent).toBeLessThanOrEqual(most ?? 0);
    expect(new Set(days(scene))).toEqual(new Set(['2026-01-05..2026-02-06']));
  });
});
