/** What `costs` advises. */
import { expect, it } from 'vitest';
import { adviceOf } from '../../src/cli/text/cost-advice.ts';
import type { SyncDefinition } from '../../src/config/definition.ts';
import type { BalanceForecast } from '../../src/insight/cost-details.ts';
import type { MaxAgeSaving } from '../../src/insight/cost-sources.ts';
import { type Costs, NOT_SPENT, type SyncCosts } from '../../src/insight/costs.ts';

const NOW = new Date('2026-04-01T00:00:00Z');
const sums = { requests: 1, points: 10, failedRequests: 0, failedPoints: 0 };
const balance: BalanceForecast = {
  token: 't',
  isOurs: true,
  pointsLeft: 100,
  toldAt: NOW,
  newestAt: NOW,
  pointsPerDay7: 1,
  pointsPerDay30: 1,
  runsOutAt7: new Date('2026-07-10T00:00:00Z'),
  runsOutAt30: null,
  days: [],
};
const costs = (more: Partial<Costs> = {}): Costs => ({
  since: null,
  total: { ...sums, firstDay: '2026-01-01', lastDay: '2026-04-01' },
  verification: NOT_SPENT,
  days: [],
  endpoints: [],
  plans: [],
  syncs: [],
  runs: [],
  savings: [],
  failures: [],
  balances: [balance],
  ...more,
});
const saving = (maxAgeDays: number, savedPoints: number, lateAnswers = 0): MaxAgeSaving => ({
  sync: 'pages',
  maxAgeDays,
  answers: 100,
  points: 200,
  savedAnswers: 50,
  savedPoints,
  lateAnswers,
});
const syncs = (
  ...all: readonly { readonly name: string; readonly endpoint: string; readonly maxAgeMs?: number }[]
) => ({
  syncs: all.map(({ endpoint, ...it }) => ({ ...it, endpoint: { name: endpoint } }) as SyncDefinition),
});
const pages = syncs({ name: 'pages', endpoint: 'webparser.parse' });

it('no advice is given when all is well', () => {
  expect(adviceOf(costs(), pages, NOW)).toEqual([]);
});

it.each([
  [
    'the age that saves most',
    [saving(1, 20), saving(7, 60), saving(30, 90)],
    'max_age: 30d for pages: it would have saved 90 of 200 points; none of the answers not bought contained anything new',
  ],
  ['the shortest of those that save as much', [saving(1, 60), saving(7, 60), saving(30, 60)], 'max_age: 1d'],
  [
    'one that makes little late',
    [saving(1, 20, 1), saving(7, 60, 5), saving(30, 90, 6)],
    'max_age: 7d for pages: it would have saved 60 of 200 points; 5 of the 50 answers not bought contained something new',
  ],
  [
    'what is more than the age that is set saves',
    [saving(1, 20), saving(7, 60), saving(30, 90)],
    'max_age: 30d for pages: it would have saved 30 more of 200 points',
    syncs({ name: 'pages', endpoint: 'webparser.parse', maxAgeMs: 7 * 86_400_000 }),
  ],
] as const)('the advised age is %s', (_what, savings, expected, config = pages) => {
  expect(adviceOf(costs({ savings }), config, NOW)).toEqual([expect.stringContaining(expected)]);
});

it.each([
  ['that saves next to nothing', [saving(30, 9)], pages],
  ['that makes much late', [saving(30, 90, 30)], pages],
  [
    'that is set already',
    [saving(7, 60)],
    syncs({ name: 'pages', endpoint: 'webparser.parse', maxAgeMs: 7 * 86_400_000 }),
  ],
  [
    'that saves no more than the one that is set',
    [saving(7, 60), saving(30, 60)],
    syncs({ name: 'pages', endpoint: 'webparser.parse', maxAgeMs: 7 * 86_400_000 }),
  ],
  ['of a sync that is gone', [saving(7, 60)], syncs()],
])('no age is advised %s', (_what, savings, config) => {
  expect(adviceOf(costs({ savings }), config, NOW)).toEqual([]);
});

it('the advice warns of points that run out within a month, counting only our own tokens', () => {
  const at = new Date('2026-04-20T12:00:00Z');
  const adviceFor = (more: Partial<BalanceForecast>) =>
    adviceOf(costs({ balances: [{ ...balance, ...more }] }), pages, NOW);
  expect(adviceFor({ runsOutAt7: at })).toEqual([
    'get more points or set budget.per_day: at the recent mean rate (over at most 7 days) they run out on 2026-04-20',
  ]);
  expect(adviceFor({ runsOutAt7: new Date('2026-03-30T00:00:00Z') })).toEqual([
    expect.stringContaining('would have run out on 2026-03-30 already'),
  ]);
  expect(adviceFor({ runsOutAt7: at, isOurs: false })).toEqual([]);
  expect(adviceFor({ runsOutAt7: null })).toEqual([]);
});

it('the advice says how to read a log that is missing or old', () => {
  const reader = syncs({ name: 'spend', endpoint: 'token.requests' });
  const owed: SyncCosts = {
    ...sums,
    requests: 0,
    points: 0,
    sync: 'pages',
    endpoint: 'webparser.parse',
    ledgerPoints: 5,
    answers: 5,
    loaded: 5,
    newRows: 5,
    pointsPerLoaded: 1,
    pointsPerNewRow: 1,
    answerPoints: 5,
    nothingNewPoints: 0,
  };
  const verification = { ...NOT_SPENT, unverifiedRequests: 5, unverifiedPoints: 5 };
  const unread = costs({ balances: [], syncs: [owed], verification });
  // Readings for a limit in points confirmed what was spent.
  expect(adviceOf(costs({ balances: [], syncs: [owed] }), pages, NOW)).toEqual([]);
  expect(adviceOf(unread, pages, NOW)).toEqual([expect.stringMatching(/^add a sync with endpoint: token\.requests/)]);
  expect(adviceOf(unread, reader, NOW)).toEqual([expect.stringMatching(/^run sluice sync spend: /)]);
  expect(adviceOf(costs({ balances: [] }), pages, NOW)).toEqual([]);
  const old = costs({ balances: [{ ...balance, newestAt: new Date('2026-03-20T00:00:00Z') }] });
  expect(adviceOf(old, reader, NOW)).toEqual([
    'run sluice sync spend: the request log ends on 2026-03-20, and later requests are not counted',
  ]);
});

it('the advice counts points that were charged for nothing', () => {
  const failure = {
    sync: 'pages',
    endpoint: 'e',
    kind: 'failed',
    status: 500,
    requests: 2,
    points: 3,
    newestAt: NOW,
    error: null,
  } as const;
  expect(adviceOf(costs({ failures: [failure, { ...failure, points: 4 }] }), pages, NOW)).toEqual([
    expect.stringContaining('7 points charged for nothing'),
  ]);
});
