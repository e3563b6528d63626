/** Answers that could not be read: requested again twice by later runs, never taken for complete, and listed until they are read. */
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { deletedRows } from '../../src/flow/replay/deleted-rows.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { planSync } from '../../src/flow/prepare/plan-sync.ts';
import { readStatus } from '../../src/insight/status.ts';
import { DAY_MS, HOUR_MS } from '../flow/clock.ts';
import { dyingAt, expireLeases, expireSlots, STEP } from '../flow/crash.ts';
import { BUSY, days, inTable, inWorld } from '../flow/filings.ts';
import { select } from '../flow/rows.ts';
import { configOf, only, type Scene, sceneIn, service, type SyncMore } from '../flow/scene.ts';

const CUT: Responded = { body: '[{"@type":"@sec_filing","accession_number":"0000' };
const WEEK = { date_from: '2026-02-02', date_to: '2026-02-08' };

/** A service whose answers are cut where the test says so. */
const cutting = (isCut: (request: RespondRequest & { readonly text: string }) => boolean) => {
  const state = { isCut };
  return {
    state,
    respond: (request: RespondRequest) =>
      state.isCut({ ...request, text: JSON.stringify(request.body) }) ? CUT : undefined,
  };
};

const filings = (more: string): string => `${service()}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 100 }
    window: { from: ${WEEK.date_from}, to: ${WEEK.date_to} }
    ${more}
`;
const LARGE = `${service()}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 50 }
    window: { from: 2026-01-05, to: 2026-02-15 }
    max_age: 30d
`;
const bodies = (scene: Scene): unknown[] => scene.arrived().map(({ body }) => body);
const once = async (scene: Scene, yaml: string, more?: SyncMore) => only(await scene.sync(yaml, more));
const view = (scene: Scene, text: string) => select(scene.warehouse, text);
const share = async (scene: Scene): Promise<unknown> =>
  (await view(scene, 'select complete_share from sluice.sync_coverage'))[0]?.['complete_share'];

