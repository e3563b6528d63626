/** Answers agree with each other: one world is behind them all. */
import { describe, expect, it } from 'vitest';
import {
  KNOWN_ALIASES,
  KNOWN_GROUPS,
  KNOWN_PAGES,
  KNOWN_POSTS,
  KNOWN_SEARCH,
  KNOWN_TICKERS,
} from '../../src/sandbox/world/known.ts';
import { ask, startSandbox } from './client.ts';
import type { Education, Group, Item, Person, PhotoPost, Post, Profile } from './items.ts';

const IMAGE = /https:\/\/images\.example\/[^"]*/g;
const withoutImages = (items: readonly Item[]): unknown => JSON.parse(JSON.stringify(items).replaceAll(IMAGE, 'image'));
const without = (item: Item, name: string): Item =>
  Object.fromEntries(Object.entries(item).filter(([key]) => key !== name));

/** A question to each endpoint that has pictures, and what makes the answer vary besides. */
const PICTURED: readonly [endpoint: string, body: unknown, varies?: string][] = [
  ['pronet.search.users', { count: 50, ...KNOWN_SEARCH }],
  ['pronet.post.reposts', { count: 50, urn: KNOWN_POSTS[0] }],
  ['pronet.group', { group: '1001' }],
  ['microblog.user', { user: 'acme_labs' }],
  ['photoshare.user', { user: 'acme_labs', with_posts: true }, 'similar_users'],
  ['photoshare.user.posts', { user: 'acme_labs', count: 5 }],
];

describe('one world', () => {
  it('gives a profile, its educations and its schools to the same question in the same words', async () => {
    const sandbox = await startSandbox();
    const people = (await ask<Person>(sandbox, 'pronet.search.users', { count: 200, title: 'data engineer' })).items;
    expect(people).toHaveLength(200);
    const counts: number[] = [];
    for (const { urn } of people) {
      const reply = await ask<Education>(sandbox, 'pronet.user.education', { urn, count: 100 });
      expect(reply.status).toBe(200);
      counts.push(reply.items.length);
    }
    expect(new Set(counts)).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  it('finds people by the schools that their educations name, and by no other', async () => {
    const sandbox = await startSandbox();
    const school = 'University of Berlin';
    const reply = await ask<Person>(sandbox, 'pronet.search.users', { count: 1000, education: [school] });
    expect(reply.items.length).toBeGreaterThan(5);
    for (const { urn } of reply.items.slice(0, 20)) {
      const educations = await ask<Education>(sandbox, 'pronet.user.education', { urn, count: 100 });
      expect(educations.items.map(({ company }) => company.name)).toContain(school);
    }
  });

  it('has groups of people whom a search by name finds, the owner first', async () => {
    const sandbox = await startSandbox();
    const { members, member_count: reported } = (await ask<Group>(sandbox, 'pronet.group', { group: '1001' }))
      .items[0] as Group;
    expect(members[0]?.role).toBe('owner');
    expect(reported).toBeGreaterThanOrEqual(members.length);
    const seen = members.find(({ user }) => user.name !== 'Network Member' && user.headline !== null);
    const named = seen?.user as Person;
    const [first, ...last] = named.name.split(' ');
    const found = await ask<Person>(sandbox, 'pronet.search.users', {
      count: 1000,
      first_name: first,
      last_name: last.join(' '),
    });
    const same = found.items.find(({ urn }) => urn.value === named.urn.value);
    expect(same).toMatchObject(without(named, '@type'));
    expect((await ask<Education>(sandbox, 'pronet.user.education', { urn: named.urn, count: 1 })).status).toBe(200);
  });

  it('has posts with reposts, each of which repeats exactly the requested post', async () => {
    const sandbox = await startSandbox();
    for (const urn of KNOWN_POSTS) {
      const { items } = await ask<Post>(sandbox, 'pronet.post.reposts', { urn, count: 100 });
      expect(items.length).toBeGreaterThanOrEqual(3);
      expect(items.length).toBeLessThanOrEqual(30);
      expect(new Set(items.map((item) => item.urn.value)).size).toBe(items.length);
      for (const item of items) {
        expect(item.repost.urn).toEqual(urn);
        expect(item.author.urn).not.toEqual(item.repost.author.urn);
        expect(item.created_at).toBeGreaterThan(item.repost.created_at);
      }
      const made = items.map((item) => item.created_at);
      expect(made).toEqual(made.toSorted((a, b) => b - a));
    }
  });

  it('has authors whom a search by name finds, as the same people', async () => {
    const sandbox = await startSandbox();
    const { items } = await ask<Post>(sandbox, 'pronet.post.reposts', { urn: KNOWN_POSTS[1], count: 100 });
    const authors = items.map(({ author }) => author).filter(({ urn }) => urn.type === 'fsd_profile');
    const author = authors.find(({ name }) => name !== 'Network Member') as Post['author'];
    const [first, ...last] = author.name.split(' ');
    const names = { first_name: first, last_name: last.join(' ') };
    const found = await ask<Person>(sandbox, 'pronet.search.users', { count: 1000, ...names });
    const same = found.items.find(({ urn }) => urn.value === author.urn.value);
    const shared = ['internal_id', 'name', 'alias', 'url', 'headline'] as const;
    expect(shared.map((field) => same?.[field] ?? null)).toEqual(shared.map((field) => author[field] ?? null));
  });

  it('never gives more than `count`, and the first of what more would give', async () => {
    const sandbox = await startSandbox();
    const urn = (await ask<Person>(sandbox, 'pronet.search.users', { count: 300 })).items.map((person) => person.urn);
    const schooled = urn.find((it) => sandbox.world.people.schools(sandbox.world.people.byUrn(it) ?? 0).length > 2);
    for (const [endpoint, body] of [
      ['pronet.user.education', { urn: schooled }],
      ['pronet.post.reposts', { urn: KNOWN_POSTS[0] }],
      ['photoshare.user.posts', { user: 'acme_labs' }],
      ['pronet.search.users', { title: 'founder' }],
    ] as const) {
      const few = await ask(sandbox, endpoint, { ...body, count: 2 });
      const many = await ask(sandbox, endpoint, { ...body, count: 100 });
      expect(few.items, endpoint).toHaveLength(2);
      expect(many.items.length, endpoint).toBeGreaterThan(2);
      expect(withoutImages(few.items)).toEqual(withoutImages(many.items.slice(0, 2)));
    }
  });

  it('answers requests for reposts like those for any post, and authors are people and companies', async () => {
    const sandbox = await startSandbox();
    const { items } = await ask<Post>(sandbox, 'pronet.post.reposts', { urn: KNOWN_POSTS[0], count: 100 });
    const reply = await ask<Post>(sandbox, 'pronet.post.reposts', { urn: items[0]?.['urn'], count: 5 });
    expect([reply.status, reply.text]).toEqual([200, '[]']);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        ask<Post>(sandbox, 'pronet.post.reposts', {
          urn: { type: 'activity', value: `71000000000000000${10 + at}` },
          count: 100,
        }),
      ),
    );
    const types = all.flatMap((answer) => answer.items.map(({ author }) => author.urn.type));
    expect(new Set(types)).toEqual(new Set(['fsd_profile', 'fsd_company']));
  });

  it('shows the same photoshare profile by id, alias and address, with its posts in it', async () => {
    const sandbox = await startSandbox();
    const by = async (user: string): Promise<Profile> => {
      const { items } = await ask<Profile>(sandbox, 'photoshare.user', { user, with_posts: true });
      return without((withoutImages(items) as Profile[])[0] as Profile, 'similar_users') as Profile;
    };
    const profile = await by('river_coffee');
    expect(await by(profile.id)).toEqual(profile);
    expect(await by(profile.url)).toEqual(profile);
    const posts = withoutImages(
      (await ask<PhotoPost>(sandbox, 'photoshare.user.posts', { user: profile.id, count: 12 })).items,
    );
    expect((posts as Item[]).map((post) => without(post, 'user'))).toEqual(profile.posts);
    expect((posts as Item[])[0]?.['user']).toMatchObject({
      id: profile.id,
      alias: 'river_coffee',
      name: profile.name,
    });
    const all = (await ask<PhotoPost>(sandbox, 'photoshare.user.posts', { user: 'river_coffee', count: 500 })).items;
    expect(all).toHaveLength(profile.media_count);
    const made = all.map((post) => post.created_at).filter((at) => at !== null);
    expect(made).toEqual(made.toSorted((a, b) => b - a));
  });

  it('returns only what the switches of a photoshare profile request', async () => {
    const sandbox = await startSandbox();
    const user = 'acme_labs';
    const [plain] = (await ask<Profile>(sandbox, 'photoshare.user', { user, with_similar_users: false })).items;
    expect(plain).toMatchObject({ created_at: null });
    expect(plain).not.toHaveProperty('posts');
    expect(plain).not.toHaveProperty('similar_users');
    const [dated] = (await ask<Profile>(sandbox, 'photoshare.user', { user, with_creation_date: true })).items;
    expect(dated?.created_at).toBeGreaterThan(1_000_000_000);
    expect(dated).toHaveProperty('similar_users.0.alias');
  });

  it('shows the same microblog profile by alias in any letter case and by address', async () => {
    const sandbox = await startSandbox();
    const by = async (user: string) => withoutImages((await ask(sandbox, 'microblog.user', { user })).items);
    const profile = await by('north_trail');
    expect(await by('@North_TRAIL')).toEqual(profile);
    expect(await by('https://microblog.example/north_trail/')).toEqual(profile);
    expect(await by('https://www.microblog.example/North_trail')).toEqual(profile);
  });

  it('shows the same group by URN, by its short form, by id and by address', async () => {
    const sandbox = await startSandbox();
    const by = async (group: string) => withoutImages((await ask<Group>(sandbox, 'pronet.group', { group })).items);
    const group = await by('1002');
    expect(group).toHaveLength(1);
    for (const name of ['urn:li:group:1002', 'group:1002', 'https://pronet.example/groups/1002/']) {
      expect(await by(name)).toEqual(group);
    }
  });

  it.each(PICTURED)(
    'signs pictures of %s anew for each answer and changes nothing else',
    async (endpoint, body, varies) => {
      const sandbox = await startSandbox();
      const [first, second] = [await ask(sandbox, endpoint, body), await ask(sandbox, endpoint, body)];
      const images = (text: string): string[] => text.match(IMAGE) ?? [];
      expect(images(first.text).length).toBeGreaterThan(0);
      expect(images(second.text).some((image) => images(first.text).includes(image))).toBe(false);
      const stable = (items: readonly Item[]): unknown =>
        withoutImages(varies === undefined ? items : items.map((item) => without(item, varies)));
      expect(stable(second.items)).toEqual(stable(first.items));
    },
  );

  it('answers the same to the same questions under one seed, and other things under another', async () => {
    const questions: typeof PICTURED = [
      ...PICTURED,
      ['sec.search.companies', { count: 20 }],
      ['webparser.parse', { url: KNOWN_PAGES[1] }],
    ];
    const texts = async (seed: number): Promise<string[]> => {
      const sandbox = await startSandbox({ seed });
      const all: string[] = [];
      for (const [endpoint, body] of questions) all.push((await ask(sandbox, endpoint, body)).text);
      return all;
    };
    const [once, again, other] = [await texts(3), await texts(3), await texts(4)];
    expect(again).toEqual(once);
    for (const [at, text] of other.entries())
      expect([questions[at]?.[0], text]).not.toEqual([questions[at]?.[0], once[at]]);
  });
});

describe('well-known entities', () => {
  const worlds = [
    { seed: 1, size: 'demo' },
    { seed: 2, size: 'small' },
    { seed: 99, size: 'large' },
    {
      seed: -5,
      size: {
        filings: 0,
        people: 0,
        companies: 0,
        groups: 0,
        posts: 0,
        microblogUsers: 0,
        photoshareUsers: 0,
        pages: 0,
      },
    },
  ] as const;
  it.each(worlds)('exist in the world of seed $seed and size $size', async ({ seed, size }) => {
    const sandbox = await startSandbox({ seed, size });
    const counts = async (endpoint: string, bodies: readonly object[]): Promise<number[]> => {
      const all: number[] = [];
      for (const body of bodies) {
        const reply = await ask(sandbox, endpoint, body);
        all.push(reply.status === 200 ? reply.items.length : -reply.status);
      }
      return all;
    };
    const between = (least: number, most: number) => (count: number) => count >= least && count <= most;
    const found = {
      people: await counts('pronet.search.users', [
        { ...KNOWN_SEARCH, count: 1000 },
        { ...KNOWN_SEARCH, location: ['Paris'], count: 1000 },
      ]),
      reposts: await counts(
        'pronet.post.reposts',
        KNOWN_POSTS.map((urn) => ({ urn, count: 100 })),
      ),
      groups: await counts(
        'pronet.group',
        KNOWN_GROUPS.map((group) => ({ group })),
      ),
      microblog: await counts(
        'microblog.user',
        KNOWN_ALIASES.map((user) => ({ user })),
      ),
      photoshare: await counts(
        'photoshare.user',
        KNOWN_ALIASES.map((user) => ({ user })),
      ),
      posts: await counts(
        'photoshare.user.posts',
        KNOWN_ALIASES.map((user) => ({ user, count: 100 })),
      ),
      pages: await counts(
        'webparser.parse',
        KNOWN_PAGES.map((url) => ({ url })),
      ),
      filings: await counts(
        'sec.search.companies',
        KNOWN_TICKERS.map((entity_name) => ({ entity_name, count: 100 })),
      ),
    };
    expect(found.people.every(between(10, 1000)), `people ${found.people.join(' ')}`).toBe(true);
    expect(found.reposts.every(between(3, 30)), `reposts ${found.reposts.join(' ')}`).toBe(true);
    expect(found.posts.every(between(12, 100)), `posts ${found.posts.join(' ')}`).toBe(true);
    expect(found.filings.every(between(1, 100)), `filings ${found.filings.join(' ')}`).toBe(true);
    expect([...found.groups, ...found.microblog, ...found.photoshare, ...found.pages]).toEqual(Array(13).fill(1));
  });
});

describe('what is not in the world', () => {
  it.each([
    ['pronet.group', { group: 'urn:li:group:9' }, 412],
    ['pronet.group', { group: '01001' }, 412],
    ['pronet.group', { group: 'https://elsewhere.example/groups/1001' }, 412],
    ['pronet.user.education', { urn: { type: 'fsd_profile', value: 'ACoAA0000000' }, count: 1 }, 412],
    ['pronet.user.education', { urn: { type: 'fsd_profile', value: 'nobody' }, count: 1 }, 412],
    ['pronet.post.reposts', { urn: { type: 'activity', value: '7100000000000999999' }, count: 1 }, 412],
    ['pronet.post.reposts', { urn: { type: 'activity', value: '7200000000000000999' }, count: 1 }, 412],
    ['pronet.post.reposts', { urn: { type: 'activity', value: '1' }, count: 1 }, 412],
    ['microblog.user', { user: 'nobody_here' }, 412],
    ['microblog.user', { user: 'nobody_here_5' }, 412],
    ['microblog.user', { user: 'https://photoshare.example/north_trail' }, 412],
    ['photoshare.user', { user: 'North_Trail' }, 412],
    ['photoshare.user', { user: '2000000001' }, 412],
    ['photoshare.user.posts', { user: 'nobody_here', count: 1 }, 412],
    ['webparser.parse', { url: 'https://site-1.example/nothing' }, 412],
    ['webparser.parse', { url: 'https://site-999.example/' }, 412],
    ['webparser.parse', { url: 'https://elsewhere.example/' }, 412],
    ['webparser.parse', { url: 'https://site-1.example/files/map.pdf' }, 415],
  ] as const)('is refused by %s for %j with %i', async (endpoint, body, status) => {
    const sandbox = await startSandbox();
    const reply = await ask(sandbox, endpoint, body);
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual({ detail: expect.any(String) });
  });
});
