/** The workload of the scenarios: one run over all endpoints, of about 300 requests, and a small one. */
import { answerOf } from '../../src/sandbox/answers.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import type { World } from '../../src/sandbox/world/world.ts';
import { endpointNamed } from '../../src/service/catalog.ts';

/** The size of the sandbox's world. */
export const WORLD = {
  seed: 7,
  size: {
    filings: 20_000,
    companies: 40,
    people: 1_500,
    posts: 40,
    groups: 40,
    microblogUsers: 120,
    photoshareUsers: 40,
    pages: 60,
  },
};

/** Concurrent calls, and so the most answers that a kill can lose. */
export const IN_FLIGHT = 4;

/**
 * Returns the world's answer to a request, always the same: picture signatures are fixed. So every column can be
 * compared, including volatile ones. The sandbox answers requests for the log.
 */
export function steadyAnswer(world: World, { endpoint: name, body }: RespondRequest): Responded | undefined {
  const endpoint = endpointNamed(name);
  if (!endpoint || name === 'token.requests') return undefined;
  const answer = answerOf(world, endpoint, endpoint.request.parse(body), 1);
  if ('items' in answer) return { body: name === 'pronet.user.education' ? answer.items.map(agreeing) : answer.items };
  const { status, detail, headers, error } = answer.refusal;
  return { status, body: { detail }, headers: { ...headers, ...(error !== undefined && { 'x-error': error }) } };
}

/**
 * Some answers show schools without details. The newest full observation wins, so the row of such a school would depend
 * on the random order of answers; without a URN it makes no row.
 */
function agreeing(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { urn: _, ...company } = item['company'] as Readonly<Record<string, unknown>>;
  return 'industry' in company ? item : { ...item, company };
}

const SERVICE = `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  in_flight: ${IN_FLIGHT}
  requests_per_second: 1000000
warehouse: { url: "\${DATABASE_URL}" }
`;

/**
 * A config of about 300 requests to all ten endpoints, with split questions, inputs from answers, and unknown entities.
 */
export const wholeConfig = (world: World): string => configOf(world, 1);

/** The same with about a tenth of the inputs. */
export const shortConfig = (world: World): string => configOf(world, 0.1);

/** Syncs whose answers contain the same people, companies and pictures as those of the sync before them. */
const SHARING = ['schools', 'reposts', 'groups', 'photographers', 'photos'];

/**
 * A config for workers, which run all syncs at once: a sync that shares entities waits for the one before it. The last
 * answer wins, and it must be the same one as in a run of one process.
 */
export function inOrder(config: string): string {
  const syncs = config.split(/^(?=  \w+:.*\n    endpoint: )/m);
  const names = syncs.map((text) => /^  (\w+):/.exec(text)?.[1] ?? '');
  const ordered = syncs.map((text, at) =>
    SHARING.includes(names[at] ?? '')
      ? text.replace(/^    after: .*\n/m, '').replace('\n', `\n    after: [${names[at - 1]}]\n`)
      : text,
  );
  return ordered.join('');
}

function configOf(world: World, share: number): string {
  const some = (full: number): number => Math.ceil(full * share);
  const numbers = (first: number, full: number): number[] => Array.from({ length: some(full) }, (_, at) => first + at);
  const list = (values: readonly unknown[]): string => `[${values.map((it) => JSON.stringify(String(it))).join(', ')}]`;
  const posts = numbers(0, 25).map((at) => `activity:${7_100_000_000_000_000_001n + BigInt(at)}`);
  const pages = ['', 'about', 'contact'].flatMap((path) =>
    numbers(1, 6).map((site) => `https://site-${site}.example/${path}`),
  );
  const microbloggers = numbers(0, 105).map((index) => world.microblog.item(index, String)['alias']);
  const photographers = numbers(0, 30).map((index) => world.photoshare.item(index, NO_SWITCH, String, 1)['alias']);
  return `${SERVICE}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: ${share === 1 ? '2026-02-20' : '2026-02-09'} }
    max_age: 1d
  people:
    endpoint: pronet.search.users
    request: { title: data engineer, count: 50 }
    for_each: { location: [Berlin, Paris] }
    max_age: 1d
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 100 }
    for_each:
      urn:
        query: >-
          select urn_type as type, urn_value as value from sluice.pronet_users
          where _detail = 'full' order by urn_value limit ${some(50)}
    max_age: 1d
  reposts:
    endpoint: pronet.post.reposts
    request: { count: 12 }
    for_each: { urn: ${list(posts)} }
    max_age: 1d
  groups:
    endpoint: pronet.group
    for_each: { group: ${list([...numbers(1001, 30), 999_999])} }
    max_age: 1d
  microbloggers:
    endpoint: microblog.user
    for_each: { user: ${list([...microbloggers, 'nobody_of_that_name'])} }
    max_age: 1d
  photographers:
    endpoint: photoshare.user
    request: { with_posts: true, with_creation_date: true }
    for_each: { user: ${list(photographers)} }
    max_age: 1d
  photos:
    endpoint: photoshare.user.posts
    request: { count: 12 }
    for_each: { user: ${list(photographers)} }
    max_age: 1d
  pages:
    endpoint: webparser.parse
    request: { extract_contacts: true }
    for_each: { url: ${list(pages)} }
    max_age: 1d
  costs:                       # last, so that it sees what the others were charged
    endpoint: token.requests
    after: [filings, people, schools, reposts, groups, microbloggers, photographers, photos, pages]
    lookback: 1h
`;
}

const NO_SWITCH = { with_creation_date: false, with_similar_users: false, with_posts: false };

/** A config of a few requests to one endpoint. */
export const groupsConfig = (count: number): string => `${SERVICE}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: [${Array.from({ length: count }, (_, at) => `"${1001 + at}"`).join(', ')}] }
    max_age: 1d
`;

/** How much the scenarios run, and where the runs that are not killed take place. */
export interface Form {
  readonly configOf: (world: World) => string;
  /** `here` is the process of the scenario, where a run costs a third. */
  readonly survivors: 'process' | 'here';
}

/** The form of `npm run reliability`. */
export const LONG_FORM: Form = { configOf: wholeConfig, survivors: 'process' };

/** The form of the tests. */
export const SHORT_FORM: Form = { configOf: shortConfig, survivors: 'here' };
