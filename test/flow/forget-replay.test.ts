/** Erasure, then replays: the rows of other entities stay, and the answers say the same of them. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { forget } from '../../src/flow/erasure/forget.ts';
import { withoutEscapes } from '../../src/flow/erasure/scrub.ts';
import type { Respond } from '../../src/sandbox/options.ts';
import { digestOf } from '../../src/service/canonical-json.ts';
import { tracesOf } from '../support/traces.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { rowsOf, select } from './rows.ts';
import { countingIds, type Scene, sceneIn, service } from './scene.ts';

const KEY = ['fsd_profile', 'ACoAAADA1'];
const NAMED = {
  name: 'Ada Lovelace',
  alias: 'ada-lovelace',
  url: 'https://www.pronet.example/in/ada-lovelace',
};
const ADA = { ...NAMED, urn: { type: 'fsd_profile', value: 'ACoAAADA1' }, headline: 'Engines' };

/** A config with a search that returns Ada, and with further syncs. */
const withSyncs = (...syncs: readonly string[]): string =>
  [
    service(),
    'syncs:',
    '  people: { endpoint: pronet.search.users, request: { title: x, count: 9 } }',
    ...syncs.map((it) => `  ${it}`),
  ].join('\n');

/** Answers the search with Ada, and other endpoints with these items. */
const respondWith =
  (items: Readonly<Record<string, readonly object[]>>, person: object = ADA): Respond =>
  ({ endpoint }) => ({ body: endpoint === 'pronet.search.users' ? [person] : (items[endpoint] ?? []) });

const forgetAda = (scene: Scene) => forgetIn(scene, 'pronet_users', KEY);

const forgetIn = ({ warehouse, clock }: Scene, table: string, key: readonly string[]) =>
  forget(
    warehouse,
    { mayReturn: false, dryRun: false, table, key },
    { now: clock.now, sleep: clock.sleep, newId: countingIds(9), onProgress: () => undefined },
    new AbortController().signal,
  );

/** Replays, in place and anew, do not change a row. */
async function expectUnchanged(scene: Scene): Promise<void> {
  const all = await rowsOf(scene.warehouse, { machinery: true, volatile: true });
  const content = await rowsOf(scene.warehouse, { volatile: true });
  expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
  expect(await rowsOf(scene.warehouse, { machinery: true, volatile: true })).toEqual(all);
  expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
  expect(await rowsOf(scene.warehouse, { volatile: true })).toEqual(content);
}

const open = postgresWarehouses();

const PAGE = { '@type': '@web_parser_result', url: 'https://team.example/page', cleaned_html: 'text', title: 't' };
const pages = (name: string, request: string): string =>
  `${name}: { endpoint: webparser.parse, for_each: { url: ["https://team.example/page"] }, request: { ${request} } }`;

it('renews the logged digests of page texts, and drops the changes that only the name made', async () => {
  const texts = ['Meet us.', 'Meet Ada Lovelace.', 'Meet ada-lovelace.', 'Meet ada-lovelace again.'];
  let text = texts[0];
  const scene = await sceneIn(await open(), {
    respond: (call) => respondWith({ 'webparser.parse': [{ ...PAGE, cleaned_html: text }] })(call),
  });
  for (text of texts) {
    expect((await scene.sync(withSyncs(pages('plain', '')))).exitCode).toBe(0);
    scene.clock.advance(DAY_MS);
  }
  const digests = () =>
    select(
      scene.warehouse,
      "select to_value from sluice.web_page_changes where attribute = 'cleaned_html' order by changed_at",
    );
  expect(await digests()).toHaveLength(3);

  await forgetAda(scene);

  const [{ html } = { html: '' }] = await select<{ html: string }>(
    scene.warehouse,
    'select cleaned_html as html from sluice.web_pages',
  );
  const now = [html.replace(' again', ''), html].map((to) => ({ to_value: digestOf(to) }));
  expect(await digests()).toEqual(now);
  await expectUnchanged(scene);
});

