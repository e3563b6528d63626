/** An entity that is fresh under one name is not bought under another, and no entity is taken for another. */
import { expect, it } from 'vitest';
import { countOf, IS_LONG } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from '../flow/clock.ts';
import { dyingAt, expireLeases } from '../flow/crash.ts';
import { identitiesOf, postLists, profile, profiles, taughtIn } from '../flow/names.ts';
import { select, states } from '../flow/rows.ts';
import { only, type Scene, sceneIn, service } from '../flow/scene.ts';

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

anyWarehouse('an entity bought by one name', (open) => {
  const PHOTO = [
    'north_trail',
    '@north_trail',
    `${PHOTOS}/north_trail/`,
    '2000000000',
    `${PHOTOS}/north_trail/?utm_source=x`,
  ];
  it('within the same run is not bought by another spelling either', async () => {
    const scene = await sceneIn(await open());
    const run = only(await scene.sync(asked('photoshare.user', 'user', PHOTO)));
    expect(run).toMatchObject({ exitCode: 0, sent: 3, fresh: 2, left: 0 });
    const rows = await select(scene.warehouse, 'select distinct answer_id from sluice.sync_inputs');
    expect(rows).toHaveLength(3);
  });

  it.each([
    ['photoshare.user', 'user', ['north_trail', '@north_trail', ' north_trail']],
    ['photoshare.user', 'user', [`${PHOTOS}:443/x/../north_trail/?utm_source=x`, `${PHOTOS}/north_trail/`]],
    ['microblog.user', 'user', ['@acme_labs', 'acme_labs']],
    ['pronet.group', 'group', ['urn:li:group:1001', 'group:1001']],
  ])('is not bought by another spelling of it: %s %s %j', async (endpoint, field, names) => {
    for (const first of [names[0], names.at(-1)].slice(0, countOf(1, 2))) {
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

  it('is bought once by each other name, since an answer may show several people under one name', async () => {
    const scene = await sceneIn(await open());
    expect(await bought(scene, asked('photoshare.user', 'user', ['north_trail']))).toBe(1);
    expect(await bought(scene, asked('photoshare.user', 'user', PHOTO))).toBe(2);
    expect(await bought(scene, asked('photoshare.user', 'user', PHOTO))).toBe(0);
  });

  it('is requested one at a time by names that look alike', async () => {
    const scene = await sceneIn(await open());
    const alike = PHOTO.filter((name) => name.includes('north'));
    const run = only(await scene.sync(asked('photoshare.user', 'user', [...alike, 'acme_labs'], { in_flight: 8 })));
    expect(run).toMatchObject({ exitCode: 0, sent: 3, fresh: 2 });
  });

  it('is bought if the request has other options, or if no stored answer may serve', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(profiles(['north_trail'], AGE));
    expect(await bought(scene, profiles(['2000000000'], `request: { with_posts: true }\n    ${AGE}`))).toBe(1);
    expect(await bought(scene, postLists(['2000000000'], AGE))).toBe(1);
    expect(await bought(scene, profiles(['@north_trail']))).toBe(1);
    expect(await bought(scene, profiles(['@acme_labs'], AGE))).toBe(1);
  });

  it('is served by its newest answer, by whatever names it answered to before', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(profiles(['north_trail', '2000000000'], AGE));
    scene.clock.advance(3 * DAY_MS);
    const refreshed = await scene.sync(profiles(['2000000000'], AGE, 'other'), { refresh: true });
    expect(only(refreshed)).toMatchObject({ sent: 1, fresh: 0 });
    scene.clock.advance(5 * DAY_MS);
    expect(await bought(scene, profiles(['@north_trail'], AGE, 'third'))).toBe(0);
    scene.clock.advance(2 * DAY_MS + 1);
    expect(await bought(scene, profiles(['@north_trail'], AGE, 'fourth'))).toBe(1);
  });

  const served = (scene: Scene, sync: string) =>
    select(scene.warehouse, `select answer_id, state from sluice_ops.requests where sync = '${sync}'`);

  it('is served by the answer received last, not by one that the spool brought later', async () => {
    const scene = await sceneIn(await open());
    for (const name of ['north_trail', '2000000000', 'north_trail']) {
      await scene.sync(profiles([name], '', 'asked'));
      scene.clock.advance(2 * HOUR_MS);
    }
    await select(
      scene.warehouse,
      `update sluice_ops.answers set received_at = received_at - interval '3 hours' where id = 3`,
    );
    expect(await bought(scene, profiles(['@north_trail'], AGE))).toBe(0);
    expect(await served(scene, 'profiles')).toEqual([{ answer_id: '2', state: 'fresh' }]);
  });

  it('is bought again by a name whose newest answer is unreadable, until a newer answer shows the entity', async () => {
    let isCut = false;
    const scene = await sceneIn(await open(), { respond: () => (isCut ? { body: '[{"@type":' } : undefined) });
    const ask = async (name: string, more = ''): Promise<number> => {
      const sent = await bought(scene, profiles([name], more, `by_${scene.clock.now().getTime()}`));
      scene.clock.advance(HOUR_MS);
      return sent;
    };
    await ask('north_trail');
    await ask('2000000000');
    expect(await ask('@north_trail', AGE)).toBe(0);
    isCut = true;
    await ask('north_trail');
    expect(await ask('north_trail', AGE)).toBe(1);
    isCut = false;
    // The address was never requested, so only the answers to the id and to the alias are known.
    await ask('2000000000');
    expect(await ask('north_trail', AGE)).toBe(0);
    expect(await ask('@north_trail', AGE)).toBe(0);
  });

  it('has its posts in the bridge under every requested name, also after a replay', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(postLists(['north_trail'], AGE));
    await scene.sync(postLists(['@north_trail'], AGE, 'by_others'));
    await scene.sync(postLists(['acme_labs', '@acme_labs'], AGE, 'in_one_run'));
    const bridge = await select<{ user_asked: string; posts: number }>(scene.warehouse, givenBy);
    const [otherBySign, bySign, otherByAlias, byAlias] = bridge.map(({ posts }) => posts);
    expect(bridge.map(({ user_asked: name }) => name)).toEqual([
      '@acme_labs',
      '@north_trail',
      'acme_labs',
      'north_trail',
    ]);
    expect(byAlias).toBeGreaterThan(10);
    expect([bySign, otherBySign]).toEqual([byAlias, otherByAlias]);
    expect(await states(scene.warehouse)).toEqual({ fresh: 2, loaded: 2 });
    const slices = await select(scene.warehouse, `select filters->>'user' as name from sluice_ops.coverage order by 1`);
    expect(slices.map(({ name }) => name)).toEqual(bridge.map(({ user_asked: name }) => name));

    await scene.replay();
    expect(await select(scene.warehouse, givenBy)).toEqual(bridge);
    await scene.replay({ rebuild: true });
    expect(await select(scene.warehouse, givenBy)).toEqual(bridge);
  });

  it('gets its bridge in the next run, when this one died before', async () => {
    const scene = await sceneIn(await open());
    const config = postLists(['north_trail', '@north_trail'], AGE);
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

anyWarehouse('a name', (open) => {
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
    expect(await bought(scene, profiles(['@alice'], AGE))).toBe(0);
    const served = await select(
      scene.warehouse,
      `select distinct answer_id from sluice_ops.requests where sync = 'profiles'`,
    );
    expect(served).toEqual([{ answer_id: '2' }]);
  });

  it('belongs to no entity if its entity was shown under another since', async () => {
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

  it('that another entity answered serves no entity by its own name', async () => {
    let other = false;
    const scene = await taughtIn(await open(), () => [other ? profile('2', 'zed') : profile('1', 'alice')]);
    await scene.ask('alice');
    await scene.ask('photos.example/alice');
    scene.clock.advance(7 * DAY_MS - 60_000);
    await scene.ask('1');
    other = true;
    scene.clock.advance(1);
    await scene.ask('alice');
    other = false;
    scene.clock.advance(120_000);
    scene.arrived();
    // The newest answer to "alice" is about 2; the newest about 1 was requested by its id.
    expect(await bought(scene, profiles(['https://photos.example/alice'], AGE))).toBe(0);
    expect(await select(scene.warehouse, `select answer_id from sluice_ops.requests where sync = 'profiles'`)).toEqual([
      { answer_id: '3' },
    ]);
  });

  it('that names no entity says nothing about another name', async () => {
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
    expect(run).toMatchObject({ sent: 1, missing: 0 });
  });

  it('without posts has none by another name', async () => {
    const scene = await taughtIn(await open(), ({ endpoint }) =>
      endpoint === 'photoshare.user' ? [profile('1', 'alice')] : [],
    );
    await scene.ask('alice');
    scene.clock.advance(5 * HOUR_MS);
    await scene.posts('alice');
    expect(await bought(scene, postLists(['@alice'], AGE))).toBe(0);
    expect(await bought(scene, postLists(['1'], AGE))).toBe(1);
    expect(await bought(scene, postLists(['2'], AGE))).toBe(1);
  });

  it('that no longer belongs to its entity, or to none, says nothing about its posts', async () => {
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

  it('is distinguished by letter case, and from an id with the same text', async () => {
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
      ['@7', '@7'],
    ]);
    // It may be the id of the one or the alias of the other.
    expect(await bought(scene, profiles(['7'], AGE, 'either'))).toBe(1);
  });

  it('shown for one person says nothing of a request by it that was never made', async () => {
    const masked = (id: string) => profile(id, 'member', { url: 'https://photos.example/member' });
    const scene = await taughtIn(await open(), ({ body }) => [
      masked((body as { user: string }).user === '1' ? '1' : '2'),
    ]);
    await scene.ask('1');
    expect(await bought(scene, profiles(['member', 'https://photos.example/member'], AGE))).toBe(2);
    expect(await select(scene.warehouse, 'select id from sluice.photoshare_users order by 1')).toHaveLength(2);
  });

  const LOOK_ALIKES = [
    'https://m.example/kay',
    'http://m.example/kay',
    'https://www.m.example/kay',
    'https://m.example/kay/',
    'https://m.example//kay',
    'https://m.example/kay#a',
  ];
  const numbers = [1, 2, 3, 4, 5, 6];
  const WAYS: readonly (readonly [string, readonly string[]])[] = [
    ['differ in their query', numbers.map((n) => `https://m.example/profile.php?id=${n}`)],
    [
      'differ in a query that also has tracking parameters',
      numbers.map((n) => `https://m.example/p?utm_source=a&id=${n}`),
    ],
    ['differ in a route behind the sign #', numbers.map((n) => `https://m.example/#!/u${n}`)],
    ['differ in scheme, host, slashes and fragment', LOOK_ALIKES],
    ['name people who are all shown at one address', numbers.map((n) => `https://m.example/masked/${n}`)],
  ];
  // All ways at once: a request takes most of the time that a name takes by itself.
  it.each(IS_LONG ? WAYS : [['differ in any way', WAYS.flatMap(([, names]) => names)] as const])(
    'addresses that %s are different names, for every endpoint',
    async (_, names) => {
      const url = 'https://m.example/profile.php';
      const scene = await taughtIn(await open(), ({ endpoint, body }) => {
        const { user, group } = body as { user?: string; group?: string };
        const n = idOf(user ?? group ?? '');
        if (endpoint === 'pronet.group') return [{ urn: { type: 'group', value: n }, name: 'G', url, member_count: 1 }];
        const who = profile(n, 'member', { url });
        return endpoint === 'photoshare.user' ? [who] : [{ id: `p${n}`, code: n, url, image: 'x', user: who }];
      });
      const idOf = (name: string): string => String(names.indexOf(name) + 1).padStart(2, '0');
      const configs = [
        profiles(names, AGE),
        postLists(names, AGE),
        asked('pronet.group', 'group', names).replace('s: {', 'groups: {'),
      ];
      for (const config of configs) expect(await bought(scene, config)).toBe(names.length);
      expect(await select(scene.warehouse, 'select id from sluice.photoshare_users')).toHaveLength(names.length);
      expect(await select(scene.warehouse, 'select urn_value from sluice.pronet_groups')).toHaveLength(names.length);
      const bridge = () =>
        select(scene.warehouse, 'select user_asked, post_id from sluice.photoshare_user_posts order by post_id');
      const expected = names.map((name) => ({ user_asked: name, post_id: `p${idOf(name)}` }));
      expect(await bridge()).toEqual(expected);
      for (const config of configs)
        expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, sent: 0, fresh: names.length });
      await scene.replay({ rebuild: true });
      expect(await bridge()).toEqual(expected);
    },
  );
});
