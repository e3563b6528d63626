/**
 * Reconciles the request log with the ledger: the charge of each request, the outcome of lost answers, and the rows
 * without a match.
 */
import { DAY_MS, dayOf } from '../../day.ts';
import { sql } from 'kysely';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { quoted } from '../../warehouse/sql/identifiers.ts';
import { isUnlogged } from '../../warehouse/schema/closed-days/sums.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { readLostAnswers, type SettledLostAnswer, settleLostAnswers } from '../../ledger/failures/lost-answers.ts';
import { assessLosses } from './assess-losses.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import {
  type ReconcileDb,
  instant,
  reconcileTables,
  readLogIdentifiers,
  matchIdentifiers,
} from '../../ledger/match-log.ts';
import { matchCandidates } from './match-candidates.ts';
import { type InOrder, matchInOrder } from './matches-in-order.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';

export interface ReconcileOptions {
  /** Rows that began earlier stay unchanged; absent, all rows are processed. */
  readonly since?: Date | undefined;
  /**
   * Requests whose lost attempts are assessed, with the reserved points per attempt if the run continues; absent, all
   * requests that no run will send again.
   */
  readonly lostAttempts?: ReadonlyMap<string, number | undefined>;
  readonly now: Date;
  /** How to match log rows by their order, see `matchInOrder`; absent, they are not. */
  readonly inOrder?: InOrder;
}

/** Most lost attempts that are assessed at once; with more, something else is wrong. */
const MOST_DOUBTS = 1000;

/**
 * Matches new log rows with requests of the ledger, settles their costs, and assesses lost attempts; returns the
 * verdicts. A repeated call changes nothing. It runs in one transaction, and one at a time.
 */
export async function reconcileCosts(warehouse: Warehouse, options: ReconcileOptions): Promise<SettledLostAnswer[]> {
  const { since, lostAttempts, now, inOrder } = options;
  return warehouse.db.transaction().execute(async (db) => {
    const database = { db, schema: warehouse.schema, ops: warehouse.ops };
    const ops = operationsOf(database);
    await sql`select pg_advisory_xact_lock(hashtext(${`${warehouse.ops}.request_cost_matches`}))`.execute(db);
    await matchIdentifiers(database, since, now);
    const found = await readLogIdentifiers(database);
    const identifiers = { ...found, offsetMs: found.offsetMs ?? inOrder?.offsetMs };
    const changed = await matchCandidates(database, identifiers, since, now);
    if (inOrder) changed.push(...(await matchInOrder(database, identifiers, inOrder, now)));
    const which = lostAttempts
      ? { requestIds: [...lostAttempts.keys()] }
      : { over: true as const, since: since ?? new Date(0), limit: MOST_DOUBTS };
    const judged = await assessLosses(database, await readLostAnswers(ops, which), identifiers);
    await settleLostAnswers(ops, judged, now);
    await settlePoints(
      ops,
      judged.flatMap(({ requestId, points }) => {
        const reserved = lostAttempts?.get(requestId);
        return reserved !== undefined && points !== null ? [{ requestId, points, reserved }] : [];
      }),
    );
    await settleRequests(database, since, [...changed, ...judged.map(({ requestId }) => requestId)]);
    return judged;
  });
}

/** SQL condition that a log row shows what its request cost; otherwise the request is still running. */
const isComplete = (row: string) =>
  sql`(${sql.ref(`${row}.response_status_code`)} is not null or ${sql.ref(`${row}.duration`)} is not null
    or (${sql.ref(`${row}.is_paid`)} and ${sql.ref(`${row}.cost`)} > 0))`;

/** States without an attempt in flight or to come. */
const FINAL = arrayLiteral(['loaded', 'empty', 'quarantined', 'missing', 'failed', 'skipped', 'abandoned']);

/**
 * Records the charges of requests with log rows since an instant, once all their rows are complete. The charge replaces
 * the listed price once none of their attempts is in doubt. Totals of ended runs are recomputed.
 */
async function settleRequests(
  database: ReconcileDb,
  since: Date | undefined,
  others: readonly string[],
): Promise<void> {
  const { log, runs, requests, lostAnswers, matches } = reconcileTables(database);
  const from = since === undefined ? sql`true` : sql`c.started_at >= ${since.toISOString()}::timestamptz`;
  // A run that is over no longer sends its requests in doubt.
  const isFinal = sql`(r.state = any(${FINAL}::text[]) or (r.state = 'in_doubt'
    and exists (select from ${runs} n where n.id = r.run_id and n.state in ('partial', 'complete'))))`;
  const charged = sql`case when s.is_complete then s.charged end`;
  const points = sql`case
    when not ${isFinal} or not coalesce(l.is_settled, true) then r.points
    when s.is_complete then s.charged
    when s.rows = 0 and l.attempts >= r.attempts then 0
    else r.points end`;
  const settled = await sql<{ run_id: string }>`
    with touched as (
      select m.request_id from ${log} c join ${matches} m on m.log_id = c.id where ${from}
      union select unnest(${arrayLiteral(others)}::bigint[])
    ), sums as (
      select t.request_id, count(c.id) as rows, sum(case when coalesce(c.is_paid, c.cost > 0) then c.cost else 0 end) as charged,
        coalesce(bool_and(${isComplete('c')}), false) as is_complete
      from touched t
      left join ${matches} m on m.request_id = t.request_id and m.match_kind <> 'ambiguous'
      left join ${log} c on c.id = m.log_id
      group by t.request_id
    ), lost as (
      select d.request_id, count(*) as attempts, bool_and(d.verdict is not null and d.verdict <> 'unknown') as is_settled
      from ${lostAnswers} d join touched t on t.request_id = d.request_id group by d.request_id
    )
    update ${requests} r set charged = ${charged}, points = ${points}
    from sums s left join lost l on l.request_id = s.request_id
    where r.id = s.request_id and (r.charged is distinct from ${charged} or r.points is distinct from ${points})
    returning r.run_id`.execute(database.db);
  const touched = arrayLiteral([...new Set(settled.rows.map((it) => it.run_id))]);
  // A run that continues computes its totals at its end.
  await sql`
    update ${runs} n set points = s.points
    from (
      select run_id, coalesce(sum(points), 0) as points from ${requests} where run_id = any(${touched}::bigint[]) group by run_id
    ) s
    where n.id = s.run_id and n.ended_at is not null and n.points is distinct from s.points`.execute(database.db);
}

