/** Decides how a run ends: its state, its exit code, and what the user reads about it. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT, exitCodeOf } from '../../errors.ts';
import { type CheckResult, isFailing } from '../../ledger/checks/check-results.ts';
import { MAX_UNREADABLE, type UnreadableSum } from '../../ledger/failures/unreadable-answers.ts';
import type { RunCounters, ReliedItems } from '../../ledger/run-counters.ts';
import type { Gap, RunState, SyncSummary } from '../../ledger/summary.ts';
import { type MissingSpools, missingSpoolError } from '../../recovery/spool/find-spools.ts';
import { filtersText } from '../../text/filters.ts';
import type { FinishedRun, RequestLimit } from './finished-run.ts';
import { skipUnsent } from '../../ledger/request-limit.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';

interface RunEnd {
  readonly state: RunState;
  readonly exitCode: number;
  readonly error: string | null;
  readonly next: string | null;
}

/** What decides the outcome of a run, beside its totals. */
interface EndInput extends Pick<FinishedRun, 'stop' | 'aborted' | 'limit' | 'failOnTruncated'> {
  readonly missing?: MissingSpools | undefined;
  readonly checks?: readonly CheckResult[];
  readonly definition: Pick<
    SyncDefinition,
    'name' | 'endpoint' | 'inDoubt' | 'acceptRejects' | 'acceptsUnreadable' | 'maxAgeMs' | 'window'
  >;
}

/** The totals that decide the outcome of a run. */
interface Sums {
  readonly totals: Pick<RunCounters, 'left' | 'inDoubt' | 'quarantined' | 'failed' | 'received' | 'truncated'>;
  readonly unread: UnreadableSum;
  readonly relied: ReliedItems;
  readonly gaps: readonly Gap[];
  /** Why the log was not read to its end, although its pages were readable; undefined if it was. */
  readonly walkGaps?: string | undefined;
  /** Lower bounds of earlier runs that count. */
  readonly earlier: number;
  /** Planned requests that the limit of requests left unsent. */
  readonly skipped?: number;
}

/** How a run ends, by the first rule that applies. */
export const endOf = (input: EndInput, sums: Sums): RunEnd =>
  stoppedEnd(input, sums) ??
  lostAnswersEnd(input, sums) ??
  rejectedEnd(input, sums) ??
  walkGapEnd(sums) ??
  (input.failOnTruncated ? truncatedEnd(sums) : undefined) ??
  limitedEnd(input, sums) ??
  failedChecksEnd(input, sums) ??
  completeEnd(input, sums);

const interrupted = (error: string, next: string | null): RunEnd => ({
  state: 'interrupted',
  exitCode: EXIT.transient,
  error,
  next,
});

const rejected = (error: string, next: string | null): RunEnd => ({
  state: 'partial',
  exitCode: EXIT.rejects,
  error,
  next,
});

function stoppedEnd({ stop, aborted }: EndInput, { totals, skipped = 0 }: Sums): RunEnd | undefined {
  if (stop && stop.reason !== 'endpoint-refused') {
    const state = stop.reason === 'points-reached' ? 'out_of_points' : 'interrupted';
    return { state, exitCode: exitCodeOf(stop.reason), error: stop.because, next: stop.next };
  }
  if (stop || totals.left === skipped) return undefined;
  return aborted
    ? interrupted('stopped by a signal', 'Run the sync again; it continues where it stopped.')
    : interrupted(
        `${totals.left - skipped} of the requests got no answer from a failing service`,
        'Run the sync again later; it continues where it stopped.',
      );
}

function lostAnswersEnd({ definition, missing }: EndInput, { totals }: Sums): RunEnd | undefined {
  if (totals.inDoubt === 0) return undefined;
  if (missing) {
    const { message, next = null } = missingSpoolError(definition.name, missing);
    return interrupted(message, next);
  }
  const error = `the answers to ${totals.inDoubt} of the requests were lost`;
  // Only requests that are sent again keep a run open. Otherwise it would stay open for a day without work.
  return definition.inDoubt === 'reconcile'
    ? interrupted(error, 'Run the sync again; it sends them again.')
    : {
        ...interrupted(error, 'They stay listed; with in_doubt: reconcile they are sent again.'),
        state: 'partial',
      };
}

function rejectedEnd({ stop, definition }: EndInput, { totals, unread, relied, gaps }: Sums): RunEnd | undefined {
  const rejects = totals.quarantined + totals.failed + unread.items + relied.rejects;
  const all = totals.received + totals.failed + unread.items + relied.all;
  const isTooMuch = rejects / Math.max(1, all) > definition.acceptRejects;
  // An error that concerns the complete endpoint always exceeds the accepted share.
  const because = stop?.because ?? null;
  if (unread.requests > 0 && (isTooMuch || definition.acceptsUnreadable !== true))
    return rejected(because ?? unreadError(gaps, unread.requests), stop?.next ?? unreadNext(definition, unread));
  if (!stop && !isTooMuch) return undefined;
  return rejected(
    because ?? `${rejects} of ${all} items and inputs were rejected, more than accept.rejects allows`,
    stop?.next ?? 'See them with sluice quarantine list and sluice status.',
  );
}

