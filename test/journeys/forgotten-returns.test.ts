/** A forgotten person whom later answers bring back in every place: nothing of the person is kept, and other people stay. */
import { expect, it } from 'vitest';
import { forget, targetOf } from '../../src/flow/erasure/forget.ts';
import type { Respond } from '../../src/sandbox/options.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { DAY_MS } from '../flow/clock.ts';
import { dyingAt, expireLeases } from '../flow/crash.ts';
import { select } from '../flow/rows.ts';
import { countingIds, type Scene, sceneIn, service } from '../flow/scene.ts';
import { tracesOf } from '../support/traces.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 100 } }
  schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:ACoOther1", count: 100 } }
  groups: { endpoint: pronet.group, for_each: { group: ["771"] } }
  reposts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:7001", count: 50 } }
  birds: { endpoint: microblog.user, for_each: { user: [finch, cut_body, refused] }, accept: { rejects: 100% } }
  photos: { endpoint: photoshare.user, request: { user: lena_k } }
  pages: { endpoint: webparser.parse, for_each: { url: ["https://pages.example/team"] }, request: { extract_contacts: true } }
`;

const urn = { type: 'fsd_profile', value: 'ACoQ7vossKx' };
const NAME = 'Quinn Abernathy-Voss';
const ALIAS = 'quinn-abernathy-7';
const EARLIER_ALIAS = 'qvoss_eng';
const URL_ = `https://pronet.example/in/${ALIAS}/`;
const MEMBER = '90417733125';
const ENTITY = { urn, internal_id: { type: 'member', value: MEMBER }, name: NAME, alias: ALIAS, url: URL_ };
/** What only objects say that are the person. */
const SECRET = 'collects rare barometers';
const TEXTS = [urn.value, NAME, ALIAS, EARLIER_ALIAS, URL_, MEMBER, SECRET];

const other = {
  urn: { type: 'fsd_profile', value: 'ACoOther1' },
  internal_id: { type: 'member', value: '55512345' },
  name: 'Ola Lind',
  alias: 'ola-lind',
  url: 'https://pronet.example/in/ola-lind/',
};
const bird = {
  rest_id: '71',
  internal_id: 'b71',
  name: 'Finch',
  alias: 'finch',
  url: 'https://microblog.example/finch',
};
const group = {
  urn: { type: 'group', value: '771' },
  name: 'Barometers',
  url: 'https://pronet.example/groups/771/',
  member_count: 2,
};
const post = { urn: { type: 'activity', value: '7100' }, url: 'https://pronet.example/feed/7100/' };

const before: Respond = ({ endpoint, body }) => {
  switch (endpoint) {
    case 'pronet.search.users':
      return {
        body: [
          { ...ENTITY, headline: SECRET },
          { ...other, headline: 'Engineer', colleague: { ...ENTITY, alias: EARLIER_ALIAS, headline: SECRET } },
        ],
      };
    case 'pronet.group':
      return { body: [{ ...group, members: [{ user: { ...ENTITY, headline: SECRET }, role: 'owner' }] }] };
    case 'microblog.user':
      return { body: [{ ...bird, rest_id: JSON.stringify(body).length.toString() }] };
    default:
      return { body: [] };
  }
};

/** The person in values of every shape, by every name. */
const everywhere = {
  colleague: { ...ENTITY, headline: SECRET },
  lists: [[['deep', { profile: { publicIdentifier: ALIAS, headline: SECRET } }]], [[EARLIER_ALIAS]]],
  references: [
    'urn:li:fsd_profile:ACoQ7vossKx',
    `fsd_profile:${urn.value}`,
    urn,
    { owner: urn },
    Number(MEMBER),
    MEMBER,
  ],
  raw: JSON.stringify({
    included: [{ entityUrn: `urn:li:fsd_profile:${urn.value}`, occupation: SECRET }],
    also: ALIAS,
  }),
  raw_twice: JSON.stringify({ payload: JSON.stringify([{ username: EARLIER_ALIAS, occupation: SECRET }]) }),
  raw_escaped: `{"alias":"quinn\\u002dabernathy-7","about":"${SECRET}"}`,
  [ALIAS]: { headline: SECRET },
  by_key: { [urn.value]: { headline: SECRET }, [`seen ${ALIAS}`]: 1 },
  tracking: `https://t.example/?to=${encodeURIComponent(URL_)}&x=1`,
  note: `Thanks @${ALIAS}, (${NAME}) and ${URL_}?trk=1; once “${EARLIER_ALIAS}”.`,
  named: NAME,
  handle: { screen_name: EARLIER_ALIAS, occupation: SECRET },
};

