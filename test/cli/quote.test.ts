/** What people read of prices: the plan's table and sentence, and how a run's spending compares with its quote. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { summaryText } from '../../src/cli/text/summary.ts';
import { emptySummary } from '../../src/flow/run/failed-summary.ts';
import type { QuotedPoints, SyncSummary } from '../../src/ledger/summary.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { keptChannel } from './channels.ts';
import { freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';

const TOKEN = 'sandbox-token';
const GROUPS = ['1001', '1002', '1003'];
/** Noon and later: the log is requested by days, so the number of requests of a plan depends on the hour. */
const STARTED = Date.now();
const now = (): Date => new Date(Date.parse('2026-05-04T12:00:00Z') + Date.now() - STARTED);

const KINDS: readonly (readonly [string, (folder: string) => Promise<{ url: string; drop: () => Promise<void> }>])[] = [
  [
    'embedded',
    async (folder) => {
      await copyEmbedded(join(folder, 'data'));
      return { url: `embedded:${join(folder, 'data')}`, drop: () => Promise.resolve() };
    },
  ],
  ['postgres', async () => freshDatabase(await postgresTemplate())],
];

describe.each(KINDS)('plan (%s)', (_, made) => {
  let folder: string;
  let sandbox: Sandbox;
  let warehouse: Awaited<ReturnType<typeof made>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-quote-'));
    warehouse = await made(folder);
    sandbox = await serveSandbox({
      token: TOKEN,
      now,
      prices: { 'pronet.group': { points: 7 } },
      respond: ({ endpoint, body }) =>
        endpoint === 'pronet.group'
          ? { body: [{ urn: { type: 'group', value: (body as { group: string }).group }, name: 'a', url: 'u' }] }
          : undefined,
    });
    await writeFile(
      join(folder, 'sluice.yaml'),
      [
        'service: { url: "${SLUICE_SERVICE_URL}", token: "${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }',
        'warehouse: { url: "${DATABASE_URL}" }',
        'syncs:',
        `  groups: { endpoint: pronet.group, for_each: { group: ${JSON.stringify(GROUPS)} } }`,
        '  costs: { endpoint: token.requests, after: [groups] }',
      ].join('\n'),
    );
  });
  afterAll(async () => {
    await sandbox.close();
    await warehouse.drop();
    await rm(folder, { recursive: true });
  });
  const sluice = async (...words: string[]): Promise<string> => {
    const env = {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: TOKEN,
      DATABASE_URL: warehouse.url,
      CI: '1',
    };
    return (await runInProcess(words, { env, now })).out;
  };

  it('quotes a guess as a guess, then what the log teaches, and a run is scored by it', async () => {
    const guess = await sluice('plan');
    expect(guess).toMatch(/^groups +pronet\.group +0 +3 +3 +3 +3 +guess +2 ms$/m);
    expect(guess).toMatch(/^costs +token\.requests +0 +1 +0\+ +0\+ +0\+$/m);
    expect(guess).toContain(
      '2 syncs would send 4 requests for 3 points or more (a guess: the request log does not show all of these prices yet), in 3 ms or more.',
    );
    // The prices were guessed, and the guess was wrong; so far only the log knows.
    expect(await sluice('sync')).toMatch(/^quoted 3 points \(a guess\), spent \d+: (within|above)$/m);

    expect(await sluice('plan')).toContain(
      '2 syncs would send 4 requests for 21 points or more (some confidence: based on 3 logged requests), in 3 ms or more.',
    );
    expect(JSON.parse(await sluice('plan', 'groups', '--json'))).toMatchObject({
      syncs: [
        {
          sync: 'groups',
          requests: 3,
          fresh: 0,
          low: 21,
          likely: 21,
          high: 21,
          most: 21,
          mostPoints: 21,
          confidence: 'some',
          samples: 3,
        },
      ],
      total: { most: 21, confidence: 'some', samples: 3 },
      prices: { 'pronet.group': [{ returned: 1, samples: 3, median: 7, low: 7, high: 7 }] },
    });
    expect(await sluice('sync')).toMatch(/^quoted 21 points, spent 21: within$/m);
    const { syncs } = JSON.parse(await sluice('sync', 'groups', '--json')) as { syncs: SyncSummary[] };
    expect(syncs[0]).toMatchObject({
      points: 21,
      quote: { requests: 3, low: 21, high: 21, most: 21, confidence: 'some' },
    });
  });
});

describe('the summary of runs that cost points', () => {
  const quoted = (low: number, high: number, more: Partial<QuotedPoints> = {}): QuotedPoints => ({
    requests: 10,
    low,
    likely: (low + high) / 2,
    high,
    most: high * 3,
    confidence: 'some',
    samples: 9,
    ...more,
  });
  const run = (points: number, quote: QuotedPoints | null, more: Partial<SyncSummary> = {}): SyncSummary => ({
    ...emptySummary({ name: 'people', endpoint: { name: 'pronet.search.users' } }),
    runId: '1',
    state: 'complete',
    exitCode: 0,
    planned: 10,
    asked: 10,
    sent: 10,
    answers: 10,
    received: 10,
    loaded: 10,
    points,
    quote,
    tookMs: 10,
    error: null,
    next: null,
    ...more,
  });
  const lines = (...syncs: SyncSummary[]): string[] =>
    summaryText({ exitCode: 0, syncs, tookMs: 10 }, keptChannel())
      .split('\n')
      .filter((line) => line.startsWith('quoted'));

  it.each([
    [run(214, quoted(180, 260)), 'quoted 180 to 260 points, spent 214 by the price list: within'],
    [run(1214, quoted(180, 260)), 'quoted 180 to 260 points, spent 1,214 by the price list: above'],
    [run(20, quoted(180, 260)), 'quoted 180 to 260 points, spent 20 by the price list: below'],
    [run(20, quoted(180, 260), { left: 9 }), 'quoted 180 to 260 points, spent 20 by the price list so far'],
    [run(270, quoted(180, 260), { left: 9 }), 'quoted 180 to 260 points, spent 270 by the price list: above'],
    [
      run(270, quoted(180, 260), { planned: 26, fresh: 4 }),
      'quoted 180 to 260 points, spent 270 by the price list: above, because answers led to 12 further requests',
    ],
  ])('compares them with the quote', (sync, line) => {
    expect(lines(sync)).toEqual([line]);
  });

  it('adds up several syncs, and names those that are outside of their ranges', () => {
    const others = [run(5, quoted(10, 20), { sync: 'groups' }), run(15, quoted(10, 20), { sync: 'pages' })];
    expect(lines(run(200, quoted(180, 260)), ...others)).toEqual([
      'quoted 200 to 300 points, spent 220 by the price list: within; groups 5 of 10 to 20',
    ]);
  });

  it('counts requests once, as sync_runs does, however often each was tried', () => {
    const text = summaryText({ exitCode: 0, syncs: [run(1, null, { asked: 1, sent: 6 })], tookMs: 10 }, keptChannel());
    expect(text).toMatch(/^sync +asked .*\n-.*\npeople +1 /);
  });

  it('says nothing where nothing was to be paid, or nothing was quoted', () => {
    expect(lines(run(0, quoted(0, 0)), run(3, null))).toEqual([]);
  });
});
