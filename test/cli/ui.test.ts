/** `sluice ui` as a process of its own: its address, its end, secrets, an embedded warehouse beside other processes, and its rights. */
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { execute, freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { ask, linksOf, sendForm, textOf } from '../ui/open-console.ts';
import { runInProcess } from './in-process.ts';
import { type Running, run, start, temporaryFolder } from './program-run.ts';

const CONFIG = `service: { url: "\${SLUICE_SERVICE_URL:-http://127.0.0.1:9}", token: "\${SLUICE_SERVICE_TOKEN:-canary-token-77}", requests_per_second: 1000 }
warehouse: { url: "\${DATABASE_URL:-embedded:.sluice}" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  pages: { endpoint: webparser.parse, for_each: { url: ["https://site-1.example/"] } }
`;
const PATHS = [
  '/',
  '/runs',
  '/requests',
  '/costs',
  '/coverage',
  '/quarantine',
  '/tables',
  '/tables/pronet_groups',
  '/tables/sync_slices?rows=first',
  '/sql',
  '/plan',
  '/plan?sync=all+syncs',
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'sluice.yaml');
  await writeFile(file, CONFIG);
  await copyEmbedded(join(folder.path, '.sluice'));
});
afterAll(() => folder.remove());

/** The console as a process; it is ended after the test. */
async function startConsole(
  env: Readonly<Record<string, string>> = {},
  ...words: string[]
): Promise<Running & { readonly url: string }> {
  const console = start(['ui', '--json', '--listen', '127.0.0.1:0', '--config', file, ...words], {
    cwd: folder.path,
    env,
  });
  onTestFinished(async () => {
    console.child.kill('SIGKILL');
    await console.ended;
  });
  const { format, url } = JSON.parse(await console.said('out', '}')) as {
    readonly format: string;
    readonly url: string;
  };
  expect({ format, url }).toEqual({ format: 'ui/1', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  return { ...console, url };
}

it('prints its address, answers until a signal, and then ends with 128 and the signal', async () => {
  const console = start(['ui', '--listen', '127.0.0.1:0', '--config', file], { cwd: folder.path });
  const url = (await console.said('out', '\n')).trim();
  expect((await ask({ url }, '/sql')).status).toBe(200);
  console.child.kill('SIGTERM');
  expect(await console.ended).toMatchObject({
    code: 143,
    out: `${url}\n`,
    err: expect.stringContaining(`the console listens on ${url}; Ctrl-C ends it`),
  });
});

it('a statement that never ends does not keep it from ending', async () => {
  const console = await startConsole();
  const sent = expect(
    sendForm(console, { statement: 'select count(*) from (select generate_series(1, 100000000000)) g' }),
  ).rejects.toThrow();
  await vi.waitFor(() => access(join(folder.path, '.sluice', 'lock.json')));
  // It waits for the folder for ten seconds of a clock that runs five times as fast, so the statement runs for most of them.
  const began = Date.now();
  const processNow = (): Date => new Date(began + 5 * (Date.now() - began));
  expect((await runInProcess(['migrate', '--config', file], { processNow })).code).toBe(7);
  console.child.kill('SIGINT');
  expect((await console.ended).code).toBe(130);
  await sent;
});

it('a sync runs between its pages, and its pages are read through a sync that runs', { timeout: 120_000 }, async () => {
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sandbox = await serveSandbox({
    respond: async () => {
      isAsked();
      await released;
      return undefined;
    },
  });
  onTestFinished(() => sandbox.close());
  const env = { SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN };
  const console = await startConsole(env);
  expect(textOf((await ask(console, '/runs')).body)).toContain('There are no such runs.');
  const sync = start(['sync', 'groups', '--config', file], { cwd: folder.path, env });
  await Promise.race([asked, sync.ended.then(({ err }) => expect.unreachable(err))]);
  for (const path of PATHS) expect({ path, status: (await ask(console, path)).status }).toEqual({ path, status: 200 });
  expect(textOf((await ask(console, '/runs')).body)).toContain('groups pronet.group running');
  expect(
    textOf((await sendForm(console, { statement: 'select state from sluice_ops.requests limit 1' })).body),
  ).toContain('sent');
  expect((await sendForm(console, { statement: 'table pronet_groups', as: 'csv' })).body).toMatch(/^urn_type,/);
  release();
  expect((await sync.ended).code).toBe(0);
  expect(textOf((await ask(console, '/runs')).body)).toContain('groups pronet.group complete');
});

it('changes nothing and asks the service nothing: every page works for a user who may only read', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  let requests = 0;
  const sandbox = await serveSandbox({
    respond: () => {
      requests += 1;
      return undefined;
    },
  });
  onTestFinished(() => sandbox.close());
  const env = { SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN, DATABASE_URL: database.url };
  expect((await run(['sync', '--config', file], { cwd: folder.path, env })).code).toBe(0);
  const sent = requests;
  expect(sent).toBeGreaterThan(2);
  const role = `reader_${new URL(database.url).pathname.slice(-8)}`;
  await execute(database.url, `create role ${role} login password 'canary-password-78'`);
  onTestFinished(() => execute(database.url, `drop owned by ${role}; drop role ${role}`));
  await execute(
    database.url,
    `grant usage on schema sluice, sluice_ops to ${role}; grant select on all tables in schema sluice, sluice_ops to ${role}`,
  );
  const url = new URL(database.url);
  url.username = role;
  url.password = 'canary-password-78';
  const console = await startConsole({ ...env, DATABASE_URL: url.href });
  const rows = ['/runs', '/requests'].map(
    async (path) => linksOf((await ask(console, path)).body).find((it) => /^\/\w+\/\d+$/.test(it)) ?? '',
  );
  for (const path of [...PATHS, ...(await Promise.all(rows))]) {
    const { status, body } = await ask(console, path);
    expect({ path, status, text: status === 200 ? '' : textOf(body) }).toEqual({ path, status: 200, text: '' });
  }
  expect(requests).toBe(sent);
});

it('an error of a page contains no secret, and the next page is answered', async () => {
  const console = await startConsole({
    DATABASE_URL: 'postgres://sluice:canary-password-78@127.0.0.1:9/none?password=canary-password-79',
  });
  for (const path of ['/', '/runs?sync=canary-token-77']) {
    const { status, body } = await ask(console, path);
    expect({ status, text: textOf(body) }).toEqual({ status: 503, text: expect.stringContaining('Error') });
    expect(body).not.toContain('canary-password');
  }
  expect((await ask(console, '/sql')).status).toBe(200);
  console.child.kill('SIGTERM');
  const { err } = await console.ended;
  expect(err).toContain('Nothing answers at 127.0.0.1:9.');
  expect(err).not.toContain('canary');
});

it('an address that other machines can reach is a usage error with the tunnel as the next step', async () => {
  const { code, out, err } = await runInProcess(['ui', '--listen', '0.0.0.0:8790', '--config', file]);
  expect({ code, out, err }).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(
      /^sluice: --listen is "0\.0\.0\.0:8790"; allowed is an address that only this machine can reach[^]*ssh -L/,
    ),
  });
});
