import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldError } from '../../src/errors.ts';
import { acquireLock, type LockOwner } from '../../src/warehouse/lock/lock.ts';
import { processStateOf, ownIdentity } from '../../src/warehouse/lock/process-identity.ts';
import { builtProgram } from '../support/built.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { realEffects } from '../support/warehouse.ts';

const built = await builtProgram();
const PROGRAM = built.pathOf('test/support/lock-holder.ts');

/** Another process, which gets its commands line by line. */
class Holder {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(...args: string[]) {
    this.process = spawn(process.execPath, [PROGRAM, ...args], { env: built.env, stdio: ['pipe', 'pipe', 'inherit'] });
    if (!this.process.stdout) throw new Error('no output');
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async says(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done ? 'nothing more' : value;
  }

  async does(order: string): Promise<string> {
    this.process.stdin?.write(`${order}\n`);
    return this.says();
  }

  async kill(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}

let folder: string;
let path: string;
const holders: Holder[] = [];
const holder = async (...args: string[]): Promise<Holder> => {
  const it = new Holder(...args);
  holders.push(it);
  expect(await it.says()).toBe('ready');
  return it;
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-lock-'));
  path = join(folder, 'lock.json');
});
afterEach(async () => {
  for (const it of holders.splice(0))
    if (it.process.exitCode === null && it.process.signalCode === null) await it.kill();
  await rm(folder, { recursive: true, force: true });
});

const request = { command: 'test', waitMs: 0 };
const owner = async (): Promise<LockOwner> => JSON.parse(await readFile(path, 'utf8')) as LockOwner;

describe('the lock', () => {
  it('says who holds it and leaves nothing behind', async () => {
    const release = await acquireLock(path, request, { ...realEffects, now: () => new Date('2024-05-06T07:08:09Z') });
    expect(await owner()).toMatchObject({
      pid: process.pid,
      host: hostname(),
      command: 'test',
      since: '2024-05-06T07:08:09.000Z',
    });
    release();
    release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('excludes other openers, also in the same process, and names the owner', async () => {
    const release = await acquireLock(path, request, realEffects);
    const refused = acquireLock(path, request, realEffects);
    await expect(refused).rejects.toThrow(HeldError);
    const { since } = await owner();
    await expect(refused).rejects.toMatchObject({
      exitCode: 7,
      message: `The embedded warehouse is in use by process ${process.pid} (test) since ${since}.`,
    });
    const other = await holder('lock', path);
    expect(await other.does('take')).toContain(`refused The embedded warehouse is in use by process ${process.pid}`);
    release();
    expect(await other.does('take')).toBe('taken');
  });

  it('waits for an owner that is at work, no longer than requested', async () => {
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    let clock = 0;
    const slept: number[] = [];
    const effects = {
      now: () => new Date(clock),
      sleep: (ms: number) => {
        slept.push(ms);
        clock += ms;
        return Promise.resolve();
      },
    };
    await expect(acquireLock(path, { command: 'test', waitMs: 10_000 }, effects)).rejects.toThrow(HeldError);
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
    const release = acquireLock(path, { command: 'test', waitMs: 10_000 }, realEffects);
    expect(await other.does('release')).toBe('released');
    (await release)();
  });

  it('stops waiting when its signal aborts', async () => {
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    const stop = new AbortController();
    const waiting = acquireLock(path, { command: 'test', waitMs: 60_000, signal: stop.signal }, realEffects);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow(/enough|aborted/);
  });

  if (canMount())
    it('is not taken on a full disk, which says so, and leaves nothing behind', async () => {
      const disk = smallDisk(1);
      try {
        await disk.fill('filler', 0);
        await expect(acquireLock(join(disk.folder, 'lock.json'), request, realEffects)).rejects.toMatchObject({
          exitCode: 5,
          message: expect.stringContaining(`can’t be written: ${disk.folder}`) as string,
        });
        expect(await readdir(disk.folder)).toEqual(['filler']);
      } finally {
        disk.drop();
      }
    });

  it('is released when its owner’s process ends by itself', async () => {
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    const ended = once(other.process, 'exit');
    other.process.stdin?.end();
    await ended;
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken over from a killed process', async () => {
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    await other.kill();
    expect((await owner()).pid).toBe(other.process.pid);
    const release = await acquireLock(path, request, realEffects);
    expect((await owner()).pid).toBe(process.pid);
    release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken over by exactly one of many, round after round', async () => {
    const dead = await holder('lock', path);
    expect(await dead.does('take')).toBe('taken');
    await dead.kill();
    const stale = await readFile(path, 'utf8');
    const others = await Promise.all([holder('lock', path), holder('lock', path), holder('lock', path)]);
    const releases: (() => void)[] = [];
    const take = async (): Promise<string> => {
      releases.push(await acquireLock(path, request, realEffects));
      return 'taken';
    };
    const refusal = (error: Error): string => `refused ${error.message}`;
    for (let round = 0; round < 15; round++) {
      await writeFile(path, stale.replace(/"id":"[^"]*"/, `"id":"round-${round}"`));
      const said = await Promise.all([
        ...others.map((it) => it.does('take')),
        take().catch(refusal),
        take().catch(refusal),
      ]);
      expect(said.filter((it) => it === 'taken')).toHaveLength(1);
      expect(said.filter((it) => it.startsWith('refused The embedded warehouse is in use'))).toHaveLength(4);
      for (const it of others) await it.does('release');
      for (const release of releases.splice(0)) release();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it('is taken over after a taker was killed half-way', async () => {
    const dead = await holder('lock', path);
    await dead.does('take');
    await dead.kill();
    const { id } = await owner();
    // What a taker leaves that dies between getting the right to replace the file and doing it.
    await writeFile(`${path}.${id}.stale`, JSON.stringify({ ...(await owner()), id: 'half-way' }));
    (await acquireLock(path, request, realEffects))();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not taken over when its file says nothing', async () => {
    await writeFile(path, '');
    await expect(acquireLock(path, request, realEffects)).rejects.toMatchObject({
      exitCode: 7,
      next: `If no process uses it, delete ${path}.`,
    });
  });

  /** As a process in another container on this machine would find the lock. */
  const asFromAnotherContainer = async (): Promise<void> => {
    await writeFile(path, JSON.stringify({ ...(await owner()), host: 'container', pidNamespace: 'pid:[1]' }));
  };

  it('is taken over from a container that was killed, and not from one that lives', async () => {
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    await asFromAnotherContainer();
    await expect(acquireLock(path, request, realEffects)).rejects.toMatchObject({
      message: expect.stringContaining(`process ${other.process.pid} on container (lock-holder)`),
      next: expect.stringContaining(`delete ${path}`),
    });
    await other.kill();
    (await acquireLock(path, request, realEffects))();
    expect(await readdir(folder)).toEqual([]);
  });

  it('works in a folder whose path is long', async () => {
    const deep = join(folder, 'd'.repeat(120));
    await mkdir(deep);
    path = join(deep, 'lock.json');
    const other = await holder('lock', path);
    expect(await other.does('take')).toBe('taken');
    await asFromAnotherContainer();
    await expect(acquireLock(path, request, realEffects)).rejects.toThrow(HeldError);
    await other.kill();
    (await acquireLock(path, request, realEffects))();
    expect(await readdir(deep)).toEqual([]);
  });

  it('is not taken over from another machine, and says what to do', async () => {
    const elsewhere = {
      ...ownIdentity(),
      host: 'elsewhere',
      boot: 'another',
      command: 'sluice sync',
      since: 'x',
      id: 'i',
      socket: 's',
    };
    await writeFile(path, JSON.stringify(elsewhere));
    await expect(acquireLock(path, request, realEffects)).rejects.toMatchObject({
      message: expect.stringContaining('on elsewhere (sluice sync)'),
      next: expect.stringContaining(`delete ${path}`),
    });
  });
});

describe('a process', () => {
  const own = ownIdentity();
  it.each([
    ['itself', own, 'running'],
    ['a later one with the same id', { ...own, startTicks: '1' }, 'gone'],
    ['one before the last boot', { ...own, boot: 'another' }, 'gone'],
    ['one on another machine', { ...own, host: 'elsewhere', boot: 'another' }, 'elsewhere'],
    ['one in another container', { ...own, host: 'elsewhere', pidNamespace: 'pid:[1]' }, 'hidden'],
    ['one that was never there', { ...own, pid: 2 ** 22 + 1 }, 'gone'],
    ['one whose start is not known', { ...own, startTicks: null }, 'running'],
    ['one whose boot is not known', { ...own, boot: null }, 'running'],
    ['one on another machine whose boot is not known', { ...own, boot: null, host: 'elsewhere' }, 'elsewhere'],
  ])('is distinguished from other processes: %s', (_what, mark, fate) => {
    expect(processStateOf(mark, own)).toBe(fate);
  });

  it('that has ended is gone, also before its parent has read its status', async () => {
    // The program that takes the shell's place knows nothing of the child, which so becomes a zombie.
    const shell = spawn('/bin/sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(createInterface({ input: shell.stdout }), 'line')) as [string];
    const stat = async () => (await readFile(`/proc/${line}/stat`, 'utf8')).split(' ');
    while ((await stat())[2] !== 'Z') await realEffects.sleep(5);
    expect(processStateOf({ ...own, pid: Number(line), startTicks: (await stat())[21] ?? null }, own)).toBe('gone');
    shell.kill('SIGKILL');
  });
});
