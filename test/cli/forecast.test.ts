/** `sluice plan --for`: what the schedules will spend, and how earlier forecasts compare. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const CONFIG = `service: { url: "http://127.0.0.1:1" }
budget: { per_day: 4, per_month: 50, tags: { team: { a: { per_month: 1000 } } } }
syncs:
  groups: { endpoint: pronet.group, schedule: "15 6 * * *", for_each: { group: ["1", "2"] }, tags: { team: a } }
  users: { endpoint: microblog.user, after: [groups], for_each: { user: [u] }, max_age: 10d }
  idle: { endpoint: microblog.user, for_each: { user: [v] } }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});
const planAt = (now: string, ...words: string[]) =>
  runInProcess(['plan', ...words], {
    env: { SLUICE_CONFIG: join(folder.path, 'sluice.yaml'), DATABASE_URL: database.url },
    now: () => new Date(now),
  });
const plan = (...words: string[]) => planAt('2026-05-04T12:00:00Z', ...words);

describe('the forecast of the schedules', () => {
  it('shows points by sync, day and tag, and when each budget ends', async () => {
    const { code, out, err } = await plan('--for', '30d');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    // Thirty firings of two groups; the user is requested again after more than ten days, at three of them.
    expect(out).toMatch(/^groups +pronet\.group +30 +60 +60 +60 +60 +guess$/m);
    expect(out).toMatch(/^users +microblog\.user +30 +3 +3 +3 +3 +guess$/m);
    expect(out).toMatch(/^idle +microblog\.user +0 +0 +0 +0 +0/m);
    expect(out).toMatch(/^team=a +60 +60 +60$/m);
    expect(out).toContain('The schedules need 63 points (63 to 63) from 2026-05-04T12:00 to 2026-06-03T12:00 UTC.');
    expect(out).toContain('budget.per_day, 4: not reached.');
    // 27 firings are left in May: 54 points and those of the user.
    expect(out).toMatch(/^budget\.per_month, 50: reached on 2026-05-2\d\.$/m);
    expect(out).toContain('budget.tags.team.a.per_month, 1,000: not reached.');
    expect(out).toContain('Balance: unknown');
  });

  it('is printed as JSON, with a row for each day', async () => {
    const { out } = await plan('--until', '2026-05-06', '--json');
    expect(JSON.parse(out)).toMatchObject({
      from: '2026-05-04T12:00:00.000Z',
      until: '2026-05-06T23:59:59.999Z',
      isSaved: true,
      total: { likely: 5 },
      days: [
        { date: '2026-05-04', likely: 0 },
        { date: '2026-05-05', likely: 3 },
        { date: '2026-05-06', likely: 2 },
      ],
      balance: null,
      scores: [],
    });
  });

  it('is compared with what was spent in its days that are over', async () => {
    expect((await planAt('2026-05-04T12:00:00Z', '--for', '30d')).code).toBe(0);
    const pool = new Pool({ connectionString: database.url });
    // A run on each of three days, of which the third is not over: 2, 3 and 9 points.
    for (const [at, points] of [
      ['2026-05-05T06:15:00Z', 2],
      ['2026-05-06T06:15:00Z', 3],
      ['2026-05-07T06:15:00Z', 9],
    ] as const) {
      await pool.query(
        `with run as (
           insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
           values ('groups', 'pronet.group', 'x', 'complete', $1::timestamptz::date, $1) returning id)
         insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, input, state, planned_at, sent_at, points)
         select id, 'groups', 'pronet.group', 'k', '{}', '{}', 'loaded', $1, $1, $2 from run`,
        [at, points],
      );
    }
    await pool.end();
    const { scores } = JSON.parse((await planAt('2026-05-07T12:00:00Z', '--for', '30d', '--json')).out);
    // Two days of two groups, and the first request of the user, which was not sent.
    expect(scores).toEqual([{ madeOn: '2026-05-04', days: 2, low: 5, likely: 5, high: 5, spent: 5 }]);
  });

  it('is compared only for days that it covers to their end', async () => {
    const other = await freshDatabase(await postgresTemplate());
    const file = join(folder.path, 'hourly.yaml');
    await writeFile(file, CONFIG.replace('15 6 * * *', '15 * * * *'));
    const env = { SLUICE_CONFIG: file, DATABASE_URL: other.url };
    const hourly = async (now: string, ...words: string[]) => {
      const { code, out } = await runInProcess(['plan', '--json', ...words], { env, now: () => new Date(now) });
      expect(code).toBe(0);
      return JSON.parse(out) as { readonly scores: unknown };
    };
    const client = new Client({ connectionString: other.url });
    await client.connect();
    await hourly('2026-05-04T12:00:00Z', '--for', '1d');
    await hourly('2026-05-05T12:00:00Z', '--for', '2d');
    await hourly('2026-05-06T12:00:00Z', '--until', '2026-05-07');
    const { rows } = await client.query(
      `select made_on::text, date::text, likely::float8 from sluice_ops.forecast_days where sync = 'groups' order by 1, 2`,
    );
    // Twelve firings are left of the day of a forecast, each of two groups.
    expect(rows).toEqual([
      { made_on: '2026-05-04', date: '2026-05-04', likely: 24 },
      { made_on: '2026-05-05', date: '2026-05-05', likely: 24 },
      { made_on: '2026-05-05', date: '2026-05-06', likely: 48 },
      { made_on: '2026-05-06', date: '2026-05-06', likely: 24 },
      { made_on: '2026-05-06', date: '2026-05-07', likely: 48 },
    ]);
    await client.query(
      `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
       values ('groups', 'pronet.group', 'x', 'complete', '2026-05-09', '2026-05-09T06:00:00Z')`,
    );
    expect((await hourly('2026-05-09T12:00:00Z', '--for', '1d')).scores).toMatchObject([
      { madeOn: '2026-05-06', days: 1 },
      { madeOn: '2026-05-05', days: 1 },
    ]);
    await client.end();
    await other.drop();
  });

  it('is shown by a role that may not write, which says that it is not saved', async () => {
    const pool = new Pool({ connectionString: database.url });
    await pool.query('alter table sluice_ops.forecast_days rename to hidden');
    await pool.query('create view sluice_ops.forecast_days as select * from sluice_ops.hidden');
    await pool.query(
      'create function sluice_ops.refuse() returns trigger language plpgsql as $$ begin raise insufficient_privilege; end $$',
    );
    await pool.query(
      'create trigger refuse instead of insert or delete on sluice_ops.forecast_days for each row execute function sluice_ops.refuse()',
    );
    await pool.end();
    const { code, out } = await plan('--for', '30d');
    expect([code, out]).toEqual([0, expect.stringContaining('This forecast was not saved')]);
  });

  it.each([
    [
      ['--for', '400d'],
      '--for is "400d"; allowed is a future duration with a unit, such as 30d, that ends by 2027-05-05',
    ],
    [['--for', 'soon'], '--for is "soon"'],
    [['--until', '2026-05-03'], '--until is 2026-05-03'],
    [['--for', '3d', '--refresh', 'groups'], '--refresh, names of syncs cannot be combined with --for'],
    [['--for', '3d', '--until', '2026-06-01'], '--until cannot be combined with --for'],
  ])('%j is refused', async (words, because) => {
    expect(await plan(...words)).toMatchObject({ code: 2, err: expect.stringContaining(because) });
  });
});
