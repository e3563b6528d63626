/** The quote of questions that are requested in parts, against what the service charges for them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.ts';
import { BUSY } from '../flow/filings.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import type { Fault } from '../../src/sandbox/fault.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';

interface Planned {
  readonly syncs: readonly {
    readonly requests: number;
    readonly fresh: number;
    readonly low: number;
    readonly likely: number;
    readonly high: number;
    readonly most: number;
    readonly mostRequests: number;
    readonly mayGrow: boolean;
    readonly continues: string | null;
  }[];
}

/** A command line over a sandbox and a warehouse of its own. */
async function setUp(yaml: string, faults: readonly Fault[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-splits-'));
  const started = Date.now();
  const now = (): Date => new Date(Date.parse('2026-05-04T12:00:00Z') + Date.now() - started);
  const database = await freshDatabase(await postgresTemplate());
  const sandbox = await serveSandbox({ seed: 7, size: { ...SMALL, ...BUSY }, token: 'sandbox-token', now, faults });
  onTestFinished(async () => {
    await sandbox.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  const write = (syncs: string): Promise<void> =>
    writeFile(
      join(folder, 'sluice.yaml'),
      `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 100000, in_flight: 2 }
warehouse: { url: "\${DATABASE_URL}" }
${syncs}`,
    );
  await write(yaml);
  const env = {
    SLUICE_CONFIG: join(folder, 'sluice.yaml'),
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: 'sandbox-token',
    DATABASE_URL: database.url,
    CI: '1',
  };
  const run = (...words: string[]) => runInProcess(words, { env, now });
  return {
    write,
    text: async (...words: string[]): Promise<string> => (await run('plan', ...words)).out,
    plan: async (...words: string[]): Promise<Planned['syncs'][number]> => {
      const { out, err } = await run('plan', '--json', ...words);
      if (out === '') throw new Error(err);
      const [sync] = (JSON.parse(out) as Planned).syncs;
      if (!sync) throw new Error('no sync was planned');
      return sync;
    },
    /** Runs a sync; gives what the service charged for it. */
    charged: async (...words: string[]) => {
      const before = sandbox.requests().length;
      const { code, err } = await run('sync', ...words);
      if (code === null || ![0, 4, 6].includes(code)) throw new Error(err);
      const sent = sandbox
        .requests()
        .slice(before)
        .filter(({ endpoint }) => endpoint !== 'token.requests');
      return { code, requests: sent.length, points: sent.reduce((sum, { cost }) => sum + cost, 0) };
    },
  };
}

const PLACES = `
syncs:
  filings:
    endpoint: sec.search.companies
    for_each: { forms: ["10-K", "8-K"] }
    request: { count: 5 }
    split_by: { location_codes: [CA, NY, TX] }
`;

it('three locations are in the quote before the first run, and expected after it', async () => {
  const { plan, text, charged } = await setUp(PLACES);
  const first = await plan();
  // Two of three locations may share a part, which may be full and requested again one by one.
  expect(first).toMatchObject({ requests: 2, low: 2, high: 10, most: 10, mostRequests: 10, mayGrow: false });
  expect(await text()).toContain('Full answers are split and requested in parts: at most 10 requests.');
  const { points } = await charged();
  expect(points).toBeGreaterThan(2);
  expect(points).toBeLessThanOrEqual(10);
  expect(await plan()).toMatchObject({ requests: 2, low: points, likely: points, high: points, most: 10 });
  expect((await charged()).points).toBe(points);
});

const PEOPLE = `
syncs:
  people:
    endpoint: pronet.search.users
    request: { count: 100 }
    split_by: { location: [Berlin, Paris, London, Madrid] }
`;

it('parts are expected to cost what they cost before, and not as much as the full answer', async () => {
  const { plan, charged } = await setUp(PEOPLE);
  const first = await charged();
  expect(first.requests).toBe(5);
  expect(first.points).toBeLessThan(5 * 10);
  const { low, likely, high } = await plan();
  expect(likely).toBe(first.points);
  const { points } = await charged();
  expect(points).toBeGreaterThanOrEqual(low);
  expect(points).toBeLessThanOrEqual(high);
});

it('a question whose answer could not be read is quoted with all its parts', async () => {
  const { plan, charged } = await setUp(PLACES, [{ on: { nth: 1 }, do: { kind: 'html' } }]);
  expect(await charged()).toMatchObject({ code: 4 });
  const { high, most } = await plan();
  const { points } = await charged();
  expect(points).toBeLessThanOrEqual(high);
  expect(high).toBeLessThanOrEqual(most);
});

it('a full answer that is fresh is quoted with the parts that are not', async () => {
  const { plan, text, charged, write } = await setUp(
    PLACES.replace('split_by: { location_codes: [CA, NY, TX] }', 'max_age: 7d'),
  );
  expect(await charged()).toMatchObject({ requests: 2 });
  expect(await text()).toMatch(/^Nothing to send/m);
  await write(`${PLACES}    max_age: 7d\n`);
  const quoted = await plan();
  expect(quoted).toMatchObject({ fresh: 0, most: 8, mostRequests: 8, mayGrow: false });
  expect(quoted.requests).toBeGreaterThanOrEqual(4);
  const { points } = await charged();
  expect(points).toBeGreaterThanOrEqual(4);
  expect(points).toBeLessThanOrEqual(8);
  expect(await text()).toMatch(/^Nothing to send/m);
  expect(await charged()).toMatchObject({ requests: 0 });
});

const WINDOW = `
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 50 }
    window: { from: 2026-01-05, to: 2026-02-15 }
    max_age: 7d
`;

it('a window is quoted with all its days, and a backfill of fresh days sends nothing', async () => {
  const { plan, text, charged } = await setUp(WINDOW);
  const flags = ['--from', '2026-01-05', '--to', '2026-02-15'];
  const first = await plan(...flags);
  expect(first).toMatchObject({ requests: 1, low: 1, mostRequests: 2 * 42 - 1, mayGrow: false });
  const paid = await charged(...flags);
  expect(paid.requests).toBeGreaterThan(1);
  expect(paid.points).toBeLessThanOrEqual(first.most);
  const again = await plan(...flags);
  const second = await charged(...flags);
  expect(second.points).toBeLessThanOrEqual(again.most);
  if (again.requests === again.fresh) expect(second.requests).toBe(0);
  expect(await text('--refresh')).toMatch(/to \d+ points|at most/);
});

it('a stopped run is quoted at what it left, and its continuation spends no more', async () => {
  const { plan, text, charged } = await setUp(WINDOW.replace('max_age: 7d', 'budget: { per_run: 3 }'));
  expect(await charged()).toMatchObject({ code: 6, points: 3 });
  for (let [left, runs] = [await plan(), 0]; left.continues !== null && runs < 20; left = await plan(), runs++) {
    expect(await text()).toContain(`filings: the remaining requests of run ${left.continues}, which was stopped.`);
    const { points } = await charged();
    expect(points).toBeGreaterThan(0);
    expect(points).toBeLessThanOrEqual(left.most);
  }
});