/** How log and ledger agree over a period. Rows are log rows. */
export interface Reconciliation {
  /** The start of the period. */
  readonly since: Date;
  readonly logged: number;
  /** Rows that surely belong to requests of the ledger. */
  readonly matched: number;
  /** Rows that fit several requests, or requests with several rows; they are listed without a decision. */
  readonly ambiguous: number;
  /** Charged rows beyond the stored answers. */
  readonly chargedButLost: { readonly rows: number; readonly points: number };
  /** Answered requests without a row, although the log of their time was read completely. */
  readonly unlogged: number;
  /** Rows without a request in this ledger: from other programs or tokens. */
  readonly others: { readonly rows: number; readonly points: number };
}

/** The default period. */
const RECENT_MS = 30 * DAY_MS;

/**
 * Returns how log and ledger agree since the UTC day of an instant, by default over the last 30 days; undefined if the
 * log was never read.
 */
export async function readReconciliation(
  { db, schema, ops }: ReconcileDb,
  now: Date,
  from: Date = new Date(now.getTime() - RECENT_MS),
): Promise<Reconciliation | undefined> {
  const { log, runs, requests } = reconcileTables({ schema, ops });
  const since = new Date(`${dayOf(from)}T00:00:00Z`);
  const day = sql`${dayOf(from)}::date`;
  const { rows } = await sql<Omit<Reconciliation, 'since'> & { readonly isRead: boolean }>`
    with whole as (
      select coalesce(range_agg(tstzrange(coalesce((q.body ->> 'start_time')::timestamptz, '-infinity'),
        least(coalesce((q.body ->> 'end_time')::timestamptz, 'infinity'), q.sent_at - interval '2 minutes'))), '{}') as times
      from ${runs} n join ${requests} q on q.run_id = n.id
      where n.endpoint = ${LOG_ENDPOINT} and n.state = 'complete' and n.truncated = 0 and n.ended_at >= ${instant(since)}
        and q.parent_id is null and q.sent_at is not null
        and coalesce((q.body ->> 'start_time')::timestamptz, '-infinity') < q.sent_at - interval '2 minutes'
        and coalesce((q.body ->> 'start_time')::timestamptz, '-infinity') < coalesce((q.body ->> 'end_time')::timestamptz, 'infinity')
    ), unlogged as (
      -- Requests are counted one by one only if the log of a part of their time was read completely.
      select coalesce(sum(case
        when w.times @> tstzrange(s.unlogged_first_at, s.unlogged_last_at, '[]') then s.unlogged
        when not w.times && tstzrange(s.unlogged_first_at, s.unlogged_last_at, '[]') then 0
        else (
          select count(*) from ${requests} q
          where q.planned_at >= s.date::timestamp at time zone 'UTC' and q.planned_at < (s.date + 1)::timestamp at time zone 'UTC'
            and q.sync = s.sync and q.endpoint = s.endpoint and q.sent_at between s.unlogged_first_at and s.unlogged_last_at
            and w.times @> q.sent_at and ${sql.raw(isUnlogged(`${quoted(ops)}.request_cost_matches`))}
        ) end), 0) as requests
      from ${sql.table(`${schema}.daily_requests`)} s, whole w where s.unlogged > 0 and s.sent_on >= ${day}
    )
    select exists (select from ${log}) as "isRead", coalesce(sum(logged), 0)::int as logged, coalesce(sum(matched), 0)::int as matched,
      coalesce(sum(ambiguous), 0)::int as ambiguous,
      jsonb_build_object('rows', coalesce(sum(lost), 0), 'points', coalesce(sum(lost_points), 0)) as "chargedButLost",
      (select requests::int from unlogged) as unlogged,
      jsonb_build_object('rows', coalesce(sum(others), 0), 'points', coalesce(sum(other_points), 0)) as others
    from ${sql.table(`${schema}.daily_reconciliation`)} d where d.date >= ${day}`.execute(db);
  const [row] = rows;
  if (!row?.isRead) return undefined;
  const { isRead: _, ...agreement } = row;
  return { since, ...agreement };
}
