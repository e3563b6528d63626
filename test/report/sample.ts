/** A report made by hand: ninety days with something in every section, and the same figures each time. */
import { lastDays } from '../../src/report/figures.ts';
import type { Report, SyncState } from '../../src/report/report.ts';

export const NOW = new Date('2026-11-21T14:30:00Z');
const DAYS = lastDays(90, NOW);

/** Figures from 0 to 1 that look random and are the same each time. */
const chance = (seed: number): number => {
  const wave = Math.sin(seed * 12.9898) * 43_758.5453;
  return wave - Math.floor(wave);
};
const at = (day: string | undefined, time = '06:15:42'): Date => new Date(`${day ?? ''}T${time}Z`);
const sum = (values: readonly number[]): number => values.reduce((all, it) => all + it, 0);

const ENDPOINTS: readonly (readonly [string, number])[] = [
  ['sec.search.companies', 42],
  ['pronet.search.users', 25],
  ['webparser.parse', 18],
  ['pronet.user.education', 9],
  ['photoshare.user.posts', 7],
  ['pronet.post.reposts', 5],
  ['microblog.user', 3],
  ['token.requests', 0],
];

const endpoints = ENDPOINTS.map(([endpoint, mean], row) => {
  const byDay = DAYS.map((_, place) =>
    place % 7 > 4 && row < 2 ? 0 : Math.round(mean * (0.4 + chance(row * 100 + place)) * (place > 70 ? 1.4 : 1)),
  );
  return { endpoint, byDay, points: sum(byDay), requests: Math.round(sum(byDay) * 0.8) + 90 };
});

const spentOn = (place: number): number => sum(endpoints.map(({ byDay }) => byDay[place] ?? 0));
const left = DAYS.map(
  (_, place) =>
    14_000 - sum(DAYS.slice(0, place + 1).map((_day, before) => spentOn(before))) + (place > 44 ? 2_000 : 0),
);

function sync(
  name: string,
  endpoint: string,
  more: Partial<SyncState> & { readonly bad?: readonly number[] } = {},
): SyncState {
  const { bad = [], ...rest } = more;
  return {
    sync: name,
    endpoint,
    state: 'complete',
    startedAt: at(DAYS[89]),
    endedAt: at(DAYS[89], '06:19:03'),
    error: null,
    refreshedAt: at(DAYS[89], '06:19:03'),
    open: 0,
    inDoubt: 0,
    waiting: 0,
    runs: 88,
    byDay: DAYS.map((_, place) =>
      bad.includes(place) ? 'failed' : place % 31 === 7 ? 'partial' : place < 3 ? null : 'complete',
    ),
    ...rest,
  };
}

