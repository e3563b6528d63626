/** Capped answers, end to end: a question too large for one answer is requested in parts, and what cannot be complete is named. */
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import type { SyncSummary } from '../../src/ledger/summary.ts';
import type { RespondRequest } from '../../src/sandbox/options.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { dayNumber } from '../../src/day.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import {
  answerOf,
  drawn,
  type FilingWorld,
  filingWorld,
  itemOf,
  matchingIn,
  type Order,
  SPLIT_BY,
  WORLDS,
} from '../service/filing-world.ts';
import { countOf, IS_LONG } from '../support/long.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { filings, range } from './filings.ts';
import { select, states } from './rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from './scene.ts';

/** A service that answers searches for filings from a world. */
function answering(world: Pick<FilingWorld, 'matching'>, order: Order) {
  const draw = drawn(3);
  return ({ endpoint, body }: RespondRequest) =>
    endpoint === 'sec.search.companies'
      ? { body: answerOf(world, body as RequestBody, order, draw).map(itemOf) }
      : undefined;
}

const config = (world: FilingWorld, settings = {}, more = ''): string =>
  filings(
    `window: { from: ${world.from}, to: ${world.to} }\n    split_by: ${JSON.stringify(SPLIT_BY)}${more}`,
    '{ count: 100 }',
    settings,
  );

const loaded = async ({ warehouse }: Scene): Promise<number> =>
  Number((await select<{ n: string }>(warehouse, 'select count(*) as n from sluice.sec_filings'))[0]?.n);

/** The filings of a world up to a day. */
function upTo(to: string, { from, filings: all }: FilingWorld): FilingWorld {
  const kept = all.filter(({ day }) => day <= dayNumber(to));
  return { from, to, filings: kept, matching: matchingIn(kept) };
}

describe('thousands of filings', () => {
  const open = postgresWarehouses();

  it.each((['newest first', 'at random'] as const).slice(0, countOf(1, 2)))(
    'with days that hold over a hundred are loaded with few requests, %s',
    async (order) => {
      // The requests of three years are counted without a database, in splitter.test.ts.
      const world = upTo(IS_LONG ? '2023-12-31' : '2021-06-30', (WORLDS['deadlines'] as () => FilingWorld)());
      const scene = await sceneIn(await open(), { respond: answering(world, order) });

      const run = only(await scene.sync(config(world, { in_flight: 4 })));

      expect(run).toMatchObject({ exitCode: 0, state: 'complete', left: 0, failed: 0 });
      expect(run.sent).toBeLessThanOrEqual((world.filings.length / 100) * 2.5);
      expect(sentAgain(scene.arrived()).size).toBe(0);
      // Whatever did not come lies below a slice that says so.
      const bounds = await select<{ filters: RequestBody; returned: number }>(
        scene.warehouse,
        'select filters, returned::int from sluice_ops.coverage where reason is not null order by id',
      );
      expect(bounds.length).toBeGreaterThan(0);
      expect(run.truncated).toBe(bounds.length);
      expect(run.lowerBounds).toEqual(
        bounds.slice(0, 20).map((it) => ({ ...it, reason: expect.stringMatching(/as many items as requested/) })),
      );
      const below = new Set(bounds.flatMap(({ filters }) => world.matching(filters).map(({ id }) => id)));
      const keys = new Set(
        (await select<{ key: string }>(scene.warehouse, 'select accession_number as key from sluice.sec_filings')).map(
          ({ key }) => key,
        ),
      );
      const missing = world.filings.filter((it) => !keys.has(String(itemOf(it)['accession_number'])));
      expect(missing.filter(({ id }) => !below.has(id))).toEqual([]);
      expect(missing.length).toBeLessThan(world.filings.length / 50);
      const [split] = scene.notices.filter(({ message }) => message.includes('was full with'));
      expect(split?.message).toMatch(
        /^the answer was full with 100 items; its parts need about \d+ requests for at most \d+ points/,
      );
      expect(scene.notices.length).toBeLessThan(5);
    },
  );
});

