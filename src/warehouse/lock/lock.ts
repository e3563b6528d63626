/**
 * A lock file that one process holds until it lets go or ends. Two processes on one embedded warehouse would lose rows
 * silently.
 *
 * The file appears whole, by a hard link, so nobody reads half an owner. The file of a process that is gone is replaced
 * under a second lock, named for exactly that file: of many who find it, one replaces it, and none can replace the
 * winner's.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import { constants, copyFile, link, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HeldError } from '../../errors.ts';
import { processStateOf, ownIdentity, type ProcessIdentity } from './process-identity.ts';
import { openLivenessSocket, isSocketAlive } from './liveness-socket.ts';

/** Who holds a lock, as the file says. */
export interface LockOwner extends ProcessIdentity {
  /** The command that the owner runs, for the message to others. */
  readonly command: string;
  readonly since: string;
  /** Of this one file. */
  readonly id: string;
  /** Name, beside the file, of the socket on which the owner answers; null where there can be none. */
  readonly socket: string | null;
}

export interface LockEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface LockRequest {
  readonly command: string;
  /** How long to wait for an owner who is at work. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/** Asking more often would gain nothing that a person notices. */
const ASK_EVERY_MS = 100;

/**
 * Takes the lock and returns what releases it; the end of the process releases it too. Throws a HeldError (exit 7)
 * naming the owner when that is still at work after the wait.
 */
export async function acquireLock(path: string, request: LockRequest, effects: LockEffects): Promise<() => void> {
  const id = randomUUID();
  // Before the lock is ours, so that nobody finds an owner who doesn't answer yet.
  const socket = `${basename(path)}.${id}.alive`;
  const endSign = await openLivenessSocket(join(dirname(path), socket));
  const mark = { ...ownIdentity(), command: request.command, id, socket: endSign ? socket : null };
  try {
    await waitForLock(path, mark, request, effects);
  } catch (error) {
    endSign?.();
    throw error;
  }
  return releasedAtExit(path, id, () => endSign?.());
}

async function waitForLock(
  path: string,
  mark: Omit<LockOwner, 'since'>,
  request: LockRequest,
  effects: LockEffects,
): Promise<void> {
  const deadline = effects.now().getTime() + request.waitMs;
  for (;;) {
    request.signal?.throwIfAborted();
    const found = await tryLock(path, { ...mark, since: effects.now().toISOString() });
    if (found === 'ours') return;
    if (found === 'changed') continue;
    if (effects.now().getTime() >= deadline) throw heldBy(path, found);
    await effects.sleep(ASK_EVERY_MS, request.signal);
  }
}

/** Whether the lock is ours now, changed hands meanwhile, or who holds it. */
type Found = 'ours' | 'changed' | 'unreadable' | LockOwner;

async function tryLock(path: string, me: LockOwner): Promise<Found> {
  const draft = `${path}.${me.id}`;
  await writeWhole(draft, JSON.stringify(me));
  try {
    if (await linked(draft, path)) return 'ours';
    const owner = await ownerOf(path);
    if (owner === undefined) return 'changed';
    if (owner === 'unreadable' || !(await isGone(owner, dirname(path)))) return owner;
    return await replace(path, owner, draft, me);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Certain, or false. */
async function isGone(owner: LockOwner, folder: string): Promise<boolean> {
  const fate = processStateOf(owner);
  if (fate !== 'hidden' || owner.socket === null) return fate === 'gone';
  return !(await isSocketAlive(join(folder, basename(owner.socket))));
}

/** Puts our draft in the place of a file whose owner is gone, unless another is doing so. */
async function replace(path: string, stale: LockOwner, draft: string, me: LockOwner): Promise<Found> {
  // Only its holder may replace the stale file, and whoever dies holding it is replaced in turn.
  const right = `${path}.${stale.id}.stale`;
  const found = await tryLock(right, { ...me, id: randomUUID() });
  if (found !== 'ours') return found;
  try {
    const still = await ownerOf(path);
    if (still === undefined || still === 'unreadable' || still.id !== stale.id) return 'changed';
    await rename(draft, path);
    if (stale.socket !== null) await rm(join(dirname(path), basename(stale.socket)), { force: true });
    return 'ours';
  } finally {
    await rm(right, { force: true });
  }
}

/** Written through to the disk, so that a loss of power leaves no empty lock behind. */
async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What systems say that know no hard links. */
const NO_LINKS = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'];

/** False when the name is taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    // A copy is there before it is whole; until then its owner can't be read, and so not be taken for gone.
    await link(from, to).catch((error: unknown) => {
      if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return copyFile(from, to, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when nobody holds it. */
async function ownerOf(path: string): Promise<LockOwner | 'unreadable' | undefined> {
  try {
    return parseOwner(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseOwner(text: string): LockOwner | 'unreadable' {
  try {
    const it = JSON.parse(text) as Partial<LockOwner>;
    return typeof it.pid === 'number' && typeof it.id === 'string' && typeof it.host === 'string'
      ? (it as LockOwner)
      : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function releasedAtExit(path: string, id: string, endSign: () => void): () => void {
  const release = (): void => {
    process.off('exit', release);
    try {
      const owner = parseOwner(readFileSync(path, 'utf8'));
      if (owner !== 'unreadable' && owner.id === id) unlinkSync(path);
    } catch (error) {
      // The folder may be gone by now; a lock that stays is taken over when this process is gone.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      endSign();
    }
  };
  process.on('exit', release);
  return release;
}

function heldBy(path: string, owner: LockOwner | 'unreadable'): HeldError {
  if (owner === 'unreadable') {
    return new HeldError(`The embedded warehouse is locked, and ${path} does not say by whom.`, {
      next: `If no process uses it, delete ${path}.`,
    });
  }
  const away = processStateOf(owner) !== 'running';
  const where = away ? ` on ${owner.host}` : '';
  return new HeldError(
    `The embedded warehouse is in use by process ${owner.pid}${where} (${owner.command}) since ${owner.since}.`,
    {
      next: away
        ? `Wait for it to end. If it is gone, which can’t be seen from here, delete ${path}.`
        : 'Wait for it to end. With a Postgres server, which DATABASE_URL names, several processes can work at once.',
    },
  );
}
