/**
 * The spool stores paid answers as files while the database is unavailable: one file per answer, synced to disk before
 * it gets its name, and readable by its owner only. A file that cannot be read is renamed and never deleted.
 */
import { randomBytes } from 'node:crypto';
import { chmod, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from '../../warehouse/lock/write-durably.ts';
import { TransientError, UsageError } from '../../errors.ts';
import { makeFolders } from '../../warehouse/lock/folder.ts';
import { MARKER, markSpool } from './marker.ts';
import type { SpoolPlace } from '../../ledger/runs.ts';
import { headLine, type SpooledAnswer, type WaitingAnswer, waitingOf } from './header.ts';
import { isDiskFull } from '../../text/unwritable.ts';
import { sha256Of } from '../../ledger/compression.ts';

export interface Spool {
  readonly folder: string;
  /**
   * Creates the folder with its marker, and a reserve of disk space for a full disk. Returns the spool's name for the
   * ledger. Throws the system's error if the folder cannot be created or written.
   */
  readonly prepare: (newId: string) => Promise<SpoolPlace>;
  /**
   * Stores the answer so that it survives a power failure. Throws a TransientError if the spool or the disk is full.
   * Storing the same answer again has no effect.
   */
  readonly keep: (answer: SpooledAnswer) => Promise<void>;
  /** Returns the stored answers in order of receipt; `damaged` are files that were just renamed as damaged. */
  readonly waiting: () => Promise<{ readonly answers: readonly WaitingAnswer[]; readonly damaged: readonly string[] }>;
  /** Returns the bytes of a body; `damaged` if they differ from the stored ones, and then its file is renamed. */
  readonly bodyOf: (waiting: WaitingAnswer) => Promise<Uint8Array | 'damaged' | 'gone'>;
  /** Removes the file of an answer. */
  readonly drop: (waiting: WaitingAnswer) => Promise<void>;
  /** Removes the unfinished and damaged files that `holds` accepts; returns how many. */
  readonly removeMatching: (holds: (bytes: Uint8Array) => boolean) => Promise<number>;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Most bytes of all files together. */
  readonly capBytes?: number;
}

/** Enough for a run whose calls in flight all have large answers. A higher limit could fill the disk. */
const CAP_BYTES = 2 ** 30;
const WAITS = '.answer';
const UNFINISHED = '.partial';
const ASIDE = '.damaged';
const RESERVE = 'reserve';
/** Room for the answers of a few calls in flight. */
const RESERVE_BYTES = 16 * 2 ** 20;
/** A disk with less free space gets no reserve, since the warehouse may need it. */
const RESERVE_BELOW_FREE_BYTES = 8 * RESERVE_BYTES;

/** Opens the spool in a folder, which is created for the first answer. */
export function openSpool({ folder, capBytes = CAP_BYTES }: SpoolOptions): Spool {
  const pathOf = (file: string): string => join(folder, file);
  const setAside = (file: string): Promise<void> => rename(pathOf(file), pathOf(`${file}${ASIDE}`));
  let keeping: Promise<void> = Promise.resolve();

  return {
    folder,
    prepare: async (newId) => {
      await makeFolder(folder);
      const place = { id: await markSpool(folder, newId), host: hostname(), folder };
      await makeReserve(folder).catch(() => undefined);
      return place;
    },
    // One at a time, so that two answers together do not exceed the cap.
    keep: (answer) => {
      const kept = keeping.then(() => writeAnswer(folder, capBytes, answer));
      keeping = kept.catch(() => undefined);
      return kept.catch((error: unknown) => {
        throw new TransientError(`the spool ${folder} can’t take the answer: ${(error as Error).message}`, {
          next: 'Make room for it, or name another folder in SLUICE_SPOOL.',
          cause: error,
        });
      });
    },
    waiting: async () => {
      const answers: WaitingAnswer[] = [];
      const damaged: string[] = [];
      for (const file of (await filesOf(folder)).filter((it) => it.endsWith(WAITS))) {
        const head = await unlessGone(headIn(pathOf(file)));
        if (head === 'gone') continue;
        const waiting = waitingOf(file, head ?? '');
        if (waiting) answers.push(waiting);
        else {
          await setAside(file);
          damaged.push(file);
        }
      }
      const ageOf = (it: WaitingAnswer): number => it.receivedAt.getTime();
      return { answers: answers.toSorted((a, b) => ageOf(a) - ageOf(b)), damaged };
    },
    bodyOf: async ({ file, sha256, bytes }) => {
      const all = await unlessGone(readFile(pathOf(file)));
      if (all === 'gone') return all;
      const body = all.subarray(all.indexOf(LINE_END) + 1);
      if (body.byteLength === bytes && sha256Of(body) === sha256) return body;
      await setAside(file);
      return 'damaged';
    },
    drop: async ({ file }) => {
      await rm(pathOf(file), { force: true });
      await syncFolder(folder);
    },
    removeMatching: async (holds) => {
      let removed = 0;
      for (const file of (await filesOf(folder)).filter((it) => it.endsWith(ASIDE) || it.endsWith(UNFINISHED))) {
        const bytes = await unlessGone(readFile(pathOf(file)));
        if (bytes === 'gone' || !holds(bytes)) continue;
        await rm(pathOf(file), { force: true });
        removed += 1;
      }
      if (removed > 0) await syncFolder(folder);
      return removed;
    },
  };
}

/** Writes the answer to a file of its own that survives a crash; uses the reserve if the disk is full. */
async function writeAnswer(folder: string, capBytes: number, answer: SpooledAnswer): Promise<void> {
  const head = Buffer.from(`${headLine(answer)}\n`);
  const bytes = head.byteLength + answer.body.byteLength;
  await makeFolder(folder);
  const taken = await sizeOf(folder);
  if (taken + bytes > capBytes)
    throw new TransientError(`it holds ${taken} bytes, this answer has ${bytes}, and ${capBytes} is the most`);
  const file = join(folder, fileNameOf(answer));
  const unfinished = `${file}${UNFINISHED}`;
  const write = async (): Promise<void> => {
    await writeDurably(unfinished, [head, answer.body], 'w');
    await rename(unfinished, file);
  };
  try {
    await write().catch(async (error: unknown) => {
      if (!isDiskFull(error)) throw error;
      await rm(join(folder, RESERVE), { force: true });
      await write();
    });
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

/** Counts the answers and the damaged files in a spool. Throws a UsageError if the folder cannot be read. */
export async function spoolCounts(folder: string): Promise<{ readonly waiting: number; readonly damaged: number }> {
  const files = await filesOf(folder).catch((cause: unknown) => {
    const next = 'Name another folder in SLUICE_SPOOL, or fix its permissions.';
    throw new UsageError(`The spool ${folder} can’t be read: ${(cause as Error).message}`, { next, cause });
  });
  const count = (ending: string): number => files.filter((it) => it.endsWith(ending)).length;
  return { waiting: count(WAITS), damaged: count(ASIDE) + count(UNFINISHED) };
}

const LINE_END = 0x0a;

/** The same answer has the same name; names sort by receipt. */
const fileNameOf = (it: SpooledAnswer): string =>
  `${it.receivedAt.toISOString().replace(/[-:.]/g, '')}-${it.requestId}-${sha256Of(it.body).slice(0, 16)}${WAITS}`;

async function makeFolder(folder: string): Promise<void> {
  const first = await makeFolders(folder, 0o700);
  if (first === undefined) return closeToOthers(folder);
  await chmod(folder, 0o700);
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/**
 * Closes an existing folder to other users. A folder that also holds something else, such as /tmp, belongs to others too and
 * keeps its mode. Throws if other users can write to it, because they could add answers.
 */
async function closeToOthers(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) === 0) return;
  if ((await readdir(folder)).every(isOfSpool)) return chmod(folder, 0o700);
  if ((mode & 0o022) !== 0) throw new Error('other users can write to it, and it holds files that are no answers');
}

/** Another process may be writing the marker. A new disk has the folder lost+found. */
const isOfSpool = (file: string): boolean =>
  [RESERVE, 'lost+found'].includes(file) ||
  file.startsWith(MARKER) ||
  [WAITS, UNFINISHED, ASIDE].some((it) => file.endsWith(it));

/** Random bytes, since a compressing file system would reserve no space for others. */
async function makeReserve(folder: string): Promise<void> {
  const path = join(folder, RESERVE);
  const { bavail, bsize } = await statfs(folder);
  const held = await stat(path).catch(() => undefined);
  if (held?.size === RESERVE_BYTES || bavail * bsize < RESERVE_BELOW_FREE_BYTES) return;
  const part = randomBytes(2 ** 20);
  const parts = Array.from({ length: RESERVE_BYTES / part.byteLength }, () => part);
  await writeDurably(path, parts, 'w').catch((error: unknown) =>
    rm(path, { force: true }).then(() => Promise.reject(error as Error)),
  );
}

/** A file name is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

const isMissing = (error: unknown): boolean => (error as { readonly code?: unknown }).code === 'ENOENT';

async function filesOf(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function sizeOf(folder: string): Promise<number> {
  const files = (await filesOf(folder)).filter((file) => file !== RESERVE && file !== MARKER);
  const sizes = await Promise.all(
    files.map((file) =>
      stat(join(folder, file)).then(
        (it) => it.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Far more than the headers of an answer can be. */
const LONGEST_HEAD_BYTES = 2 ** 20;

/** The first line of a file; undefined if it has none. */
async function headIn(path: string): Promise<string | undefined> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(LONGEST_HEAD_BYTES) });
  const end = buffer.subarray(0, bytesRead).indexOf(LINE_END);
  return end < 0 ? undefined : buffer.toString('utf8', 0, end);
}

/** The result of the work, or `gone` if another process removed the file meanwhile. */
async function unlessGone<T>(work: Promise<T>): Promise<T | 'gone'> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return 'gone';
    throw error;
  }
}
