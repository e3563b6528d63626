/** A sync that is killed is shown as interrupted everywhere once its lease expired, raises one alert, and is continued. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import type { Status } from '../../src/insight/status.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { openHooks } from '../alerts/hooks.ts';
import { runInProcess } from '../cli/in-process.ts';
import { start, temporaryFolder } from '../cli/program-run.ts';
import { expireLeases } from '../flow/crash.ts';
import { select } from '../flow/rows.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase } from '../support/database.ts';
import { IS_LONG } from '../support/long.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { postgresWarehouses, realEffects } from '../support/warehouse.ts';

const USERS = ['ada', 'bob', 'cleo', 'dan'];
const CONFIG = `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", in_flight: 1, requests_per_second: 100000 }
warehouse: { url: "\${DATABASE_URL}" }
alerts: { webhook: "\${HOOK}" }
syncs:
  users: { endpoint: microblog.user, for_each: { user: [${USERS.join(', ')}] } }
`;
const SOON = { timeout: 30_000, interval: 100 };

const looking = async <T>(url: string, look: (warehouse: Warehouse) => Promise<T>): Promise<T> => {
  const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, realEffects);
  try {
    return await look(warehouse);
  } finally {
    await warehouse.close();
  }
};

it.each(['postgres', 'embedded'] as const)(
  'a killed sync is interrupted in every place that shows runs, and complete once it was continued (%s)',
  { timeout: 240_000 },
  async (kind) => {
    const folder = await temporaryFolder();
    const hooks = await openHooks();
    const database = kind === 'postgres' ? await freshDatabase(await postgresTemplate()) : undefined;
    if (!database) await copyEmbedded(join(folder.path, 'warehouse'));
    let calls = 0;
    const third = Promise.withResolvers<void>();
    const freed = Promise.withResolvers<void>();
    const sandbox = await serveSandbox({
      size: SMALL,
      respond: async () => {
        calls += 1;
        if (calls === 3) {
          third.resolve();
          await freed.promise;
        }
        return undefined;
      },
    });
    const file = join(folder.path, 'sluice.yaml');
    const url = database?.url ?? `embedded:${join(folder.path, 'warehouse')}`;
    const env = {
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: url,
      HOOK: hooks.url,
      HOME: folder.path,
    };
    const here = (...words: string[]) => runInProcess([...words, '--config', file], { env });
    const statuses = async () =>
      (JSON.parse((await here('status', '--json')).out) as Status).syncs.map(({ state, error }) => [state, error]);
    const reported = async () => {
      const report = join(folder.path, 'report.html');
      expect(await here('report', '--output', report)).toMatchObject({ code: 0 });
      return (await readFile(report, 'utf8')).includes('interrupted');
    };
    // The kinds can differ in the views, which everything else reads.
    const isComplete = kind === 'postgres' || IS_LONG;
    const shown = async () => {
      return {
        status: await statuses(),
        ...(isComplete && { text: (await here('status')).out, report: await reported() }),
        views: await looking(url, (warehouse) =>
          select(
            warehouse,
            `select r.state as runs, f.last_state as freshness, c.state as costs from sluice.sync_runs r
             join sluice.sync_freshness f on f.last_run_id = r.run_id join sluice.run_costs c on c.run_id = r.run_id`,
          ),
        ),
      };
    };
    try {
      await writeFile(file, CONFIG);
      const sync = start(['sync', '--config', file], { cwd: folder.path, env });
      await third.promise;
      if (kind === 'postgres') expect(await statuses()).toEqual([['running', null]]);
      sync.child.kill('SIGKILL');
      await sync.ended;
      // It died a moment ago, and may be alive for all that anyone can know.
      expect(await statuses()).toEqual([['running', null]]);
      await looking(url, expireLeases);

      expect(await shown()).toEqual({
        status: [['interrupted', expect.stringContaining('process died') as string]],
        ...(isComplete && {
          text: expect.stringMatching(/^users +interrupted[^]*users: its process died/m) as string,
          report: true,
        }),
        views: [{ runs: 'interrupted', freshness: 'interrupted', costs: 'interrupted' }],
      });

      const schedule = start(['schedule', '--config', file, '--listen', '127.0.0.1:0'], { cwd: folder.path, env });
      const said = await schedule.said('err', 'run interrupted');
      const health = /"health":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(said)?.[1] ?? '';
      const alerts = () =>
        hooks.taken.map(({ body }) => body as { readonly kind: string; readonly state: string; readonly sync: string });
      await expect.poll(alerts, SOON).toMatchObject([{ kind: 'failed', state: 'raised', sync: 'users' }]);
      expect(await (await fetch(`${health}/metrics`)).text()).toContain('sluice_sync_interrupted{sync="users"} 1');
      schedule.child.kill('SIGTERM');
      expect((await schedule.ended).err).toContain('"run interrupted"');
      if (isComplete) {
        const again = start(['schedule', '--config', file, '--listen', 'off'], { cwd: folder.path, env });
        await again.said('err', 'run interrupted');
        again.child.kill('SIGTERM');
        await again.ended;
      }
      expect(alerts()).toHaveLength(1);

      freed.resolve();
      expect(await here('sync')).toMatchObject({ code: 0 });
      expect(await shown()).toMatchObject({
        status: [['complete', null]],
        ...(isComplete && { report: false }),
        views: [{ runs: 'complete', freshness: 'complete', costs: 'complete' }],
      });
      expect(alerts()).toMatchObject([{ state: 'raised' }, { kind: 'failed', state: 'cleared', sync: 'users' }]);
    } finally {
      freed.resolve();
      await sandbox.close();
      await hooks.close();
      await database?.drop();
      await folder.remove();
    }
  },
);

const open = postgresWarehouses();

it('a run is running while its own lease or that of its chunks is alive, and under no other lease', async () => {
  const warehouse = await open();
  const { rows } = await sql<{ id: string }>`insert into sluice_ops.runs
    (sync, endpoint, definition_hash, state, today, started_at, holder)
    values ('users', 'microblog.user', 'h', 'running', current_date, now(), 'me') returning id`.execute(warehouse.db);
  const state = async (): Promise<unknown> =>
    (await select(warehouse, 'select state from sluice.sync_runs'))[0]?.['state'];
  const lease = (holder: string, seconds: number): Promise<unknown> =>
    sql`insert into sluice_ops.leases (name, holder, token, acquired_at, expires_at)
      values ('sync:users', ${holder}, 1, now(), now() + ${seconds} * interval '1 second')
      on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at`.execute(
      warehouse.db,
    );
  expect(await state()).toBe('interrupted');
  const seen: unknown[] = [];
  for (const [holder, seconds] of [
    ['me', 10],
    ['me', -1],
    [`run/${rows[0]?.id ?? ''}`, 10],
    [`run/${rows[0]?.id ?? ''}`, -1],
    ['run/0', 10],
    ['another', 10],
  ] as const) {
    await lease(holder, seconds);
    seen.push(await state());
  }
  expect(seen).toEqual(['running', 'interrupted', 'running', 'interrupted', 'interrupted', 'interrupted']);
  await sql`update sluice_ops.runs set state = 'complete', ended_at = started_at - interval '2 hours'`.execute(
    warehouse.db,
  );
  expect(await select(warehouse, 'select state, duration_s, error from sluice.sync_runs')).toEqual([
    { state: 'complete', duration_s: null, error: null },
  ]);
});
