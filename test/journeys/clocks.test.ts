/** Processes whose clocks are wrong: what is stored goes by the database's clock, and nothing of the future is fresh. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import type { Summary } from '../../src/ledger/summary.ts';
import type { RespondRequest, Responded } from '../../src/sandbox/options.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { type InProcessOptions, runInProcess } from '../cli/in-process.ts';
import { start, temporaryFolder } from '../cli/program-run.ts';
import { DAY_MS } from '../flow/clock.ts';
import { expireLeases } from '../flow/crash.ts';
import { select } from '../flow/rows.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

const AHEAD_MS = 400 * DAY_MS;
const CONFIG = `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", in_flight: 1, requests_per_second: 100000 }
warehouse: { url: "\${DATABASE_URL}" }
budget: { per_day: 1000 }
syncs:
  users: { endpoint: microblog.user, for_each: { user: [ada, bob, cleo] }, max_age: 7d }
  filings: { endpoint: sec.search.companies, request: { count: 100 }, window: { from: 2026-11-01, to: today }, max_age: 1d }
  costs: { endpoint: token.requests }
`;
/** Moves the clock of a thread, before any part of the program is loaded. */
const SHIFTED = `const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) { super(...(given.length === 0 ? [Real.now() + ${AHEAD_MS}] : given)); }
  static now() { return Real.now() + ${AHEAD_MS}; }
};`;
/** Moves the clock of a complete process, the thread of its embedded database included. */
const SHIFTED_PROCESS = `import threads from 'node:worker_threads';
import { syncBuiltinESMExports } from 'node:module';
const shifted = ${JSON.stringify(SHIFTED)};
(0, eval)(shifted);
threads.Worker = class extends threads.Worker {
  constructor(code, options) { super(options?.eval ? shifted + code : code, options); }
};
syncBuiltinESMExports();`;

/** A sync that a process is killed in, after all others. */
const LEFT = `  left: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
`;

async function opened(
  kind: 'postgres' | 'embedded',
  respond: (it: RespondRequest) => Promise<Responded | undefined> | undefined = () => undefined,
) {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const database = kind === 'postgres' ? await freshDatabase(await postgresTemplate()) : undefined;
  if (database) onTestFinished(() => database.drop());
  else await copyEmbedded(join(folder.path, 'warehouse'));
  const sandbox = await serveSandbox({ size: { ...SMALL, filings: 50 }, respond });
  onTestFinished(() => sandbox.close());
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(file, kind === 'postgres' ? CONFIG : CONFIG + LEFT);
  await writeFile(join(folder.path, 'shifted.mjs'), SHIFTED_PROCESS);
  const url = database?.url ?? `embedded:${join(folder.path, 'warehouse')}`;
  const env = {
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: url,
    HOME: folder.path,
  };
  const here = (words: readonly string[], options: InProcessOptions = {}) =>
    runInProcess([...words, '--config', file], { ...options, env });
  let seen = 0;
  return {
    sandbox,
    here,
    sync: async (names: readonly string[] = [], options: InProcessOptions = {}) => {
      const ran = await here(['sync', '--json', ...names], options);
      return { ...ran, summary: JSON.parse(ran.out) as Summary };
    },
    /** Runs the program with its clock ahead. */
    shifted: (...words: string[]) =>
      start([...words, '--config', file], {
        cwd: folder.path,
        env,
        node: ['--import', pathToFileURL(join(folder.path, 'shifted.mjs')).href],
      }),
    arrived: () => {
      const since = sandbox.requests().slice(seen);
      seen = sandbox.requests().length;
      return since;
    },
    rows: async (statement: string, expires = false) => {
      const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, realEffects);
      try {
        if (expires) await expireLeases(warehouse);
        return await select(warehouse, statement);
      } finally {
        await warehouse.close();
      }
    },
  };
}

/** Stored times and watermarks that are in the future. */
const FUTURE = `select 'answer' as what from sluice_ops.answers where received_at > now() + interval '1 second'
  union all select 'run' from sluice_ops.runs where greatest(started_at, ended_at, today::timestamptz) > now() + interval '1 second'
  union all select 'request' from sluice_ops.requests where greatest(planned_at, sent_at, finished_at) > now() + interval '1 second'
    or body ->> 'date_to' > (now() + interval '1 day')::date::text
  union all select 'mark' from sluice_ops.marks where updated_at > now() + interval '1 second' or value > (now() + interval '1 day')::text and name = 'log'
  union all select 'day' from sluice_ops.spending where name > 'day:' || (now() + interval '1 day')::date and starts_with(name, 'day:')
  union all select 'name' from sluice_ops.identities where last_seen_at > now() + interval '1 second'`;
type Requests = readonly { readonly endpoint?: string | undefined }[];
const sentTo = (wanted: string, requests: Requests): number =>
  requests.filter(({ endpoint }) => endpoint === wanted).length;
const users = (requests: Requests): number => sentTo('microblog.user', requests);
const WARNING = /the clock of this machine is 34\d{6} s ahead of the database's/g;