it('keeps an address that only stands in a name of the entity where others have it', async () => {
  const site = 'https://shop.example/coats';
  const person = { ...ADA, name: `Ada Lovelace, ${site}` };
  const other = { urn: { type: 'fsd_profile', value: 'u2' }, name: 'B', alias: 'b', url: 'https://x.example/b' };
  const scene = await sceneIn(await open(), {
    respond: ({ endpoint }) => ({
      body: endpoint === 'pronet.search.users' ? [person, { ...other, headline: `We run ${site} today.` }] : [],
    }),
  });
  await scene.sync(withSyncs());

  await forgetAda(scene);

  const headlines = () => select(scene.warehouse, 'select headline from sluice.pronet_users');
  expect(await headlines()).toEqual([{ headline: `We run ${site} today.` }]);
  await expectUnchanged(scene);
  expect(await tracesOf(scene.warehouse, ['Ada Lovelace'])).toEqual([]);
});

it('drops logged changes of texts that only the name made', async () => {
  const texts = ['Knows Ada Lovelace.', 'Knows ada-lovelace.', 'Knows ada-lovelace well.'];
  const other = { urn: { type: 'fsd_profile', value: 'u2' }, name: 'B', alias: 'b', url: 'https://x.example/b' };
  let headline = texts[0];
  const scene = await sceneIn(await open(), {
    respond: ({ endpoint }) => ({ body: endpoint === 'pronet.search.users' ? [ADA, { ...other, headline }] : [] }),
  });
  for (headline of texts) {
    expect((await scene.sync(withSyncs())).exitCode).toBe(0);
    scene.clock.advance(DAY_MS);
  }

  await forgetAda(scene);

  const lines = await select<{ to: string }>(scene.warehouse, 'select to_value as to from sluice.pronet_user_changes');
  expect(lines).toEqual([{ to: expect.stringMatching(/^Knows sluice-forgotten:\w+ well\.$/) }]);
  await expectUnchanged(scene);
});

it('removes pages whose content options contain a name, and no other, and later plans leave them out', async () => {
  const config = withSyncs(
    pages('plain', 'extract_contacts: true'),
    pages('word', 'include_tags: ["#ada-lovelace"]'),
    pages('part', 'exclude_tags: ["div#ada-lovelace"]'),
  );
  const scene = await sceneIn(await open(), {
    respond: respondWith({ 'webparser.parse': [{ ...PAGE, links: ['https://x.example'] }] }),
  });
  expect((await scene.sync(config)).exitCode).toBe(0);

  expect(await forgetAda(scene)).toMatchObject({ requests: 2, rows: { web_pages: 2 } });

  const options = () => select(scene.warehouse, 'select options from sluice.web_pages');
  expect(await options()).toEqual([{ options: { extract_contacts: true } }]);
  await expectUnchanged(scene);
  scene.clock.advance(DAY_MS);
  expect((await scene.sync(config)).exitCode).toBe(0);
  expect(await options()).toEqual([{ options: { extract_contacts: true } }]);
  expect(await tracesOf(scene.warehouse, ['ada-lovelace'])).toEqual([]);
});

it('removes the values of the entity from the statistics of the tables', async () => {
  const lena = { name: 'Lena K', alias: 'lena-k', url: 'https://www.pronet.example/in/lena-k' };
  const others = [{ ...lena, urn: { type: 'fsd_profile', value: 'ACoQ8' } }];
  const scene = await sceneIn(await open(), { respond: () => ({ body: [ADA, ...others] }) });
  expect((await scene.sync(withSyncs())).exitCode).toBe(0);
  await sql`analyze`.execute(scene.warehouse.db);
  const places = await tracesOf(scene.warehouse, ['ada-lovelace']);
  expect(places).toContain('statistics of pronet_users.alias');

  await forgetAda(scene);

  expect(await tracesOf(scene.warehouse, ['ada-lovelace'])).toEqual([]);
});

