/**
 * Stops an embedded warehouse before its disk is full. A failed write ends embedded Postgres, and the answers that arrive
 * after that go to the spool, which needs the same disk.
 */
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { TransientError } from '../../errors.ts';
import { gone, unusable } from '../lock/folder-error.ts';

const MIB = 2 ** 20;
/**
 * Space for a statement, which may start a segment of the write-ahead log (16 MiB), flush buffers (4 MiB) and extend
 * files.
 */
const STATEMENT_BYTES = 32 * MIB;
/** Bytes on disk for each byte of a statement's parameters: rows, index entries and log. */
const GROWTH = 4;
/** Space for the commits and the spooled answers of the requests in flight if answers are small. */
const SEND_BYTES = 2 * STATEMENT_BYTES;
/** Number of answers of the size of the largest so far that must fit: those of all requests in flight. */
const ANSWERS = 16;
/** Space for an empty database with its schema. */
const CREATE_BYTES = 96 * MIB;
/** With less free space, each statement checks the disk, the log is kept short, and the watchdog starts. */
const SCARCE_BYTES = 1024 * MIB;
/** With more free space, a check is valid for this time. A check takes about 8 µs on a local disk. */
const CHECK_EVERY_MS = 100;

export interface DiskRoom {
  /** Throws a TransientError if the folder is gone or read-only, or if there is too little space for a new database. */
  readonly assertCreate: () => void;
  /** The same for one statement with parameters of this size. */
  readonly assertStatement: (bytes: number) => void;
  /** The same for a request that is about to be sent, given the size of the largest answer so far. */
  readonly assertSend: (largestAnswerBytes: number) => void;
  /** False if the database must not even be closed, because closing writes too. */
  readonly isFit: () => boolean;
  /** True if there is so little space that the database must keep its log short. */
  readonly isScarce: () => boolean;
}

export interface DiskRoomEffects {
  /** Milliseconds on a monotonic clock. */
  readonly elapsed: () => number;
  /** Free bytes of a folder's disk that this user may use. */
  readonly freeBytes?: (folder: string) => number;
  /** Called once, when space gets scarce. */
  readonly onScarce: () => void;
}

/** Checks the disk of a warehouse's folder. `witness` is a file of the database that is never written again. */
export function openDiskRoom(folder: string, witness: string, effects: DiskRoomEffects): DiskRoom {
  const { elapsed, freeBytes = freeBytesOf, onScarce } = effects;
  let identity: string | undefined;
  let lastCheck = { free: 0, atMs: Number.NEGATIVE_INFINITY };
  let wasScarce = false;

  const checkDisk = (): number => {
    if (lastCheck.free > SCARCE_BYTES && elapsed() - lastCheck.atMs < CHECK_EVERY_MS) return lastCheck.free;
    try {
      const free = freeBytes(folder);
      const { dev, ino } = statSync(identity === undefined ? folder : witness);
      accessSync(folder, constants.W_OK);
      if (identity !== undefined && identity !== `${dev}:${ino}`) throw gone(folder);
      lastCheck = { free, atMs: elapsed() };
    } catch (error) {
      throw unusable(folder, error);
    }
    if (lastCheck.free < SCARCE_BYTES && !wasScarce) {
      wasScarce = true;
      onScarce();
    }
    return lastCheck.free;
  };
  const assertRoom = (needed: number): void => {
    const free = checkDisk();
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
        return checkDisk() >= STATEMENT_BYTES;
      } catch {
        return false;
      }
    },
    isScarce: () => checkDisk() < SCARCE_BYTES,
  };
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MIB)} MB`;

const full = (folder: string, free: number, needed: number): TransientError =>
  new TransientError(
    `The disk of the embedded warehouse in ${folder} has ${megabytes(free)} of free space; ${megabytes(needed)} are needed`,
    { next: 'Free space on that disk, then try again. Stored answers are kept and not bought again.' },
  );
