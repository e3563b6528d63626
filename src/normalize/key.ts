/** Decides which cells can be part of a key. */
import type { Cell } from './batch.ts';

/**
 * The longest part of a key, in bytes of UTF-8: an index entry of Postgres holds 2,704 bytes, and a key has up to four
 * parts.
 */
export const LONGEST_KEY = 640;

/** Bytes of UTF-8 per code unit of a string. */
const MOST_BYTES = 3;

/** True if the cell can be part of a key. */
export const isKey = (cell: Cell | undefined): boolean =>
  cell !== null &&
  cell !== undefined &&
  cell !== '' &&
  (typeof cell !== 'string' || cell.length * MOST_BYTES <= LONGEST_KEY || Buffer.byteLength(cell) <= LONGEST_KEY);