anyWarehouse('a window that was cut', (open) => {
  const world = filingWorld(21, '2023-01-02', IS_LONG ? '2023-03-31' : '2023-02-05', (day) =>
    day % 7 === 0 ? 180 : 25,
  );

  it('leaves each question in the ledger with its parts, and the parts in its place', async () => {
    const scene = await sceneIn(await open(), { respond: answering(world, 'at random') });

    const run = only(await scene.sync(config(world)));

    expect(await loaded(scene)).toBe(world.filings.length);
    const { skipped = 0, ...others } = await states(scene.warehouse);
    expect(skipped).toBeGreaterThan(5);
    expect(Object.keys(others).toSorted()).toEqual(['loaded']);
    expect(run.planned).toBe(run.sent);
    const cut = await select<{ attempts: string; next: string; error: string | null; parts: number }>(
      scene.warehouse,
      `select attempts, next, error, (select count(*)::int from sluice_ops.requests c where c.parent_id = r.id) as parts
       from sluice_ops.requests r where state = 'skipped'`,
    );
    for (const { attempts, next, error, parts } of cut) {
      expect({ attempts: Number(attempts), error }).toEqual({ attempts: 0, error: null });
      expect(next).toMatch(
        /^(predicted to hold about \d+ items: the first of about \d+ parts is split off|(predicted to hold about \d+ items: )?split into \d+ parts)$/,
      );
      expect(parts).toBeGreaterThanOrEqual(2);
    }
    const slices = await select(scene.warehouse, 'select 1 from sluice_ops.coverage');
    expect(slices).toHaveLength(run.sent);
    // Full answers that were cut are no lower bounds.
    const full = await select<{ complete: boolean; reason: string | null }>(
      scene.warehouse,
      'select complete, reason from sluice_ops.coverage where returned >= asked',
    );
    for (const it of full) expect(it).toEqual({ complete: false, reason: null });
  });

  it('is continued where the points ran out, by what it had learned', async () => {
    const scene = await sceneIn(await open(), { respond: answering(world, 'newest first') });
    const first = only(await scene.sync(config(world), { maxPoints: 20 }));
    expect(first).toMatchObject({ exitCode: 6, sent: 20 });
    expect(first.left).toBeGreaterThan(0);

    const second = only(await scene.sync(config(world)));

    expect(second).toMatchObject({ exitCode: 0, continued: true, left: 0 });
    // The log is read again for the limit in points.
    const sent = scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');
    expect(sentAgain(sent).size).toBe(0);
    expect(await loaded(scene)).toBe(world.filings.length);
    expect(second.sent).toBeLessThanOrEqual((world.filings.length / 100) * 2.5);
  });

  it('is truncated if a part of it is refused, however often the rest was cut before', async () => {
    const answer = answering(world, 'at random');
    const scene = await sceneIn(await open(), {
      respond: (request) => {
        const { date_from: from = '', date_to: to = '' } = request.body as { date_from?: string; date_to?: string };
        const isPart = request.endpoint === 'sec.search.companies' && (from > world.from || to < world.to);
        return isPart && from <= '2023-01-20' && to >= '2023-01-20' ? { status: 422, body: '{}' } : answer(request);
      },
    });

    const run = only(await scene.sync(config(world, {}, '\n    accept: { rejects: 100% }'), { failOnTruncated: true }));

    expect(run).toMatchObject({ exitCode: 4, state: 'partial', failed: 1, truncated: 1 });
    expect(run.lowerBounds).toMatchObject([
      { reason: 'as many items as requested, and a request for more of them failed' },
    ]);
    expect(
      await select(
        scene.warehouse,
        `select p.state from sluice_ops.requests r join sluice_ops.requests p on p.id = r.parent_id where r.state = 'failed'`,
      ),
    ).toEqual([{ state: 'skipped' }]);
  });

  it('is not requested as a whole by the next run', async () => {
    const scene = await sceneIn(await open(), { respond: answering(world, 'at random') });
    await scene.sync(config(world));
    const arrived = scene.arrived().length;

    const again = only(await scene.sync(config(world), { from: world.from, to: world.to }));

    const whole = canonicalJson({ count: 100, date_from: world.from, date_to: world.to });
    const bodies = scene.arrived().map(({ body }) => canonicalJson(body));
    expect(again).toMatchObject({ exitCode: 0, truncated: 0 });
    expect(bodies).not.toContain(whole);
    expect(bodies.length).toBeLessThan(arrived);
    expect(scene.notices.at(-1)?.message).toMatch(
      /^the answer is expected to have about \d+ items; its parts need about \d+ requests/,
    );
  });
});

