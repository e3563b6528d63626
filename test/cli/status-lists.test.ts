/** Lists of `status` that are cut say how many lines they omit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { execute, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';

/** A folder with a config and an empty warehouse with the schema. */
async function configured() {
  const database = await freshDatabase(await postgresTemplate());
  const folder = await mkdtemp(join(tmpdir(), 'sluice-status-'));
  onTestFinished(async () => {
    await rm(folder, { recursive: true });
    await database.drop();
  });
  await writeFile(
    join(folder, 'sluice.yaml'),
    'warehouse: { url: "${DATABASE_URL}" }\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }\n',
  );
  return {
    url: database.url,
    status: () => runInProcess(['status'], { cwd: folder, env: { DATABASE_URL: database.url } }),
  };
}

it('status says what becomes of the open run of a sync that is not in the config, and of one that is', async () => {
  const { url, status } = await configured();
  await execute(
    url,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at)
      select it, 'pronet.group', 'h', 'running', '2026-03-06', now() from unnest(array['former', 'groups']) it`,
  );
  const { out } = await status();
  expect(out).toContain('former: the sync is not in this config. A config that has the sync continues the run');
  expect(out).toContain('groups: its process died before the run ended; the next run of its sync continues it');
});

it('status says how many more unknown fields can become columns', async () => {
  const { url, status } = await configured();
  await execute(
    url,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at)
      values ('groups', 'pronet.group', 'h', 'complete', 0, '2026-03-06', now(), now());
    insert into sluice_ops.drift (resource, path, kind, count, first_seen_at, last_seen_at, sample_type, answers)
      select 'PronetGroup', 'novel' || n, 'unknown field', 9, now(), now(), 'string', 9 from generate_series(1, 23) n`,
  );
  const { out } = await status();
  expect(out.match(/run `sluice promote/g)).toHaveLength(20);
  expect(out).toContain('and 3 more unknown fields; the view contract_drift has all\n');
});
