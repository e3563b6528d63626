/** Which cells can be part of a key. */
import type { Cell } from './batch.ts';

/** Longest part of a key, in bytes of UTF-8: an index entry of Postgres holds 2,704 and a key has up to four parts. */
export const LONGEST_KEY = 640;

/** Of UTF-8, for each of a string's code units. */
const MOST_BYTES = 3;

/** True of a cell that can be part of a key. */
export const isKey = (cell: Cell | undefined): boolean =>
  cell !== null &&
  cell !== undefined &&
  cell !== '' &&
  (typeof cell !== 'string' || cell.length * MOST_BYTES <= LONGEST_KEY || Buffer.byteLength(cell) <= LONGEST_KEY);
