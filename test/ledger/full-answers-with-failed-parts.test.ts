/** Full answers whose follow-up failed, as readers of the status, the views and the report see them. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { readReport } from '../../src/report/read-report.ts';
import { filings } from '../flow/filings.ts';
import { select } from '../flow/rows.ts';
import { only, type Scene, sceneIn } from '../flow/scene.ts';
import { answerOf, drawn, filingWorld, itemOf } from '../service/filing-world.ts';
import type { Responded } from '../../src/sandbox/options.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const FAILED = 'as many items as requested, and a request for more of them failed';

/** The lower bounds of a warehouse, in each place that lists or counts them. */
async function boundsIn({ warehouse, clock }: Scene) {
  const { syncs, lowerBounds } = await readStatus(warehouse);
  const report = await readReport(warehouse, { now: clock.now(), redact: (text) => text });
  return {
    status: [syncs[0]?.truncated, lowerBounds.map(({ reason }) => reason)],
    slices: await select(
      warehouse,
      `select returned::int, reason from sluice.sync_slices where extent = 'lower_bound' order by slice_id`,
    ),
    coverage: await select(warehouse, 'select lower_bound_slices::int as n from sluice.sync_coverage'),
    report: report.truncated.length,
  };
}

const NONE = { status: [0, []], slices: [], coverage: [{ n: 0 }], report: 0 };

/** True for a search of days after the first one that contains the day. */
function isPartWith({ date_from: from = '', date_to: to = '' }: RequestBody, day: string): boolean {
  return String(from) > '2026-02-02' && String(from) <= day && String(to) >= day;
}