it('keeps the schools of a person who was requested with words that begin with a forgotten name', async () => {
  const scene = await sceneIn(await open(), {
    respond: respondWith({
      'pronet.user.education': [{ company: { urn: { type: 'school', value: '9' }, name: 'a school' }, major: 'a' }],
    }),
  });
  const config = withSyncs(
    'schools: { endpoint: pronet.user.education, for_each: [{ urn: "fsd_profile:ACoQ8", alias: "ada-lovelace, or" }], request: { count: 9 } }',
  );
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetAda(scene);

  expect(await tracesOf(scene.warehouse, ['ada-lovelace'])).toEqual([]);
  await expectUnchanged(scene);
  expect(await select(scene.warehouse, 'select user_urn_value, major from sluice.pronet_user_educations')).toEqual([
    { user_urn_value: 'ACoQ8', major: 'a' },
  ]);
});

it('keeps a count with the digits of a name, however large it is', async () => {
  const follower = '9007199254740993';
  const scene = await sceneIn(await open(), {
    respond: ({ body }) => ({
      body:
        (body as { readonly user: string }).user === 'a'
          ? JSON.stringify([{ id: '1', alias: follower, name: 'Ada Lovelace' }])
          : `[{"id":"2","alias":"b","follower_count":${follower},"following_count":"${follower}","created_at":"2026-01-01T00:00:00Z"}]`,
    }),
  });
  const config = withSyncs('users: { endpoint: photoshare.user, for_each: { user: [a, b] } }');
  expect((await scene.sync(config, { names: ['users'] })).exitCode).toBe(0);

  await forgetIn(scene, 'photoshare_users', ['1']);

  const counts =
    "select follower_count::text as followers, following_count::text as follows from sluice.photoshare_users where id = '2'";
  expect(await select(scene.warehouse, counts)).toEqual([{ followers: follower, follows: follower }]);
  await expectUnchanged(scene);
});

it('keeps a page whose metadata is about the entity, with a tombstone as in its answer', async () => {
  const page = { ...PAGE, metadata: { url: NAMED.url, lang: 'en' }, links: ['https://x.example'] };
  const scene = await sceneIn(await open(), { respond: respondWith({ 'webparser.parse': [page] }) });
  expect((await scene.sync(withSyncs(pages('pages', 'extract_contacts: true')))).exitCode).toBe(0);

  await forgetAda(scene);

  const rows = await select(
    scene.warehouse,
    'select metadata, link from sluice.web_pages join sluice.web_page_links using (page_key)',
  );
  expect(rows).toEqual([{ metadata: { '@type': '@sluice_forgotten' }, link: 'https://x.example' }]);
  await expectUnchanged(scene);
});

it('removes a name with a line break and a tab from texts, unknown fields and answers', async () => {
  const name = 'Ada\nKing\tLovelace';
  const post = { urn: { type: 'activity', value: '5' }, text: `by ${name} today`, note: `with ${name} today` };
  const scene = await sceneIn(await open(), {
    respond: respondWith({ 'pronet.post.reposts': [post] }, { ...ADA, name }),
  });
  const posts = 'posts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:1", count: 9 } }';
  expect((await scene.sync(withSyncs(posts))).exitCode).toBe(0);
  expect(await tracesOf(scene.warehouse, [name])).not.toEqual([]);

  await forgetAda(scene);

  expect(await tracesOf(scene.warehouse, [name])).toEqual([]);
  await expectUnchanged(scene);
});

it('finds names with control characters in bodies that are not JSON', () => {
  const name = 'Ada\nKing\tLovelace\b\f\r\u0001';
  expect(withoutEscapes(JSON.stringify(name))).toBe(`"${name}"`);
});

