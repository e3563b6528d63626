/** Assesses lost attempts with the evidence of the log and the ledger in the warehouse. */
import { sql } from 'kysely';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import type { LostAnswer, SettledLostAnswer } from '../../ledger/failures/lost-answers.ts';
import { hasItsRows } from '../../ledger/log-reads.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import {
  type ReconcileDb,
  reconcileTables,
  type LogIdentifiers,
  toleranceMs,
  isWalkStart,
  beganSince,
  chargeOf,
} from '../../ledger/match-log.ts';
import { type KnownRequest, type LoggedAttempt, type LogEvidence, lossVerdict } from './loss-verdict.ts';

/**
 * Returns the verdicts on these lost attempts; log and ledger must have been matched before. An attempt with `not_sent`
 * keeps that verdict unless the log has its row now.
 */
export async function assessLosses(
  database: ReconcileDb,
  lost: readonly LostAnswer[],
  identifiers: LogIdentifiers,
): Promise<SettledLostAnswer[]> {
  if (lost.length === 0) return [];
  const ids = arrayLiteral([...new Set(lost.map(({ requestId }) => requestId))]);
  const requests = await knownRequests(database, ids);
  const evidence = await evidenceOf(database, lost, identifiers);
  return lost.flatMap((lostAnswer, at) => {
    const [request, log] = [requests.get(lostAnswer.requestId), evidence[at]];
    const verdict = request && log && lossVerdict(lostAnswer, request, log);
    return !verdict || (lostAnswer.isAbsent && verdict.logId === null) ? [] : [verdict];
  });
}

/**
 * Brings verdicts that a log row proves in line with what the row charges now, because the service may charge or refund a
 * request later.
 */
export async function followCharges(database: ReconcileDb, since: Date | undefined, at: Date): Promise<void> {
  const { log, lostAnswers } = reconcileTables(database);
  await sql`
    update ${lostAnswers} d set points = n.points, settled_at = ${at.toISOString()}::timestamptz,
      verdict = case when n.points > 0 then 'paid_and_lost' else 'not_charged' end
    from (select c.id, ${chargeOf('c')} as points from ${log} c where ${beganSince('c', since)}) n
    where n.id = d.log_id and d.verdict in ('paid_and_lost', 'not_charged') and d.points <> n.points`.execute(
    database.db,
  );
}

interface RequestRow {
  readonly id: string;
  readonly attempts: number;
  readonly sentAt: Date;
  readonly isAnswered: boolean;
  readonly lost: readonly { readonly attempt: number; readonly sentAt: string; readonly row: string | null }[];
  readonly rows: readonly (Omit<LoggedAttempt, 'startedAt' | 'cost'> & {
    readonly startedAt: string;
    /** Text if a number would be rounded. */
    readonly cost: number | string | null;
  })[];
  readonly gone: number;
  readonly ambiguous: number;
}

async function knownRequests(database: ReconcileDb, ids: string): Promise<ReadonlyMap<string, KnownRequest>> {
  const { log, requests, lostAnswers, matches } = reconcileTables(database);
  const { rows } = await sql<RequestRow>`
    select r.id, r.attempts::int as attempts, r.sent_at as "sentAt",
      not exists (select from ${lostAnswers} d where d.request_id = r.id and d.attempt = r.attempts)
        and r.state not in ('sent', 'in_doubt', 'abandoned') as "isAnswered",
      coalesce((select jsonb_agg(jsonb_build_object('attempt', d.attempt, 'sentAt', d.sent_at,
          'row', case when d.verdict <> 'unknown' then d.log_id end))
        from ${lostAnswers} d where d.request_id = r.id), '[]') as lost,
      coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'startedAt', c.started_at, 'cost', c.cost,
          'isPaid', coalesce(c.is_paid, c.cost > 0, false),
          'isComplete', c.response_status_code is not null or c.duration is not null))
        from ${matches} m join ${log} c on c.id = m.log_id where m.request_id = r.id and m.match_kind <> 'ambiguous'), '[]') as rows,
      (select count(*)::int from ${matches} m where m.request_id = r.id and m.match_kind <> 'ambiguous'
        -- A row that was in the log, without a verdict that shows whose it is.
        and not exists (select from ${log} c where c.id = m.log_id) and not exists (select from ${lostAnswers} d
          where d.request_id = r.id and d.log_id = m.log_id and d.verdict <> 'unknown')) as gone,
      (select count(*)::int from ${matches} m where m.request_id = r.id and m.match_kind = 'ambiguous') as ambiguous
    from ${requests} r where r.id = any(${ids}::bigint[])`.execute(database.db);
  return new Map(rows.map((row) => [row.id, knownRequest(row)]));
}

