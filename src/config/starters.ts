/** A first sync of each endpoint, as `sluice init` writes it: small, with inputs that the sandbox knows. */

export interface Starter {
  readonly name: string;
  /** Endpoints whose first syncs provide the inputs of this one. */
  readonly needs?: readonly string[];
  /** The sync as lines of YAML below its name, without indentation. */
  readonly lines: readonly string[];
}

/** The endpoint of a first config if the user chooses none. */
export const DEFAULT_ENDPOINT = 'webparser.parse';

/** By endpoint, in the order of the file. The request log is not here: the template always adds its sync at the end. */
export const starters: Readonly<Record<string, Starter>> = {
  [DEFAULT_ENDPOINT]: {
    name: 'pages',
    lines: [
      'for_each:',
      '  url: ["https://site-1.example/", "https://site-1.example/about"]',
      '  # url: { file: urls.csv, column: url }',
      'request: { extract_contacts: true }',
      'max_age: 7d                     # reuse stored answers younger than this',
    ],
  },
  'sec.search.companies': {
    name: 'filings',
    lines: [
      'for_each: { entity_name: [AAPL, MSFT] }',
      'request: { forms: [10-K, 10-Q], count: 100 }',
      'window: { from: 2024-01-01, to: today, lookback: 7d }          # split when an answer is full',
      'max_age: 1d',
      '# schedule: { cron: "15 6 * * 1-5", timezone: America/New_York }',
    ],
  },
  'pronet.search.users': {
    name: 'people',
    lines: [
      'for_each: { location: [Berlin, Paris] }',
      'request: { title: data engineer, count: 100 }',
      'max_age: 7d',
      '# split_by: { industry: top_level }                            # splits a full answer',
    ],
  },
  'pronet.user.education': {
    name: 'schools',
    needs: ['pronet.search.users'],
    lines: [
      'after: [people]                 # parents run first',
      'for_each:',
      '  urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users where open_to_work" }',
      'request: { count: 100 }',
      'max_age: 30d',
    ],
  },
  'pronet.post.reposts': {
    name: 'reposts',
    lines: [
      'for_each: { urn: ["activity:7100000000000000001", "activity:7100000000000000002"] }',
      'request: { count: 50 }',
      'raise_count_to: 200             # request a full answer again, with a larger count',
      'max_age: 7d',
    ],
  },
  'pronet.group': {
    name: 'groups',
    lines: ['for_each: { group: ["urn:li:group:1001", "urn:li:group:1002"] }', 'max_age: 30d'],
  },
  'microblog.user': {
    name: 'microbloggers',
    lines: ['for_each: { user: [north_trail, acme_labs] }', 'max_age: 1d'],
  },
  'photoshare.user': {
    name: 'photographers',
    lines: ['for_each: { user: [north_trail, acme_labs] }', 'request: { with_posts: true }', 'max_age: 1d'],
  },
  'photoshare.user.posts': {
    name: 'photos',
    lines: ['for_each: { user: [north_trail, acme_labs] }', 'request: { count: 24 }', 'max_age: 1d'],
  },
};

/** These endpoints and those whose syncs provide their inputs, in the order of the file. */
export function withNeeds(endpoints: readonly string[]): string[] {
  const needed = new Set(endpoints.flatMap((it) => [it, ...(starters[it]?.needs ?? [])]));
  return Object.keys(starters).filter((it) => needed.has(it));
}