const walkGapEnd = ({ walkGaps }: Sums): RunEnd | undefined =>
  walkGaps === undefined ? undefined : rejected(walkGaps, 'Run the sync again; it reads these times again.');

function truncatedEnd({ totals, earlier }: Sums): RunEnd | undefined {
  if (totals.truncated > 0)
    return rejected(
      `full answers that could not be split further: ${totals.truncated}`,
      'Raise count, or set raise_count_to, window or split_by.',
    );
  if (earlier === 0) return undefined;
  return rejected(
    `full answers of earlier runs, on which this run relies, that could not be split further: ${earlier}`,
    'See them with sluice status.',
  );
}

const completeEnd = ({ definition }: EndInput, { totals, unread }: Sums): RunEnd => ({
  state: totals.failed + unread.requests > 0 ? 'partial' : 'complete',
  exitCode: EXIT.complete,
  error: null,
  next: unread.requests > 0 ? unreadNext(definition, unread) : advice(definition, totals),
});

/** All data is there, so the state does not change; the exit code says that the data is not right. */
function failedChecksEnd(input: EndInput, sums: Sums): RunEnd | undefined {
  const error = failedChecksText(input.checks ?? []);
  const next = 'The rows stay loaded. Read the results with sluice query "select * from check_status".';
  return error === undefined ? undefined : { ...completeEnd(input, sums), exitCode: EXIT.rejects, error, next };
}

/** Names the slices whose answers could not be read, as many as fit a line. */
function unreadError(gaps: readonly Gap[], requests: number): string {
  const shown = gaps.slice(0, NAMED_GAPS).map(({ filters, reason }) => `${filtersText(filters)}: ${reason}`);
  const more = requests - shown.length;
  const answers = requests === 1 ? 'the answer to 1 request' : `the answers to ${requests} requests`;
  return `${answers} could not be read: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

const NAMED_GAPS = 3;

function unreadNext(definition: EndInput['definition'], { requests, failing }: UnreadableSum): string {
  const { name, endpoint, maxAgeMs, window } = definition;
  if (endpoint.paging.by === 'cursor')
    return 'Run the sync again: it continues before the page that could not be read.';
  // Without both, each run requests everything, at full price.
  if (maxAgeMs === undefined && window === undefined)
    return `sluice sync --failed ${name} requests only what failed or could not be read; without --failed, a run requests everything.`;
  const again = `Run the sync again: it requests only what could not be read, at most ${MAX_UNREADABLE} times in total within max_age.`;
  const given = `sluice sync --refresh ${name} requests again what could not be read ${MAX_UNREADABLE} times.`;
  return failing === 0 ? again : failing === requests ? given : `${again} ${given}`;
}

function advice({ endpoint }: EndInput['definition'], totals: Sums['totals']): string | null {
  if (totals.quarantined > 0) return 'See what was not understood with sluice quarantine list.';
  if (totals.truncated > 0 && endpoint.paging.by === 'cursor')
    return 'The log has more rows of one instant than fit on a page: raise request.limit, up to 100.';
  if (totals.truncated > 0)
    return 'More may exist than was returned: raise count, or set raise_count_to, window or split_by.';
  return null;
}

/** Text for the error of a run: the failed checks of severity `error`; undefined if there are none. */
function failedChecksText(results: readonly CheckResult[]): string | undefined {
  const failed = results.filter((it) => it.severity === 'error' && isFailing(it));
  if (failed.length === 0) return undefined;
  const each = failed.map(({ name, status, message, allowed }) =>
    status === 'error' ? `${name} could not run: ${message}` : `${name}: ${message}; allowed: ${allowed}`,
  );
  return `${failed.length === 1 ? 'a check' : `${failed.length} checks`} failed: ${each.join(' | ')}`;
}

const limitText = ({ requests }: RequestLimit): string =>
  `limited to ${requests} ${requests === 1 ? 'request' : 'requests'} (--limit)`;

/** Skips what a limited run did not send; returns how many requests. A run that was stopped keeps them planned. */
export const skipBeyondLimit = async (ops: Ops, { run, limit, stop, aborted }: FinishedRun): Promise<number> =>
  limit && !stop && aborted !== true ? skipUnsent(ops, run.id, limitText(limit)) : 0;

/** The limit in the summary of a run that skipped this many requests; empty without a limit. */
export const limitSummary = (limit: RequestLimit | undefined, skipped: number): Pick<SyncSummary, 'limit'> =>
  limit ? { limit: { ...limit, leftOut: limit.leftOut + skipped } } : {};

/** How a limited run ends that nothing else stopped; undefined without a limit. */
function limitedEnd(
  { limit, failOnTruncated }: Pick<FinishedRun, 'limit' | 'failOnTruncated'>,
  { skipped = 0 }: { readonly skipped?: number },
) {
  if (!limit) return undefined;
  const leftOut = limit.leftOut + skipped;
  return {
    state: 'partial',
    exitCode: failOnTruncated === true ? EXIT.rejects : EXIT.complete,
    error: `${limitText(limit)}${leftOut > 0 ? `; ${leftOut} more ${leftOut === 1 ? 'was' : 'were'} left out` : ''}`,
    next: 'Run the same command without --limit to request the rest.',
  } as const;
}