anyWarehouse('a full answer', (open) => {
  /** A scene in which the service answers searches from these filings, unless it refuses them. */
  const sceneOf = async (
    world: ReturnType<typeof filingWorld>,
    refuse: (request: RequestBody) => Responded | undefined,
  ): Promise<Scene> => {
    const draw = drawn(3);
    return sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        if (endpoint !== 'sec.search.companies') return undefined;
        const request = body as RequestBody;
        return refuse(request) ?? { body: answerOf(world, request, 'newest first', draw).map(itemOf) };
      },
    });
  };

  it('whose request for more failed is a lower bound for every reader, until it is answered', async () => {
    let isRefused = true;
    const posts = (length: number): object[] =>
      Array.from({ length }, (_, at) => ({
        id: `p${at}`,
        code: `c${at}`,
        url: `https://photos.example/${at}`,
        image: 'i',
      }));
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => {
        const { count } = body as { count: number };
        return count > 12 && isRefused ? { status: 422, body: '{}' } : { body: posts(Math.min(count, 20)) };
      },
    });
    const yaml = filings('raise_count_to: 48\n    accept: { rejects: 100% }', '{ user: many, count: 12 }').replace(
      'sec.search.companies',
      'photoshare.user.posts',
    );
    const bound = {
      status: [1, [FAILED]],
      slices: [{ returned: 12, reason: FAILED }],
      coverage: [{ n: 1 }],
      report: 1,
    };

    await scene.sync(yaml);
    expect(await boundsIn(scene)).toEqual(bound);
    await scene.sync(yaml, { failed: true });
    expect(await boundsIn(scene)).toEqual(bound);

    isRefused = false;
    expect(only(await scene.sync(yaml, { failed: true }))).toMatchObject({ state: 'complete', loaded: 8 });
    expect(await boundsIn(scene)).toEqual(NONE);
  });

  it('whose request for more finds no such entity is a lower bound, also if a stored answer says so', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => {
        const { count } = body as { count: number };
        const posts = Array.from({ length: 12 }, (_, at) => ({ id: `p${at}`, code: `c${at}`, url: 'u', image: 'i' }));
        return count > 12 ? { status: 412, body: 'null' } : { body: posts };
      },
    });
    const yaml = filings('raise_count_to: 48\n    max_age: 30d', '{ user: many, count: 12 }').replace(
      'sec.search.companies',
      'photoshare.user.posts',
    );
    for (let round = 0; round < 2; round += 1) {
      expect(only(await scene.sync(yaml))).toMatchObject({ state: 'complete', truncated: 1 });
      expect((await boundsIn(scene)).status).toEqual([1, [FAILED]]);
    }
  });

  it('stays a lower bound if the service later denies the entity, whose own slice then has no answer', async () => {
    let isGone = false;
    let most = 12;
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => {
        const { count, user } = body as { count: number; user: string };
        const posts = Array.from({ length: 12 }, (_, at) => ({ id: `p${at}`, code: `c${at}`, url: 'u', image: 'i' }));
        if (user === 'never' || isGone) return { status: 412, body: 'null' };
        return count > most ? { status: 422, body: '{}' } : { body: posts };
      },
    });
    const yaml = filings('for_each: { user: [many, never] }\n    accept: { rejects: 100% }', '{ count: 12 }').replace(
      'sec.search.companies',
      'photoshare.user.posts',
    );
    const raised = `${yaml}    raise_count_to: 48\n`;
    const extents = 'select filters, extent from sluice.sync_slices order by slice_id';
    const truncated = [{ filters: '{"user": "many"}', extent: 'lower_bound' }];

    await scene.sync(raised);
    expect((await boundsIn(scene)).status).toEqual([1, [FAILED]]);
    isGone = true;
    await scene.sync(raised);
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [FAILED]], coverage: [{ n: 1 }], report: 1 });
    expect(await select(scene.warehouse, extents)).toEqual(truncated);

    isGone = false;
    most = 48;
    await scene.sync(yaml);
    isGone = true;
    await scene.sync(yaml);
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [expect.any(String)]], coverage: [{ n: 1 }], report: 1 });
    expect(await select(scene.warehouse, extents)).toEqual(truncated);
    const outcomes = "select outcome from sluice.sync_inputs where input like '%never%'";
    expect(await select(scene.warehouse, outcomes)).toEqual([{ outcome: 'missing' }]);
  });

  it('of days of which some failed is a lower bound until a later run reads these days, however it splits them', async () => {
    let isRefused = true;
    const world = filingWorld(22, '2026-02-02', '2026-03-05', () => 12);
    const scene = await sceneOf(world, (request) =>
      isRefused && isPartWith(request, '2026-02-20') ? { status: 422, body: '{}' } : undefined,
    );
    const yaml = (to: string): string =>
      filings(
        `window: { from: 2026-02-02, to: ${to}, lookback: 0d }\n    accept: { rejects: 100% }\n    checks: [{ complete: true }]`,
        '{ count: 50 }',
      );

    const first = only(await scene.sync(yaml('2026-03-04')));
    expect(first).toMatchObject({ failed: 1, truncated: 1, checks: [{ status: 'fail' }] });
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [FAILED]], coverage: [{ n: 1 }], report: 1 });
    // The next run knows that the answer would be full, so it requests only the parts.
    const second = only(await scene.sync(yaml('2026-03-04'), { failOnTruncated: true }));
    expect(second).toMatchObject({ exitCode: 4, failed: 1, truncated: 0, earlierTruncated: 1 });
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [FAILED]], coverage: [{ n: 1 }], report: 1 });
    // Other days do not read the failed ones.
    await scene.sync(yaml('2026-03-04'), { from: '2026-03-01', to: '2026-03-02' });
    expect((await boundsIn(scene)).status).toEqual([1, [FAILED]]);

    isRefused = false;
    const last = only(await scene.sync(yaml('2026-03-05'), { failOnTruncated: true }));
    expect(last).toMatchObject({ exitCode: 0, state: 'complete', truncated: 0, checks: [{ status: 'pass' }] });
    expect(await boundsIn(scene)).toEqual(NONE);
  });

  it('of a day that later runs split is a lower bound until one of them reads all parts', async () => {
    let refused = '10-K';
    const day = '2026-03-02';
    const world = filingWorld(22, day, day, () => 80);
    const scene = await sceneOf(world, ({ forms = [] }) =>
      (forms as readonly string[]).includes(refused) ? { status: 422, body: '{}' } : undefined,
    );
    const yaml = (more = ''): string =>
      filings(`window: { from: ${day}, to: ${day} }\n    accept: { rejects: 100% }${more}`, '{ count: 50 }');
    const split = yaml('\n    split_by: { forms: ["4", 8-K, 10-K] }');
    const days = { from: day, to: day, failOnTruncated: true };

    await scene.sync(yaml());
    const bound = (await boundsIn(scene)).status;
    expect(bound).toEqual([1, [expect.any(String)]]);
    const failed = only(await scene.sync(split, days));
    expect(failed).toMatchObject({ exitCode: 4, failed: 1, truncated: 0, earlierTruncated: 1 });
    expect(await boundsIn(scene)).toMatchObject({ status: bound, coverage: [{ n: 1 }], report: 1 });

    refused = '';
    expect(only(await scene.sync(split, days))).toMatchObject({ exitCode: 0, failed: 0, truncated: 0 });
    expect(await boundsIn(scene)).toEqual(NONE);
  });

  it('with a part that the service denies stays a lower bound when only its failed parts are sent again', async () => {
    let answers = 0;
    const world = filingWorld(22, '2026-02-02', '2026-03-05', () => 12);
    const scene = await sceneOf(world, (request) => {
      if (answers < 1 && isPartWith(request, '2026-02-20')) return { status: 422, body: '{}' };
      return answers < 2 && isPartWith(request, '2026-02-12') ? { status: 412, body: 'null' } : undefined;
    });
    const yaml = filings(
      'window: { from: 2026-02-02, to: 2026-03-04 }\n    accept: { rejects: 100% }',
      '{ count: 50 }',
    );

    expect(only(await scene.sync(yaml))).toMatchObject({ failed: 1, missing: 1, truncated: 1 });
    answers = 1;
    const again = only(await scene.sync(yaml, { failed: true }));
    expect(again).toMatchObject({ exitCode: 0, failed: 0, missing: 0, truncated: 0 });
    expect(again.sent).toBeGreaterThan(0);
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [FAILED]], coverage: [{ n: 1 }], report: 1 });
    answers = 2;
    expect(only(await scene.sync(yaml, { failOnTruncated: true }))).toMatchObject({ exitCode: 0, truncated: 0 });
    expect(await boundsIn(scene)).toEqual(NONE);
  });

  it('with a denied part that a narrower window leaves out stays a lower bound until a run of a wider window reads it', async () => {
    let isDenied = true;
    const world = filingWorld(22, '2026-02-02', '2026-03-05', () => 12);
    const scene = await sceneOf(world, (request) =>
      isDenied && isPartWith(request, '2026-02-12') ? { status: 412, body: 'null' } : undefined,
    );
    const yaml = (from: string, to: string): string =>
      filings(`window: { from: ${from}, to: ${to}, lookback: 0d }\n    checks: [{ complete: true }]`, '{ count: 50 }');

    expect(only(await scene.sync(yaml('2026-02-02', '2026-03-03')))).toMatchObject({ missing: 1, truncated: 1 });
    expect((await boundsIn(scene)).status).toEqual([1, [FAILED]]);
    const narrow = only(await scene.sync(yaml('2026-02-25', '2026-03-04')));
    expect(narrow).toMatchObject({ missing: 0, truncated: 0, checks: [{ status: 'fail' }] });
    expect(narrow.sent).toBeGreaterThan(0);
    expect(await boundsIn(scene)).toMatchObject({ status: [1, [FAILED]], coverage: [{ n: 1 }], report: 1 });
    expect(only(await scene.sync(yaml('2026-02-02', '2026-03-04')))).toMatchObject({ missing: 1 });
    expect((await boundsIn(scene)).status).toEqual([1, [FAILED]]);

    isDenied = false;
    const last = only(await scene.sync(yaml('2026-02-02', '2026-03-05'), { failOnTruncated: true }));
    expect(last).toMatchObject({ exitCode: 0, missing: 0, checks: [{ status: 'pass' }] });
    expect(await boundsIn(scene)).toEqual(NONE);
  });

  it('of an input ends when a run reads the input, also if it is written otherwise then', async () => {
    let isRefused = true;
    const world = filingWorld(22, '2026-02-02', '2026-03-05', () => 12);
    const scene = await sceneOf(world, (request) =>
      isRefused && isPartWith(request, '2026-02-20') ? { status: 422, body: '{}' } : undefined,
    );
    const yaml = (to: string, input: string): string =>
      filings(
        `window: { from: 2026-02-02, to: ${to}, lookback: 0d }\n    accept: { rejects: 100% }\n    for_each: [{ ${input} }]`,
        '{}',
      );

    expect(only(await scene.sync(yaml('2026-03-04', 'count: 50, forms: ["4", 8-K]')))).toMatchObject({ truncated: 1 });
    isRefused = false;
    const other = 'count: 40, forms: [8-K, "4"], timeout: 90';
    const last = only(await scene.sync(yaml('2026-03-05', other), { failOnTruncated: true }));
    expect(last).toMatchObject({ exitCode: 0, truncated: 0 });
    expect(await boundsIn(scene)).toEqual(NONE);
  });
});