/** Something in every section. */
export const SAMPLE: Report = {
  madeAt: NOW,
  schema: 'sluice',
  days: DAYS,
  money: {
    readUpTo: at(DAYS[89], '13:59:10'),
    endpoints,
    chargedFailures: { requests: 14, points: 23 },
    balances: [
      {
        token: '6f1c0d9e-0000-4000-8000-000000000001',
        points: left[89] ?? 0,
        at: at(DAYS[89], '13:58:00'),
        byDay: left,
        pace: 151.4,
        runsOutOn: '2026-12-18',
      },
    ],
  },
  syncs: [
    sync('big_tech_filings', 'sec.search.companies'),
    sync('costs', 'token.requests'),
    sync('data_engineers', 'pronet.search.users', { state: 'partial', bad: [33] }),
    sync('pages', 'webparser.parse', {
      state: 'failed',
      bad: [12, 13, 14, 87, 88, 89],
      error: 'The service answered 503 to the last 5 requests of webparser.parse.',
      refreshedAt: at(DAYS[86]),
      open: 112,
      inDoubt: 2,
      waiting: 1,
    }),
    sync('schools', 'pronet.user.education'),
    sync('travel_photos', 'photoshare.user.posts', {
      state: 'running',
      endedAt: null,
      runs: 12,
      byDay: DAYS.map((_, place) => (place % 7 === 5 ? 'complete' : place === 89 ? 'running' : null)),
    }),
  ],
  failingChecks: [],
  coverage: [
    {
      sync: 'big_tech_filings',
      endpoint: 'sec.search.companies',
      complete: 412,
      lowerBound: 0,
      open: 96,
      returned: 18_240,
      newestAt: at(DAYS[89]),
    },
    {
      sync: 'data_engineers',
      endpoint: 'pronet.search.users',
      complete: 140,
      lowerBound: 9,
      open: 22,
      returned: 12_480,
      newestAt: at(DAYS[89]),
    },
  ],
  truncated: [
    {
      sync: 'data_engineers',
      filters: '{"title": "data engineer", "location": ["Berlin"], "industry": ["IT Services"]}',
      asked: 1000,
      returned: 1000,
      reason: 'as long as asked for, and split_by has no more values',
      asOf: at(DAYS[89]),
    },
    {
      sync: 'data_engineers',
      filters: '{"title": "data engineer", "location": ["Paris"]}',
      asked: 1000,
      returned: 1000,
      reason: 'as long as asked for, and split_by has no more values',
      asOf: at(DAYS[88]),
    },
  ],
  growth: [
    'sec_filings',
    'pronet_users',
    'pronet_companies',
    'web_pages',
    'photoshare_posts',
    'fact_request_costs',
  ].map((table, row) => ({
    table,
    byDay: DAYS.map((_, place) =>
      Math.round(
        900 * (row + 1) + sum(DAYS.slice(0, place).map((_day, before) => chance(row * 7 + before) * 60 * (6 - row))),
      ),
    ),
  })),
  quality: [
    {
      sync: 'big_tech_filings',
      endpoint: 'sec.search.companies',
      received: 18_240,
      loaded: 9_120,
      unchanged: 9_100,
      superseded: 20,
      quarantined: 0,
      openQuarantine: 0,
      lastFailed: 0,
      lastMissing: 0,
    },
    {
      sync: 'pages',
      endpoint: 'webparser.parse',
      received: 4_412,
      loaded: 3_981,
      unchanged: 419,
      superseded: 0,
      quarantined: 12,
      openQuarantine: 7,
      lastFailed: 5,
      lastMissing: 1,
    },
  ],
  quarantine: {
    byDay: DAYS.map((_, place) => (place % 23 === 4 ? 3 : 0)),
    reasons: [
      {
        sync: 'pages',
        resource: 'WebParserResult',
        reason: 'The answer is no JSON: Unexpected token < at position 0',
        entries: 6,
        newestAt: at(DAYS[88]),
      },
      { sync: 'pages', resource: 'WebParserResult', reason: 'The item has no url', entries: 1, newestAt: at(DAYS[41]) },
    ],
  },
  drift: [
    {
      resource: 'PronetSearchUser',
      path: 'premium_badge',
      kind: 'unknown field',
      seen: 12_480,
      lastSeenAt: at(DAYS[89]),
    },
    { resource: 'PhotosharePost', path: 'like_count', kind: 'wrong type', seen: 17, lastSeenAt: at(DAYS[72]) },
  ],
  calls: [
    { endpoint: 'webparser.parse', calls: 3_120, medianMs: 2_410, p95Ms: 21_900, longestMs: 298_400 },
    { endpoint: 'pronet.search.users', calls: 1_020, medianMs: 4_020, p95Ms: 9_800, longestMs: 31_000 },
    { endpoint: 'sec.search.companies', calls: 2_870, medianMs: 640, p95Ms: 1_240, longestMs: 8_300 },
    { endpoint: 'token.requests', calls: 410, medianMs: 88, p95Ms: 140, longestMs: 512 },
  ],
  slowest: Array.from({ length: 8 }, (_, place) => ({
    answerId: String(90_412 - place * 311),
    sync: place % 3 === 2 ? 'data_engineers' : 'pages',
    endpoint: place % 3 === 2 ? 'pronet.search.users' : 'webparser.parse',
    input: place % 3 === 2 ? null : `https://example.com/reports/2026/a-rather-long-address-of-a-page-${place}.html`,
    status: 200,
    tookMs: 298_400 / (place + 1),
    bytes: 48_211 * (place + 1),
    receivedAt: at(DAYS[89 - place * 4]),
  })),
};
