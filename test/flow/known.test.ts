/** An entity that is fresh under one name is not bought under another, and nobody is taken for somebody else. */
import { expect, it } from 'vitest';
import { eachWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { dyingAt, expireLeases } from './crash.ts';
import { identitiesOf, postLists, profile, profiles, taughtIn } from './names.ts';
import { select, states } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const AGE = 'max_age: 7d';
const PHOTOS = 'https://photoshare.example';

const asked = (
  endpoint: string,
  field: string,
  names: readonly string[],
  settings = {},
): string => `${service(settings)}
syncs:
  s: { endpoint: ${endpoint}, for_each: { ${field}: ${JSON.stringify(names)} }, max_age: 7d }
`;
const users = (scene: Scene): unknown[] => scene.arrived().map(({ body }) => (body as { user: unknown }).user);
const bought = (scene: Scene, yaml: string) => scene.sync(yaml).then((it) => only(it).sent);
const givenBy = `select user_asked, count(*)::int as posts from sluice.photoshare_user_posts group by 1 order by 1`;

eachWarehouse('an entity bought by one name', (open) => {
  const PHOTO = [
    'north_trail',
    '@north_trail',
    'photoshare.example/north_trail',
    '2000000000',
    `${PHOTOS}/north_trail/`,
  ];
  const BLOG = ['acme_labs', '@acme_labs', 'https://www.microblog.example/acme_labs'];
  const GROUP = ['urn:li:group:1001', 'group:1001', '1001', 'https://pronet.example/groups/1001/'];
  it.each([
    ['photoshare.user', 'user', PHOTO],
    ['microblog.user', 'user', BLOG],
    ['pronet.group', 'group', GROUP],
  ])('is not bought by another: %s', async (endpoint, field, names) => {
    for (const first of [names[0], names.at(-1)]) {
      const scene = await sceneIn(await open());
      expect(await bought(scene, asked(endpoint, field, [String(first)]))).toBe(1);
      const run = only(await scene.sync(asked(endpoint, field, names)));
      expect(run).toMatchObject({
        exitCode: 0,
        state: 'complete',
        sent: 0,
        fresh: names.length,
        planned: names.length,
      });
    }
  });

  it('within the same run is not bought by another either', async () => {
    const scene = await sceneIn(await open());
    const run = only(await scene.sync(asked('photoshare.user', 'user', PHOTO)));
    expect(run).toMatchObject({ exitCode: 0, sent: 1, fresh: 4, left: 0, loaded: 1 });
    const rows = await select(scene.warehouse, 'select distinct outcome, answer_id from sluice.sync_inputs');
    expect(rows).toHaveLength(1);
  });

  it('is asked one at a time by names that look alike', async () => {
    const scene = await sceneIn(await open());
    const alike = PHOTO.filter((name) => name.includes('north'));
    const run = only(await scene.sync(asked('photoshare.user', 'user', [...alike, 'acme_labs'], { in_flight: 8 })));
    expect(run).toMatchObject({ exitCode: 0, sent: 2, fresh: 3 });
  });

  it('is bought when something else is asked of it, or nothing may be old', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(profiles(['north_trail'], AGE));
    expect(await bought(scene, profiles(['2000000000'], `request: { with_posts: true }\n    ${AGE}`))).toBe(1);
    expect(await bought(scene, postLists(['2000000000'], AGE))).toBe(1);
    expect(await bought(scene, profiles(['@north_trail']))).toBe(1);
    expect(await bought(scene, profiles(['@acme_labs'], AGE))).toBe(1);
  });

  it('is bought when its answer is older, and with --refresh', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(profiles(['north_trail'], AGE));
    scene.clock.advance(7 * DAY_MS);
    expect(await bought(scene, profiles(['2000000000'], AGE, 'other'))).toBe(0);
    const refreshed = await scene.sync(profiles(['2000000000', '@north_trail'], AGE, 'other'), { refresh: true });
    expect(only(refreshed)).toMatchObject({ sent: 2, fresh: 0 });
    scene.clock.advance(7 * DAY_MS + 1);
    expect(await bought(scene, profiles([`${PHOTOS}/north_trail/`], AGE, 'other'))).toBe(1);
  });

  it('has its posts in the bridge under every name that was asked, also after a replay', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(postLists(['north_trail'], AGE));
    await scene.sync(postLists(['2000000000', `${PHOTOS}/north_trail/`], AGE, 'by_others'));
    await scene.sync(postLists(['acme_labs', '@acme_labs'], AGE, 'in_one_run'));
    const bridge = await select<{ user_asked: string; posts: number }>(scene.warehouse, givenBy);
    const [byId, bySign, byAlias, byAddress, first] = bridge.map(({ posts }) => posts);
    expect(bridge.map(({ user_asked: name }) => name)).toEqual([
      '2000000000',
      '@acme_labs',
      'acme_labs',
      `${PHOTOS}/north_trail/`,
      'north_trail',
    ]);
    expect(first).toBeGreaterThan(10);
    expect([byId, byAddress, bySign]).toEqual([first, first, byAlias]);
    expect(await states(scene.warehouse)).toEqual({ fresh: 3, loaded: 2 });
    const slices = await select(scene.warehouse, `select filters->>'user' as name from sluice_ops.coverage order by 1`);
    expect(slices.map(({ name }) => name)).toEqual(bridge.map(({ user_asked: name }) => name));

    await scene.replay();
    expect(await select(scene.warehouse, givenBy)).toEqual(bridge);
    await scene.replay({ rebuild: true });
    expect(await select(scene.warehouse, givenBy)).toEqual(bridge);
  });

  it('gets its bridge in the next run, when this one died before', async () => {
    const scene = await sceneIn(await open());
    const config = postLists(['north_trail', '2000000000'], AGE);
    const dying = dyingAt(scene.warehouse, {
      when: 'after',
      statement: /^update "sluice_ops"."requests" set "state" = \$\d+, "answer_id" = \$\d+, "finished_at"/,
      nth: 1,
    });
    await expect(scene.sync(config, { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
    expect(await states(scene.warehouse)).toEqual({ fresh: 1, loaded: 1 });
    expect(await select(scene.warehouse, givenBy)).toHaveLength(1);
    await expireLeases(scene.warehouse);

    expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, continued: true, fresh: 1 });
    expect(await select(scene.warehouse, givenBy)).toHaveLength(2);
    expect(users(scene)).toEqual(['north_trail']);
  });
});