describe('an answer that cannot be read', () => {
  const open = postgresWarehouses();

  it('to a complete window is named with exit 4, and the next run requests exactly that and gets everything', async () => {
    const service = cutting(({ number }) => number === 1);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
    const yaml = filings('max_age: 30d');

    const first = await once(scene, yaml);
    expect(first).toMatchObject({
      exitCode: 4,
      state: 'partial',
      loaded: 0,
      unreadable: 1,
      truncated: 1,
      sent: 1,
      error: expect.stringMatching(
        /could not be read: .*"date_from":"2026-02-02".*cut off or not valid JSON/,
      ) as string,
      gaps: [{ filters: expect.objectContaining(WEEK) as object, failing: false }],
    });
    expect(await inTable(scene)).toEqual([]);
    expect(await share(scene)).toBe(0);
    expect(await view(scene, 'select refreshed_at, completed_at from sluice.sync_freshness')).toEqual([
      { refreshed_at: null, completed_at: null },
    ]);
    expect((await readStatus(scene.warehouse)).gaps).toMatchObject([{ sync: 'filings', failing: false }]);
    const config = await configOf(yaml, scene.sandbox.url);
    const definition = config.syncs[0];
    if (!definition) throw new Error('the config has no sync');
    const plan = await planSync(scene.warehouse, definition, { refresh: false }, scene.clock.now());
    expect(await Array.fromAsync(plan.parts(operationsOf(scene.warehouse)))).toMatchObject([
      { covered: [], tasks: [{ request: WEEK }], fresh: new Map(), failing: new Map() },
    ]);
    const sent = bodies(scene);

    scene.clock.advance(HOUR_MS);
    const second = await once(scene, yaml);
    expect(second).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0, gaps: [], error: null });
    const again = bodies(scene);
    expect(again[0]).toEqual(sent[0]);
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
    expect(await share(scene)).toBe(1);
    expect(await view(scene, 'select state, unreadable from sluice.sync_runs order by run_id')).toEqual([
      { state: 'partial', unreadable: '1' },
      { state: 'complete', unreadable: '0' },
    ]);

    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', sent: 0 });
  });

  it('is requested once in an invocation whose syncs share the request, and is a gap of each', async () => {
    const service = cutting(() => true);
    const respond = (request: RespondRequest): Responded | undefined => {
      scene.clock.advance(1);
      return service.respond(request);
    };
    const scene: Scene = await sceneIn(await open(), { size: BUSY, respond });
    const sync = filings('max_age: 30d');
    const yaml = `${sync}${sync.slice(sync.indexOf('  filings:')).replace('filings:', 'others:')}`;

    for (const invocation of [1, 2, 3, 4]) {
      const { syncs } = await scene.sync(yaml);
      expect(syncs).toMatchObject([
        { exitCode: 4, unreadable: 1, truncated: 1 },
        { exitCode: 4, unreadable: 1, truncated: 1 },
      ]);
      expect(bodies(scene)).toHaveLength(invocation <= 3 ? 1 : 0);
      expect(await view(scene, 'select count(*)::int as n from sluice.quarantined_items where is_open')).toEqual([
        { n: Math.min(invocation, 3) },
      ]);
      expect(await view(scene, 'select sync, complete_share from sluice.sync_coverage order by sync')).toEqual([
        { sync: 'filings', complete_share: 0 },
        { sync: 'others', complete_share: 0 },
      ]);
      scene.clock.advance(HOUR_MS);
    }
    service.state.isCut = () => false;
    const { syncs } = await scene.sync(yaml, { refresh: true });

    expect(syncs).toMatchObject([
      { exitCode: 0, unreadable: 0 },
      { exitCode: 0, unreadable: 0, sent: 0 },
    ]);
    expect(await view(scene, 'select complete_share from sluice.sync_coverage')).toEqual([
      { complete_share: 1 },
      { complete_share: 1 },
    ]);
  });

  it.each([
    { part: 'a part of a full window', sync: filings('max_age: 30d').replace('count: 100', 'count: 30'), nth: 2 },
    { part: 'a part of a window that is split before it is sent', sync: LARGE, nth: 3 },
  ])('to $part is requested once in an invocation whose syncs share the window', async ({ sync, nth }) => {
    const service = cutting(({ number }) => number === nth);
    const respond = (request: RespondRequest): Responded | undefined => {
      scene.clock.advance(1);
      return service.respond(request);
    };
    const scene: Scene = await sceneIn(await open(), { size: BUSY, respond });
    const yaml = `${sync}${sync.slice(sync.indexOf('  filings:')).replace('filings:', 'others:')}`;

    for (const exitCode of [4, 0]) {
      const unreadable = exitCode === 0 ? 0 : 1;
      const { syncs } = await scene.sync(yaml);
      expect(syncs).toMatchObject([
        { exitCode, unreadable },
        { exitCode, unreadable },
      ]);
      const parts = scene.sandbox.requests().map(({ body }) => JSON.stringify(body));
      expect(parts.filter((it) => it === parts[nth - 1])).toHaveLength(exitCode === 0 ? 2 : 1);
    }
  });

  it('from a service that always truncates it is requested three times in all, then reported until --refresh', async () => {
    const service = cutting(() => true);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
    const yaml = filings('max_age: 30d');

    for (const nth of [1, 2, 3]) {
      expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, sent: 1, unreadable: 1 });
      expect(bodies(scene), `run ${nth}`).toHaveLength(1);
      scene.clock.advance(DAY_MS);
    }
    for (const _ of [4, 5]) {
      const later = await once(scene, yaml);
      expect(later).toMatchObject({
        exitCode: 4,
        state: 'partial',
        sent: 0,
        failed: 1,
        unreadable: 1,
        truncated: 1,
        gaps: [{ failing: true }],
        next: expect.stringMatching(/sluice sync --refresh filings/) as string,
      });
      expect(later.error).toMatch(/2026-02-02/);
    }
    expect((await readStatus(scene.warehouse)).failures).toMatchObject([
      { state: 'failed', error: expect.stringMatching(/last 3 answers could not be read/) as string },
    ]);
    expect(await share(scene)).toBe(0);

    expect(await once(scene, yaml, { refresh: true })).toMatchObject({ exitCode: 4, sent: 1 });
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, sent: 0 });
    service.state.isCut = () => false;
    expect(await once(scene, yaml, { refresh: true })).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0 });
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', sent: 0 });
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
    expect(await share(scene)).toBe(1);
  });

  it.each([
    { to: 'a window', sync: filings('max_age: 3d') },
    {
      to: 'a name',
      sync: `${service()}\nsyncs:\n  filings: { endpoint: microblog.user, for_each: { user: [one] }, max_age: 3d }\n`,
    },
  ])('to $to stays failing after max_age passed, until --refresh gets one that can be read', async ({ sync }) => {
    const service = cutting(() => true);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
    for (const _ of [1, 2, 3]) {
      expect(await once(scene, sync)).toMatchObject({ exitCode: 4, sent: 1, unreadable: 1 });
      scene.clock.advance(DAY_MS);
    }

    for (const days of [1, 3, 40]) {
      scene.clock.advance(days * DAY_MS);
      expect(await once(scene, sync), `after ${days} days more`).toMatchObject({
        exitCode: 4,
        sent: 0,
        unreadable: 1,
        gaps: [{ failing: true }],
      });
      expect((await readStatus(scene.warehouse)).failures).toMatchObject([
        {
          error: expect.stringMatching(/^its last 3 answers could not be read/) as string,
          next: 'Only sluice sync --refresh filings, or sluice sync --failed filings, sends it again.',
        },
      ]);
    }
    // An unreadable answer to a refresh is one more of them.
    expect(await once(scene, sync, { refresh: true })).toMatchObject({ exitCode: 4, sent: 1, unreadable: 1 });
    scene.clock.advance(9 * DAY_MS);
    expect(await once(scene, sync)).toMatchObject({ exitCode: 4, sent: 0, gaps: [{ failing: true }] });

    service.state.isCut = () => false;
    expect(await once(scene, sync, { refresh: true })).toMatchObject({ exitCode: 0, unreadable: 0 });
    expect(await once(scene, sync)).toMatchObject({ exitCode: 0, sent: 0, unreadable: 0 });
  });

  it('is requested again after one that could be read, twice and no more', async () => {
    const service_ = cutting(() => true);
    const scene = await sceneIn(await open(), { respond: service_.respond });
    const yaml = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one] }, max_age: 3d }