describe('a lower bound', () => {
  const open = postgresWarehouses();
  const FIRST = dayNumber('2026-03-02');
  const world = filingWorld(22, '2026-03-02', '2026-03-04', () => 30);
  /** More of one form on a day than an answer holds, and no state that divides it. */
  const crowd = world.filings.map((it) => ({ ...it, id: it.id + 1000, form: '4', state: '', day: FIRST }));
  const matching = matchingIn([...crowd, ...world.filings]);
  const yaml = (more = ''): string =>
    filings(
      `window: { from: 2026-03-02, to: 2026-03-04, lookback: 0d }\n    split_by: { forms: ["4", 8-K], location_codes: [CA] }${more}`,
      '{ count: 50 }',
    );

  it('remains until a later answer has more, and fails runs that rely on it if the flag says so', async () => {
    let capped = true;
    const scene = await sceneIn(await open(), {
      respond: (request) => answering(capped ? { matching } : world, 'oldest first')(request),
    });
    const long = yaml('\n    max_age: 30d');
    const first = only(await scene.sync(long, { failOnTruncated: true }));
    expect(first).toMatchObject({ exitCode: 4, state: 'partial' });
    expect(first.lowerBounds.map(({ filters }) => filters)).toContainEqual({
      date_from: '2026-03-02',
      date_to: '2026-03-02',
      entity_name: '',
      forms: ['4'],
    });
    scene.arrived();

    // The window is covered: nothing is requested, and the truncation is still reported.
    const second = only(await scene.sync(long, { failOnTruncated: true }));
    expect(scene.arrived()).toEqual([]);
    expect(second).toMatchObject({ exitCode: 4, truncated: 0, sent: 0, next: 'See them with sluice status.' });
    const plain = await scene.sync(long);
    expect(only(plain)).toMatchObject({ exitCode: 0, truncated: 0, earlierTruncated: first.truncated });
    const status = await readStatus(scene.warehouse);
    expect(status.syncs[0]?.truncated).toBe(first.truncated);
    expect(status.lowerBounds.map(({ filters }) => filters)).toContainEqual(first.lowerBounds[0]?.filters);

    capped = false;
    scene.clock.advance(DAY_MS);
    const third = only(await scene.sync(long, { refresh: true, from: '2026-03-02', failOnTruncated: true }));
    expect(third).toMatchObject({ exitCode: 0, truncated: 0 });
    const after = await readStatus(scene.warehouse);
    expect(after.lowerBounds).toEqual([]);
    expect(after.syncs[0]?.truncated).toBe(0);
  });

  it('of other filters or days than those of the sync fails no later run', async () => {
    let capped = true;
    const scene = await sceneIn(await open(), {
      respond: (request) => answering(capped ? { matching } : world, 'oldest first')(request),
    });
    const sync = async (from: string, filters = ''): Promise<SyncSummary> => {
      const more = `split_by: { forms: ["4", 8-K], location_codes: [CA] }\n    max_age: 30d\n    checks: [{ complete: true }]`;
      const window = `window: { from: ${from}, to: 2026-03-04, lookback: 0d }`;
      const text = filings(`${window}\n    ${more}`, `{ count: 50${filters} }`);
      return only(await scene.sync(text, { failOnTruncated: true }));
    };
    expect((await sync('2026-03-02')).exitCode).toBe(4);
    capped = false;

    // The first run with other filters relies on no earlier answer, and the second on the first.
    for (const filters of [', entity_name: Acme', ', forms: [8-K]', ', forms: ["-4"]'])
      for (const isFirst of [true, false]) {
        const run = await sync('2026-03-02', filters);
        expect(run, filters).toMatchObject({ exitCode: 0, truncated: 0, checks: [{ status: 'pass' }] });
        expect(run.sent > 0).toBe(isFirst);
      }
    expect(await sync('2026-03-03')).toMatchObject({ exitCode: 0, sent: 0, checks: [{ status: 'pass' }] });
    expect(await sync('2026-03-02')).toMatchObject({ exitCode: 4, sent: 0, checks: [{ status: 'fail' }] });
  });
});

