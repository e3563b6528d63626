/** Lists of rows after answers are loaded again or late: what a newer complete answer removed stays removed. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { dyingAt, expireLeases, STEP } from './crash.ts';
import { select } from './rows.ts';
import { type Scene, sceneIn, service } from './scene.ts';

anyWarehouse('an answer that is loaded after a newer one', (open) => {
  const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: t, count: 9 } }
  same_people: { endpoint: pronet.search.users, request: { title: t, count: 9 } }
  schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:p", count: 3 } }
`;
  const person = (value: string) => ({ urn: { type: 'fsd_profile', value }, name: value });
  const school = (major: string) => ({ company: { name: major }, major });
  const BROKEN = 'neither a person nor a school';
  type Reply = { readonly status?: number; readonly body: readonly unknown[] };
  /** A scene after each pair of replies was synced, and a function that reads its rows with their answers. */
  const sceneOf = async (rounds: readonly { people: Reply; schools: Reply; names?: string[] }[]) => {
    let round = rounds[0];
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => (endpoint === 'pronet.search.users' ? round?.people : round?.schools),
    });
    for (round of rounds) await scene.sync(CONFIG, { names: round.names ?? ['people', 'schools'] });
    const rows = `select concat_ws(' ', sync, user_urn_value, _answer_id) as row from sluice.pronet_user_search_hits
      union all select concat_ws(' ', major, _answer_id) from sluice.pronet_user_educations order by 1`;
    return { scene, rows: async () => (await select<{ row: string }>(scene.warehouse, rows)).map(({ row }) => row) };
  };

  /** Earlier versions kept entries open that a newer answer replaced. */
  const reopenQuarantine = ({ warehouse }: Scene): Promise<unknown> =>
    select(warehouse, 'update sluice_ops.quarantine set resolved_at = null returning id');

  it('brings back no row of a list that the newer one removed', async () => {
    const { scene, rows } = await sceneOf([
      { people: { body: [person('a'), person('b'), BROKEN] }, schools: { body: [school('x'), BROKEN] } },
      { people: { body: [person('a')] }, schools: { body: [] } },
    ]);
    expect(await rows()).toEqual(['people a 1']);
    await reopenQuarantine(scene);
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 2, quarantined: 2, written: {} });
    expect(await rows()).toEqual(['people a 1']);
    // A rebuild loads the older answer into empty tables, where no newer one replaced anything.
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await rows()).toEqual(['people a 1']);
  });

  it('has something new if it only removes rows, in the costs and in the view', async () => {
    const { scene } = await sceneOf(
      [['x', 'y'], ['x'], ['x'], []].map((majors) => ({
        people: { body: [] },
        schools: { body: majors.map(school) },
        names: ['schools'],
      })),
    );
    const answers = 'select loaded, is_nothing_new from sluice.answer_costs order by answer_id';
    expect(await select(scene.warehouse, answers)).toEqual([
      { loaded: '2', is_nothing_new: false },
      { loaded: '0', is_nothing_new: false },
      { loaded: '0', is_nothing_new: true },
      { loaded: '0', is_nothing_new: false },
    ]);
    const sums = "select nothing_new_answers from sluice.sync_costs where sync = 'schools'";
    expect(await select(scene.warehouse, sums)).toEqual([{ nothing_new_answers: '1' }]);
  });

  it('adds its rows if the newer one is of another sync, of status 412 or not complete', async () => {
    const schools = { body: ['x', 'y'].map(school) };
    const incomplete = [{ body: [school('x'), BROKEN] }, { body: ['x', 'y', 'z'].map(school) }];
    for (const newer of [{ status: 412, body: [] }, ...incomplete]) {
      const { scene, rows } = await sceneOf([
        { people: { body: [person('a'), person('b')] }, schools },
        { people: { body: [person('a')] }, schools: newer, names: ['same_people', 'schools'] },
      ]);
      const before = await rows();
      expect(before.slice(0, 5)).toEqual(['people a 1', 'people b 1', 'same_people a 3', 'x 2', 'y 2']);
      await select(scene.warehouse, 'delete from sluice.pronet_user_search_hits returning sync');
      await select(scene.warehouse, 'delete from sluice.pronet_user_educations returning major');
      expect(await scene.replay()).toMatchObject({ exitCode: 0 });
      expect(await rows()).toEqual(before);
    }
  });

  const listsOf = (count: number): string => `${service()}
syncs:
${Object.entries(LISTS)
  .map(([name, { endpoint, field }]) => `  ${name}: { endpoint: ${endpoint}, request: { ${field}, count: ${count} } }`)
  .join('\n')}
`;
  const LISTS = {
    schools: { endpoint: 'pronet.user.education', field: 'urn: "fsd_profile:p"' },
    reposts: { endpoint: 'pronet.post.reposts', field: 'urn: "activity:1"' },
    posts: { endpoint: 'photoshare.user.posts', field: 'user: someone' },
  };
  const itemOf = (endpoint: string, text: string): object =>
    endpoint === LISTS.schools.endpoint
      ? school(text)
      : endpoint === LISTS.reposts.endpoint
        ? { urn: { type: 'activity', value: text }, text }
        : { id: text, text };
  /** A scene that requested the lists with each count, and a function that reads their rows. */
  const listsIn = async (rounds: readonly { readonly count: number; readonly texts: readonly string[] }[]) => {
    let texts: readonly string[] = [];
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => ({
        body: texts.map((text) => (text === BROKEN ? text : itemOf(endpoint, text))),
      }),
    });
    for (const { count, texts: items } of rounds) {
      texts = items;
      await scene.sync(listsOf(count));
    }
    return { scene, rows: () => listedIn(scene) };
  };
  const listedIn = async ({ warehouse }: Scene): Promise<string[]> => {
    const rows = `select 'school ' || major as row from sluice.pronet_user_educations
      union all select 'repost ' || repost_urn_value from sluice.pronet_post_reposts
      union all select 'post ' || post_id from sluice.photoshare_user_posts order by 1`;
    return (await select<{ row: string }>(warehouse, rows)).map(({ row }) => row);
  };

  it('brings back no row of a list that a newer one to a request with another count removed', async () => {
    for (const first of [
      { count: 2, texts: ['1', '2'] },
      { count: 9, texts: ['1', '2', BROKEN] },
    ]) {
      const { scene, rows } = await listsIn([first, { count: 5, texts: ['1'] }]);
      expect(await rows()).toEqual(['post 1', 'repost 1', 'school 1']);
      await reopenQuarantine(scene);
      await scene.replay({ quarantined: first.texts.includes(BROKEN) });
      expect(await rows()).toEqual(['post 1', 'repost 1', 'school 1']);
      await scene.replay({ rebuild: true });
      expect(await rows()).toEqual(['post 1', 'repost 1', 'school 1']);
    }
  });

  it('brings back no row of a list that a newer one to a request with another alias of the owner removed', async () => {
    for (const newer of [['x'], []]) {
      let majors = ['x', 'y', BROKEN];
      const scene = await sceneIn(await open(), {
        respond: () => ({ body: majors.map((major) => (major === BROKEN ? major : school(major))) }),
      });
      const schoolsOf = (person: string, count: number, alias = ''): Promise<unknown> =>
        scene.sync(`${service()}
syncs:
  schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:${person}", count: ${count}${alias} } }
`);
      await schoolsOf('p', 9, ', alias: first');
      await schoolsOf('other', 9, ', alias: first');
      majors = newer;
      await schoolsOf('p', 5, ', alias: second');
      const rows = "select user_urn_value || ' ' || major as row from sluice.pronet_user_educations order by 1";
      const kept = ['other x', 'other y', ...newer.map((major) => `p ${major}`)].map((row) => ({ row }));
      expect(await select(scene.warehouse, rows)).toEqual(kept);

      expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 2, quarantined: 2 });
      expect(await select(scene.warehouse, rows)).toEqual(kept);
      await select(scene.warehouse, "delete from sluice.pronet_user_educations where user_urn_value = 'other'");
      await scene.replay();
      expect(await select(scene.warehouse, rows)).toEqual(kept);
    }
  });

  it('adds its rows if the newer one to a request with another count was full', async () => {
    const { scene, rows } = await listsIn([
      { count: 5, texts: ['1', '2'] },
      { count: 1, texts: ['1'] },
    ]);
    const before = await rows();
    expect(before).toEqual(['post 1', 'post 2', 'repost 1', 'repost 2', 'school 1', 'school 2']);
    for (const table of ['pronet_user_educations', 'pronet_post_reposts', 'photoshare_user_posts'])
      await select(scene.warehouse, `delete from sluice.${table}`);
    await scene.replay();
    expect(await rows()).toEqual(before);
  });

  it('brings back no recent post of a profile that a newer list of its posts removed', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => ({
        body:
          endpoint === 'photoshare.user'
            ? [{ id: 'u', alias: 'someone', posts: [{ id: 'old' }] }]
            : ['1', '2'].map((text) => itemOf(endpoint, text)),
      }),
    });
    const config = `${service()}
syncs:
  posts: { endpoint: photoshare.user.posts, request: { user: someone, count: 9 } }
  profiles: { endpoint: photoshare.user, request: { user: someone, with_posts: true } }
`;
    for (const name of ['posts', 'profiles']) await scene.sync(config, { names: [name] });
    const added = ['post 1', 'post 2', 'post old'];
    expect(await listedIn(scene)).toEqual(added);
    await select(scene.warehouse, 'delete from sluice.photoshare_user_posts');
    await scene.replay();
    expect(await listedIn(scene)).toEqual(added);

    await scene.sync(config, { names: ['posts'] });
    expect(await listedIn(scene)).toEqual(['post 1', 'post 2']);
    expect(await scene.replay({ names: ['profiles'] })).toMatchObject({ answers: 1 });
    expect(await listedIn(scene)).toEqual(['post 1', 'post 2']);
  });

  it.each(Object.values(LISTS))(
    'and that a killed run left changes no list of $endpoint',
    async ({ endpoint, field }) => {
      let texts = ['1', '2'];
      const scene = await sceneIn(await open(), {
        respond: () => ({ body: texts.map((text) => itemOf(endpoint, text)) }),
      });
      const syncs = { killed: 9, other: 5 };
      const config = `${service()}
syncs:
${Object.entries(syncs)
  .map(([name, count]) => `  ${name}: { endpoint: ${endpoint}, request: { ${field}, count: ${count} } }`)
  .join('\n')}
`;
      const sync = async (name: keyof typeof syncs): Promise<void> => {
        expect(await scene.sync(config, { names: [name] })).toMatchObject({ exitCode: 0 });
      };
      const killed = async (): Promise<void> => {
        const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth: 1 });
        const options = { names: ['killed'], warehouse: dying.warehouse };
        await expect(scene.sync(config, options)).rejects.toThrow(/^died/);
        await expireLeases(scene.warehouse);
      };

      await killed();
      texts = [];
      await sync('other');
      await sync('killed');
      expect(await listedIn(scene)).toEqual([]);

      texts = ['1', '2'];
      await sync('other');
      const listed = await listedIn(scene);
      expect(listed).toHaveLength(2);
      texts = ['1'];
      await killed();
      texts = ['1', '2'];
      await sync('other');
      await sync('killed');
      expect(await listedIn(scene)).toEqual(listed);
      expect(await select(scene.warehouse, 'select id from sluice_ops.answers where loaded_at is null')).toEqual([]);
    },
  );
});