`;
    const sent: number[] = [];
    const run = async (more?: SyncMore): Promise<void> => {
      sent.push((await once(scene, yaml, more)).sent);
      scene.clock.advance(DAY_MS);
    };
    for (const _ of [1, 2, 3, 4]) await run();
    service_.state.isCut = () => false;
    await run({ refresh: true });
    service_.state.isCut = () => true;
    scene.clock.advance(4 * DAY_MS);
    for (const _ of [1, 2, 3, 4]) await run();
    scene.clock.advance(4 * DAY_MS);
    await run();
    expect(sent).toEqual([1, 1, 1, 0, 1, 1, 1, 1, 0, 0]);
  });

  it('is not failing while its max_age holds fewer than three of them', async () => {
    const scene = await sceneIn(await open(), { respond: cutting(() => true).respond });
    const yaml = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one] }, max_age: 3d }
`;
    for (const _ of [1, 2, 3, 4]) {
      expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, sent: 1, gaps: [{ failing: false }] });
      scene.clock.advance(2 * DAY_MS);
    }
  });

  it('to one part of a window leaves the watermark before it, and the next run requests only that part', async () => {
    const service = cutting(({ number }) => number === 4);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });

    const first = await once(scene, LARGE);
    expect(first).toMatchObject({ exitCode: 4, state: 'partial', unreadable: 1, truncated: 1, left: 0 });
    expect(first.sent).toBeGreaterThan(5);
    const sent = bodies(scene);
    const lost = sent[3] as { readonly date_from: string; readonly date_to: string };
    expect(first.gaps).toMatchObject([{ filters: { date_from: lost.date_from, date_to: lost.date_to } }]);
    expect(await share(scene)).toBeLessThan(1);
    const [row] = await view(scene, "select value from sluice_ops.marks where name like 'window:%'");
    const { lastCompleteDay } = JSON.parse(String(row?.['value'])) as { readonly lastCompleteDay: string };
    expect(lastCompleteDay < lost.date_from).toBe(true);
    const expected = inWorld(scene, { date_from: '2026-01-05', date_to: '2026-02-15' });
    const missing = inWorld(scene, { date_from: lost.date_from, date_to: lost.date_to });
    expect(await inTable(scene)).toHaveLength(expected.length - missing.length);
    // The parts of a window are distinguished from the question that they are parts of.
    const inputs = await view(
      scene,
      `select distinct whole.question::jsonb ->> 'date_from' as first, whole.question::jsonb ->> 'date_to' as last
       from sluice.sync_inputs part join sluice.sync_inputs whole on whole.request_key = part.part_of
       where part.depth = 1 and whole.depth = 0`,
    );
    expect(inputs).toEqual([{ first: '2026-01-05', last: '2026-02-15' }]);

    // The days before the watermark and the other parts are not requested again, also days later.
    scene.clock.advance(2 * DAY_MS);
    expect(await once(scene, LARGE)).toMatchObject({ exitCode: 0, state: 'complete', sent: 1 });
    expect(bodies(scene)).toEqual([lost]);
    expect(await inTable(scene)).toEqual(expected);
    expect(await share(scene)).toBe(1);
    expect(await once(scene, LARGE)).toMatchObject({ exitCode: 0, sent: 0 });
  });

  it.each([
    { edge: 'from', narrow: '{ from: 2026-01-26, to: 2026-02-15 }', kept: 'second', left: 'first' },
    { edge: 'to', narrow: '{ from: 2026-01-05, to: 2026-01-25 }', kept: 'first', left: 'second' },
  ])(
    'to a part that a narrower window leaves out by its $edge is requested when the window is wide again',
    async ({ narrow, kept, left }) => {
      const cut = new Map<string, unknown>();
      const service = cutting(({ body }) => {
        const { date_from: from, date_to: to } = body as typeof WEEK;
        const half = to <= '2026-01-25' ? 'first' : from >= '2026-01-26' ? 'second' : undefined;
        if (half === undefined || cut.has(half)) return false;
        cut.set(half, body);
        return true;
      });
      const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
      expect(await once(scene, LARGE)).toMatchObject({ exitCode: 4, unreadable: 2 });
      expect(bodies(scene)).toEqual(expect.arrayContaining([...cut.values()]));
      const narrowed = LARGE.replace(/window: .*/, `window: ${narrow}`);

      expect(await once(scene, narrowed)).toMatchObject({ exitCode: 0, state: 'complete' });
      expect(bodies(scene)[0]).toEqual(cut.get(kept));

      expect(await once(scene, LARGE)).toMatchObject({ exitCode: 0, state: 'complete' });
      expect(bodies(scene)[0]).toEqual(cut.get(left));
      expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-01-05', date_to: '2026-02-15' }));
      expect(await share(scene)).toBe(1);
    },
  );

  it('without max_age is requested again with the days that can be new, as often as the sync runs', async () => {
    const service = cutting(({ number }) => number <= 5);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
    const yaml = filings('accept: { rejects: 1% }');

    for (const _ of [1, 2, 3, 4, 5])
      expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, sent: 1, unreadable: 1 });
    expect(new Set(days(scene))).toEqual(new Set(['2026-02-02..2026-02-08']));
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
  });

  it('read later by a replay is covered again, and no run requests it', async () => {
    const scene = await sceneIn(await open(), { size: BUSY, respond: cutting(({ number }) => number <= 1).respond });
    const yaml = filings('max_age: 30d').replace('count: 100', 'count: 7');
    const first = await once(scene, yaml);
    expect(first).toMatchObject({ exitCode: 4, unreadable: 1 });
    scene.arrived();
    // As a newer version of this program would read it.
    await view(
      scene,
      `update sluice_ops.answers set body = convert_to('[]', 'UTF8'), encoding = 'identity', bytes = 2,
         sha256 = encode(sha256('[]'), 'hex')`,
    );

    expect((await scene.replay({ quarantined: true })).quarantined).toBe(0);
    expect((await readStatus(scene.warehouse)).gaps).toEqual([]);
    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([{ truncated: 0, unreadable: 0 }]);
    expect(await share(scene)).toBe(1);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', fresh: 1, sent: 0 });
    expect(bodies(scene)).toEqual([]);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', fresh: 1, sent: 0 });
  });

  it('read later by a replay and full is a lower bound until the next run requests its parts', async () => {
    const scene = await sceneIn(await open(), { size: BUSY, respond: cutting(({ number }) => number <= 1).respond });
    const yaml = filings('max_age: 30d').replace('count: 100', 'count: 20');
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, unreadable: 1 });
    const { items } = scene.sandbox.world.filings.search({ count: 20, entity_name: '', ...WEEK });
    expect(items).toHaveLength(20);
    const text = `$body$${JSON.stringify(items)}$body$`;
    await view(
      scene,
      `update sluice_ops.answers set body = convert_to(${text}, 'UTF8'), encoding = 'identity',
         bytes = octet_length(${text}), sha256 = encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`,
    );

    expect(await scene.replay({ quarantined: true })).toMatchObject({ received: 20, quarantined: 0 });
    expect(await readStatus(scene.warehouse)).toMatchObject({
      syncs: [{ unreadable: 0, truncated: 1 }],
      lowerBounds: [{ returned: 20, reason: expect.stringMatching(/parts were not requested yet/) as string }],
      gaps: [],
    });
    expect(await share(scene)).toBe(0);

    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', fresh: 1, truncated: 0 });
    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([{ truncated: 0 }]);
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
    expect(await share(scene)).toBe(1);
  });

  it.each([
    ['null', 200],
    ['<html><body>Bad gateway</body></html>', 200],
    ['{"error":"try later"}', 200],
    ['[]', 206],
    ['[{"error":"try later"}]', 200],
    ['[null, {}, "x"]', 200],
    ['{"name":"Too Many Requests","url":"https://status.example/"}', 200],
  ])('of people (%s, %s) is requested again, and serves no other sync', async (body, status) => {
    let calls = 0;
    const scene = await sceneIn(await open(), {
      respond: () => ((calls += 1) <= 1 ? { status, body } : undefined),
    });
    const yaml = (name: string): string => `${service()}
syncs:
  ${name}: { endpoint: pronet.search.users, request: { title: engineer, count: 40 }, for_each: { location: [Berlin, Paris] }, max_age: 7d }
`;

    const first = await once(scene, yaml('first'));
    expect(first).toMatchObject({ exitCode: 4, unreadable: 1, gaps: [{ input: { location: ['Berlin'] } }] });
    expect(await share(scene)).toBeLessThan(1);
    scene.arrived();

    expect(await once(scene, yaml('second'))).toMatchObject({ exitCode: 0, fresh: 1, sent: 1, unreadable: 0 });
    expect(bodies(scene)).toMatchObject([{ location: ['Berlin'] }]);
    expect(await once(scene, yaml('first'))).toMatchObject({ exitCode: 0, state: 'complete', fresh: 2, sent: 0 });
    const hits = 'select distinct request_key from sluice.pronet_user_search_hits where sync = ';
    expect(await view(scene, `${hits}'first'`)).toHaveLength(2);
  });

  it('because it is an envelope with a field of an item leaves its window unread, and the next run requests it', async () => {
    const envelope = { items: [{ accession_number: 'x', file_name: 'y' }], total: 1 };
    const respond = ({ number }: RespondRequest) => (number === 1 ? { body: envelope } : undefined);
    const scene = await sceneIn(await open(), { size: BUSY, respond });
    const yaml = filings('max_age: 30d');

    expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, state: 'partial', unreadable: 1, truncated: 1 });
    expect(await share(scene)).toBe(0);
    scene.clock.advance(HOUR_MS);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0 });
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
    expect(await share(scene)).toBe(1);
  });

  it('because it is an error with a title leaves the stored page as it is', async () => {
    let isDown = false;
    const error: Responded = { body: { title: 'Bad Gateway', status: 502, detail: 'not now' } };
    const scene = await sceneIn(await open(), { respond: () => (isDown ? error : undefined) });
    const yaml = `${service()}
syncs:
  pages: { endpoint: webparser.parse, request: { url: "https://site-1.example/" }, max_age: 7d }
`;
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, loaded: 1 });
    const pages = 'select title, cleaned_html, _answer_id from sluice.web_pages';
    const before = await view(scene, pages);
    expect(before).toMatchObject([{ cleaned_html: expect.stringMatching(/\S/) as string }]);
    isDown = true;
    scene.clock.advance(HOUR_MS);

    expect(await once(scene, yaml, { refresh: true })).toMatchObject({ exitCode: 4, unreadable: 1, quarantined: 1 });
    expect(await view(scene, pages)).toEqual(before);
  });

  it('weighs as much as the items that it requested, and an accepted share in the config allows it', async () => {
    const respond = cutting(({ text }) => text.includes('Berlin')).respond;
    const scene = await sceneIn(await open(), { respond, size: { people: 3000 } });
    const yaml = (rejects: string): string => `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { count: 100 }, for_each: { location: [Berlin, Paris] }${rejects} }
`;
    const found = (await once(scene, yaml(''))).loaded;
    expect(found).toBeGreaterThan(20);
    const share = (found_: number, by: number): string =>
      `, accept: { rejects: ${((100 / (100 + found_)) * 100 + by).toFixed(2)}% }`;
    expect(await once(scene, yaml(share(found, -1)))).toMatchObject({ exitCode: 4, state: 'partial' });
    expect(await once(scene, yaml(share(found, 1)))).toMatchObject({ exitCode: 0, state: 'partial', unreadable: 1 });
  });

  it('is requested again although an older answer to the same request is fresh', async () => {
    const service_ = cutting(() => false);
    const scene = await sceneIn(await open(), { respond: service_.respond });
    const yaml = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one] }, max_age: 7d }