const after: Respond = ({ endpoint, body }) => {
  switch (endpoint) {
    case 'pronet.search.users':
      return {
        body: [
          { ...ENTITY, headline: SECRET, ...everywhere },
          { alias: EARLIER_ALIAS, name: NAME, headline: SECRET },
          { ...other, headline: `Works with ${NAME}`, ...everywhere },
          {
            ...other,
            urn: { type: 'fsd_profile', value: 'ACoOther2' },
            alias: 'ola-2',
            image: `https://i.example/${ALIAS}.jpg`,
          },
        ],
      };
    case 'pronet.user.education':
      return {
        body: [{ company: { name: 'School', ...everywhere }, description: `Taught by ${NAME}`, ...everywhere }],
      };
    case 'pronet.group':
      return {
        body: [
          {
            ...group,
            description: `Founded by ${ALIAS}`,
            members: [
              { user: { ...ENTITY, headline: SECRET }, role: 'owner' },
              { user: { alias: ALIAS, headline: SECRET }, role: 'owner' },
              { user: other, role: 'member', ...everywhere },
            ],
            ...everywhere,
          },
        ],
      };
    case 'pronet.post.reposts':
      return {
        body: [
          {
            ...post,
            text: `${NAME} said`,
            author: { ...ENTITY, headline: SECRET },
            mentioned: [ENTITY, other, { alias: ALIAS, name: NAME }],
          },
          { ...post, urn: { type: 'activity', value: '7101' }, repost: everywhere.raw, ...everywhere },
          {
            ...post,
            urn: { type: 'activity', value: '7102' },
            repost: { text: ALIAS, author: { alias: ALIAS, headline: SECRET }, ...everywhere },
          },
          {
            urn: { type: 'activity', value: '7103' },
            url: `https://pronet.example/posts/${ALIAS}_7103`,
            repost: `by ${NAME}`,
          },
          // Quarantined for its missing key.
          { text: `without a key, by ${ALIAS}`, author: ENTITY, ...everywhere },
        ],
      };
    case 'microblog.user': {
      const requestText = JSON.stringify(body);
      if (requestText.includes('cut_body'))
        return { body: `[{"rest_id":"9","description":"quinn\\u002dabernathy-7","name":"${NAME}` };
      if (requestText.includes('refused'))
        return { status: 422, body: { detail: `no such user; did you mean ${ALIAS}?` } };
      return {
        body: [
          {
            ...bird,
            description: `friend of ${ALIAS}`,
            mentions: [{ alias: ALIAS }, ALIAS, [[URL_]]],
            profile_urls: [{ url: URL_ }],
            ...everywhere,
          },
        ],
      };
    }
    case 'photoshare.user':
      return {
        body: [
          {
            id: '880',
            alias: 'lena_k',
            name: 'Lena',
            url: 'https://photoshare.example/lena_k/',
            location: ALIAS,
            similar_users: [{ ...ENTITY }, EARLIER_ALIAS],
            links: [{ url: URL_, title: SECRET }],
            ...everywhere,
          },
        ],
      };
    case 'webparser.parse':
      return {
        body: [
          {
            url: 'https://pages.example/team',
            title: `Team: ${NAME}`,
            links: [URL_, 'https://pages.example/'],
            emails: [`${ALIAS}@pages.example`],
            cleaned_html: `<a href="${URL_}">${NAME}</a>, <i>${EARLIER_ALIAS}</i>`,
            metadata: everywhere,
          },
        ],
      };
    default:
      return undefined;
  }
};

const forgetIn = (scene: Scene, key: readonly string[]) =>
  forget(
    scene.warehouse,
    { table: 'pronet_users', key, mayReturn: false, dryRun: false },
    { now: scene.clock.now, sleep: scene.clock.sleep, newId: countingIds(9), onProgress: () => undefined },
    new AbortController().signal,
  );

async function sceneWith(
  warehouse: Warehouse,
): Promise<{ readonly scene: Scene; readonly answer: (by: Respond) => void }> {
  let respond = before;
  const scene = await sceneIn(warehouse, { respond: (request) => respond(request) });
  await scene.sync(CONFIG);
  scene.clock.advance(DAY_MS);
  return {
    scene,
    answer: (by) => {
      respond = by;
    },
  };
}

