/** Lists of `status` that are cut say how many lines they omit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { execute, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';

it('status says how many more unknown fields can become columns', async () => {
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
  await execute(
    database.url,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at, ended_at)
      values ('groups', 'pronet.group', 'h', 'complete', 0, '2026-03-06', now(), now());
    insert into sluice_ops.drift (resource, path, kind, count, first_seen_at, last_seen_at, sample_type, answers)
      select 'PronetGroup', 'novel' || n, 'unknown field', 9, now(), now(), 'string', 9 from generate_series(1, 23) n`,
  );
  const { out } = await runInProcess(['status'], { cwd: folder, env: { DATABASE_URL: database.url } });
  expect(out.match(/run `sluice promote/g)).toHaveLength(20);
  expect(out).toContain('and 3 more unknown fields; the view contract_drift has all\n');
});