eachWarehouse('a name', (open) => {
  it('that changed hands names the one who was shown under it last', async () => {
    let answers: Record<string, object> = { alice: profile('1', 'alice') };
    const scene = await taughtIn(await open(), ({ body }) => {
      const it = answers[(body as { user: string }).user];
      return it && [it];
    });
    await scene.ask('alice');
    scene.clock.advance(HOUR_MS / 4);
    answers = { alice: profile('2', 'alice') };
    await scene.ask('alice');
    scene.arrived();

    // That answer is about 2, though 1 was shown under the name within the hour.
    expect(await bought(scene, profiles(['@alice', 'photos.example/alice', '2'], AGE))).toBe(0);
    const served = await select(
      scene.warehouse,
      `select distinct answer_id from sluice_ops.requests where sync = 'profiles'`,
    );
    expect(served).toEqual([{ answer_id: '2' }]);
    // So is the next, of which no date tells. The first is about 1, and was received within the time.
    scene.clock.advance(HOUR_MS / 2);
    await scene.ask('alice');
    expect(await bought(scene, profiles(['1'], AGE, 'first'))).toBe(0);
    expect(await select(scene.warehouse, `select answer_id from sluice_ops.requests where sync = 'first'`)).toEqual([
      { answer_id: '1' },
    ]);
  });

  it('is nobody’s when its entity was shown under another since', async () => {
    let answers: Record<string, object> = { alice: profile('1', 'alice') };
    const scene = await taughtIn(await open(), ({ body }) => {
      const it = answers[(body as { user: string }).user];
      return it && [it];
    });
    await scene.ask('alice');
    scene.clock.advance(60_000);
    answers = { 1: profile('1', 'bob'), '@alice': profile('2', 'alice') };
    await scene.ask('1');
    scene.arrived();
    expect(await bought(scene, profiles(['@bob', 'photos.example/bob'], AGE))).toBe(0);
    expect(await bought(scene, profiles(['@alice'], AGE))).toBe(1);
    expect(await identitiesOf(scene)).toContain('alias @alice is ["2"] from 15:01 to 15:01');
  });

  it('that several share names none of them', async () => {
    const masked = (id: string) => profile(id, 'member', { url: 'https://photos.example/member' });
    const scene = await taughtIn(await open(), ({ body }) => [masked((body as { user: string }).user)]);
    await scene.ask('1');
    await scene.ask('2');
    expect(await bought(scene, profiles(['@member', 'photos.example/member', '3'], AGE))).toBe(3);
    expect(await bought(scene, profiles(['1', '2'], AGE))).toBe(0);
  });

  it('under which somebody else was answered serves nobody by their own', async () => {
    let other = false;
    const scene = await taughtIn(await open(), () => [other ? profile('2', 'zed') : profile('1', 'alice')]);
    await scene.ask('alice');
    scene.clock.advance(7 * DAY_MS - 60_000);
    await scene.ask('1');
    other = true;
    scene.clock.advance(1);
    await scene.ask('alice');
    other = false;
    scene.arrived();
    // The newest answer to "alice" is about 2; the newest about 1 was asked by its id.
    expect(await bought(scene, profiles([`photos.example/alice`], AGE))).toBe(0);
    expect(await select(scene.warehouse, `select answer_id from sluice_ops.requests where sync = 'profiles'`)).toEqual([
      { answer_id: '2' },
    ]);
    expect(await bought(scene, profiles(['@zed', '2'], AGE, 'theirs'))).toBe(0);
  });

  it('that names nobody says nothing of another name', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => {
        const { user } = body as { user: string };
        return user === '@alice' ? { status: 412, body: '' } : { body: user === 'none' ? [] : [profile('1', 'alice')] };
      },
    });
    await scene.sync(profiles(['1'], ''));
    scene.clock.advance(60_000);
    expect(only(await scene.sync(profiles(['@alice', 'none']))).missing).toBe(1);
    scene.clock.advance(60_000);
    // Both count as bought, by their own name.
    expect(await bought(scene, profiles(['@alice', 'none'], AGE))).toBe(0);
    expect(await bought(scene, profiles(['@none'], AGE))).toBe(1);
    const run = only(await scene.sync(profiles(['alice'], AGE, 'by_alias')));
    expect(run).toMatchObject({ sent: 0, missing: 0 });
  });

  it('without posts has none by another name', async () => {
    const scene = await taughtIn(await open(), ({ endpoint }) =>
      endpoint === 'photoshare.user' ? [profile('1', 'alice')] : [],
    );
    await scene.ask('alice');
    scene.clock.advance(5 * HOUR_MS);
    await scene.posts('alice');
    expect(await bought(scene, postLists(['1', '@alice', 'photos.example/alice'], AGE))).toBe(0);
    expect(await bought(scene, postLists(['2'], AGE))).toBe(1);
  });

  it('that is its entity’s no more, or nobody’s, says nothing of its posts', async () => {
    let alias = 'alice';
    let status = 200;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) =>
        endpoint === 'photoshare.user' ? { body: [profile('1', alias)] } : { status, body: status === 412 ? '' : [] },
    });
    const asksPosts = (user: string) => scene.sync(postLists([user], '', 'anew'));
    await scene.sync(profiles(['1']));
    status = 412;
    await asksPosts('alice');
    expect(await bought(scene, postLists(['1'], AGE))).toBe(1);

    status = 200;
    await asksPosts('alice');
    scene.clock.advance(60_000);
    alias = 'bob';
    await scene.sync(profiles(['1']));
    expect(await bought(scene, postLists(['bob'], AGE))).toBe(1);
  });

  it('that is an id stays one, whatever else its entity is shown by', async () => {
    const group = { urn: { type: 'group', value: '1' }, name: 'G', url: 'https://pronet.example/groups/1' };
    const scene = await sceneIn(await open(), { respond: () => ({ body: [group] }) });
    await scene.sync(asked('pronet.group', 'group', ['slug']));
    scene.clock.advance(2 * HOUR_MS);
    await scene.sync(asked('pronet.group', 'group', ['1']), { refresh: true });
    expect(await bought(scene, asked('pronet.group', 'group', [' slug ']))).toBe(0);
  });

  it('is told apart by its letters’ case, and from an id that reads the same', async () => {
    const people: Record<string, object> = {
      alice: profile('1', 'alice'),
      Alice: profile('2', 'Alice'),
      seven: profile('7', 'seven'),
      'photos.example/7': profile('8', '7'),
    };
    const scene = await taughtIn(await open(), ({ body }) => [
      people[(body as { user: string }).user] ?? profile('9', 'x'),
    ]);
    for (const name of Object.keys(people)) await scene.ask(name);
    scene.arrived();
    await scene.sync(profiles(['@alice', '@Alice', '@7'], AGE));
    const served = await select<{ name: string; answer_id: string }>(
      scene.warehouse,
      `select body->>'user' as name, answer_id from sluice_ops.requests where sync = 'profiles' order by id`,
    );
    const answers = await select<{ id: string; name: string }>(
      scene.warehouse,
      `select a.id, r.body->>'user' as name from sluice_ops.answers a join sluice_ops.requests r on r.id = a.request_id`,
    );
    expect(served.map(({ name, answer_id: id }) => [name, answers.find((it) => it.id === id)?.name])).toEqual([
      ['@alice', 'alice'],
      ['@Alice', 'Alice'],
      ['@7', 'photos.example/7'],
    ]);
    // It may be the id of the one or the alias of the other.
    expect(await bought(scene, profiles(['7'], AGE, 'either'))).toBe(1);
  });
});
