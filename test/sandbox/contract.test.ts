/** Every endpoint's answers hold to the contract, field by field, and leave no field empty everywhere. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { KNOWN_PAGES } from '../../src/sandbox/world/known.ts';
import { catalog } from '../../src/service/catalog.ts';
import { ask, askLog, countingIds, TODAY } from './client.ts';
import type { Item } from './items.ts';
import { checkItem, type Findings, pathsOf } from './shape.ts';

/** Where the contract writes `or null`. */
const NULLABLE = new Set(
  `
  TokenRequest: points_left token_id duration response_status_code response_error_text response_count
    response_execution_time response_request_id timeout is_token_expired is_points_run_out
  WebParserResult: title meta_description emails phones
  SecFiling: filing_type file_date period_ending ciks display_names file_description biz_locations biz_states
    inc_states sics items
  PronetPost: share_url is_empty_repost repost images video_url text comment_count share_count reactions mentioned
    repost.share_url repost.is_empty_repost repost.repost repost.images repost.video_url repost.text
    repost.comment_count repost.share_count repost.reactions repost.mentioned
  PronetSearchUser: image headline location
  PronetUserEducation: major interval description
  PronetGroup: image created_at description rules industries members
  MicroblogUser: description location follower_count following_count tweet_count listed_count favorites_count
    media_count image banner_url verified_type created_at
  PhotoshareUser: image description created_at category external_url email whatsapp_number phone
    posts[].text posts[].created_at posts[].view_count posts[].type
  PhotosharePost: text created_at view_count type
  `
    .split(/\n(?= {2}\w+:)/)
    .flatMap((line) => {
      const [name = '', fields = ''] = line.split(':');
      return fields
        .trim()
        .split(/\s+/)
        .map((field) => `${name.trim()}.${field}`);
    }),
);

/** Fields that are empty in a nested entity: a repeated post repeats none, a profile's posts lack its preview. */
const EMPTY_WITHIN = /^PronetPost\.repost\.(?:is_empty_repost|repost)$|^PhotoshareUser\.posts\[\]\.user/;

let sandbox: Sandbox;
const samples = new Map<string, readonly Item[]>();

beforeAll(async () => {
  sandbox = await serveSandbox({ seed: 7, now: () => TODAY, newId: countingIds() });
  const all = async (endpoint: string, bodies: readonly unknown[]): Promise<void> => {
    const reply = await Promise.all(bodies.map((body) => ask(sandbox, endpoint, body)));
    const statuses = new Set(reply.map(({ status }) => status));
    expect([endpoint, ...statuses]).toEqual([endpoint, 200]);
    samples.set(
      endpoint,
      reply.flatMap(({ items }) => items),
    );
  };
  const { microblog } = sandbox.world;
  const urns = Array.from({ length: 150 }, (_, index) => sandbox.world.people.at(index).urn);
  const microblogUsers = Array.from({ length: 120 }, (_, index) => String(microblog.item(index, String)['alias']));
  const photoshareUsers = Array.from({ length: 80 }, (_, index) => idOf(index));
  await all(
    'webparser.parse',
    KNOWN_PAGES.map((url) => ({ url, extract_contacts: true })),
  );
  await all('sec.search.companies', [
    { count: 100 },
    { count: 100, forms: ['8-K', '10-K', 'S-1'] },
    { count: 100, entity_name: 'AAPL' },
  ]);
  await all(
    'pronet.post.reposts',
    Array.from({ length: 60 }, (_, at) => ({ urn: postUrn(at), count: 200 })),
  );
  await all('pronet.search.users', [{ count: 1000 }]);
  await all(
    'pronet.user.education',
    urns.map((urn) => ({ urn, count: 100 })),
  );
  await all(
    'pronet.group',
    Array.from({ length: 40 }, (_, at) => ({ group: String(1001 + at) })),
  );
  await all(
    'microblog.user',
    microblogUsers.map((user) => ({ user })),
  );
  await all(
    'photoshare.user',
    photoshareUsers.map((user) => ({ user, with_creation_date: true, with_posts: true })),
  );
  await all(
    'photoshare.user.posts',
    photoshareUsers.map((user) => ({ user, count: 30 })),
  );
  // A log with a refusal in it, so that there is an error text.
  await ask(sandbox, 'pronet.group', { group: 'none' });
  sandbox.setPoints(1_000);
  await ask(sandbox, 'pronet.group', { group: '1001' });
  samples.set('token.requests', (await askLog(sandbox, { limit: '100' })).items);
  return () => sandbox.close();
});

const postUrn = (at: number): unknown => ({ type: 'activity', value: String(7_100_000_000_000_000_001n + BigInt(at)) });
const idOf = (index: number): string => String(2_000_000_000n + BigInt(index) * 7_919n);

describe.each(catalog)('answers of $name', ({ name, returns }) => {
  it('have the contract’s fields, types and tags, and nothing else', () => {
    const findings = check(name);
    expect([...new Set(findings.wrong)]).toEqual([]);
    const items = samples.get(name) ?? [];
    expect(items.length).toBeGreaterThan(3);
    expect(items.every((item) => item['@type'] === returns.tag)).toBe(true);
  });

  it('leave no field empty in every item', () => {
    const { filled } = check(name);
    const empty = pathsOf(returns, returns.name).filter((path) => !filled.has(path) && !EMPTY_WITHIN.test(path));
    expect(empty).toEqual([]);
  });
});

function check(endpoint: string): Findings {
  const { returns } = catalog.find(({ name }) => name === endpoint) as (typeof catalog)[number];
  const findings: Findings = { wrong: [], filled: new Set() };
  for (const item of samples.get(endpoint) ?? []) checkItem(returns, item, returns.name, NULLABLE, findings);
  return findings;
}
