/** What became of a lost attempt: a table of what the log can show. */
import { describe, expect, it } from 'vitest';
import {
  type KnownRequest,
  LISTED_AFTER_MS,
  type LoggedAttempt,
  type LogEvidence,
  lossVerdict,
} from '../../src/recovery/reconcile/loss-verdict.ts';

const SENT = Date.parse('2026-03-06T15:00:00Z');
const TIMEOUT_MS = 300_000;
const at = (ms: number): Date => new Date(SENT + ms);

const row = (ms: number, more: Partial<LoggedAttempt> = {}): LoggedAttempt => ({
  id: `row at ${ms}`,
  startedAt: at(ms),
  cost: 3,
  isPaid: true,
  isComplete: true,
  ...more,
});
const unpaid = { cost: 0, isPaid: false };
const underWay = { ...unpaid, isComplete: false };

const LOG: LogEvidence = { offsetMs: 0, readAt: at(LISTED_AFTER_MS), listsOwnRequests: true };
const REQUEST: KnownRequest = {
  attempts: 1,
  sent: new Map([[1, at(0)]]),
  answered: new Set(),
  settled: new Map(),
  rows: [],
  gone: 0,
  ambiguous: 0,
};

interface Case {
  readonly when: string;
  readonly request?: Partial<KnownRequest>;
  readonly log?: Partial<LogEvidence>;
  readonly attempt?: number;
  readonly is: readonly [string, string | null, number | null];
}

const lostThenAnswered = {
  attempts: 2,
  sent: new Map([
    [1, at(0)],
    [2, at(4000)],
  ]),
  answered: new Set([2]),
};
const lostTwice = { ...lostThenAnswered, answered: new Set<number>() };
/** The ledger keeps no send time of a failed attempt. */
const afterFailed = { attempts: 2, sent: new Map([[2, at(4000)]]) };
const beforeFailed = {
  attempts: 3,
  sent: new Map([
    [1, at(0)],
    [3, at(4000)],
  ]),
  answered: new Set([3]),
};
const betweenFailed = {
  attempts: 4,
  sent: new Map([
    [2, at(0)],
    [4, at(4000)],
  ]),
  answered: new Set([4]),
};

