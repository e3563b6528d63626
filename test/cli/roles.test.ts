/** The commands of the long-running roles: what they print without running, and what they refuse. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../support/database.ts';
import { runInProcess } from './in-process.ts';
import type { Ran } from './program-run.ts';

const CONFIG = `syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ["1"] }
    schedule: { cron: "30 2 * * *", timezone: Europe/Berlin }
  microbloggers:
    endpoint: microblog.user
    after: [groups]
    for_each: { user: [ada] }
  photographers:
    endpoint: photoshare.user
    request: { user: ada }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-roles-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
});
afterAll(() => rm(folder, { recursive: true }));

const sluice = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runInProcess(words, {
    env: { SLUICE_CONFIG: join(folder, 'sluice.yaml'), DATABASE_URL: `embedded:${join(folder, 'data')}`, ...env },
    // A day before Berlin's clocks go forward over half past two.
    now: () => new Date('2026-03-28T12:00:00Z'),
  });

describe('schedule --explain', () => {
  it('prints ten firings of each sync, in its own time zone and in UTC, without a token or a database', async () => {
    const { code, out } = await sluice(['schedule', '--explain']);
    expect(code).toBe(0);
    expect(out).toContain('groups: 30 2 * * * in Europe/Berlin\n');
    expect(out).toMatch(/^Mon +2026-03-30 02:30 +2026-03-30T00:30:00\.000Z$/m);
    expect(out.match(/^\w{3} +2026-/gm)).toHaveLength(10);
    expect(out).toContain('microbloggers: when groups is done\n');
    expect(out).toContain('photographers: never: it has no schedule\n');
  });

  it('prints the same as JSON, for the named syncs', async () => {
    const { out } = await sluice(['schedule', '--explain', '--json', 'groups']);
    const [groups, ...others] = JSON.parse(out) as { sync: string; firings: string[] }[];
    expect(others).toEqual([]);
    expect(groups).toMatchObject({ sync: 'groups', cron: '30 2 * * *', timezone: 'Europe/Berlin', after: [] });
    expect(groups?.firings).toHaveLength(10);
  });
});

it('status --watch prints the status again until it is stopped, in place of the last one at a terminal', async () => {
  const stop = new AbortController();
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    if (waits.length === 3) stop.abort();
    stop.signal.throwIfAborted();
  };
  const env = { SLUICE_CONFIG: join(folder, 'sluice.yaml'), DATABASE_URL: `embedded:${join(folder, 'watched')}` };
  const ran = await runInProcess(['status', '--watch'], { env, sleep, signal: stop.signal, columns: 80 });
  expect(ran.code).toBe(0);
  expect(waits).toEqual([2000, 2000, 2000]);
  const shown = `\u001b[H\u001b[2Jnothing has run yet; run sluice sync\nwarehouse: ${join(folder, 'watched')}\n`;
  expect(ran.out).toBe(shown.repeat(3));
});

it('status --watch tells once that the database is away, and shows the status again when it is back', async () => {
  const database = await freshDatabase();
  const { port: server } = new URL(database.url);
  const sockets = new Set<Socket>();
  const proxy = createServer((from) => {
    const to = connect(Number(server), '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).pipe(other);
    }
  });
  const listen = (port: number) => once(proxy.listen(port, '127.0.0.1'), 'listening');
  await listen(0);
  const { port } = proxy.address() as AddressInfo;
  onTestFinished(async () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
    await database.drop();
  });
  const stop = new AbortController();
  let waits = 0;
  const sleep = async (ms: number): Promise<void> => {
    if (ms !== 2000) return;
    waits += 1;
    if (waits === 1) {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    }
    if (waits === 3) await listen(port);
    if (waits === 4) stop.abort();
    stop.signal.throwIfAborted();
  };
  const url = new URL(database.url);
  url.port = String(port);
  const env = { SLUICE_CONFIG: join(folder, 'sluice.yaml'), DATABASE_URL: url.href };
  const ran = await runInProcess(['status', '--watch'], { env, sleep, signal: stop.signal });
  expect([ran.code, ran.out]).toEqual([0, 'nothing has run yet; run sluice sync\n'.repeat(2)]);
  expect(ran.err).toBe(`warn: Nothing answers at 127.0.0.1:${port}.\nwarn: ending in order\n`);
});

it('status --watch ends when its reader is gone', async () => {
  let shown = 0;
  const env = { SLUICE_CONFIG: join(folder, 'sluice.yaml'), DATABASE_URL: `embedded:${join(folder, 'watched')}` };
  const ran = await runInProcess(['status', '--watch'], {
    env,
    sleep: () => Promise.resolve(),
    isOpen: () => (shown += 1) < 2,
  });
  expect(ran.code).toBe(0);
  expect(ran.out).toBe(`nothing has run yet; run sluice sync\nwarehouse: ${join(folder, 'watched')}\n`.repeat(2));
});

it.each([
  [['worker'], {}, 2, 'Run sluice schedule, which also works on jobs, or set DATABASE_URL to a Postgres server.'],
  [['schedule', 'none'], {}, 2, 'Name one of groups, microbloggers, photographers.'],
  [['schedule', '--explain', '--redrive'], {}, 2, 'schedule: --explain cannot be combined with --redrive'],
  [['docs', '--check', 'tables'], {}, 2, 'docs: --check cannot be combined with names of pages; it covers all files'],
  [
    ['docs', '--output', 'x', 'tables'],
    {},
    2,
    'docs: --output cannot be combined with names of pages; it covers all files',
  ],
  [['schedule', 'groups'], { SLUICE_SERVICE_TOKEN: 'some-token' }, 2, 'to run some syncs once, use sluice sync.'],
  [['schedule'], {}, 3, 'SLUICE_SERVICE_TOKEN'],
  [['worker'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' }, 3, 'SLUICE_SERVICE_TOKEN'],
  [['schedule', '--calls', '0'], { SLUICE_SERVICE_TOKEN: 'some-token' }, 2, '--calls'],
  [['schedule', '--listen', 'nowhere'], { SLUICE_SERVICE_TOKEN: 'some-token' }, 2, '--listen'],
] as const)('the command %j is refused', async (words, env, code, says) => {
  const ran = await sluice(words, env);
  expect({ code: ran.code, out: ran.out }).toEqual({ code, out: '' });
  expect(ran.err).toContain(says);
});