describe('a sync by a process whose clock is 400 days ahead', { timeout: 240_000 }, () => {
  it('stores the database’s times, is warned of once, and is fresh as long as other answers', async () => {
    const { shifted, sync, here, rows, arrived } = await opened('postgres');
    const ran = await shifted('sync').ended;
    expect(ran.code).toBe(0);
    expect(ran.err.match(WARNING)).toHaveLength(1);
    expect(users(arrived())).toBe(3);
    expect(await rows(FUTURE)).toEqual([]);
    const ahead = { processNow: () => new Date(Date.now() + AHEAD_MS) };
    expect((await here(['check'], ahead)).out.match(WARNING)).toHaveLength(1);

    const next = await sync();
    expect([next.code, next.err.match(WARNING)]).toEqual([0, null]);
    expect(users(arrived())).toBe(0);
    const later = { now: () => new Date(Date.now() + 8 * DAY_MS) };
    expect((await sync(['users'], later)).summary.syncs).toMatchObject([{ sent: 3 }]);
    expect((await here(['check'])).out).not.toMatch(WARNING);
  });

  it('stores the database’s times when the clock is set back and forth meanwhile', async () => {
    const { sync, rows } = await opened('postgres');
    let looks = 0;
    const processNow = (): Date => new Date(Date.now() + [0, AHEAD_MS, -AHEAD_MS][(looks += 1) % 3]!);
    const { code, summary } = await sync([], { processNow });
    expect([code, summary.tookMs >= 0, summary.syncs.every(({ tookMs }) => tookMs >= 0)]).toEqual([0, true, true]);
    expect(await rows(FUTURE)).toEqual([]);
    expect(await rows(`select 1 from sluice_ops.answers where received_at < now() - interval '10 minutes'`)).toEqual(
      [],
    );
  });

  it('on the embedded warehouse, whose clock is the process’s, leaves nothing fresh once the clock is right; and if it was killed, the requests that it left are sent, and no duration is negative', async () => {
    const stuck = Promise.withResolvers<void>();
    const freed = Promise.withResolvers<undefined>();
    let calls = 0;
    const { shifted, sync, here, rows, arrived } = await opened('embedded', ({ endpoint }) => {
      if (endpoint !== 'pronet.group' || (calls += 1) !== 2) return undefined;
      stuck.resolve();
      return freed.promise;
    });
    const first = shifted('sync');
    await Promise.race([stuck.promise, first.ended.then(({ err }) => expect.unreachable(err))]);
    first.child.kill('SIGKILL');
    await first.ended;
    freed.resolve(undefined);
    expect(users(arrived())).toBe(3);
    expect(await rows(FUTURE, true)).not.toEqual([]);
    expect((await here(['status'])).out).toContain('in the future: ');

    const { code, summary } = await sync();
    expect(code).toBe(0);
    const continued = [false, false, false, true];
    expect(summary.syncs).toMatchObject(continued.map((it) => ({ state: 'complete', continued: it })));
    expect(summary.syncs.every(({ tookMs }) => tookMs >= 0)).toBe(true);
    const sent = arrived();
    expect([users(sent), sentTo('pronet.group', sent)]).toEqual([3, 2]);
    const today = new Date().toISOString().slice(0, 10);
    expect(sent.flatMap(({ body }) => (body as { date_to?: string } | undefined)?.date_to ?? [])).toEqual([today]);
    const [found] = await rows(
      `select (select hours_since_refresh >= 0 from sluice.sync_freshness where sync = 'users') as aged,
        (select bool_and(duration_s >= 0) from sluice.sync_runs) as known`,
    );
    expect(found).toEqual({ aged: true, known: true });
    expect((await sync(['users', 'filings'])).summary.syncs).toMatchObject([{ sent: 0 }, { sent: 0 }]);
  });
});

it('what an earlier version stored by such a clock is requested again, and its watermarks and runs are ignored', {
  timeout: 240_000,
}, async () => {
  const { sync, rows, arrived, here } = await opened('postgres');
  await sync();
  const shift = `interval '400 days'`;
  await rows(`with a as (update sluice_ops.answers set received_at = received_at + ${shift}),
    n as (update sluice_ops.identities set first_seen_at = first_seen_at + ${shift}, last_seen_at = last_seen_at + ${shift}),
    m as (update sluice_ops.marks set value = case when name = 'log' then to_char(now() + ${shift}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      else jsonb_set(jsonb_set(value::jsonb, '{asOf}', to_jsonb(now() + ${shift})), '{to}', to_jsonb((now() + ${shift})::date))::text end
      where name not in ('deleted', 'log_start'))
    update sluice_ops.runs set started_at = started_at + ${shift}, ended_at = ended_at + ${shift}, today = today + 400,
      state = case when sync = 'filings' then 'running' else state end returning id`);
  arrived();
  expect((await here(['plan', '--json'])).out).toMatch(/"fresh": ?0/);

  const { code, summary } = await sync();
  expect([code, summary.syncs.map(({ continued }) => continued)]).toEqual([0, [false, false, false]]);
  const sent = arrived();
  expect(users(sent)).toBe(3);
  const log = sent.filter(({ endpoint }) => endpoint === 'token.requests');
  // The year alone is also among the digits of some ids and fractions of a second.
  expect(JSON.stringify(log)).not.toMatch(new RegExp(`"${new Date().getUTCFullYear() + 1}-\\d\\d-\\d\\d`));
  expect(
    await rows(
      `select sync from sluice_ops.marks where updated_at < now() - interval '1 hour' or name = 'log' and value > (now() + interval '1 day')::text`,
    ),
  ).toEqual([]);
  expect((await sync(['users', 'filings'])).summary.syncs).toMatchObject([{ sent: 0 }, { sent: 0 }]);
});
