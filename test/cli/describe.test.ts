/** `sluice describe`: what a name means, the syncs of a config around it, and what the output says without them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribeResult } from '../../src/cli/commands/catalog/describe.ts';
import { rowSourcesOf } from '../../src/lineage/row-sources.ts';
import { catalog } from '../../src/service/catalog.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { runInProcess } from './in-process.ts';

const CONFIG = `syncs:
  people: { endpoint: pronet.search.users, request: { title: analyst, count: 10 } }
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 100 }
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users" } }
  pages:
    endpoint: webparser.parse
    for_each: { url: { query: "select school_url as url from pronet_user_school_overview -- pronet_groups" } }
  profiles: { endpoint: photoshare.user, for_each: { user: [ada] } }
  recent: { endpoint: photoshare.user, request: { with_posts: true }, for_each: { user: [ada] } }
  some: { endpoint: photoshare.user, for_each: [{ user: ada }, { user: bob, with_posts: true }] }
  listed: { endpoint: photoshare.user, for_each: { file: users.csv } }
  web_pages: { endpoint: token.requests }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-describe-'));
  await writeFile(join(folder, 'mine.yaml'), CONFIG);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runInProcess(['describe', ...words], { cwd: folder, env });

async function described(...words: string[]): Promise<DescribeResult> {
  const { code, out, err } = await run([...words, '--json']);
  expect({ words, code, err }).toEqual({ words, code: 0, err: '' });
  return JSON.parse(out) as DescribeResult;
}

const withConfig = (name: string): Promise<DescribeResult> => described(name, '--config', 'mine.yaml');

const textOf = async (...words: string[]): Promise<string> => (await run(words)).out;

describe('what a name means', () => {
  it('is every endpoint, table and view of the declarations, and every column of a table', async () => {
    for (const endpoint of catalog) {
      const { kind, name, feeds } = await described(endpoint.name);
      expect({ kind, name }).toEqual({ kind: 'endpoint', name: endpoint.name });
      expect(new Set(feeds.map(({ table }) => table))).toEqual(
        new Set(rowSourcesOf(endpoint).map(({ table }) => table)),
      );
      expect((await described(endpoint.path)).name).toBe(endpoint.name);
    }
    for (const { name } of [...tables, ...views]) expect((await described(`sluice.${name}`)).name).toBe(name);
    for (const { name, key } of tables)
      for (const column of key) {
        const found = await described(`sluice.${name}.${column}`);
        expect(found).toMatchObject({ kind: 'column', name: `${name}.${column}` });
        expect([name, column, found.feeds.length > 0]).toEqual([name, column, true]);
      }
  });

  it('is a sync only if nothing else has the name, and always with its prefix', async () => {
    const table = await run(['web_pages', '--config', 'mine.yaml']);
    expect(table.out).toMatch(/^web_pages {2}table\n/);
    expect(table.err).toContain('a sync has this name too: sluice describe sync:web_pages\n');
    expect(await withConfig('sync:web_pages')).toMatchObject({ kind: 'sync', name: 'web_pages' });
    expect(await withConfig('people')).toMatchObject({ kind: 'sync', name: 'people' });
  });

  it.each([
    [
      'pronet_usrs',
      'is not an endpoint, a table, a view, a column or a sync of the config.\nThe nearest names are pronet_users',
    ],
    ['pronet_users.headlin', '"headlin" is not a column of pronet_users.\nThe nearest name is headline.'],
    [
      'peopl',
      '"peopl" is not an endpoint, a table, a view, a column or a sync of the config.\nThe nearest name is people.',
    ],
    ['sync:page', 'The nearest names are pages,'],
  ])('is nothing for %s: exit code 2 with the nearest names', async (name, message) => {
    const { code, out, err } = await run([name, '--config', 'mine.yaml']);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});

describe('what feeds', () => {
  it('a column is the path of its values, the request, or what it is computed from', async () => {
    const feedsOf = async (name: string) =>
      (await described(name)).feeds.map(({ endpoint, path, from, onlyWith }) => [
        endpoint,
        path,
        from,
        onlyWith.join(),
      ]);
    expect(await feedsOf('pronet_posts.author_urn_value')).toEqual([
      ['pronet.post.reposts', '[].author.urn.value', 'answer', ''],
      ['pronet.post.reposts', '[].repost.author.urn.value', 'answer', ''],
    ]);
    expect(await feedsOf('pronet_user_educations.user_urn_value')).toEqual([
      ['pronet.user.education', null, 'request', ''],
    ]);
    expect(await feedsOf('photoshare_users.created_at_epoch')).toEqual([
      ['photoshare.user', '[].created_at', 'answer', 'with_creation_date'],
    ]);
    expect(await feedsOf('pronet_posts.reactions_count')).toEqual([
      ['pronet.post.reposts', '[].reactions', 'computed', ''],
      ['pronet.post.reposts', '[].repost.reactions', 'computed', ''],
    ]);
  });

  it('is printed by endpoint with the paths, and by table for an endpoint', async () => {
    const table = await textOf('pronet_users');
    expect(table).toMatch(/^pronet\.search\.users +\[\]$/m);
    expect(table).toMatch(/^pronet\.group +\[\]\.members\[\]\.user \(preview\)$/m);
    expect(await textOf('photoshare.user')).toMatch(
      /^photoshare_posts +\[\]\.posts\[\] \(preview, only with with_posts\)$/m,
    );
    expect(await textOf('sync_freshness')).toContain(
      '\nreads\nleases, runs, requests, answers, lost_answers\n\nfed by, through what it reads\nno endpoint feeds it\n',
    );
  });
});

describe('the syncs of a config', () => {
  it('are those that request an endpoint, or that feed or read a table', async () => {
    const endpoint = await withConfig('photoshare.user');
    expect(endpoint.syncs?.map(({ sync }) => sync)).toEqual(['profiles', 'recent', 'some', 'listed']);
    const table = await withConfig('pronet_users');
    expect(table.syncs).toEqual([
      { sync: 'people', endpoint: 'pronet.search.users', feeds: true, reads: [], after: [] },
      { sync: 'schools', endpoint: 'pronet.user.education', feeds: false, reads: ['pronet_users'], after: ['people'] },
      { sync: 'pages', endpoint: 'webparser.parse', feeds: false, reads: ['pronet_user_school_overview'], after: [] },
    ]);
    expect((await withConfig('pronet_users.name')).syncs).toEqual(table.syncs);
    expect(table.config).toBe(join(folder, 'mine.yaml'));
  });

  it('feed only what their requests ask for', async () => {
    const { syncs } = await withConfig('photoshare_posts');
    expect(syncs?.map(({ sync }) => sync)).toEqual(['recent', 'some', 'listed']);
    // The date when a profile was opened is in no answer, because no sync requests it.
    expect((await withConfig('photoshare_users.created_at')).syncs?.map(({ sync }) => sync)).toEqual(['listed']);
    const named = async (name: string) => new Set((await withConfig(name)).feeds.map(({ table }) => table));
    expect((await named('profiles')).has('photoshare_posts')).toBe(false);
    // This switch is on by default.
    expect((await named('profiles')).has('photoshare_user_similar_users')).toBe(true);
    expect((await named('recent')).has('photoshare_posts')).toBe(true);
  });

  it('form chains by the tables and views that their queries read', async () => {
    const first = { from: 'people', via: 'pronet_users', to: 'schools', waits: true };
    const byView = { from: 'people', via: 'pronet_user_school_overview', to: 'pages', waits: false };
    const second = { from: 'schools', via: 'pronet_user_school_overview', to: 'pages', waits: false };
    expect((await withConfig('people')).links).toEqual([first, byView, second]);
    expect((await withConfig('pronet_user_educations')).links).toEqual([first, byView, second]);
    expect((await withConfig('photoshare.user')).links).toEqual([]);
    const text = await textOf('schools', '--config', 'mine.yaml');
    expect(text).toContain('\nreads\npronet_users\n');
    expect(text).toContain('\npeople -> pronet_users -> schools\n');
    expect(text).toContain('\nschools -> pronet_user_school_overview -> pages (pages does not wait for schools)\n');
  });

  it('are none of a table that no sync touches, and the output says so', async () => {
    expect(await textOf('microblog_users', '--config', 'mine.yaml')).toContain(
      `\nno sync of ${join(folder, 'mine.yaml')} feeds or reads it\n`,
    );
    expect(await textOf('microblog.user', '--config', 'mine.yaml')).toContain('mine.yaml requests it\n');
  });
});

describe('without syncs', () => {
  it('the output says that there is no config', async () => {
    expect(await described('pronet_users')).toMatchObject({
      syncs: null,
      links: null,
      config: null,
      note: 'there is no config (sluice.yaml)',
    });
    expect(await textOf('pronet_users')).toMatch(/\n\nsyncs are left out: there is no config \(sluice\.yaml\)\n$/);
  });

  it('the output says that a config has none', async () => {
    for (const [name, text] of [
      ['none.yaml', 'syncs: {}\n'],
      ['empty.yaml', ''],
    ] as const) {
      await writeFile(join(folder, name), text);
      expect(await described('pronet_users', '--config', name)).toMatchObject({
        syncs: null,
        links: null,
        config: name,
        note: `${name} has no syncs`,
      });
    }
  });

  it('a config that is named and missing, or wrong, is refused', async () => {
    expect(await run(['pronet_users', '--config', 'gone.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('gone.yaml'),
    });
    expect(await run(['pronet_users'], { SLUICE_CONFIG: 'gone.yaml' })).toMatchObject({ code: 2 });
    await writeFile(join(folder, 'wrong.yaml'), 'syncs:\n  a: { endpoint: no.such }\n');
    expect(await run(['pronet_users', '--config', 'wrong.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('wrong.yaml:2:'),
    });
  });
});
