/**
 * Decides the outcome of a lost attempt from the request log. Pure. In short:
 *
 * | the log | verdict |
 * |---|---|
 * | has a charged row that is surely the attempt's | paid and lost |
 * | has an uncharged row that has ended or is past its time | not charged |
 * | has a row that may still be charged | unknown |
 * | has only rows that may belong to another request or attempt | unknown |
 * | has no row, was read completely and late enough, and lists our requests of that time | not sent, until a row appears |
 * | has no row, and one of these conditions fails | unknown |
 */
import type { LostAnswer, SettledLostAnswer } from '../../ledger/failures/lost-answers.ts';

/** A row of the log that is surely one of the request's attempts. */
export interface LoggedAttempt {
  readonly id: string;
  /** By the service's clock. */
  readonly startedAt: Date;
  readonly cost: number;
  readonly isPaid: boolean;
  /** The row has a status or a duration. */
  readonly isComplete: boolean;
}

/** What ledger and log show about the request. */
export interface KnownRequest {
  readonly attempts: number;
  /** Send times that the ledger keeps: those of lost attempts and of the last one. */
  readonly sent: ReadonlyMap<number, Date>;
  /** Attempts among them that were not lost. */
  readonly answered: ReadonlySet<number>;
  /** Rows of the log by the lost attempts that they surely belong to, by earlier verdicts. */
  readonly settled: ReadonlyMap<number, string>;
  /** Its rows of the log, matched by identifier or as only candidates. */
  readonly rows: readonly LoggedAttempt[];
  /** Number of its rows that left the log before a certain verdict. A reading returns all later rows again, so these are the oldest. */
  readonly gone: number;
  /** Number of rows that may belong to another request too. */
  readonly ambiguous: number;
}

/** The evidence of the log about the time of the attempt. */
export interface LogEvidence {
  /** How far the service's clock is ahead, estimated from rows with our identifier; undefined if there are none. */
  readonly offsetMs: number | undefined;
  /**
   * When, by our clock, a read began that covered the complete time around the attempt; undefined if there was none.
   */
  readonly readAt: Date | undefined;
  /** The log has rows that surely belong to our other requests of that time, or it keeps our identifiers. */
  readonly listsOwnRequests: boolean;
}

/**
 * Assumed: a request appears in the log within this time after it was sent, or never. No verdict is `not_sent` before.
 */
export const LISTED_AFTER_MS = 5_000;
/** The time beyond a request's timeout within which the service completes its row. */
const GRACE_MS = 60_000;

/** Returns the verdict on a lost attempt, with its log row and its cost. */
export const lossVerdict = (lost: LostAnswer, request: KnownRequest, log: LogEvidence): SettledLostAnswer => ({
  requestId: lost.requestId,
  attempt: lost.attempt,
  ...verdictOf(lost, request, log),
});

function verdictOf(
  lost: LostAnswer,
  request: KnownRequest,
  log: LogEvidence,
): Pick<SettledLostAnswer, 'verdict' | 'logId' | 'points'> {
  const row = rowOf(lost, request, log.offsetMs);
  if (row === 'undecided') return { verdict: 'unknown', logId: null, points: null };
  if (row) {
    if (row.isPaid && row.cost > 0) return { verdict: 'paid_and_lost', logId: row.id, points: row.cost };
    const over = lost.sentAt.getTime() + lost.timeoutMs + GRACE_MS;
    return row.isComplete || (log.readAt !== undefined && log.readAt.getTime() > over)
      ? { verdict: 'not_charged', logId: row.id, points: 0 }
      : { verdict: 'unknown', logId: row.id, points: null };
  }
  const isListedByNow = log.readAt !== undefined && log.readAt.getTime() >= lost.sentAt.getTime() + LISTED_AFTER_MS;
  return request.ambiguous + request.gone === 0 && isListedByNow && log.listsOwnRequests
    ? { verdict: 'not_sent', logId: null, points: 0 }
    : { verdict: 'unknown', logId: null, points: null };
}

/**
 * Returns the row of a lost attempt among the request's rows; 'undecided' if a row may be that of another attempt. All
 * attempts share one identifier. Rows of earlier verdicts stay with their attempts. If each other attempt has a row,
 * their order decides, otherwise their times.
 */
function rowOf(
  lost: LostAnswer,
  request: KnownRequest,
  offsetMs: number | undefined,
): LoggedAttempt | 'undecided' | undefined {
  const { attempts, sent, settled, rows, gone } = request;
  const settledRows = new Set(settled.values());
  const inOrder = rows
    .filter(({ id }) => !settledRows.has(id))
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const open = Array.from({ length: attempts }, (_, index) => index + 1).filter((number) => !settled.has(number));
  const rowless = Math.max(0, open.length - inOrder.length);
  if (rowless <= gone) return inOrder[open.indexOf(lost.attempt) - rowless] ?? 'undecided';
  if (inOrder.length === 0) return undefined;
  return open.every((number) => sent.has(number))
    ? nearestRow(lost.attempt, request, inOrder, offsetMs ?? 0)
    : rowInTime(lost, request, inOrder, offsetMs);
}

/** Returns the row that is nearest to the attempt; an answered attempt gets its nearest row first. */
function nearestRow(
  attempt: number,
  { sent, answered, settled }: KnownRequest,
  rows: readonly LoggedAttempt[],
  offsetMs: number,
): LoggedAttempt | undefined {
  const pairs = [...sent].flatMap(([number, sentAt]) =>
    settled.has(number)
      ? []
      : rows.map((row) => ({ number, row, offMs: Math.abs(row.startedAt.getTime() - sentAt.getTime() - offsetMs) })),
  );
  const taken = new Map<number, LoggedAttempt>();
  const nearest = pairs.toSorted((a, b) => a.offMs - b.offMs);
  const isAnswered = ({ number }: (typeof pairs)[number]): boolean => answered.has(number);
  for (const { number, row } of [...nearest.filter(isAnswered), ...nearest.filter((it) => !isAnswered(it))])
    if (!taken.has(number) && ![...taken.values()].includes(row)) taken.set(number, row);
  return taken.get(attempt);
}

/** A retry waits longer than this (`RetryWaits.minMs`), so no row of an earlier attempt begins this shortly before it. */
const EARLY_MS = 200;

/**
 * Returns the only row that began between the attempt and the next one, if other attempts failed at times that the ledger
 * does not keep. Each row belongs to the last known attempt before it, or to a failed attempt after that one.
 */
function rowInTime(
  { attempt, noticedAt }: LostAnswer,
  { attempts, sent, settled }: KnownRequest,
  rows: readonly LoggedAttempt[],
  offsetMs: number | undefined,
): LoggedAttempt | 'undecided' | undefined {
  if (offsetMs === undefined) return 'undecided';
  const known = [...sent].toSorted(([a], [b]) => a - b);
  const timeOf = ({ startedAt }: LoggedAttempt): number => startedAt.getTime() - offsetMs;
  const placed = rows.map((row) => ({
    row,
    number: known.findLast(([, sentAt]) => sentAt.getTime() - EARLY_MS <= timeOf(row))?.[0],
  }));
  const [own, ...more] = placed.filter(({ number }) => number === attempt);
  const isNextKnown = attempt === attempts || sent.has(attempt + 1);
  if (own && more.length === 0 && (isNextKnown || timeOf(own.row) <= noticedAt.getTime())) return own.row;
  const areOthers = placed.every(({ number }) => number !== undefined && number !== attempt && !settled.has(number));
  return areOthers ? undefined : 'undecided';
}
