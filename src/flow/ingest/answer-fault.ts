/** Faults of this program on one answer: they must not keep its sync from all the others. */
import { SluiceError } from '../../errors.ts';
import type { Notice } from '../../ledger/summary.ts';
import { errorCode } from '../../warehouse/sql/errors.ts';

/** What only a mistake in the code throws; a plain Error may come from anywhere. */
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Longer says no more, and ends up in a table. */
const LONGEST = 200;

/**
 * Why an answer is quarantined though nothing may be wrong with it; undefined of an error that is no fault of this
 * program. Reading an answer speaks to nobody, so there any error is one; loading speaks to the database.
 */
export function faultOf(error: unknown, during: 'reading' | 'loading'): string | undefined {
  if (!(error instanceof Error) || error instanceof SluiceError || errorCode(error) !== undefined) return undefined;
  if (during === 'loading' && !MISTAKES.some((mistake) => error instanceof mistake)) return undefined;
  const said = `${error.name}: ${error.message}`.replaceAll('\0', '').toWellFormed().slice(0, LONGEST).toWellFormed();
  return `a fault of this program while ${during} it, not of the answer (${said})`;
}

/** What is told of an answer that this program failed on. */
export const faultNotice = (sync: string, answerId: string, fault: string): Notice => ({
  level: 'warn',
  sync,
  message: `answer ${answerId} is kept in quarantine: ${fault}; please report it, and run sluice quarantine retry after an update`,
});
