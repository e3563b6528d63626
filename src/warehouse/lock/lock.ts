/**
 * A lock file that one process holds until it releases it or ends. Two processes on one embedded warehouse would
 * silently lose rows.
 *
 * A hard link creates the file with its complete content, so no process reads an incomplete owner. A second lock, named
 * after the stale file, protects the replacement of a dead owner's file. So exactly one process replaces the stale
 * file, and no process can replace the file of the winner.
 *
 * The owner's socket proves that it lives, except where only the process identity can: on another machine that shares
 * the folder, where a socket refuses connections although its owner lives, and on file systems without sockets.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import { constants, copyFile, link, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeDurably } from './write-durably.ts';
import { HeldError } from '../../errors.ts';
import { unusable } from './folder-error.ts';
import { processStateOf, ownIdentity, type ProcessIdentity } from './process-identity.ts';
import { openLivenessSocket, isSocketAlive } from './liveness-socket.ts';

/** The owner of a lock, as written in the file. */
export interface LockOwner extends ProcessIdentity {
  /** The command of the owner, for the messages of waiting processes. */
  readonly command: string;
  readonly since: string;
  /** Identifies this file. */
  readonly id: string;
  /** Name of the owner's socket in the folder of the file; null if the file system has no sockets. */
  readonly socket: string | null;
}

export interface LockEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface LockRequest {
  readonly command: string;
  /** How long to wait for a running owner. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  /**
   * True if a thread may still write when the process exits. The file then stays, and the next process replaces it when
   * all threads of this one have ended.
   */
  readonly isWriting?: () => boolean;
}

/** Codes of a disk that is full, read-only or broken. */
const DISK_ERRORS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

/** How often to try. A user would not notice shorter waits. */
const TRY_EVERY_MS = 100;

/**
 * Takes the lock and returns a function that releases it. The end of the process releases it too. Throws a HeldError
 * (exit 7) that names the owner if the owner still runs after the wait, and a TransientError if the disk cannot be
 * written.
 */
export async function acquireLock(path: string, request: LockRequest, effects: LockEffects): Promise<() => void> {
  const id = randomUUID();
  // Opened before the lock is taken, so that no process finds an owner that does not answer yet.
  const socket = `${basename(path)}.${id}.alive`;
  const closeSocket = await openLivenessSocket(join(dirname(path), socket));
  const identity = { ...ownIdentity(), command: request.command, id, socket: closeSocket ? socket : null };
  try {
    await waitForLock(path, identity, request, effects);
  } catch (error) {
    closeSocket?.();
    throw DISK_ERRORS.has((error as NodeJS.ErrnoException).code ?? '') ? unusable(dirname(path), error) : error;
  }
  return releasedAtExit(path, id, () => closeSocket?.(), request.isWriting);
}

async function waitForLock(
  path: string,
  identity: Omit<LockOwner, 'since'>,
  request: LockRequest,
  effects: LockEffects,
): Promise<void> {
  const deadline = effects.now().getTime() + request.waitMs;
  for (;;) {
    request.signal?.throwIfAborted();
    const found = await tryLock(path, { ...identity, since: effects.now().toISOString() });
    if (found === 'ours') return;
    if (found === 'changed') continue;
    if (effects.now().getTime() >= deadline) throw heldBy(path, found);
    await effects.sleep(TRY_EVERY_MS, request.signal);
  }
}

/** The result of an attempt: the lock is ours, it changed in the meantime, or another process owns it. */
type Found = 'ours' | 'changed' | 'unreadable' | LockOwner;

async function tryLock(path: string, me: LockOwner): Promise<Found> {
  const draft = `${path}.${me.id}`;
  try {
    // A loss of power must leave no empty lock.
    await writeDurably(draft, [JSON.stringify(me)], 'wx');
    if (await linked(draft, path)) return 'ours';
    const owner = await ownerOf(path);
    if (owner === undefined) return 'changed';
    if (owner === 'unreadable' || !(await isGone(owner, dirname(path)))) return owner;
    return await replace(path, owner, draft, me);
  } finally {
    await rm(draft, { force: true });
  }
}

/** True if it is certain that the owner ended. */
async function isGone(owner: LockOwner, folder: string): Promise<boolean> {
  const state = processStateOf(owner);
  if (state !== 'hidden' || owner.socket === null) return state === 'gone';
  return !(await isSocketAlive(join(folder, basename(owner.socket))));
}

/** Replaces the file of a dead owner by our draft, unless another process is doing that. */
async function replace(path: string, stale: LockOwner, draft: string, me: LockOwner): Promise<Found> {
  // Only the holder of this second lock may replace the stale file. A holder that dies is replaced in the same way.
  const staleLock = `${path}.${stale.id}.stale`;
  const found = await tryLock(staleLock, { ...me, id: randomUUID() });
  if (found !== 'ours') return found;
  try {
    const current = await ownerOf(path);
    if (current === undefined || current === 'unreadable' || current.id !== stale.id) return 'changed';
    await rename(draft, path);
    if (stale.socket !== null) await rm(join(dirname(path), basename(stale.socket)), { force: true });
    return 'ours';
  } finally {
    await rm(staleLock, { force: true });
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'];

/** Creates the file with the content of another. False if the name exists. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    // A copy exists before it is complete. Until then its owner is unreadable, so it does not count as dead.
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

/** The owner in the file; undefined if there is no file. */
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

function releasedAtExit(
  path: string,
  id: string,
  closeSocket: () => void,
  isWriting: () => boolean = () => false,
): () => void {
  const onExit = (): void => {
    if (!isWriting()) release();
  };
  const release = (): void => {
    process.off('exit', onExit);
    try {
      const owner = parseOwner(readFileSync(path, 'utf8'));
      if (owner !== 'unreadable' && owner.id === id) unlinkSync(path);
    } catch (error) {
      // The folder may be gone. A lock that stays is taken over after this process ends.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      closeSocket();
    }
  };
  process.on('exit', onExit);
  return release;
}

function heldBy(path: string, owner: LockOwner | 'unreadable'): HeldError {
  if (owner === 'unreadable') {
    return new HeldError(`The embedded warehouse is locked, and ${path} does not name the owner.`, {
      next: `If no process uses it, delete ${path}.`,
    });
  }
  const isUnknown = processStateOf(owner) !== 'running';
  const where = isUnknown ? ` on ${owner.host}` : '';
  return new HeldError(
    `The embedded warehouse is in use by process ${owner.pid}${where} (${owner.command}) since ${owner.since}.`,
    {
      next: isUnknown
        ? `Wait for it to end. If you know that it has ended, delete ${path}.`
        : 'Wait for it to end, or set DATABASE_URL to a Postgres server, which several processes can use at the same time.',
    },
  );
}