describe('the check complete', () => {
  const open = postgresWarehouses();
  const days = Array.from({ length: 40 }, (_, at) => dayNumber('2026-02-02') + at);
  const all = days.flatMap((day) => Array.from({ length: day === dayNumber('2026-02-10') ? 8 : 1 }, () => day));
  const matching = matchingIn(all.map((day, id) => ({ id, day, form: '10-K', state: 'CA' })));

  it('fails after a continued run, too, if an earlier answer on which the sync relies was full', async () => {
    let isDown = false;
    const scene = await sceneIn(await open(), {
      respond: (request) => (isDown ? { status: 503, body: '{}' } : answering({ matching }, 'newest first')(request)),
    });
    const text = filings(
      'window: { from: 2026-02-02, to: today, lookback: 0d }\n    checks: [{ complete: true }]',
      '{ count: 5 }',
    );
    const failed = { checks: [{ name: 'complete', status: 'fail' }] };
    expect(only(await scene.sync(text))).toMatchObject({ exitCode: 4, truncated: 1, ...failed });
    scene.clock.advance(DAY_MS);
    isDown = true;
    expect(only(await scene.sync(text))).toMatchObject({ exitCode: 5 });
    isDown = false;
    const rest = only(await scene.sync(text));
    expect(rest).toMatchObject({ continued: true, exitCode: 4, truncated: 0, ...failed });
  });
});

describe('the watermarks of a window', () => {
  const open = postgresWarehouses();
  const world = filingWorld(23, '2026-02-02', '2026-03-04', () => 3);
  const yaml = (window: string, more = ''): string => filings(`window: ${window}${more}`, '{ count: 100 }');
  it('outlast a change that has no part in what the window holds, and no other', async () => {
    const scene = await sceneIn(await open(), { respond: answering(world, 'newest first') });
    await scene.sync(yaml('{ from: 2026-02-02, to: today, lookback: 3d }'));
    expect(range(scene)).toBe('2026-02-02..2026-03-06');

    scene.clock.advance(DAY_MS);
    await scene.sync(yaml('{ from: 2026-02-02, to: today, lookback: 1d }', '\n    schedule: { cron: "15 6 * * *" }'));
    expect(range(scene)).toBe('2026-03-04..2026-03-07');

    scene.clock.advance(DAY_MS);
    await scene.sync(yaml('{ from: 2026-02-10, to: today, lookback: 1d }'));
    expect(range(scene)).toBe('2026-03-05..2026-03-08');

    // Nothing is known of the days before.
    await scene.sync(yaml('{ from: 2026-01-20, to: today, lookback: 1d }'));
    expect(range(scene)).toBe('2026-01-20..2026-03-08');

    await scene.sync(filings('window: { from: 2026-01-20, to: today, lookback: 1d }', '{ count: 100, forms: [10-K] }'));
    expect(range(scene)).toBe('2026-01-20..2026-03-08');
  });
});