`;
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, sent: 1 });
    service_.state.isCut = () => true;
    scene.clock.advance(HOUR_MS);
    expect(await once(scene, yaml, { refresh: true })).toMatchObject({ exitCode: 4, sent: 1, unreadable: 1 });
    service_.state.isCut = () => false;
    scene.clock.advance(HOUR_MS);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', sent: 1, unreadable: 0 });
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, sent: 0, fresh: 1 });
  });

  it('to a window, and then 412 to it, are not taken for all there is', async () => {
    const answers: (Responded | undefined)[] = [CUT, { status: 412, body: '{"detail":"no such entity"}' }];
    const scene = await sceneIn(await open(), { size: BUSY, respond: ({ number }) => answers[number - 1] });
    const yaml = filings('');

    expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, sent: 1 });
    scene.clock.advance(HOUR_MS);
    expect(await once(scene, yaml)).toMatchObject({ sent: 1, missing: 1 });
    scene.clock.advance(HOUR_MS);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
  });

  it('about an entity is requested again under the same name, twice and no more', async () => {
    const respond = cutting(({ text }) => text.includes('two')).respond;
    const scene = await sceneIn(await open(), { respond });
    const yaml = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one, two, three] }, max_age: 7d }
`;
    const sent: number[] = [];
    for (const _ of [1, 2, 3, 4]) {
      const run = await once(scene, yaml);
      expect(run).toMatchObject({ exitCode: 4, state: 'partial', unreadable: 1, gaps: [{ input: { user: 'two' } }] });
      sent.push(scene.arrived().filter(({ body }) => (body as { readonly user: string }).user === 'two').length);
    }
    expect(sent).toEqual([1, 1, 1, 0]);
  });

  it('that a crash left to be loaded is not requested by the continued run, but by the next one', async () => {
    const service = cutting(({ number }) => number === 1);
    const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
    const yaml = filings('max_age: 30d');
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
    await expect(scene.sync(yaml, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    scene.arrived();

    expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, continued: true, unreadable: 1 });
    expect(bodies(scene)).toEqual([]);
    expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, continued: false, state: 'complete' });
    expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
  });

  describe('and that another sync left to be loaded', () => {
    /** A scene whose only answer is cut, and waits for a sync whose lease is alive, so that no other run loads it. */
    const left = async (): Promise<Scene> => {
      const service = cutting(({ number }) => number === 1);
      const scene = await sceneIn(await open(), { size: BUSY, respond: service.respond });
      const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
      const others = filings('max_age: 30d').replace('filings:', 'others:');
      await expect(scene.sync(others, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
      await expireSlots(scene.warehouse);
      return scene;
    };

    it('holds the watermark, and the next run requests its window', async () => {
      const scene = await left();
      const yaml = filings('max_age: 30d');

      expect(await once(scene, yaml)).toMatchObject({
        exitCode: 4,
        state: 'partial',
        fresh: 1,
        sent: 0,
        unreadable: 1,
      });
      const [row] = await view(scene, "select value from sluice_ops.marks where name like 'window:%'");
      const { lastCompleteDay } = JSON.parse(String(row?.['value'])) as { readonly lastCompleteDay: string };
      expect(lastCompleteDay < WEEK.date_from).toBe(true);

      scene.clock.advance(HOUR_MS);
      expect(await once(scene, yaml)).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0 });
      expect(await inTable(scene)).toEqual(inWorld(scene, WEEK));
    });

    it('is no gap once a replay reads it', async () => {
      const scene = await left();
      const yaml = filings('max_age: 30d');
      expect(await once(scene, yaml)).toMatchObject({ exitCode: 4, unreadable: 1 });
      await view(
        scene,
        `update sluice_ops.answers set body = convert_to('[]', 'UTF8'), encoding = 'identity', bytes = 2,
           sha256 = encode(sha256('[]'), 'hex')`,
      );

      await expireLeases(scene.warehouse);
      expect((await scene.replay({ quarantined: true })).quarantined).toBe(0);
      expect(await view(scene, 'select is_open from sluice.quarantined_items')).toEqual([{ is_open: false }]);
      expect(await once(scene, yaml)).toMatchObject({
        exitCode: 0,
        state: 'complete',
        fresh: 1,
        sent: 0,
        unreadable: 0,
      });
    });
  });

  it('of the log ends no walk as complete: the watermark stays before it, and the next run continues there', async () => {
    const requests = Array.from({ length: 150 }, (_, at) => `user${at}`);
    const service_ = cutting(() => false);
    const scene = await sceneIn(await open(), { respond: service_.respond });
    const users = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [${requests.join(', ')}] }, accept: { rejects: 100% } }