it('omits elements about the entity that have no row of their own, as the answers do', async () => {
  const scene = await sceneIn(await open(), {
    respond: respondWith({
      'webparser.parse': [{ ...PAGE, links: ['https://x.example', { url: NAMED.url, mood: 'zq' }, { url: 'y' }] }],
      'pronet.group': [
        {
          urn: { type: 'group', value: '77' },
          name: 'g',
          url: 'g',
          member_count: 3,
          members: [
            { user: { urn: { type: 'fsd_profile', value: 'B' }, name: 'Bob' }, role: 'owner' },
            { user: NAMED, role: 'zq role' },
          ],
        },
      ],
      'pronet.post.reposts': [
        { urn: { type: 'activity', value: '5' }, text: 'x', mentioned: [null, 'ada-lovelace', NAMED] },
      ],
    }),
  });
  const config = withSyncs(
    pages('pages', 'extract_contacts: true'),
    'groups: { endpoint: pronet.group, request: { group: "77" } }',
    'posts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:1", count: 9 } }',
  );
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetAda(scene);

  expect(await tracesOf(scene.warehouse, ['ada-lovelace', 'zq role', 'zq'])).toEqual([]);
  expect(await select(scene.warehouse, 'select position::int, link from sluice.web_page_links order by 1')).toEqual([
    { position: 0, link: 'https://x.example' },
    { position: 2, link: null },
  ]);
  expect(await select(scene.warehouse, 'select links_count::int, extra from sluice.web_pages')).toEqual([
    { links_count: 3, extra: { links: { 2: { url: 'y' } } } },
  ]);
  expect(await select(scene.warehouse, 'select members_count::int, extra from sluice.pronet_groups')).toEqual([
    { members_count: 2, extra: null },
  ]);
  await expectUnchanged(scene);
});

it('keeps the other documents of a filing, and files of the same name in other filings', async () => {
  const filing = (accession: string, file: string) => ({
    accession_number: accession,
    file_name: file,
    document_url: `https://filings.example/${accession}/${file}`,
  });
  const others = [filing('0000320193-24-000123', 'b.htm'), filing('0000320193-24-000999', 'primary.htm')];
  const scene = await sceneIn(await open(), {
    respond: respondWith({ 'sec.search.companies': [filing('0000320193-24-000123', 'primary.htm'), ...others] }),
  });
  const config = withSyncs('filings: { endpoint: sec.search.companies, request: { count: 9 } }');
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetIn(scene, 'sec_filings', ['0000320193-24-000123', 'primary.htm']);

  const left = () =>
    select(scene.warehouse, 'select accession_number, file_name, document_url from sluice.sec_filings order by 1, 2');
  expect(await left()).toEqual(others);
  await expectUnchanged(scene);
  scene.clock.advance(DAY_MS);
  expect((await scene.sync(config)).exitCode).toBe(0);
  expect(await left()).toEqual(others);
});

it.each([
  ['fsd_profile', 'ACoAAADA1'],
  ['member', '20011815'],
])('keeps people whose URNs or ids have the same value as the URN %s:%s', async (type, value) => {
  const urn = (of: string, id: string) => ({ type: of, value: id });
  const people = [
    { ...ADA, internal_id: urn('member', '20011815') },
    { urn: urn('member', 'ACoAAADA1'), internal_id: urn('member', '2'), name: 'Another' },
    { urn: urn('member', '20011815'), internal_id: urn('member', '3'), name: 'A third' },
  ];
  const scene = await sceneIn(await open(), {
    respond: ({ endpoint }) => ({
      body:
        endpoint === 'pronet.search.users'
          ? people
          : [{ urn: urn('group', '1'), members: people.map((user) => ({ user })), name: 'g' }],
    }),
  });
  const config = withSyncs('groups: { endpoint: pronet.group, request: { group: "1" } }');
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetIn(scene, 'pronet_users', [type, value]);

  const left = people.filter((it) => it.urn.type !== type || it.urn.value !== value).map((it) => it.urn.value);
  const members = 'select user_urn_value as value from sluice.pronet_group_members order by 1';
  expect(await select(scene.warehouse, members)).toEqual(left.toSorted().map((it) => ({ value: it })));
  await expectUnchanged(scene);
});

it('keeps what other entities have in common with the entity: short names, and ids of other kinds', async () => {
  const urn = (type: string, value = '77123456') => ({ type, value });
  const person = { ...ADA, internal_id: urn('member'), alias: 'ada', url: 'https://www.pronet.example/in/ada' };
  const author = { urn: urn('fsd_company', 'X'), internal_id: urn('company'), name: 'ada', alias: 'ada' };
  const scene = await sceneIn(await open(), {
    respond: respondWith(
      {
        'pronet.group': [{ urn: urn('group', 'G'), name: 'ada', geo: urn('geo'), rules: 'ada' }],
        'pronet.post.reposts': [{ urn: urn('activity', 'P'), share_urn: urn('share'), author, images: ['ada'] }],
        'pronet.user.education': [{ company: { name: 'ada' }, major: 'ada' }],
      },
      person,
    ),
  });
  const config = withSyncs(
    'groups: { endpoint: pronet.group, request: { group: "G" } }',
    'posts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:1", count: 9 } }',
    'schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:ZZ", count: 9 } }',
  );
  expect((await scene.sync(config)).exitCode).toBe(0);
  const without = ['pronet_users', 'pronet_user_search_hits', 'pronet_user_changes'];
  const others = await rowsOf(scene.warehouse, { volatile: true, without });

  await forgetAda(scene);

  expect(await rowsOf(scene.warehouse, { volatile: true, without })).toEqual(others);
  await expectUnchanged(scene);
});