describe('a full answer without days', () => {
  const open = postgresWarehouses();
  const ofSync = (lines: string): string => `${service()}
syncs:
  a:
    ${lines}
`;

  it('is requested again with a greater count, up to the bound', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        const { count, user } = body as { count: number; user: string };
        const has = user === 'few' ? 100 : 10_000;
        const posts = Array.from({ length: Math.min(count, has) }, (_, at) => ({
          id: `${user}-${at}`,
          code: `c${at}`,
          url: 'https://photos.example/p',
          image: 'https://photos.example/i.jpg',
        }));
        return endpoint === 'photoshare.user.posts' ? { body: posts } : undefined;
      },
    });
    const yaml = ofSync(
      'endpoint: photoshare.user.posts\n    for_each: { user: [few, many] }\n    request: { count: 12 }\n    raise_count_to: 300\n    max_age: 30d',
    );

    const run = only(await scene.sync(yaml));

    expect(scene.arrived().map(({ body }) => body as { user: string; count: number })).toEqual(
      [
        ['few', 12],
        ['many', 12],
        ['few', 48],
        ['many', 48],
        ['few', 192],
        ['many', 192],
        ['many', 300],
      ].map(([user, count]) => ({ user, count })),
    );
    expect(run).toMatchObject({ exitCode: 0, truncated: 1 });
    expect(run.lowerBounds).toEqual([{ filters: { user: 'many' }, returned: 300, reason: expect.any(String) }]);
    const slices = await select<{ asked: number; complete: boolean; reason: string | null }>(
      scene.warehouse,
      "select asked::int, complete, reason from sluice_ops.coverage where filters ->> 'user' = 'few' order by id",
    );
    expect(slices).toEqual([
      { asked: 12, complete: false, reason: null },
      { asked: 48, complete: false, reason: null },
      { asked: 192, complete: true, reason: null },
    ]);

    // Stored answers that serve a later run do not hide the newest one.
    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, sent: 0 });
    const newest = 'select asked::int, extent from sluice.sync_slices order by asked';
    expect(await select(scene.warehouse, newest)).toEqual([
      { asked: 192, extent: 'complete' },
      { asked: 300, extent: 'lower_bound' },
    ]);
  });

  const twelve = Array.from({ length: 12 }, (_, at) => ({
    id: `p${at}`,
    code: `c${at}`,
    url: 'https://photos.example/p',
    image: 'https://photos.example/i.jpg',
  }));
  const twelveFirst = ofSync(
    'endpoint: photoshare.user.posts\n    request: { user: many, count: 12 }\n    raise_count_to: 48\n    accept: { rejects: 100% }',
  );

  it('whose greater count is refused is truncated', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => ((body as { count: number }).count > 12 ? { status: 422, body: '{}' } : { body: twelve }),
    });
    expect(only(await scene.sync(twelveFirst, { failOnTruncated: true }))).toMatchObject({
      exitCode: 4,
      state: 'partial',
      failed: 1,
      truncated: 1,
      lowerBounds: [
        { filters: { user: 'many' }, returned: 12, reason: expect.stringContaining('for more of them failed') },
      ],
    });
    expect(only(await scene.sync(twelveFirst))).toMatchObject({ exitCode: 0, failed: 1, truncated: 1 });
    expect(await select(scene.warehouse, 'select truncated::int from sluice_ops.runs order by id')).toEqual([
      { truncated: 1 },
      { truncated: 1 },
    ]);
  });

  it('whose greater count can never be read is truncated once', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => ((body as { count: number }).count > 12 ? { body: '<html>' } : { body: twelve }),
    });
    for (const [sent, failed] of [
      [2, 0],
      [1, 0],
      [1, 0],
      [0, 1],
    ])
      expect(only(await scene.sync(`${twelveFirst}    max_age: 1d\n`))).toMatchObject({
        sent,
        failed,
        unreadable: 1,
        truncated: 1,
      });
  });

  it('of an entity that is not known, or that could not be read, is no complete slice', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) =>
        (body as { user: string }).user === 'gone' ? { status: 412, body: 'null' } : { body: '<html>' },
    });
    await scene.sync(
      ofSync(
        'endpoint: photoshare.user.posts\n    for_each: { user: [gone, odd] }\n    request: { count: 12 }\n    accept: { rejects: 100% }',
      ),
    );
    const slices = await select(
      scene.warehouse,
      "select filters ->> 'user' as user, returned::int, complete, reason from sluice_ops.coverage order by id",
    );
    expect(slices).toEqual([
      { user: 'odd', returned: 0, complete: false, reason: expect.stringContaining('could not be read') as string },
    ]);
  });
});
