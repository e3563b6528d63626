/** Stored answers loaded again: in place nothing is written, a rebuild says the same, the unreadable gets another chance. */
import { beforeAll, expect, it } from 'vitest';
import { memoize } from '../../src/async/memoize.ts';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import { readStatus } from '../../src/insight/status.ts';
import { IS_LONG } from '../support/long.ts';
import { anyWarehouse, eachWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { disturbedAt, dyingAt, expireLeases, STEP } from './crash.ts';
import { rowsOf, select, states, versionsOf } from './rows.ts';
import { only, openScene, type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: data engineer, count: 20 }, for_each: { location: [Berlin, Paris] }, max_age: 1d }
  same_people: { endpoint: pronet.search.users, request: { title: data engineer, location: [Berlin], count: 20 }, after: [people], max_age: 1d }
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  photographers: { endpoint: photoshare.user, request: { user: acme_labs, with_posts: true } }
  photos: { endpoint: photoshare.user.posts, request: { user: acme_labs, count: 12 } }
  costs: { endpoint: token.requests, after: [groups, photos, photographers, same_people] }
`;

/** Two rounds a day apart, so that rows were seen more than once, and images and counts moved. */
async function lived(scene: Scene): Promise<Scene> {
  for (let round = 0; round < 2; round += 1) {
    expect((await scene.sync(CONFIG)).exitCode).toBe(0);
    scene.clock.advance(DAY_MS + 1000);
  }
  return scene;
}

/** First: it leaves its embedded warehouse such that the next suite can borrow it. */
anyWarehouse('an answer in quarantine', (open) => {
  const GROUP = `${service()}\nsyncs:\n  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] }, accept: { rejects: 100% } }\n`;
  const SMALL_GROUP = { body: [{ urn: { type: 'group', value: 'g' }, name: 'n' }] };

  it.each([
    ['compressed', 1],
    ['as it came', 0],
  ])('for its bytes, that rest %s, is loaded when they are mended', async (_, items) => {
    const scene = await sceneIn(
      await open(),
      items === 0 ? { respond: ({ endpoint }) => (endpoint === 'pronet.group' ? SMALL_GROUP : undefined) } : {},
    );
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
    await expect(scene.sync(GROUP, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);
    const [kept] = await select<{ body: Buffer }>(scene.warehouse, 'select body from sluice_ops.answers');
    const write = (hex: string) =>
      select(scene.warehouse, `update sluice_ops.answers set body = '\\x${hex}' where id = 1 returning id`);
    await write(`ff${kept?.body.toString('hex').slice(2) ?? ''}`);

    expect(only(await scene.sync(GROUP))).toMatchObject({ exitCode: 0, quarantined: 1, received: 2, loaded: 1 });
    expect(await listQuarantine(scene.warehouse, 10)).toMatchObject([
      { position: null, reason: expect.stringContaining('the stored bytes are not those that were received') },
    ]);
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 1, quarantined: 1, loaded: 0 });
    expect(await listQuarantine(scene.warehouse, 10)).toHaveLength(1);

    await write(kept?.body.toString('hex') ?? '');
    expect(await scene.replay({ quarantined: true })).toMatchObject({
      exitCode: 0,
      answers: 1,
      quarantined: 0,
      received: 1,
    });

    expect(await listQuarantine(scene.warehouse, 10)).toEqual([]);
    expect((await readStatus(scene.warehouse)).syncs[0]).toMatchObject({ quarantined: 0 });
    expect(await select(scene.warehouse, "select outcome from sluice.sync_inputs where input_value = '1001'")).toEqual([
      { outcome: 'loaded' },
    ]);
    const sums = await select(
      scene.warehouse,
      'select count(*)::int as n from sluice_ops.answers where received <> loaded + unchanged + superseded + quarantined or quarantined > 0',
    );
    expect(sums).toEqual([{ n: 0 }]);
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 0 });
  });

  it('for some of its items loads the others, and stays as long as these cannot be read', async () => {
    const items = [{ name: 'without a key' }, { urn: { type: 'group', value: 'g' }, name: 'n' }, 'no group'];
    const scene = await sceneIn(await open(), { respond: () => ({ body: items }) });

    const config = `${service()}\nsyncs:\n  groups: { endpoint: pronet.group, request: { group: g } }\n`;
    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 4, received: 3, loaded: 1, quarantined: 2 });
    const before = await listQuarantine(scene.warehouse, 10);
    expect(before.map(({ pointer }) => pointer)).toEqual(['/2', '/0']);
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 1, quarantined: 2, unchanged: 1 });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ quarantined: 2 });
    expect(await listQuarantine(scene.warehouse, 10)).toEqual(before);
  });

  it('is reported by a rebuild only when its tables are in place', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(GROUP);
    const [kept] = await select<{ body: Buffer }>(scene.warehouse, 'select body from sluice_ops.answers where id = 1');
    await select(scene.warehouse, "update sluice_ops.answers set body = '\\xff00' where id = 1 returning id");

    const failing = disturbedAt(scene.warehouse, { when: 'before', statement: /^lock table/, nth: 1 }, () => {
      throw new Error('no swap');
    });
    await expect(scene.replay({ rebuild: true }, undefined, undefined, failing)).rejects.toThrow('no swap');
    expect(await listQuarantine(scene.warehouse, 10)).toEqual([]);

    expect(await scene.replay({ rebuild: true })).toMatchObject({ quarantined: 1 });
    expect(await listQuarantine(scene.warehouse, 10)).toHaveLength(1);
    await select(
      scene.warehouse,
      `update sluice_ops.answers set body = '\\x${kept?.body.toString('hex') ?? ''}' where id = 1 returning id`,
    );
    expect(await scene.replay({ rebuild: true })).toMatchObject({ quarantined: 0 });
    expect(await listQuarantine(scene.warehouse, 10)).toEqual([]);
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: 2 }]);
  });
});

const FILINGS = `${service({ in_flight: 1 })}
syncs:
  filings: { endpoint: sec.search.companies, request: { count: 20 }, window: { from: 2026-02-02, to: 2026-02-20 } }