`;
    await scene.sync(users);
    const log = `${service()}
syncs:
  costs: { endpoint: token.requests, max_age: 1d }
`;
    let pages = 0;
    service_.state.isCut = ({ endpoint }) => endpoint === 'token.requests' && (pages += 1) === 2;
    scene.arrived();

    const first = await once(scene, log);
    expect(first).toMatchObject({ exitCode: 4, state: 'partial', unreadable: 1, truncated: 1 });
    expect(await view(scene, "select value from sluice_ops.marks where name = 'log'")).toEqual([]);
    const walk = bodies(scene);
    expect(walk).toHaveLength(2);

    const second = await once(scene, log);
    expect(second).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0, truncated: 0 });
    expect(bodies(scene)[0]).toEqual(walk[1]);
    expect(await view(scene, 'select count(*)::int as n from sluice.fact_request_costs')).toEqual([{ n: 150 }]);
    expect((await readStatus(scene.warehouse)).syncs.find(({ sync }) => sync === 'costs')).toMatchObject({
      truncated: 0,
    });
  });

  it('of a backfill of the log stays a gap after walks that start later, until a backfill of the day reads it', async () => {
    const service_ = cutting(() => false);
    const scene = await sceneIn(await open(), { respond: service_.respond });
    const users = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one, two] }, accept: { rejects: 100% } }
`;
    await scene.sync(users);
    scene.clock.advance(3 * DAY_MS);
    await scene.sync(users);
    const log = `${service()}
syncs:
  costs: { endpoint: token.requests }
`;
    const gaps = async (): Promise<number | undefined> =>
      (await readStatus(scene.warehouse)).syncs.find(({ sync }) => sync === 'costs')?.truncated;
    expect(await once(scene, log)).toMatchObject({ exitCode: 0, state: 'complete' });
    const day = { from: '2026-03-06', to: '2026-03-06' };
    service_.state.isCut = ({ endpoint }) => endpoint === 'token.requests';
    expect(await once(scene, log, day)).toMatchObject({ exitCode: 4, unreadable: 1 });
    service_.state.isCut = () => false;

    expect(await once(scene, log)).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0 });
    expect(await gaps()).toBe(1);

    expect(await once(scene, log, day)).toMatchObject({ exitCode: 0, state: 'complete', unreadable: 0 });
    expect(await gaps()).toBe(0);
  });
});