const CASES: readonly Case[] = [
  { when: 'its row was charged', request: { rows: [row(20)] }, is: ['paid_and_lost', 'row at 20', 3] },
  {
    when: 'its row was charged while the request still runs',
    request: { rows: [row(20, { isComplete: false })] },
    is: ['paid_and_lost', 'row at 20', 3],
  },
  { when: 'its row ended and cost nothing', request: { rows: [row(20, unpaid)] }, is: ['not_charged', 'row at 20', 0] },
  {
    when: 'its row has a price and was not charged',
    request: { rows: [row(20, { isPaid: false })] },
    is: ['not_charged', 'row at 20', 0],
  },
  { when: 'its request still runs', request: { rows: [row(20, underWay)] }, is: ['unknown', 'row at 20', null] },
  {
    when: 'its request still runs just before its time is over',
    request: { rows: [row(20, underWay)] },
    log: { readAt: at(TIMEOUT_MS + 60_000) },
    is: ['unknown', 'row at 20', null],
  },
  {
    when: 'its row never ended',
    request: { rows: [row(20, underWay)] },
    log: { readAt: at(TIMEOUT_MS + 60_001) },
    is: ['not_charged', 'row at 20', 0],
  },
  {
    when: 'its row is known, however little is known of the log',
    request: { rows: [row(20)] },
    log: { offsetMs: undefined, readAt: undefined, listsOwnRequests: false },
    is: ['paid_and_lost', 'row at 20', 3],
  },
  { when: 'rows may be another’s', request: { ambiguous: 2 }, is: ['unknown', null, null] },
  {
    when: 'attempts failed before and after it, and the row of the first one has left the log',
    request: { ...betweenFailed, rows: [row(20), row(2000), row(4020)], gone: 1 },
    attempt: 2,
    is: ['paid_and_lost', 'row at 20', 3],
  },
  {
    when: 'its own row has left the log',
    request: { ...beforeFailed, rows: [row(2000), row(4020)], gone: 1 },
    is: ['unknown', null, null],
  },
  { when: 'the log lists our others and not this', is: ['not_sent', null, 0] },
  { when: 'the log was read too soon', log: { readAt: at(LISTED_AFTER_MS - 1) }, is: ['unknown', null, null] },
  { when: 'the log was not read whole', log: { readAt: undefined }, is: ['unknown', null, null] },
  {
    when: 'nothing shows that the log lists our requests',
    log: { listsOwnRequests: false },
    is: ['unknown', null, null],
  },

  // All attempts at a request carry one identifier.
  {
    when: 'both attempts have a row, by a clock that is far off',
    request: { ...lostThenAnswered, rows: [row(604_000, { cost: 1 }), row(600_000)] },
    is: ['paid_and_lost', 'row at 600000', 3],
  },
  {
    when: 'only the one that was answered has a row',
    request: { ...lostThenAnswered, rows: [row(4010)] },
    is: ['not_sent', null, 0],
  },
  {
    when: 'one has a row and the other was answered, by a clock that is off',
    request: { ...lostThenAnswered, rows: [row(-100)] },
    log: { offsetMs: undefined },
    is: ['not_sent', null, 0],
  },
  {
    when: 'both were lost and one has a row: the first',
    request: { ...lostTwice, rows: [row(15)] },
    is: ['paid_and_lost', 'row at 15', 3],
  },
  {
    when: 'both were lost and one has a row: not the first',
    request: { ...lostTwice, rows: [row(15)] },
    attempt: 2,
    is: ['not_sent', null, 0],
  },
  {
    when: 'both were lost and one has a row: by the service’s clock the second',
    request: { ...lostTwice, rows: [row(-56_000)] },
    log: { offsetMs: -60_000 },
    attempt: 2,
    is: ['paid_and_lost', 'row at -56000', 3],
  },
  {
    when: 'both were lost, and an earlier verdict gave the row to the second, by a clock that is off',
    request: { ...lostTwice, rows: [row(15)], settled: new Map([[2, 'row at 15']]) },
    log: { offsetMs: undefined },
    is: ['not_sent', null, 0],
  },
  {
    when: 'both were lost, and the row of the first has left the log after its verdict',
    request: { ...lostTwice, rows: [row(15)], settled: new Map([[1, 'row at 0']]) },
    attempt: 2,
    is: ['paid_and_lost', 'row at 15', 3],
  },
  {
    when: 'an attempt between them failed, and all three have rows',
    request: {
      attempts: 3,
      sent: new Map([
        [1, at(0)],
        [3, at(4000)],
      ]),
      rows: [row(4001), row(2000, unpaid), row(1, { cost: 7 })],
    },
    attempt: 3,
    is: ['paid_and_lost', 'row at 4001', 3],
  },
  {
    when: 'it was sent after a failed attempt that has a row',
    request: { ...afterFailed, rows: [row(1)] },
    attempt: 2,
    is: ['unknown', null, null],
  },
  {
    when: 'it was sent after a failed attempt and only it has a row',
    request: { ...afterFailed, rows: [row(3900)] },
    attempt: 2,
    is: ['paid_and_lost', 'row at 3900', 3],
  },
  {
    when: 'it was sent after a failed attempt and the row is of either, by a clock that may be off',
    request: { ...afterFailed, rows: [row(3900)] },
    log: { offsetMs: undefined },
    attempt: 2,
    is: ['unknown', null, null],
  },
  {
    when: 'it was sent after a failed attempt and neither has a row',
    request: afterFailed,
    attempt: 2,
    is: ['not_sent', null, 0],
  },
  {
    when: 'a failed attempt and an answered one followed, and only those have rows',
    request: { ...beforeFailed, rows: [row(2000), row(4001)] },
    is: ['unknown', null, null],
  },
  {
    when: 'a failed attempt without a row and an answered one followed',
    request: { ...beforeFailed, rows: [row(20), row(4001)] },
    is: ['paid_and_lost', 'row at 20', 3],
  },
  {
    when: 'a failed attempt and an answered one followed, and only the answered one has a row',
    request: { ...beforeFailed, rows: [row(4001)] },
    is: ['not_sent', null, 0],
  },
];

describe('a lost attempt', () => {
  it.each(CASES)('when $when', ({ request, log, attempt = 1, is: [verdict, logId, points] }) => {
    const known = { ...REQUEST, ...request };
    const sentAt = known.sent.get(attempt) ?? at(0);
    // The table is about the first attempt's time; a later one is read about as much later.
    const readAt = log && 'readAt' in log ? log.readAt : new Date(sentAt.getTime() + LISTED_AFTER_MS);
    const doubt = {
      requestId: '7',
      attempt,
      endpoint: 'pronet.group',
      sentAt,
      noticedAt: at(50),
      isAbsent: false,
      timeoutMs: TIMEOUT_MS,
    };
    expect(lossVerdict(doubt, known, { ...LOG, ...log, readAt })).toEqual({
      requestId: '7',
      attempt,
      verdict,
      logId,
      points,
    });
  });
});
