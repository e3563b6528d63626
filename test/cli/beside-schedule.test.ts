/** Commands that read beside a `schedule` on the embedded warehouse, which dies, starts again, and loads meanwhile. */
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { makeDue, TWICE_A_DAY } from '../engine/due.ts';
import { SMALL } from '../flow/scene.ts';
import { withWarehouse } from '../reliability/warehouse-templates.ts';
import { copyEmbedded } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { type Ran, run, type Running, start, temporaryFolder } from './program-run.ts';

const GROUPS = 12;
const CONFIG = `syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: [${Array.from({ length: GROUPS }, (_, at) => `"${1001 + (at % 3)}", "group ${at}"`).join(', ')}] }
    schedule: { cron: "${TWICE_A_DAY}", timezone: UTC }
`;
const SOON = { timeout: 100_000, interval: 200 };

it('query, status, costs and report read through it, and commands that would write are refused', {
  timeout: 400_000,
}, async () => {
  const folder = await temporaryFolder();
  // A path of this length is too long for a socket's address.
  const data = join(folder.path, 'd'.repeat(60), 'e'.repeat(60));
  let arrived = 0;
  const answers = Promise.withResolvers<void>();
  const sandbox = await serveSandbox({
    size: SMALL,
    respond: async () => {
      arrived += 1;
      await answers.promise;
      return undefined;
    },
  });
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(file, CONFIG);
  const env = {
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: `embedded:${data}`,
    SLUICE_CONFIG: file,
    HOME: folder.path,
  };
  const here = (...words: string[]): Promise<Ran> => runInProcess(words, { env });
  const begin = (): Running => start(['schedule', '--listen', 'off'], { cwd: folder.path, env });
  const running: Running[] = [];
  try {
    await copyEmbedded(data);
    await withWarehouse(`embedded:${data}`, async (warehouse) => {
      await makeDue(warehouse, await loadConfig(file, env));
    });
    const first = begin();
    running.push(first);
    await expect.poll(() => arrived, SOON).toBeGreaterThan(0);
    expect((await here('query', '--json', 'select count(*)::int as runs from sluice_ops.runs')).out).toContain(
      '"runs": 1',
    );
    first.child.kill('SIGKILL');
    await first.ended;
    // Its socket exists and no process answers; a reader opens the folder itself, and the next owner replaces the socket.
    expect((await lstat(join(data, 'reads.sock'))).isSocket()).toBe(true);
    expect((await here('query', '--json', 'select count(*)::int as runs from sluice_ops.runs')).out).toContain(
      '"runs": 1',
    );
    const before = arrived;
    const second = begin();
    running.push(second);
    await second.said('err', 'schedule is ready');
    // Requests in flight are in doubt, and are sent again with the job that a dead worker left.
    await expect.poll(() => arrived, SOON).toBeGreaterThan(before);

    expect(JSON.parse((await here('status', '--json')).out)).toMatchObject({
      syncs: [{ sync: 'groups', state: 'running' }],
      engine: {
        workers: [{ role: 'schedule' }],
        queues: [{ queue: 'sync', atWork: 1 }, { queue: 'chunk' }],
        schedules: [{ sync: 'groups', cron: TWICE_A_DAY }],
      },
    });
    const other = await run(['status'], { cwd: folder.path, env });
    expect({ code: other.code, err: other.err }).toEqual({ code: 0, err: '' });
    expect(other.out).toMatch(/^schedule \S+, for .*\nsync jobs: 1 running, 0 waiting, 0 delayed$/m);
    expect((await here('costs')).code).toBe(0);
    const page = join(folder.path, 'report.html');
    expect((await here('report', '--output', page)).code).toBe(0);
    expect(await readFile(page, 'utf8')).toContain('</html>');
    for (const [statement, says] of [
      ['delete from sluice_ops.runs', 'must not begin with DELETE'],
      [
        'with gone as (delete from sluice_ops.runs returning 1) select * from gone',
        'would change data: it has a data-modifying statement in WITH',
      ],
      [`select set_config('transaction_read_only', 'off', false)`, "A superuser's query may not use set_config"],
    ] as const) {
      const refused = await here('query', statement);
      expect({ statement, code: refused.code, out: refused.out }).toEqual({ statement, code: 2, out: '' });
      expect(refused.err).toContain(says);
    }
    const owner = await here('prune', '--older-than', '90d');
    expect(owner.code).toBe(7);
    expect(owner.err).toContain('sluice schedule');

    // A long result is read while the owner loads; both get the same result as alone.
    answers.resolve();
    const long = await here(
      'query',
      '--json',
      'select g, repeat(md5(g::text), 30) as t from generate_series(1, 5000) g',
    );
    expect({ code: long.code, rows: (JSON.parse(long.out) as unknown[]).length }).toEqual({ code: 0, rows: 5000 });
    await expect
      // A separate run reads the log for the requests in doubt.
      .poll(async () => (await here('query', `select state from sluice_ops.runs where sync = 'groups'`)).out, SOON)
      .toContain('complete');
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(143);
    await expect(lstat(join(data, 'reads.sock'))).rejects.toThrow('ENOENT');
    expect((await here('query', '--json', 'select count(*)::int as n from pronet_groups')).out).toContain('"n": 3');
  } finally {
    answers.resolve();
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await sandbox.close();
    await folder.remove();
  }
});
