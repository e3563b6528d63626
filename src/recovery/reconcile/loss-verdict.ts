/**
 * What became of a lost attempt, by the request log. Pure. In short:
 *
 * | the log | verdict |
 * |---|---|
 * | has a row that is surely the attempt's, charged | paid and lost |
 * | has one that ended and was not charged, or that is past its time | not charged |
 * | has one that may still be charged | unknown |
 * | has only rows that may be another request's as well | unknown |
 * | has none, was read whole late enough, and lists our requests of that time | not sent |
 * | has none, and any of that is missing | unknown |
 */
import type { LostAnswer, SettledLostAnswer } from '../../ledger/lost-answers.ts';

/** A row of the log that is surely one of the request's attempts. */
export interface LoggedAttempt {
  readonly id: string;
  /** By the service's clock. */
  readonly startedAt: Date;
  readonly cost: number;
  readonly isPaid: boolean;
  /** It tells a status or a duration. */
  readonly isComplete: boolean;
}

/** What ledger and log tell of the request. */
export interface KnownRequest {
  readonly attempts: number;
  /** When attempts were sent, as far as the ledger keeps it: those that were lost, and the last. */
  readonly sent: ReadonlyMap<number, Date>;
  /** Attempts that were not lost, of those. */
  readonly answered: ReadonlySet<number>;
  /** Its rows of the log, by the identifier or as only candidates. */
  readonly rows: readonly LoggedAttempt[];
  /** Rows that may be its own or another's. */
  readonly ambiguous: number;
}

/** What is known of the log at the time of the attempt. */
export interface LogEvidence {
  /** How far the service's clock is ahead, told by rows with our identifier; undefined when there are none. */
  readonly offsetMs: number | undefined;
  /** When, by our clock, a reading began that brought the whole time about the attempt; undefined when none did. */
  readonly readAt: Date | undefined;
  /** It has rows that are surely other requests of ours, sent about that time, or keeps our identifiers. */
  readonly listsOwnRequests: boolean;
}

/** Assumed: a request is in the log, if it will ever be, so long after it was sent. Nothing is `not sent` sooner. */
export const LISTED_AFTER_MS = 5_000;
/** What a service may take beyond a request's timeout to complete its row. */
const GRACE_MS = 60_000;

/** The verdict on a lost attempt, with the row that shows it and what it cost. */
export function lossVerdict(doubt: LostAnswer, request: KnownRequest, log: LogEvidence): SettledLostAnswer {
  const settled = (
    verdict: SettledLostAnswer['verdict'],
    logId: string | null,
    points: number | null,
  ): SettledLostAnswer => ({
    requestId: doubt.requestId,
    attempt: doubt.attempt,
    verdict,
    logId,
    points,
  });
  const row = rowOf(doubt.attempt, request, log.offsetMs ?? 0);
  if (row) {
    if (row.isPaid && row.cost > 0) return settled('paid_and_lost', row.id, row.cost);
    const over = doubt.sentAt.getTime() + doubt.timeoutMs + GRACE_MS;
    return row.isComplete || (log.readAt !== undefined && log.readAt.getTime() > over)
      ? settled('not_charged', row.id, 0)
      : settled('unknown', row.id, null);
  }
  const mayBeSeen = log.readAt !== undefined && log.readAt.getTime() >= doubt.sentAt.getTime() + LISTED_AFTER_MS;
  return request.ambiguous === 0 && mayBeSeen && log.listsOwnRequests
    ? settled('not_sent', null, 0)
    : settled('unknown', null, null);
}

/**
 * The row that shows an attempt, of the rows that show the request. All its attempts carry one identifier, so they are
 * told apart by their order when each has a row, else by their times; what was answered is in the log first.
 */
function rowOf(attempt: number, { attempts, sent, answered, rows }: KnownRequest, offsetMs: number) {
  const inOrder = rows.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  if (inOrder.length >= attempts) return inOrder[attempt - 1];
  const pairs = [...sent].flatMap(([number, sentAt]) =>
    inOrder.map((row) => ({ number, row, offMs: Math.abs(row.startedAt.getTime() - sentAt.getTime() - offsetMs) })),
  );
  const taken = new Map<number, LoggedAttempt>();
  const nearest = pairs.toSorted((a, b) => a.offMs - b.offMs);
  const isAnswered = ({ number }: (typeof pairs)[number]): boolean => answered.has(number);
  for (const { number, row } of [...nearest.filter(isAnswered), ...nearest.filter((it) => !isAnswered(it))])
    if (!taken.has(number) && ![...taken.values()].includes(row)) taken.set(number, row);
  return taken.get(attempt);
}
