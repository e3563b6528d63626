/**
 * Stops an embedded warehouse before its disk is full. Postgres in this process never returns from a write that fails:
 * it keeps the event loop, and what was paid for in the meantime is lost with the process.
 */
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { TransientError } from '../../errors.ts';

const MIB = 2 ** 20;
/** A statement may begin a segment of the write-ahead log (16 MiB), flush its buffers (4 MiB), and extend files. */
const STATEMENT_BYTES = 32 * MIB;
/** The rows, the index entries and the log of what a statement brings. */
const GROWTH = 4;
/** Room for the commits and the spooled answers of the calls in flight, when the largest answer is small. */
const SEND_BYTES = 2 * STATEMENT_BYTES;
/** The answers of all calls in flight, at the size of the largest so far, stored or spooled. */
const ANSWERS = 16;
/** A database without rows, and the schema. */
const CREATE_BYTES = 96 * MIB;
/** Below this, each statement looks at the disk, the log is kept short, and the watchdog is started. */
const SCARCE_BYTES = 1024 * MIB;
/** With more room than that, one look serves the statements of this time. A look takes some 8 µs on a local disk. */
const LOOK_EVERY_MS = 100;

export interface DiskRoom {
  /** Throws a TransientError when the folder is gone or read-only, or has too little room for a new database. */
  readonly assertCreate: () => void;
  /** The same for one statement that brings so many bytes. */
  readonly assertStatement: (bytes: number) => void;
  /** The same for a request that is about to be sent, when the largest answer so far has so many bytes. */
  readonly assertSend: (largestAnswerBytes: number) => void;
  /** False when the database must not even be closed, which writes too. */
  readonly isFit: () => boolean;
  /** True when room is so scarce that the database must keep its log short. */
  readonly isScarce: () => boolean;
}

export interface DiskRoomEffects {
  /** Milliseconds that only rise. */
  readonly elapsed: () => number;
  /** Free bytes of the disk of a folder, for this user. */
  readonly freeBytes?: (folder: string) => number;
  /** Called once, when room is scarce. */
  readonly onScarce: () => void;
}

/** Looks at the disk of a warehouse's folder. `witness` is a file of the database that is never written again. */
export function openDiskRoom(folder: string, witness: string, effects: DiskRoomEffects): DiskRoom {
  const { elapsed, freeBytes = freeBytesOf, onScarce } = effects;
  let identity: string | undefined;
  let seen = { free: 0, atMs: Number.NEGATIVE_INFINITY };
  let wasScarce = false;

  const look = (): number => {
    if (seen.free > SCARCE_BYTES && elapsed() - seen.atMs < LOOK_EVERY_MS) return seen.free;
    try {
      const free = freeBytes(folder);
      const { dev, ino } = statSync(identity === undefined ? folder : witness);
      accessSync(folder, constants.W_OK);
      if (identity !== undefined && identity !== `${dev}:${ino}`) throw gone(folder);
      seen = { free, atMs: elapsed() };
    } catch (error) {
      throw unusable(folder, error);
    }
    if (seen.free < SCARCE_BYTES && !wasScarce) {
      wasScarce = true;
      onScarce();
    }
    return seen.free;
  };
  const assertRoom = (needed: number): void => {
    const free = look();
    if (free < needed) throw full(folder, free, needed);
  };
  return {
    assertCreate: () => assertRoom(CREATE_BYTES),
    assertStatement: (bytes) => {
      if (identity === undefined) {
        const { dev, ino } = statSync(witness);
        identity = `${dev}:${ino}`;
      }
      assertRoom(STATEMENT_BYTES + GROWTH * bytes);
    },
    assertSend: (largest) => assertRoom(SEND_BYTES + ANSWERS * largest),
    isFit: () => {
      try {
        return look() >= STATEMENT_BYTES;
      } catch {
        return false;
      }
    },
    isScarce: () => look() < SCARCE_BYTES,
  };
}

/** Free bytes of the disk of a folder, for this user. */
function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MIB)} MB`;

const full = (folder: string, free: number, needed: number): TransientError =>
  new TransientError(
    `The disk of the embedded warehouse in ${folder} has ${megabytes(free)} of free space; ${megabytes(needed)} are needed`,
    { next: 'Make room on that disk, then run it again: what was answered is kept, and not bought again.' },
  );

const gone = (folder: string): TransientError =>
  new TransientError(`The folder of the embedded warehouse was deleted or replaced while it was in use: ${folder}`, {
    next: 'Restore the folder from a copy, or run it again to begin with an empty warehouse.',
  });

function unusable(folder: string, error: unknown): TransientError {
  if (error instanceof TransientError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return gone(folder);
  return new TransientError(`The folder of the embedded warehouse can’t be written: ${folder} (${message})`, {
    next: 'Make the folder and its disk writable, then run it again.',
    cause: message,
  });
}
