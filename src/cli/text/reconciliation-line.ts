/** How the request log agrees with the ledger, as `status` tells it in one line. */
import type { Reconciliation } from '../../recovery/reconcile/reconcile.ts';
import { counted, grouped } from '../terminal/print.ts';

/** The line; empty when the log was never read. */
export function reconciliationLine(found: Reconciliation | undefined): string {
  if (!found) return '';
  const { since, logged, matched, ambiguous, chargedButLost, unlogged, others } = found;
  const troubles = [
    ...(ambiguous > 0 ? [`${grouped(ambiguous)} ambiguous`] : []),
    ...(chargedButLost.rows > 0
      ? [`${grouped(chargedButLost.rows)} charged but lost (${counted(chargedButLost.points, 'point')})`]
      : []),
    ...(unlogged > 0 ? [`${grouped(unlogged)} answered but not logged`] : []),
    ...(others.rows > 0 ? [`${grouped(others.rows)} of other programs (${counted(others.points, 'point')})`] : []),
  ];
  const rows = `${counted(logged, 'row')} of the request log since ${since.toISOString().slice(0, 10)}`;
  return `\n${[`${rows}: ${grouped(matched)} matched`, ...troubles].join(', ')}\n`;
}
