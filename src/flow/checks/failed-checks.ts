/** The failed checks of a run, as the reason for its end. */
import { type CheckResult, isFailing } from '../../ledger/checks/check-results.ts';

/** Text for the error of a run: the failed checks of severity `error`; undefined if there are none. */
export function failedChecksText(results: readonly CheckResult[]): string | undefined {
  const failed = results.filter((it) => it.severity === 'error' && isFailing(it));
  if (failed.length === 0) return undefined;
  const each = failed.map(({ name, status, message, allowed }) =>
    status === 'error' ? `${name} could not run: ${message}` : `${name}: ${message}; allowed: ${allowed}`,
  );
  return `${failed.length === 1 ? 'a check' : `${failed.length} checks`} failed: ${each.join(' | ')}`;
}