`;
const BUSY = { size: { filings: 4_000, companies: 40 } };

/** Ways in which a rebuild ends early. */
const EARLY = ['a crash', 'a signal', 'a refusal of the swap'];

/** Each test leaves the rows as they were. */
eachWarehouse('a replay', (open, kind) => {
  /** What cannot differ between the kinds runs on one of them. */
  const isFull = kind === 'postgres' || IS_LONG;
  let scene: Scene;
  beforeAll(async () => {
    scene = await lived(await openScene(await open()));
    return () => scene.sandbox.close();
  });

  // These two compare what the syncs loaded, so no rebuild comes before them.
  if (isFull)
    it('in place writes nothing', async () => {
      const before = await versionsOf(scene.warehouse);
      scene.arrived();

      const summary = await scene.replay();

      expect(summary).toMatchObject({ exitCode: 0, loaded: 0, quarantined: 0, left: 0, written: {} });
      expect(summary.received).toBe(summary.unchanged + summary.superseded);
      expect(await versionsOf(scene.warehouse)).toEqual(before);
      expect(scene.arrived()).toEqual([]);
    });

  it('that rebuilds gives every row as it was, whenever it runs', async () => {
    const all = { machinery: true, volatile: true };
    const before = await rowsOf(scene.warehouse, all);
    const ledger = await states(scene.warehouse);
    const inputs = 'select sync, request_key, outcome, at, answer_id from sluice.sync_inputs order by 1, 2';
    const inputsBefore = await select(scene.warehouse, inputs);
    scene.clock.advance(30 * DAY_MS);

    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, left: 0 });

    expect(await rowsOf(scene.warehouse, all)).toEqual(before);
    expect(await states(scene.warehouse)).toEqual(ledger);
    expect(await select(scene.warehouse, "select nspname from pg_namespace where nspname like '%rebuild%'")).toEqual(
      [],
    );
    expect(await select(scene.warehouse, inputs)).toEqual(inputsBefore);
  });

  it.each(isFull ? EARLY : EARLY.slice(0, 1))(
    'that rebuilds and is ended by %s leaves the tables as they were',
    async (by) => {
      const before = await versionsOf(scene.warehouse);
      const rows = await rowsOf(scene.warehouse, { machinery: true });
      const stop = new AbortController();
      if (by === 'a signal') {
        // Between two pages of answers, the first not begun.
        const point = { when: 'after', statement: /^create schema/, nth: 1 } as const;
        const disturbed = disturbedAt(scene.warehouse, point, () => stop.abort());
        const ended = await scene.replay({ rebuild: true }, stop.signal, () => undefined, disturbed);
        expect(ended).toMatchObject({ exitCode: 5, answers: 0 });
        expect(ended.left).toBeGreaterThan(1);
      } else {
        const statement = by === 'a crash' ? /^insert into "sluice_rebuild"/ : /^lock table/;
        const dying = dyingAt(scene.warehouse, { when: 'before', statement, nth: by === 'a crash' ? 6 : 1 });
        await expect(scene.replay({ rebuild: true }, stop.signal, () => undefined, dying.warehouse)).rejects.toThrow(
          /^died/,
        );
        await expireLeases(scene.warehouse);
      }
      expect(await versionsOf(scene.warehouse)).toEqual(before);
      // What was left behind disturbs no later replay.
      expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, left: 0 });
      expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(rows);
    },
  );

  if (!isFull) return;

  it('of one sync brings back its rows and no other', async () => {
    const before = await rowsOf(scene.warehouse);
    await select(scene.warehouse, 'delete from sluice.pronet_groups returning name');
    await select(scene.warehouse, 'delete from sluice.photoshare_users returning id');

    expect(await scene.replay({ names: ['groups'] })).toMatchObject({ exitCode: 0, answers: 4 });
    const { photoshare_users: photographers, ...now } = await rowsOf(scene.warehouse);
    expect(photographers).toBeUndefined();
    expect(now).toMatchObject({
      pronet_groups: before['pronet_groups'],
      pronet_group_members: before['pronet_group_members'],
    });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(scene.warehouse)).toEqual(before);
  });

  it('that rebuilds takes no part of the answers', async () => {
    await expect(scene.replay({ rebuild: true, names: ['groups'] })).rejects.toMatchObject({ exitCode: 2 });
    await expect(scene.replay({ rebuild: true, quarantined: true })).rejects.toMatchObject({ exitCode: 2 });
  });

  it('that is stopped when everything is loaded still puts its tables in place', async () => {
    const stop = new AbortController();
    let answers = 0;
    const { answers: all } = await scene.replay();
    await select(scene.warehouse, 'delete from sluice.pronet_groups returning name');
    const summary = await scene.replay({ rebuild: true }, stop.signal, () => {
      answers += 1;
      if (answers === all) stop.abort();
    });
    expect(summary).toMatchObject({ exitCode: 0, left: 0 });
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: 2 }]);
  });

  const undisturbed = memoize(async () => {
    const scene = await openScene(await open(), BUSY);
    await scene.sync(FILINGS);
    await scene.sandbox.close();
    return rowsOf(scene.warehouse);
  });
  it.each([true, false])('takes nothing from a run that is to be continued (rebuild: %s)', async (rebuild) => {
    const scene = await sceneIn(await open(), BUSY);
    // The stored answer is full: its follow-up requests are not planned yet.
    const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
    await expect(scene.sync(FILINGS, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    await expireLeases(scene.warehouse);

    expect(await scene.replay({ rebuild })).toMatchObject({ exitCode: 0, answers: 1 });

    const run = only(await scene.sync(FILINGS));
    expect(run).toMatchObject({ exitCode: 0, continued: true, left: 0 });
    expect(await rowsOf(scene.warehouse)).toEqual(await undisturbed());
    expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
  });
});