const knownRequest = ({ attempts, sentAt, isAnswered, lost, rows, gone, ambiguous }: RequestRow): KnownRequest => ({
  attempts,
  sent: new Map([[attempts, sentAt], ...lost.map((it) => [it.attempt, new Date(it.sentAt)] as const)]),
  answered: new Set(isAnswered ? [attempts] : []),
  settled: new Map(lost.flatMap(({ attempt, row }) => (row === null ? [] : [[attempt, row] as const]))),
  rows: rows.map((row) => ({ ...row, startedAt: new Date(row.startedAt), cost: Number(row.cost ?? 0) })),
  gone,
  ambiguous,
});

/** Other requests that are surely in the log and were sent this close show that the log covers the time. */
const ABOUT_MS = 120_000;

/** Returns the evidence of the log at the time of each lost attempt. */
async function evidenceOf(
  database: ReconcileDb,
  lost: readonly LostAnswer[],
  { areKept, offsetMs }: LogIdentifiers,
): Promise<LogEvidence[]> {
  const { log, runs, requests, matches } = reconcileTables(database);
  const tolerance = toleranceMs({ offsetMs });
  const around = ({ sentAt }: LostAnswer, shiftMs: number): Date =>
    new Date(sentAt.getTime() + (offsetMs ?? 0) + shiftMs);
  const times = rowsFrom(lost, {
    request_id: ['bigint', ({ requestId }) => requestId],
    lo: ['timestamptz', (it) => around(it, -tolerance)],
    hi: ['timestamptz', (it) => around(it, tolerance)],
    about_from: ['timestamptz', (it) => around(it, -ABOUT_MS)],
    about_to: ['timestamptz', (it) => around(it, ABOUT_MS)],
    position: ['int', (_, index) => index],
  });
  const oldest = new Date(Math.min(...lost.map(({ sentAt }) => sentAt.getTime())) - tolerance).toISOString();
  const { rows } = await sql<{ read_at: Date | null; lists: boolean }>`
    with readings as materialized (
      select range_agg(tstzrange(coalesce((q.body ->> 'start_time')::timestamptz, '-infinity'),
          coalesce((q.body ->> 'end_time')::timestamptz, 'infinity'), '[]')) as times, min(q.sent_at) as began_at
      from ${runs} n join ${requests} q on q.run_id = n.id
      where n.endpoint = ${LOG_ENDPOINT} and n.state = 'complete' and n.truncated = 0 and n.ended_at >= ${oldest}::timestamptz
        and ${isWalkStart('q')} and ${hasItsRows(database, 'n')}
        and coalesce((q.body ->> 'start_time')::timestamptz, '-infinity') <= coalesce((q.body ->> 'end_time')::timestamptz, 'infinity')
      group by n.id having bool_and(q.sent_at is not null)
    )
    select (select max(began_at) from readings where times @> tstzrange(d.lo, d.hi, '[]')) as read_at,
      exists (
        select from ${log} c join ${matches} m on m.log_id = c.id
        where c.started_at between d.about_from and d.about_to and m.match_kind <> 'ambiguous' and m.request_id <> d.request_id
      ) as lists
    from ${times} as d order by position`.execute(database.db);
  return rows.map(({ read_at: readAt, lists }) => ({
    offsetMs,
    readAt: readAt ?? undefined,
    listsOwnRequests: areKept || lists,
  }));
}
