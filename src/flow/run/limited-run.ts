/** The end of a run with a limit of requests. Such a run is a sample, so it is never complete. */
import { EXIT } from '../../errors.ts';
import { skipUnsent } from '../../ledger/request-limit.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { RunStop } from './stop-controller.ts';

/** The limit of requests of a run, with the number of requests that it left out of the plan. */
export interface RequestLimit {
  readonly requests: number;
  readonly leftOut: number;
}

interface LimitedRun {
  readonly run: { readonly id: string };
  readonly limit?: RequestLimit | undefined;
  readonly stop: RunStop | undefined;
  readonly aborted?: boolean;
}

const textOf = ({ requests }: RequestLimit): string =>
  `limited to ${requests} ${requests === 1 ? 'request' : 'requests'} (--limit)`;

/** Skips what a limited run did not send; returns how many requests. A run that was stopped keeps them planned. */
export const skipBeyondLimit = async (ops: Ops, { run, limit, stop, aborted }: LimitedRun): Promise<number> =>
  limit && !stop && aborted !== true ? skipUnsent(ops, run.id, textOf(limit)) : 0;

/** The limit in the summary of a run that skipped this many requests; empty without a limit. */
export const limitSummary = (limit: RequestLimit | undefined, skipped: number): Pick<SyncSummary, 'limit'> =>
  limit ? { limit: { ...limit, leftOut: limit.leftOut + skipped } } : {};

interface LimitedInput extends Pick<LimitedRun, 'limit'> {
  readonly failOnTruncated?: boolean;
}

/** How a limited run ends that nothing else stopped; undefined without a limit. */
export function limitedEnd({ limit, failOnTruncated }: LimitedInput, { skipped = 0 }: { readonly skipped?: number }) {
  if (!limit) return undefined;
  const leftOut = limit.leftOut + skipped;
  return {
    state: 'partial',
    exitCode: failOnTruncated === true ? EXIT.rejects : EXIT.complete,
    error: `${textOf(limit)}${leftOut > 0 ? `; ${leftOut} more ${leftOut === 1 ? 'was' : 'were'} left out` : ''}`,
    next: 'Run the same command without --limit to request the rest.',
  } as const;
}
