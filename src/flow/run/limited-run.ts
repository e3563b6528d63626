/** The end of a run with a limit of requests. Such a run is a sample, so it is never complete. */
import { EXIT } from '../../errors.ts';
import { skipUnsent } from '../../ledger/request-limit.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { FinishedRun, RequestLimit } from './finished-run.ts';

const textOf = ({ requests }: RequestLimit): string =>
  `limited to ${requests} ${requests === 1 ? 'request' : 'requests'} (--limit)`;

/** Skips what a limited run did not send; returns how many requests. A run that was stopped keeps them planned. */
export const skipBeyondLimit = async (ops: Ops, { run, limit, stop, aborted }: FinishedRun): Promise<number> =>
  limit && !stop && aborted !== true ? skipUnsent(ops, run.id, textOf(limit)) : 0;

/** The limit in the summary of a run that skipped this many requests; empty without a limit. */
export const limitSummary = (limit: RequestLimit | undefined, skipped: number): Pick<SyncSummary, 'limit'> =>
  limit ? { limit: { ...limit, leftOut: limit.leftOut + skipped } } : {};

/** How a limited run ends that nothing else stopped; undefined without a limit. */
export function limitedEnd(
  { limit, failOnTruncated }: Pick<FinishedRun, 'limit' | 'failOnTruncated'>,
  { skipped = 0 }: { readonly skipped?: number },
) {
  if (!limit) return undefined;
  const leftOut = limit.leftOut + skipped;
  return {
    state: 'partial',
    exitCode: failOnTruncated === true ? EXIT.rejects : EXIT.complete,
    error: `${textOf(limit)}${leftOut > 0 ? `; ${leftOut} more ${leftOut === 1 ? 'was' : 'were'} left out` : ''}`,
    next: 'Run the same command without --limit to request the rest.',
  } as const;
}
