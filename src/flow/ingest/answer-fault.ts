/** Isolates bugs of this program that concern one answer, so that the sync can still load the others. */
import { SluiceError } from '../../errors.ts';
import type { Notice } from '../../ledger/summary.ts';
import { errorCode } from '../../warehouse/sql/sql-states.ts';

/** Errors that only a bug throws; a plain Error may come from anywhere. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** A longer message adds nothing, and the text is stored in a table. */
const LONGEST = 200;

/**
 * Returns the reason to quarantine an answer because of a bug; undefined for any other error. Reading an answer uses no
 * database, so any error there is a bug. Loading uses the database, so only certain error types are bugs.
 */
export function faultOf(error: unknown, during: 'reading' | 'loading'): string | undefined {
  if (!(error instanceof Error) || error instanceof SluiceError || errorCode(error) !== undefined) return undefined;
  if (during === 'loading' && !MISTAKES.some((mistake) => error instanceof mistake)) return undefined;
  const message = `${error.name}: ${error.message}`
    .replaceAll('\0', '')
    .toWellFormed()
    .slice(0, LONGEST)
    .toWellFormed();
  return `a fault of this program while ${during} it, not of the answer (${message})`;
}

/** The notice about an answer that this program failed on. */
export const faultNotice = (sync: string, answerId: string, fault: string): Notice => ({
  level: 'warn',
  sync,
  message: `answer ${answerId} is kept in quarantine: ${fault}; please report it, and run sluice quarantine retry after an update`,
});
