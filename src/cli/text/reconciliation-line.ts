/** Formats how the request log agrees with the ledger, in one line. */
import type { Reconciliation } from '../../recovery/reconcile/reconcile.ts';
import { withNoun, withThousands } from '../terminal/print.ts';

/** The line; empty if the log was never read. */
export function reconciliationLine(found: Reconciliation | undefined): string {
  if (!found) return '';
  const { since, logged, matched, ambiguous, chargedButLost, unlogged, others } = found;
  const differences = [
    ...(ambiguous > 0 ? [`${withThousands(ambiguous)} ambiguous`] : []),
    ...(chargedButLost.rows > 0
      ? [`${withThousands(chargedButLost.rows)} charged but lost (${withNoun(chargedButLost.points, 'point')})`]
      : []),
    ...(unlogged > 0 ? [`${withThousands(unlogged)} answered but not logged`] : []),
    ...(others.rows > 0
      ? [`${withThousands(others.rows)} of other programs (${withNoun(others.points, 'point')})`]
      : []),
  ];
  const rows = `${withNoun(logged, 'row')} of the request log since ${since.toISOString().slice(0, 10)}`;
  return `\n${[`${rows}: ${withThousands(matched)} matched`, ...differences].join(', ')}\n`;
}
