/** What was bought within `max_age` is not bought again, whichever sync bought it. */
import { expect, it } from 'vitest';
import { openClient } from '../../src/extract/client.ts';
import type { FlowEffects } from '../../src/flow/run/invocation.ts';
import { POSTPONED_MS } from '../../src/flow/run/execute.ts';
import { readStatus } from '../../src/insight/status.ts';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from '../flow/clock.ts';
import { dyingAt, expireLeases, STEP } from '../flow/crash.ts';
import { rowsOf, select, states } from '../flow/rows.ts';
import { only, type Scene, sceneIn, sentAgain, service } from '../flow/scene.ts';

const SYNC = `
    endpoint: pronet.search.users
    request: { title: data engineer, count: 50 }
    for_each: { location: [Berlin, Paris] }
    max_age: 7d`;
const one = (name: string): string => `${service()}\nsyncs:\n  ${name}:${SYNC}\n`;

const HITS = 'select sync, request_key, user_urn_value, position from sluice.pronet_user_search_hits';
const hitsOf = (sync: string): string =>
  `select request_key, user_urn_value, position from (${HITS}) h where sync = '${sync}' order by 1, 3`;

anyWarehouse('an answer that is fresh', (open) => {
  it('serves another sync, which gets search hits of its own', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(one('first'));
    scene.arrived();

    const run = only(await scene.sync(one('second')));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', planned: 2, fresh: 2, sent: 0, points: 0 });
    expect(scene.arrived()).toEqual([]);
    const hits = await select(scene.warehouse, hitsOf('first'));
    expect(hits.length).toBeGreaterThan(10);
    expect(await select(scene.warehouse, hitsOf('second'))).toEqual(hits);
  });

  it.each([
    'endpoint: pronet.user.education, request: { count: 99 }, for_each: { urn: ["fsd_profile:a"] }',
    'endpoint: photoshare.user.posts, request: { count: 99 }, for_each: { user: [north_trail] }',
    'endpoint: sec.search.companies, request: { count: 99 }, for_each: { entity_name: [AAPL] }',
  ])('gives another sync its slice of the coverage once: %s', async (asked) => {
    const config = (name: string): string => `${service()}\nsyncs:\n  ${name}: { ${asked}, max_age: 7d }\n`;
    const respond = ({ endpoint }: { readonly endpoint: string }) =>
      endpoint === 'pronet.user.education' ? { body: [{ company: { name: 'School' }, major: 'Logic' }] } : undefined;
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(config('first'));
    const slices = (name: string) =>
      select(
        scene.warehouse,
        `select request_key, extent, asked, returned, as_of from sluice.sync_slices where sync = '${name}'`,
      );
    expect(await slices('first')).toHaveLength(1);

    for (const run of ['one', 'two']) {
      expect(only(await scene.sync(config('second'))), run).toMatchObject({ exitCode: 0, fresh: 1, sent: 0 });
      expect(await slices('second'), run).toEqual(await slices('first'));
      expect(await select(scene.warehouse, 'select id from sluice_ops.coverage'), run).toHaveLength(2);
    }
  });

  it('is the newest answer in the status of the sync that it serves too', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(one('first'));
    await scene.sync(one('second'));

    const { syncs } = await readStatus(scene.warehouse);
    const newestOf = (name: string) => syncs.find(({ sync }) => sync === name)?.newestAnswerAt;
    expect(newestOf('first')).toBeInstanceOf(Date);
    expect(newestOf('second')).toEqual(newestOf('first'));
  });

  it('is requested again with --refresh, and when it is older', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(one('first'));
    expect(only(await scene.sync(one('first')))).toMatchObject({ fresh: 2, sent: 0 });

    expect(only(await scene.sync(one('first'), { refresh: true }))).toMatchObject({ fresh: 0, sent: 2 });
    scene.clock.advance(7 * DAY_MS + 1);
    expect(only(await scene.sync(one('first')))).toMatchObject({ fresh: 0, sent: 2, exitCode: 0 });
  });

  it.each([
    { late: 'an unreadable answer', bodies: ['[]', '[{"@type":'], sent: 0 },
    { late: 'an answer that can be read', bodies: ['[{"@type":', '[]'], sent: 1 },
  ])('is decided by the receipt if the spool brings $late late', async ({ bodies, sent }) => {
    let call = 0;
    const scene = await sceneIn(await open(), { respond: () => ({ body: bodies[(call += 1) - 1] ?? '[]' }) });
    const yaml = `${service()}\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] }, max_age: 7d } }\n`;
    await scene.sync(yaml);
    scene.clock.advance(DAY_MS);
    await scene.sync(yaml, { refresh: true });
    await select(
      scene.warehouse,
      `update sluice_ops.answers set received_at = received_at - interval '2 days' where id = 2`,
    );

    expect(only(await scene.sync(yaml)).sent).toBe(sent);
  });

  it('of this invocation serves the other syncs of a refresh, and earlier ones serve none', async () => {
    const respond = (): undefined => {
      scene.clock.advance(1);
    };
    const scene: Scene = await sceneIn(await open(), { respond });
    const yaml = `${one('first')}  second:${SYNC}\n  always:${SYNC.replace('max_age: 7d', '')}\n`;
    await scene.sync(yaml);

    for (const invocation of [1, 2]) {
      const { syncs } = await scene.sync(yaml, { refresh: true });
      expect(syncs, `refresh ${invocation}`).toMatchObject([
        { sync: 'first', exitCode: 0, fresh: 0, sent: 2 },
        { sync: 'second', exitCode: 0, fresh: 2, sent: 0 },
        { sync: 'always', exitCode: 0, fresh: 0, sent: 2 },
      ]);
    }
  });

  it('may have no items, or say that the entity does not exist', async () => {
    let calls = 0;
    const scene = await sceneIn(await open(), {
      respond: () => ((calls += 1) === 1 ? { body: [] } : { status: 412, body: '' }),
    });

    expect(only(await scene.sync(one('first')))).toMatchObject({ exitCode: 0, sent: 2, missing: 1, received: 0 });
    expect(only(await scene.sync(one('first')))).toMatchObject({ exitCode: 0, sent: 0, fresh: 2 });
    const outcomes = await select(scene.warehouse, 'select outcome from sluice.sync_inputs order by 1');
    expect(outcomes).toEqual([{ outcome: 'empty' }, { outcome: 'missing' }]);
  });

  it('and was full leads another sync to the parts that it requests', async () => {
    const search = (name: string, more: string): string => `${service()}
syncs:
  ${name}: { endpoint: pronet.search.users, request: { title: data engineer, count: 3 }, max_age: 7d${more} }
`;
    const scene = await sceneIn(await open());
    await scene.sync(search('whole', ''));
    scene.arrived();

    const run = only(await scene.sync(search('parts', ', split_by: { location: [Berlin, Paris] }')));

    expect(run).toMatchObject({ exitCode: 0, fresh: 1, sent: 2 });
    expect(scene.arrived().map(({ body }) => (body as { location?: unknown }).location)).toEqual([
      ['Berlin'],
      ['Paris'],
    ]);
  });

  it.each([true, false])('and not loaded yet serves both syncs (full: %s)', async (full) => {
    const scene = await sceneIn(await open());
    const config = (name: string): string => `${service()}
syncs:
  ${name}:
    endpoint: pronet.search.users
    request: { title: data engineer, count: ${full ? 5 : 100} }
    max_age: 7d
    split_by: { location: [Berlin, Paris] }
`;
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
    await expect(scene.sync(config('first'), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);

    expect(only(await scene.sync(config('second')))).toMatchObject({ exitCode: 0, fresh: 1, sent: full ? 2 : 0 });
    const hits = await select(scene.warehouse, hitsOf('second'));
    expect(hits.length).toBeGreaterThan(4);

    // The sync that bought it still loads it for itself, and plans its follow-up requests.
    expect(only(await scene.sync(config('first')))).toMatchObject({
      exitCode: 0,
      continued: true,
      answers: 1,
      left: 0,
    });
    expect(await select(scene.warehouse, hitsOf('first'))).toEqual(hits);
    expect(await states(scene.warehouse)).toEqual(full ? { fresh: 3, loaded: 3 } : { fresh: 1, loaded: 1 });
  });

  it('and not loaded yet is a gap of both syncs if it is unreadable, and the next run requests it again', async () => {
    let isCut = true;
    const scene = await sceneIn(await open(), { respond: () => (isCut ? { body: '[{"@type":' } : undefined) });
    const config = (name: string): string => `${service()}
syncs:
  ${name}: { endpoint: pronet.search.users, request: { title: data engineer, count: 50 }, max_age: 7d }
`;
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
    // Its lease is alive, so no other run loads its answer for it.
    await expect(scene.sync(config('first'), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    isCut = false;

    expect(only(await scene.sync(config('second')))).toMatchObject({
      exitCode: 4,
      state: 'partial',
      fresh: 1,
      sent: 0,
      unreadable: 1,
      gaps: [{ reason: 'the body is cut off or not valid JSON' }],
    });
    expect(await listQuarantine(scene.warehouse, 10)).toMatchObject([{ sync: 'first', position: null }]);

    await expireLeases(scene.warehouse);
    expect(only(await scene.sync(config('first')))).toMatchObject({ exitCode: 4, continued: true, unreadable: 1 });
    expect(await listQuarantine(scene.warehouse, 10)).toHaveLength(1);
    expect(only(await scene.sync(config('second')))).toMatchObject({ exitCode: 0, state: 'complete', sent: 1 });
  });

  it('and not full ends the lower bound of the sync that it serves', async () => {
    let found = 3;
    const item = (n: number) => ({ accession_number: `n${n}`, file_name: 'f', document_url: 'd' });
    const respond = () => ({ body: Array.from({ length: found }, (_, n) => item(n)) });
    const scene = await sceneIn(await open(), { respond });
    const config = (name: string, more = ''): string => `${service()}
syncs:
  ${name}:
    endpoint: sec.search.companies
    request: { count: 3, date_from: "2026-02-02", date_to: "2026-02-08" }
    ${more}
`;
    const bounded = config('bounded', 'max_age: 7d');
    expect(only(await scene.sync(bounded, { failOnTruncated: true }))).toMatchObject({ exitCode: 4, truncated: 1 });
    found = 2;
    scene.clock.advance(HOUR_MS);
    expect(only(await scene.sync(config('other')))).toMatchObject({ exitCode: 0, sent: 1, truncated: 0 });

    const run = only(await scene.sync(bounded, { failOnTruncated: true }));
    expect(run).toMatchObject({ exitCode: 0, state: 'complete', fresh: 1, sent: 0, truncated: 0 });
    const { syncs } = await readStatus(scene.warehouse);
    expect(syncs.find(({ sync }) => sync === 'bounded')).toMatchObject({ truncated: 0 });
  });

  it.each([
    { name: 'alone', split: '', sent: 1, fresh: 1 },
    // Both answers are full, so each leads to two parts.
    { name: 'and its parts', split: 'split_by: { industry: [Retail, Utilities] }', sent: 3, fresh: 3 },
  ])('and arrived since the plan was made serves its request $name', async ({ split, sent, fresh }) => {
    const scene = await sceneIn(await open());
    const search = (name: string, location: string, more = ''): string => `${service({ in_flight: 2 })}
syncs:
  ${name}:
    endpoint: pronet.search.users
    request: { title: data engineer, count: 1 }
    for_each: { location: [${location}] }
    max_age: 7d
    ${split}
    ${more}
`;
    let calls = 0;
    const opened: FlowEffects['openClient'] = (options) => {
      const client = openClient(options);
      return {
        ...client,
        send: async (call) => {
          calls += 1;
          if (calls === 1) await scene.sync(search('second', 'Paris'));
          return client.send(call);
        },
      };
    };

    const first = search('first', 'Berlin, Paris', 'in_flight: 1');
    const run = only(await scene.sync(first, { effects: { openClient: opened } }));

    expect(run).toMatchObject({ exitCode: 0, planned: sent + fresh, sent, fresh, left: 0 });
    expect(sentAgain(scene.arrived())).toEqual(new Map());
    const hits = await select(
      scene.warehouse,
      "select distinct request_key from sluice.pronet_user_search_hits where sync = 'first'",
    );
    expect(hits.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['complete', {}],
    ['partial', { limit: 1 }],
  ] as const)('and is being bought for another sync is awaited by a run that is %s after it', async (state, more) => {
    const scene = await sceneIn(await open());
    const search = (name: string): string => `${service({ in_flight: 2 })}
syncs:
  ${name}: { endpoint: pronet.search.users, request: { title: data engineer, count: 50 }, max_age: 7d }
`;
    const postponed = Promise.withResolvers<void>();
    const sleep: Scene['clock']['sleep'] = (ms, ...rest) => {
      if (ms === POSTPONED_MS) postponed.resolve();
      return scene.clock.sleep(ms, ...rest);
    };
    let second: Promise<Summary> | undefined;
    const opened: FlowEffects['openClient'] = (options) => {
      const client = openClient(options);
      return {
        ...client,
        send: async (call) => {
          second ??= scene.sync(search('second'), { sleep, ...more }).finally(postponed.resolve);
          await postponed.promise;
          return client.send(call);
        },
      };
    };

    const first = only(await scene.sync(search('first'), { effects: { openClient: opened } }));

    expect(first).toMatchObject({ exitCode: 0, sent: 1, fresh: 0 });
    expect(await second).toMatchObject({ syncs: [{ exitCode: 0, state, sent: 0, fresh: 1 }] });
    expect(scene.arrived()).toHaveLength(1);
    expect(await select(scene.warehouse, hitsOf('second'))).toEqual(await select(scene.warehouse, hitsOf('first')));
  });

  it('and loaded for another sync changes no row of it', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(one('first'));
    const without = { machinery: true, without: ['pronet_user_search_hits'] };
    const before = await rowsOf(scene.warehouse, without);
    await scene.sync(one('second'));
    expect(await rowsOf(scene.warehouse, without)).toEqual(before);
  });
});

const USERS = (inputs: string, more = ''): string => `${service()}
syncs:
  users: { endpoint: photoshare.user, for_each: ${inputs}${more} }
`;
const requestedInputs = (scene: Scene, field = 'user'): unknown[] =>
  scene.arrived().map(({ body }) => (body as Record<string, unknown>)[field]);

anyWarehouse('an age of an input', (open) => {
  it('holds instead of the sync’s, and is no part of the request', async () => {
    const scene = await sceneIn(await open());
    const config = USERS('[{ user: north_trail, max_age: 1h }, { user: acme_labs }]', ', max_age: 7d');
    expect(only(await scene.sync(config))).toMatchObject({ sent: 2, fresh: 0 });
    const inputs = await select(scene.warehouse, 'select input, sent_body from sluice_ops.requests order by id');
    expect(inputs).toEqual(['north_trail', 'acme_labs'].map((user) => ({ input: { user }, sent_body: { user } })));
    requestedInputs(scene);

    scene.clock.advance(HOUR_MS);
    expect(only(await scene.sync(config))).toMatchObject({ sent: 0, fresh: 2 });
    scene.clock.advance(1);
    expect(only(await scene.sync(config))).toMatchObject({ sent: 1, fresh: 1 });
    expect(requestedInputs(scene)).toEqual(['north_trail']);
    // The same question, under whatever age.
    const older = USERS('[{ user: north_trail, max_age: 2h }, { user: acme_labs, max_age: 7d }]');
    expect(only(await scene.sync(older))).toMatchObject({ sent: 0, fresh: 2 });
    expect(only(await scene.sync(older, { refresh: true }))).toMatchObject({ sent: 2, fresh: 0 });
  });

  it('makes one input fresh in a sync without max_age', async () => {
    const scene = await sceneIn(await open());
    const config = USERS('[{ user: north_trail, max_age: 1d }, { user: acme_labs }]');
    await scene.sync(config);
    requestedInputs(scene);
    expect(only(await scene.sync(config))).toMatchObject({ sent: 1, fresh: 1 });
    expect(requestedInputs(scene)).toEqual(['acme_labs']);
  });

  it('is the smallest if the same is requested twice', async () => {
    const scene = await sceneIn(await open());
    const config = USERS('[{ user: north_trail, max_age: 2d }, { user: north_trail, with_posts: false, max_age: 1h }]');
    expect(only(await scene.sync(config))).toMatchObject({ planned: 1, sent: 1 });
    scene.clock.advance(HOUR_MS + 1);
    expect(only(await scene.sync(config))).toMatchObject({ planned: 1, sent: 1 });
  });

  it('counts for windows that were requested as a whole', async () => {
    const scene = await sceneIn(await open());
    const config = `${service()}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 100 }
    window: { from: 2026-03-02, to: today }
    for_each: [{ entity_name: AAPL, max_age: 12h }, { entity_name: MSFT }]
`;
    await scene.sync(config);
    requestedInputs(scene);
    await scene.sync(config);
    expect(new Set(requestedInputs(scene, 'entity_name'))).toEqual(new Set(['MSFT']));
  });

  it('is known of a run that was cut short too', async () => {
    const scene = await sceneIn(await open());
    const values = (age: string) =>
      `select * from (values ('north_trail', '${age}'), ('@north_trail', '${age}')) as t("user", max_age)`;
    const config = USERS(`{ query: ${JSON.stringify(values('1h'))} }`);
    const dying = dyingAt(scene.warehouse, { when: 'before', statement: STEP.send, nth: 1 });
    await expect(scene.sync(config, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, continued: true, sent: 1, fresh: 1 });
  });
});
