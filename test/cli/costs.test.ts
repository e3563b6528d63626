/** `sluice costs` on a warehouse of its own, against sums of the log in plain SQL, and the advice that it gives. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { select } from '../flow/rows.ts';
import { fill, histories, machinery, writeHistory } from '../insight/cost-history.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { realEffects } from '../support/warehouse.ts';
import { runInProcess, type InProcessOptions } from './in-process.ts';
import type { Ran } from './program-run.ts';

interface Sum {
  readonly points: number;
  readonly requests: number;
}

const CHARGED = 'sum(case when is_paid or is_paid is null then greatest(cost, 0) else 0 end)::int';
/** What a terminal would obey, but for the end of a line. */
const harmful = (text: string): RegExpMatchArray | null => text.replaceAll('\n', '').match(/[\p{Cc}\u202a-\u202e]/u);

let folder: string;
let database: FreshDatabase;
let warehouse: Warehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  database = await freshDatabase();
  warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  await writeFile(
    join(folder, 'sluice.yaml'),
    [
      'service: { url: "http://127.0.0.1:9" }',
      'warehouse: { url: "${DATABASE_URL}" }',
      'syncs:',
      '  groups: { endpoint: pronet.group, for_each: { group: ["1", "2", "3"] } }',
      '  costs: { endpoint: token.requests }',
    ].join('\n'),
  );
});
afterAll(async () => {
  await warehouse.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const costs = (words: readonly string[] = [], options: InProcessOptions = {}): Promise<Ran> =>
  runInProcess(['costs', ...words], {
    ...options,
    env: { SLUICE_CONFIG: join(folder, 'sluice.yaml'), DATABASE_URL: database.url },
  });
const json = async <T>(...words: string[]): Promise<T> => JSON.parse((await costs([...words, '--json'])).out) as T;

describe('costs of nothing', () => {
  it.each(['of a warehouse without a schema', 'of one that holds nothing'])('are shown, %s', async (what) => {
    if (what.includes('nothing')) await ensureSchema(warehouse);
    expect(await costs()).toMatchObject({ code: 0, out: 'nothing was paid yet; run sluice sync\n', err: '' });
    expect((await costs(['--since', '2026-01-01'])).out).toBe('nothing was paid since 2026-01-01\n');
    expect((await costs(['--csv'])).out).toBe(
      'date,endpoint,plan,sync,requests,points,failed_requests,failed_points\n',
    );
    expect(await json()).toMatchObject({ total: { points: 0 }, days: [], syncs: [], next: [] });
  });

  it('are those of the ledger while the log was not read', async () => {
    const [history] = fc.sample(histories(30, 30), { seed: 1, numRuns: 1 });
    await writeHistory(warehouse, { rows: [], requests: history?.requests ?? [] });
    const [ledger] = await select<{ points: number }>(
      warehouse,
      'select sum(points)::int as points from sluice_ops.requests',
    );
    const { out } = await costs();
    expect(out).toMatch(
      new RegExp(`^${ledger?.points} points according to the ledger; the request log has no rows for this time\n`),
    );
    expect(out).toContain('next: run sluice sync costs: the request log has no rows for this time yet');
  });

  it('leave out the free reads of the log, which --json has', async () => {
    const [history] = fc.sample(histories(30, 30), { seed: 1, numRuns: 1 });
    await writeHistory(warehouse, { rows: [], requests: history?.requests ?? [] });
    await select(warehouse, "update sluice_ops.requests set points = 0 where endpoint = 'token.requests'");
    const { syncs } = await json<{ syncs: { endpoint: string }[] }>();
    expect(syncs.map(({ endpoint }) => endpoint)).toContain('token.requests');
    const { out } = await costs();
    expect(out).toMatch(/^groups +pronet\.group /m);
    expect(out).not.toMatch(/^groups +token\.requests /m);
  });
});

describe('costs of 90 days', () => {
  beforeAll(async () => {
    const [history] = fc.sample(histories(1500, 1500), { seed: 3, numRuns: 1 });
    if (!history) throw new Error('no history was made');
    await writeHistory(warehouse, history);
  });

  it.each([undefined, '2026-03-01'])('are the sums of the log since %s', async (since) => {
    const words = since === undefined ? [] : ['--since', since];
    const where = `where coalesce(started_at, _first_seen_at) >= '${since === undefined ? '-infinity' : `${since}T00:00:00Z`}'`;
    const [total] = await select<Sum>(
      warehouse,
      `select ${CHARGED} as points, count(*)::int as requests from sluice.fact_request_costs ${where}`,
    );
    const byDay = await select(
      warehouse,
      `select (coalesce(started_at, _first_seen_at) at time zone 'UTC')::date::text as date, ${CHARGED} as points,
         count(*)::int as requests from sluice.fact_request_costs ${where} group by 1 order by 1`,
    );
    const byPlan = await select(
      warehouse,
      `select coalesce(plan, '(not reported)') as plan, ${CHARGED} as points, count(*)::int as requests
       from sluice.fact_request_costs ${where} group by 1 order by 2 desc`,
    );
    const found = await json<{ total: Sum; days: unknown[]; plans: unknown[]; syncs: Sum[]; endpoints: Sum[] }>(
      ...words,
    );
    expect(found).toMatchObject({ total, days: byDay, plans: byPlan });
    expect(found.days).toHaveLength(byDay.length);
    const sumOf = (all: readonly Sum[]): number => all.reduce((sum, { points }) => sum + points, 0);
    expect([sumOf(found.syncs), sumOf(found.endpoints)]).toEqual([total?.points, total?.points]);

    const cells = parse((await costs([...words, '--csv'])).out, { columns: true }) as Readonly<
      Record<string, string>
    >[];
    expect(cells.reduce((sum, cell) => sum + Number(cell['points']), 0)).toBe(total?.points);
    expect(cells.reduce((sum, cell) => sum + Number(cell['requests']), 0)).toBe(total?.requests);
    const grouped = String(total?.points).replaceAll(/\B(?=(\d{3})+$)/g, ',');
    expect((await costs(words)).out).toContain(`${grouped} points for `);
  });

  it('are shown in tables, on any terminal', async () => {
    const { code, out, err } = await costs();
    expect([code, err]).toEqual([0, '']);
    for (const title of [
      'by sync',
      'points by loaded item and new row',
      'by endpoint',
      'by plan',
      'by day',
      'most expensive runs',
      'prices',
      'points left',
      'charged for nothing',
      'savings of a max_age, over all answers',
    ])
      expect(out).toContain(`\n\n${title}\n`);
    expect(out).toMatch(/ a day \(7 days\) +a day \(30 days\) +run out on$/m);
    expect(out).toContain('(other programs)');
    expect(out).toMatch(/^and 76 days before; --csv and --json have all$/m);
    expect(out).toMatch(/^next: run sluice sync costs: the request log ends on 2026-03-31/m);
    const narrow = await costs([], { columns: 80 });
    for (const line of narrow.out.split('\n').filter((it) => /^\S+ {2}/.test(it))) expect(line.length).toBeLessThan(81);
  });

  it('print names from outside without harm', async () => {
    expect((await costs()).out).toContain("it's ␛[31m\\u202e");
    for (const words of [[], ['--json'], ['--since', '2026-03-01']])
      expect(harmful((await costs(words)).out)).toBeNull();
    const { endpoints } = await json<{ endpoints: { endpoint: string }[] }>();
    expect(endpoints.map(({ endpoint }) => endpoint)).toContain('other.\u001b[2j\u202eevil');
  });

  it('refuse what they can’t do', async () => {
    expect(await costs(['--csv', '--json'])).toMatchObject({ code: 2, out: '' });
    expect(await costs(['--since', 'yesterday'])).toMatchObject({ code: 2, out: '' });
  });
});

describe('prices', () => {
  it('are those that plans use', async () => {
    await writeHistory(warehouse, { rows: [], requests: [] });
    await fill(
      warehouse,
      'sluice.fact_request_costs',
      Array.from({ length: 25 }, (_, place) => ({
        id: `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
        cost: 3,
        is_paid: true,
        endpoint: '/api/pronet/group',
        plan: 'p',
        started_at: '2026-01-01T00:00:00Z',
        duration: 1,
        response_status_code: 200,
        response_count: 1,
        ...machinery(0),
      })),
    );
    const { prices } = await json<{ prices: { endpoint: string }[] }>();
    expect(prices.find(({ endpoint }) => endpoint === 'pronet.group')).toMatchObject({
      by: 'call',
      points: 3,
      low: 3,
      median: 3,
      high: 3,
      deviation: 0,
      samples: 25,
      confidence: 'good',
    });
    expect((await costs()).out).toMatch(/^pronet\.group +3 a call +good +3 +3 +3 +0 % +25$/m);
  });
});