describe('rows that were deleted by hand while their answers are fresh', () => {
  const open = postgresWarehouses();

  it('are reported by the next sync and by status, and a replay brings them back at no cost', async () => {
    const respond = ({ body }: RespondRequest): Responded => {
      const { user } = body as { readonly user: string };
      return {
        body: [{ rest_id: user, internal_id: user, name: user, alias: user, url: `https://m.example/${user}` }],
      };
    };
    const scene = await sceneIn(await open(), { respond });
    const yaml = `${service()}
syncs:
  users: { endpoint: microblog.user, for_each: { user: [one, two, three] }, max_age: 7d }
`;
    await scene.sync(yaml);
    expect(await deletedRows(scene.warehouse)).toEqual([]);
    await view(
      scene,
      'delete from sluice.microblog_users where rest_id = (select max(rest_id) from sluice.microblog_users)',
    );

    expect(await once(scene, yaml)).toMatchObject({ fresh: 3, sent: 0, exitCode: 0 });
    expect(scene.notices.at(-1)).toMatchObject({
      level: 'warn',
      sync: 'users',
      message: expect.stringMatching(/^1 row .* missing from microblog_users; sluice replay users/) as string,
    });
    expect(await deletedRows(scene.warehouse)).toEqual([{ sync: 'users', table: 'microblog_users', rows: 1 }]);
    await scene.replay({ names: ['users'] });
    expect(await deletedRows(scene.warehouse)).toEqual([]);
    const notices = scene.notices.length;
    await scene.sync(yaml);
    expect(scene.notices).toHaveLength(notices);
  });
});