it('keeps names that other entities give themselves', async () => {
  const masked = (id: string) => ({
    rest_id: id,
    alias: 'masked_user',
    url: 'https://micro.example/masked_user',
    location: 'Oslo',
  });
  const scene = await sceneIn(await open(), {
    respond: ({ endpoint, body }) => ({
      body:
        endpoint === 'microblog.user'
          ? [masked((body as { user: string }).user === 'masked_user' ? '1' : '2')]
          : [{ id: '7', code: 'c', user: { id: '9', name: 'masked_user', alias: 'other' } }],
    }),
  });
  const config = `${service()}
syncs:
  writers: { endpoint: microblog.user, for_each: { user: [masked_user, "https://micro.example/former"] } }
  photos: { endpoint: photoshare.user.posts, request: { user: other, count: 9 } }`;
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetIn(scene, 'microblog_users', ['1']);

  const named = 'select alias, url from sluice.microblog_users';
  expect(await select(scene.warehouse, named)).toEqual([
    { alias: 'masked_user', url: 'https://micro.example/masked_user' },
  ]);
  const authors =
    'select u.name, p.user_name from sluice.photoshare_users u join sluice.photoshare_posts p on user_id = u.id';
  expect(await select(scene.warehouse, authors)).toEqual([{ name: 'masked_user', user_name: 'masked_user' }]);
  await expectUnchanged(scene);
});

it('removes an author who has another URN and the id of the entity, as from the answers', async () => {
  const urn = (type: string, value: string) => ({ type, value });
  const author = (id: string) => ({ urn: urn('member', 'X9'), internal_id: urn('member', id), name: 'Zed' });
  let people: readonly object[] = [{ ...ADA, internal_id: urn('member', '20011815') }];
  const scene = await sceneIn(await open(), {
    respond: ({ endpoint }) => ({
      body:
        endpoint === 'pronet.search.users'
          ? people
          : [{ urn: urn('activity', '5'), author: author('20011815'), text: 'x' }],
    }),
  });
  const config = withSyncs(
    'posts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:1", count: 9 }, max_age: 9d }',
  );
  expect((await scene.sync(config)).exitCode).toBe(0);
  scene.clock.advance(DAY_MS);
  people = [author('5')];
  expect((await scene.sync(config)).exitCode).toBe(0);

  await forgetAda(scene);

  expect(await select(scene.warehouse, 'select author_urn_value, author_name, text from sluice.pronet_posts')).toEqual([
    { author_urn_value: null, author_name: null, text: 'x' },
  ]);
  expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
});

it('keeps the columns about an industry when another industry of the same school is forgotten', async () => {
  const urn = (value: string) => ({ type: 'industry', value });
  const company = { name: 'a school', industry: urn('1'), industry_full: { urn: urn('2'), name: 'Teaching' } };
  const scene = await sceneIn(await open(), { respond: respondWith({ 'pronet.user.education': [{ company }] }) });
  const schools = 'schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:ZZ", count: 9 } }';
  expect((await scene.sync(withSyncs(schools))).exitCode).toBe(0);

  await forgetIn(scene, 'pronet_industries', ['industry', '1']);

  const columns =
    'company_industry_value as one, company_industry_full_urn_value as two, company_industry_full_name as name';
  expect(await select(scene.warehouse, `select ${columns} from sluice.pronet_user_educations`)).toEqual([
    { one: null, two: '2', name: 'Teaching' },
  ]);
  await expectUnchanged(scene);
});
