/** Signals: the first ends the work in order, the second immediately. */
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Interruption } from '../../src/cli/exit-codes.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { IS_LONG } from '../support/long.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { start, temporaryFolder } from './program-run.ts';

describe('the sandbox', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('runs until %s, and ends with %i', async (signal, code) => {
    const folder = await temporaryFolder();
    const { child, said, ended } = start(['sandbox', '--port', '0', '--token', "it's"], { cwd: folder.path });
    const written = await said('out', 'TOKEN');
    const url = /SLUICE_SERVICE_URL=(\S+)/.exec(written)?.[1] ?? '';
    const answer = await fetch(`${url}/token/requests`, { headers: { 'access-token': "it's" } });
    expect([answer.status, await answer.json()]).toEqual([200, []]);
    expect(written).toContain(`export SLUICE_SERVICE_TOKEN='it'\\''s'`);
    child.kill(signal);
    expect((await ended).code).toBe(code);
    await folder.remove();
  });
});

describe('a sync', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let sandbox: Sandbox;
  let database: FreshDatabase;
  let release: () => void;
  let arrived: Promise<void>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    database = await freshDatabase(await postgresTemplate());
    let tell: () => void = () => undefined;
    let held = Promise.withResolvers<void>();
    const next = (): void => {
      const it = Promise.withResolvers<void>();
      [arrived, tell] = [it.promise, it.resolve];
      held = Promise.withResolvers<void>();
      release = held.resolve;
    };
    next();
    sandbox = await serveSandbox({
      token: 'sandbox-token',
      respond: async () => {
        const { promise } = held;
        tell();
        await promise;
        next();
        return undefined;
      },
    });
    const config = [
      `service: { url: "${sandbox.url}", token: sandbox-token, in_flight: 1, requests_per_second: 1000 }`,
      `warehouse: { url: "${database.url}" }`,
      'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } } }',
    ];
    await writeFile(join(folder.path, 'sluice.yaml'), config.join('\n'));
  });
  afterAll(async () => {
    await sandbox.close();
    await database.drop();
    await folder.remove();
  });

  const answers = async (): Promise<number> => {
    const query = ['query', '--json', 'select count(*) as n from sluice_ops.answers'];
    const { out } = await runInProcess([...query, '--config', join(folder.path, 'sluice.yaml')]);
    return Number((JSON.parse(out) as { n: string }[])[0]?.n);
  };

  it('stores answers in flight at the first signal, and sends nothing more', async () => {
    const { child, said, ended } = start(['sync', '--json'], { cwd: folder.path });
    await arrived;
    const announced = said('err', 'SIGTERM: ending in order');
    // As npm does: the same signal again, immediately.
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    await announced;
    release();
    const { code, out } = await ended;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({
      exitCode: 143,
      retryable: true,
      syncs: [{ state: 'interrupted', exitCode: 5, asked: 1, sent: 1, answers: 1, left: 2 }],
    });
    expect(await answers()).toBe(1);
  });

  it('ends immediately with the second', async () => {
    const { child, said } = start(['sync'], { cwd: folder.path });
    await arrived;
    const announced = said('err', 'SIGINT: ending in order');
    child.kill('SIGINT');
    await announced;
    // What follows sooner than a hand could press is taken for the same press.
    const pressing = setInterval(() => child.kill('SIGINT'), 50);
    const [code] = (await once(child, 'exit')) as [number];
    clearInterval(pressing);
    expect(code).toBe(130);
    release();
    expect(await answers()).toBe(1);
  });
});

describe('a statement in an embedded warehouse that takes hours', () => {
  const SPIED_THREAD = new URL('../support/spied-thread.ts', import.meta.url).href;
  const LONG = 'select count(*)::text as g from (select generate_series(1, 100000000000)) g';
  let cwd: string;
  beforeEach(async () => {
    const folder = await temporaryFolder();
    onTestFinished(folder.remove);
    cwd = folder.path;
    const syncs = `syncs: { groups: { endpoint: pronet.group, for_each: { group: { query: "${LONG}" } } } }`;
    await writeFile(join(cwd, 'sluice.yaml'), `service: { url: "http://127.0.0.1:1", token: none }\n${syncs}\n`);
    await copyEmbedded(join(cwd, '.sluice'));
  });

  /** The warehouse can be opened, and answers. */
  const expectUsable = async (): Promise<void> => {
    const { out } = await runInProcess(['query', '--csv', 'select 1 as one', '--config', join(cwd, 'sluice.yaml')]);
    expect(out).toBe('one\n1\n');
  };
  const running = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const started = start(words, { cwd, env, node: ['--import', SPIED_THREAD] });
    onTestFinished(() => void started.child.kill('SIGKILL'));
    await started.said('err', 'the long statement was sent');
    return started;
  };

  it.each([
    ['SIGTERM', 143, ['query', LONG]],
    ['SIGINT', 130, ['sync']],
    ...(IS_LONG ? ([['SIGINT', 130, ['query', LONG]]] as const) : []),
  ] as const)('does not delay %s, which ends with %i: %j', async (signal, code, words) => {
    const { child, ended } = await running(words);
    child.kill(signal);
    const { code: found, err } = await ended;
    expect({ found, err }).toEqual({
      found: code,
      err: expect.stringContaining(`${signal}: ending in order`) as string,
    });
    expect(await readdir(join(cwd, '.sluice'))).not.toContain('lock.json');
    await expectUsable();
  });

  it('ends with exit code 5 and the next step if its thread ends', async () => {
    const { ended } = await running(['query', LONG], { SPIED_THREAD: 'end' });
    const { code, err } = await ended;
    expect(err).toMatch(/The embedded database in \S+\.sluice ended: its thread ended/);
    expect(err).toContain('Run the same command again.');
    expect(code).toBe(5);
    await expectUsable();
  });
});

describe('a command that only reads a server', () => {
  it.each([['status'], ['costs'], ['report'], ['plan'], ['diff', '1', '2']])(
    'stops its statement at the first signal: %s',
    async (...words) => {
      const [folder, database] = [await temporaryFolder(), await freshDatabase(await postgresTemplate())];
      onTestFinished(() => database.drop());
      onTestFinished(folder.remove);
      const config = join(folder.path, 'sluice.yaml');
      await writeFile(
        config,
        `service: { url: "http://127.0.0.1:1", token: none }\nwarehouse: { url: "${database.url}" }\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: ["1001"] } } }\n`,
      );
      const [locking, other] = [0, 1].map(() => new Client({ connectionString: database.url })) as [Client, Client];
      for (const client of [locking, other]) {
        await client.connect();
        onTestFinished(() => client.end());
      }
      await locking.query('begin');
      await locking.query('lock table sluice_ops.runs, sluice_ops.requests');
      const waiting = async (): Promise<number> => {
        const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await other.query(text)).rows.length;
      };

      const stop = new AbortController();
      const running = runInProcess([...words, '--config', config], { signal: stop.signal });
      while ((await waiting()) === 0);
      stop.abort(new Interruption('SIGINT'));
      const { code, out, err } = await running;
      expect({ code, out, err }).toEqual({ code: 130, out: '', err: expect.stringContaining('SIGINT') as string });
      expect(await waiting()).toBe(0);
    },
  );
});
