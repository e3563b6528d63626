/** Queries of `for_each` are checked by `check`, `plan` and `sync` before anything is bought, on both kinds of warehouse. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { runInProcess } from '../cli/in-process.ts';
import { start, temporaryFolder } from '../cli/program-run.ts';
import { SMALL } from '../flow/scene.ts';
import { execute, freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';

const head = `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", in_flight: 1, requests_per_second: 100000 }
warehouse: { url: "\${DATABASE_URL}" }
syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 5 } }
`;
const users = (query: string): string => `${head}  child:
    endpoint: microblog.user
    after: [people]
    for_each: { query: ${JSON.stringify(query)} }
`;
const UNKNOWN = users('select alias as user from microblog_user');
const REFUSED = [
  [UNKNOWN, /sluice\.yaml:8:15: child: .*microblog_user.*does not exist[^]*Did you mean microblog_users\?/],
  [users('select alias as usr from microblog_users'), /sluice\.yaml:8:15: child: the query: .*did you mean .*user/],
] as const;

describe.each(['postgres', 'embedded'] as const)('queries of for_each (%s)', (kind) => {
  async function opened() {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const database = kind === 'postgres' ? await freshDatabase(await postgresTemplate()) : undefined;
    if (database) onTestFinished(() => database.drop());
    const sandbox = await serveSandbox({ size: SMALL });
    onTestFinished(() => sandbox.close());
    const file = join(folder.path, 'sluice.yaml');
    if (kind === 'embedded') await copyEmbedded(join(folder.path, 'warehouse'));
    const env = {
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: database?.url ?? `embedded:${join(folder.path, 'warehouse')}`,
      HOME: folder.path,
    };
    const here = async (yaml: string, ...words: string[]) => {
      await writeFile(file, yaml);
      return runInProcess([...words, '--config', file], { env });
    };
    return { sandbox, here, folder, file, env };
  }

  it('that are at fault are refused by check, plan and sync, and nothing is spent', { timeout: 240_000 }, async () => {
    const { sandbox, here } = await opened();
    // Opening an embedded warehouse takes half a second, so the next test has `plan` and `check` of it.
    for (const word of kind === 'postgres' ? ['sync', 'plan', 'check'] : ['sync'])
      for (const [yaml, message] of kind === 'postgres' ? REFUSED : REFUSED.slice(0, 1)) {
        const { code, out, err } = await here(yaml, word);
        expect({ word, code }, `${out}${err}`).toEqual({ word, code: 2 });
        expect(`${out}${err}`).toMatch(message);
      }
    expect(sandbox.requests()).toEqual([]);
    if (kind === 'embedded') return;
    // A named sync runs without the others.
    expect((await here(UNKNOWN, 'sync', 'people')).code).toBe(0);
    const fitting = await here(users('select alias as user from microblog_users'), 'check');
    expect([fitting.code, fitting.out.includes('queries: all columns of 1 query of for_each are accepted')]).toEqual([
      0,
      true,
    ]);
  });

  if (kind === 'embedded') {
    it('are checked through the process that has the warehouse', { timeout: 240_000 }, async () => {
      const { here, file, env, folder } = await opened();
      const [yaml, message] = REFUSED[0];
      const plan = await here(yaml, 'plan');
      expect(plan.code).toBe(2);
      expect(plan.err).toMatch(message);
      await writeFile(file, head);
      const schedule = start(['schedule', '--config', file, '--listen', 'off'], { cwd: folder.path, env });
      await schedule.said('err', 'schedule is ready');
      for (const [other, found] of REFUSED) {
        const { code, out } = await here(other, 'check');
        expect(code, out).toBe(2);
        expect(out).toMatch(found);
      }
      await writeFile(file, head);
      schedule.child.kill('SIGTERM');
      expect((await schedule.ended).code).toBe(143);
    });
  } else {
    it('are not checked in an empty database, and not refused for that', async () => {
      const { here, env } = await opened();
      const empty = await freshDatabase();
      onTestFinished(() => empty.drop());
      env.DATABASE_URL = empty.url;
      const { code, out } = await here(UNKNOWN, 'check');
      expect([code, out.includes('queries: 1 query not checked')]).toEqual([0, true]);
    });

    it('that need a right which the role lacks are refused', { timeout: 240_000 }, async () => {
      const { here, env, sandbox } = await opened();
      const role = `reader_${Math.random().toString(36).slice(2)}`;
      const url = new URL(env.DATABASE_URL);
      const owner = env.DATABASE_URL;
      await execute(owner, `create role ${role} login password 'secret'`);
      onTestFinished(async () => {
        await execute(owner, `drop owned by ${role}`);
        await execute(owner, `drop role ${role}`);
      });
      for (const statement of [
        'create table public.private (handle text)',
        ...['sluice', 'sluice_ops'].flatMap((schema) => [
          `grant all on schema ${schema} to ${role}`,
          `grant all on all tables in schema ${schema} to ${role}`,
        ]),
      ])
        await execute(owner, statement);
      url.username = role;
      url.password = 'secret';
      env.DATABASE_URL = url.href;
      for (const word of ['plan', 'sync']) {
        const { code, err } = await here(users('select handle as user from public.private'), word);
        expect({ word, code }, err).toEqual({ word, code: 2 });
        expect(err).toMatch(/permission denied for table private/);
      }
      expect(sandbox.requests()).toEqual([]);
    });
  }
});