anyWarehouse('a forgotten person', (open) => {
  it('takes nothing from a person who has the alias or the name now', async () => {
    const { scene, answer } = await sceneWith(await open());
    await forgetIn(scene, [urn.type, urn.value]);
    const heir = { ...other, urn: { type: 'fsd_profile', value: 'ACoHeir' }, alias: ALIAS, url: URL_, name: NAME };
    const unknown = { urn: { type: 'fsd_profile', value: 'ACoHeir' }, alias: ALIAS, title: 'kept' };
    answer(() => ({
      body: [
        { ...heir, headline: 'kept', friend: unknown },
        { ...other, first_name: 'Quinn', city: 'Voss' },
      ],
    }));

    await scene.sync(CONFIG, { names: ['people'] });

    expect(
      await select(
        scene.warehouse,
        `select name, alias, url, headline, extra from sluice.pronet_users where urn_value <> 'ACoOther1'`,
      ),
    ).toEqual([{ name: NAME, alias: ALIAS, url: URL_, headline: 'kept', extra: { friend: unknown } }]);
    expect(
      await select(scene.warehouse, `select extra from sluice.pronet_users where urn_value = 'ACoOther1'`),
    ).toEqual([{ extra: { first_name: 'Quinn', city: 'Voss' } }]);
  });

  it('returns by no later answer and by no replay, in no place', async () => {
    const { scene, answer } = await sceneWith(await open());
    const { warehouse } = scene;
    expect(await forgetIn(scene, [`${urn.type}\r`, `\uFEFF ${urn.value} \r\n`])).toMatchObject({
      exitCode: 0,
      found: true,
    });
    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);

    answer(async (request) => {
      const given = await after(request);
      return given && { ...given, headers: { 'x-note': `about ${ALIAS}`, 'x-server': 'a1' } };
    });
    await scene.sync(CONFIG);

    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);
    expect(
      await select(
        warehouse,
        `select distinct headers ->> 'x-note' as note, headers ->> 'x-server' as server from sluice_ops.answers
          where headers ? 'x-server'`,
      ),
    ).toEqual([{ note: expect.stringMatching(/^about sluice-forgotten:\w{24}$/), server: 'a1' }]);
    const others = await select(
      warehouse,
      `select (select string_agg(name || ' ' || alias, ', ' order by urn_value) from sluice.pronet_users) as people,
        (select string_agg(urn_value, ',' order by urn_value) from sluice.pronet_posts) as posts,
        (select string_agg(user_urn_value, ',') from sluice.pronet_group_members) as members,
        (select count(*)::int from sluice.photoshare_users) as photographers,
        (select count(*)::int from sluice.microblog_users where alias = 'finch') as birds,
        (select string_agg(link, ' ' order by position) from sluice.web_page_links) as links`,
    );
    expect(others).toEqual([
      {
        people: 'Ola Lind ola-lind, Ola Lind ola-2',
        posts: '7100,7101,7102,7103',
        members: 'ACoOther1',
        photographers: 1,
        birds: expect.any(Number),
        links: expect.stringMatching(/^sluice-forgotten:\w{24} https:\/\/pages.example\/$/),
      },
    ]);
    await scene.replay();
    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);
    await scene.replay({ rebuild: true });
    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);
  });

  it('changes no row of others when an answer names the person again', async () => {
    const mention = { ...post, text: `${NAME} (@${ALIAS}) wrote this`, share_count: 1 };
    const colleague = { ...other, headline: `Works with ${NAME}`, by: [ALIAS, `urn:li:fsd_profile:${urn.value}`] };
    const respond: Respond = ({ endpoint }) => ({
      body:
        endpoint === 'pronet.search.users' ? [ENTITY, colleague] : endpoint === 'pronet.post.reposts' ? [mention] : [],
    });
    const scene = await sceneIn(await open(), { respond });
    await scene.sync(CONFIG);
    await forgetIn(scene, [urn.type, urn.value]);
    const written = () =>
      select(
        scene.warehouse,
        `select p.text, p._changed_at as post_changed_at, u.headline, u.extra, u._changed_at
        from sluice.pronet_posts p cross join sluice.pronet_users u order by u.urn_value`,
      );
    const before = await written();

    scene.clock.advance(DAY_MS);
    await scene.sync(CONFIG);

    expect(before).toHaveLength(1);
    expect(await written()).toEqual(before);
  });

  it('is not requested by a name in a free text, or in an address with a query', async () => {
    const { scene, answer } = await sceneWith(await open());
    const { warehouse } = scene;
    answer(() => ({ body: [] }));
    const config = `${service()}
syncs:
  people: { endpoint: pronet.search.users, for_each: { keywords: ["${NAME}", "by ${ALIAS}", Ola] }, request: { count: 100 } }
  filings: { endpoint: sec.search.companies, for_each: { entity_name: ["${NAME}", AAPL] }, request: { count: 100 } }
  birds: { endpoint: microblog.user, for_each: { user: ["${URL_}?lang=en", finch] } }
`;
    await scene.sync(config);
    scene.clock.advance(DAY_MS);
    await forgetIn(scene, [urn.type, urn.value]);
    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);

    await scene.sync(config);

    expect(await tracesOf(warehouse, TEXTS)).toEqual([]);
    expect(
      scene.notices.flatMap(({ sync, message }) => (message.includes('left out') ? [`${sync}: ${message}`] : [])),
    ).toEqual([
      'people: requests left out because they name a forgotten entity: 2',
      'filings: requests left out because they name a forgotten entity: 1',
      'birds: requests left out because they name a forgotten entity: 1',
    ]);
  });

  it('leaves no planned request that would search for its pseudonym', async () => {
    const { scene, answer } = await sceneWith(await open());
    const sent: string[] = [];
    answer(({ body }) => {
      sent.push(JSON.stringify(body));
      return { body: [] };
    });
    const config = `${service()}
syncs:
  people: { endpoint: pronet.search.users, for_each: { keywords: [Ola, "${NAME}", "by ${NAME}", Finch] }, request: { count: 10 }, budget: { per_run: 1 } }
`;
    expect((await scene.sync(config)).exitCode).toBe(6);
    await forgetIn(scene, [urn.type, urn.value]);

    for (let left = 0; left < 3; left += 1) await scene.sync(config);

    expect(sent.filter((body) => body.includes('sluice-forgotten') || body.includes(NAME))).toEqual([]);
    expect(sent.filter((body) => body.includes('Finch'))).not.toEqual([]);
    expect(
      await select(
        scene.warehouse,
        "select state, error, count(*)::int as n from sluice_ops.requests where sync = 'people' and body::text ~ 'sluice-forgotten' group by 1, 2",
      ),
    ).toEqual([{ state: 'abandoned', error: 'the entity was forgotten', n: 2 }]);
  });

  it('is kept while a table of a user refers to the row, and leaves no copy in what a killed rebuild left', async () => {
    const { scene } = await sceneWith(await open());
    const { warehouse } = scene;
    await select(
      warehouse,
      'create table public.notes (type text, value text, constraint about foreign key (type, value) references sluice.pronet_users)',
    );
    await select(warehouse, 'insert into public.notes select urn_type, urn_value from sluice.pronet_users');
    await expect(forgetIn(scene, [urn.type, urn.value])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('"about" on table "notes"'),
    });
    await select(warehouse, 'delete from public.notes');
    const dying = dyingAt(warehouse, { when: 'before', statement: /^lock table/, nth: 1 });
    await expect(scene.replay({ rebuild: true }, undefined, () => undefined, dying.warehouse)).rejects.toThrow(/^died/);
    await expireLeases(warehouse);
    const left = "select count(*)::int as n from pg_namespace where nspname = 'sluice_rebuild'";
    expect(await select(warehouse, left)).toEqual([{ n: 1 }]);

    expect(await forgetIn(scene, [urn.type, urn.value])).toMatchObject({ exitCode: 0, found: true });

    expect(await select(warehouse, left)).toEqual([{ n: 0 }]);
  });

  it('whom nothing knows is reported by another exit code', async () => {
    const { scene } = await sceneWith(await open());
    expect(await forgetIn(scene, [urn.type, 'ACoNobody'])).toMatchObject({ exitCode: 2, found: false });
    expect(await forgetIn(scene, [urn.type, urn.value])).toMatchObject({ exitCode: 0, found: true });
    expect(await forgetIn(scene, [urn.type, urn.value])).toMatchObject({
      exitCode: 0,
      found: false,
      wasForgotten: true,
    });
    expect(targetOf(' pronet_groups\r', ['\uFEFFgroup ', '1\r\n']).key).toEqual(['group', '1']);
  });
});
