/**
 * Reconciles the request log with the ledger: the charge of each request, the outcome of lost answers, and the rows
 * without a match. `match-log.ts` of the ledger matches by identifier, `match-candidates.ts` by endpoint, time and count,
 * and `match-in-order.ts` by order. `assess-losses.ts` then decides what lost attempts cost.
 */
import { DAY_MS } from '../../day.ts';
import { sql } from 'kysely';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { inLongTransaction } from '../../warehouse/connect/long-work.ts';
import { readLostAnswers, type SettledLostAnswer, settleLostAnswers } from '../../ledger/failures/lost-answers.ts';
import { assessLosses, followCharges } from './assess-losses.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import {
  type ReconcileDb,
  reconcileTables,
  readLogIdentifiers,
  matchIdentifiers,
  isWalkStart,
  beganSince,
  chargeOf,
} from '../../ledger/match-log.ts';
import { matchCandidates } from './match-candidates.ts';
import { type InOrder, matchInOrder } from './match-in-order.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { mayBeLost, outcomeOf } from '../../warehouse/schema/views/request-costs.ts';
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
  /** More work that commits in the same transaction, after the verdicts. */
  readonly onCommit?: (db: Warehouse['db']) => Promise<void>;
}

/** Most lost attempts that are assessed together; with more, something else is wrong. */
const MOST_ASSESSED = 1000;

/**
 * Matches new log rows with requests of the ledger, settles their costs, and assesses lost attempts; returns the
 * verdicts. A repeated call changes nothing. It runs in one transaction, and one at a time.
 */
export async function reconcileCosts(warehouse: Warehouse, options: ReconcileOptions): Promise<SettledLostAnswer[]> {
  const { since, lostAttempts, now, inOrder, onCommit } = options;
  return inLongTransaction(warehouse, async (db) => {
    const database = { db, schema: warehouse.schema, ops: warehouse.ops };
    const ops = operationsOf(database);
    await sql`select pg_advisory_xact_lock(hashtext(${`${warehouse.ops}.request_cost_matches`}))`.execute(db);
    const unmatched = await matchIdentifiers(database, since, now);
    const found = await readLogIdentifiers(database);
    const identifiers = { ...found, offsetMs: found.offsetMs ?? inOrder?.offsetMs };
    const changed = await matchCandidates(database, identifiers, since, now);
    const ordered = inOrder ? await matchInOrder(database, identifiers, inOrder, now) : [];
    // Rows that could be of these requests too may have only one candidate now.
    const left = ordered.length > 0 ? await matchCandidates(database, identifiers, since, now) : [];
    const which = lostAttempts
      ? { requestIds: [...lostAttempts.keys()] }
      : { over: true as const, since: since ?? new Date(0), limit: MOST_ASSESSED };
    const judged = await assessLosses(database, await readLostAnswers(ops, which), identifiers);
    await settleLostAnswers(ops, judged, now);
    await followCharges(database, since, now);
    await settlePoints(
      ops,
      judged.flatMap(({ requestId, points }) => {
        const reserved = lostAttempts?.get(requestId);
        return reserved !== undefined && points !== null ? [{ requestId, points, reserved }] : [];
      }),
    );
    await settleRequests(database, since, [
      ...unmatched,
      ...changed,
      ...ordered,
      ...left,
      ...judged.map(({ requestId }) => requestId),
    ]);
    await onCommit?.(db);
    return judged;
  });
}

/** SQL condition that a log row shows what its request cost; otherwise the request is still running. */
const isComplete = (row: string) =>
  sql`(${sql.ref(`${row}.response_status_code`)} is not null or ${sql.ref(`${row}.duration`)} is not null
    or (${sql.ref(`${row}.is_paid`)} and ${sql.ref(`${row}.cost`)} > 0))`;

/** States without an attempt in flight or to come. */
const FINAL = arrayLiteral(['fresh', 'loaded', 'empty', 'quarantined', 'missing', 'failed', 'skipped', 'abandoned']);

/**
 * Records the charges of requests with log rows since an instant, once all their rows are complete and enough of them are
 * there. An answered request needs the row of its answer: one that is of neither a lost nor a failed attempt. Any other
 * request needs a row for each attempt that may have arrived. The charge replaces the listed price once no attempt of the
 * request is in doubt. Totals of ended runs are recomputed.
 */
async function settleRequests(
  database: ReconcileDb,
  since: Date | undefined,
  others: readonly string[],
): Promise<void> {
  const { log, runs, requests, answers, lostAnswers, matches } = reconcileTables(database);
  // A run that is over no longer sends its requests in doubt.
  const isFinal = sql`(r.state = any(${FINAL}::text[]) or (r.state = 'in_doubt'
    and exists (select from ${runs} n where n.id = r.run_id and n.state in ('partial', 'complete'))))`;
  // Nothing is reserved for it while it waits to be sent again.
  const isLost = sql`coalesce(r.state = 'planned' and l.attempts >= r.attempts, false)`;
  const isAnswered = sql`exists (select from ${answers} a where a.id = r.answer_id and a.request_id = r.id)`;
  // A row of a lost or failed attempt does not show what the answer cost. Rows of earlier attempts do not show what a failed attempt
  // cost. The ledger keeps the charges of rows that left the log.
  const charged = sql`case
    when s.answer_rows = 0 and ${isAnswered} then null
    when s.rows + coalesce(l.rowless, 0) < r.attempts and not ${isAnswered} then null
    when s.rows > 0 and s.logged = 0 then r.charged
    when s.is_complete then s.charged end`;
  const points = sql`case
    when not ${isFinal} and not ${isLost} or not coalesce(l.is_settled, true) then r.points
    when s.rows = 0 and l.attempts >= r.attempts then l.points
    else coalesce(${charged}, r.points) end`;
  const charge = sql`case when c.id is null then coalesce(d.points, 0) else ${chargeOf('c')} end`;
  const isGone = sql`(m.log_id is not null and c.id is null and d.log_id is null)`;
  const isEarlier = sql`coalesce(e.earlier -> 'log_ids' @> to_jsonb(m.log_id::text), false)`;
  const settled = await sql<{ run_id: string }>`
    with touched as (
      select m.request_id from ${log} c join ${matches} m on m.log_id = c.id where ${beganSince('c', since)}
      union select unnest(${arrayLiteral(others)}::bigint[])
    ), lost_rows as (
      select d.request_id, d.log_id, max(d.points) as points
      from ${lostAnswers} d join touched t on t.request_id = d.request_id where d.log_id is not null
      group by d.request_id, d.log_id
    ), sums as (
      -- A row that only a reading brought has left the log. If a lost attempt has it, its verdict holds what it charged.
      -- Otherwise, a failed attempt holds what the rows before the next attempt charged together.
      select t.request_id, count(m.log_id) as rows, count(c.id) as logged,
        count(m.log_id) filter (where d.log_id is null and not ${isEarlier}
          and not (r.attempts > 1 and coalesce(c.response_status_code, 0) >= 400 and coalesce(a.status < 400, false))) as answer_rows,
        case when bool_or(${isGone}) then max((e.earlier ->> 'points')::numeric) + coalesce(sum(${charge}) filter (where not ${isEarlier}), 0)
          else sum(${charge}) end as charged,
        coalesce(bool_and(case when ${isGone} then ${isEarlier} when c.id is null then d.points is not null else ${isComplete('c')} end)
          filter (where m.log_id is not null), false) as is_complete
      from touched t
      left join ${matches} m on m.request_id = t.request_id and m.match_kind <> 'ambiguous'
      left join ${log} c on c.id = m.log_id
      left join lost_rows d on d.request_id = m.request_id and d.log_id = m.log_id
      left join ${requests} r on r.id = t.request_id
      left join ${answers} a on a.id = r.answer_id and a.request_id = r.id
      left join lateral (select jsonb_path_query_array(r.failed_attempts, '$[*].charged_so_far') -> -1 as earlier) e on true
      group by t.request_id
    ), lost as (
      select d.request_id, count(*) as attempts, coalesce(sum(d.points), 0) as points, bool_and(d.verdict is not null and d.verdict <> 'unknown') as is_settled,
        count(*) filter (where d.log_id is null and d.verdict <> 'unknown') as rowless
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
      select o.id, (select coalesce(sum(q.points), 0) from ${requests} q where q.run_id = o.id) as points
      from ${runs} o where o.id = any(${touched}::bigint[]) and o.ended_at is not null
    ) s
    where n.id = s.id and n.points is distinct from s.points`.execute(database.db);
}

/** How log and ledger agree over a period. Rows are log rows. */
export interface Reconciliation {
  /** The start of the period. */
  readonly since: Date;
  readonly logged: number;
  /** Rows that surely belong to requests of the ledger. */
  readonly matched: number;
  /** Rows that fit several requests, requests with several rows, or rows matched by their order alone; they are listed without a decision. */
  readonly ambiguous: number;
  /** Charged rows beyond the stored answers, without those of failed requests. */
  readonly chargedButLost: { readonly rows: number; readonly points: number };
  /** Answered requests without a row, although the log of their time was read completely. */
  readonly unlogged: number;
  /** Rows without a request in this ledger: from other programs or tokens. */
  readonly others: { readonly rows: number; readonly points: number };
}

/** The default period. */
const RECENT_MS = 30 * DAY_MS;

/**
 * Returns how log and ledger agree since an instant, by default over the last 30 days; undefined if the log was never
 * read.
 */
export async function readReconciliation(
  { db, schema, ops }: ReconcileDb,
  now: Date,
  since: Date = new Date(now.getTime() - RECENT_MS),
): Promise<Reconciliation | undefined> {
  const tables = reconcileTables({ schema, ops });
  const { log, runs, requests, answers, matches } = tables;
  const from = sql`${since.toISOString()}::timestamptz`;
  // For rows that were matched by their order, only the sum is certain.
  const isCertain = sql`m.match_kind in ('identifier', 'only_candidate')`;
  const { rows } = await sql<Omit<Reconciliation, 'since'> & { readonly isRead: boolean }>`
    with entries as (
      select c.id, c.started_at, ${sql.raw(outcomeOf('c'))} as outcome, ${chargeOf('c')} as points,
        bool_or(${isCertain}) as is_certain, min(m.request_id) filter (where ${isCertain}) as request_id
      from ${log} c left join ${matches} m on m.log_id = c.id
      where c.started_at >= ${from} group by c.id
    ), paid as (
      -- What was answered came last.
      select e.*, row_number() over (partition by e.request_id order by e.started_at desc, e.id) as place
      from entries e where e.is_certain and e.points > 0
    ), lost as (
      -- Counted in the order of an index: a lookup for each of a million rows takes longer than the complete index.
      select p.points from paid p
      left join (select a.request_id, count(*) as rows from ${answers} a group by a.request_id) a on a.request_id = p.request_id
      where p.place > coalesce(a.rows, 0) and ${sql.raw(mayBeLost('p.outcome'))}
    ), whole as (
      select range_agg(tstzrange(coalesce((q.body ->> 'start_time')::timestamptz, '-infinity'),
        least(coalesce((q.body ->> 'end_time')::timestamptz, 'infinity'), q.sent_at - interval '2 minutes'))) as times
      from ${runs} n join ${requests} q on q.run_id = n.id
      where n.endpoint = ${LOG_ENDPOINT} and n.state = 'complete' and n.truncated = 0 and n.ended_at >= ${from}
        and ${isWalkStart('q')} and q.sent_at is not null
        and coalesce((q.body ->> 'start_time')::timestamptz, '-infinity') < q.sent_at - interval '2 minutes'
        and coalesce((q.body ->> 'start_time')::timestamptz, '-infinity') < coalesce((q.body ->> 'end_time')::timestamptz, 'infinity')
    ), unlogged as (
      select q.id from ${runs} n join ${requests} q on q.run_id = n.id, whole w
      where (n.ended_at is null or n.ended_at >= ${from}) and n.endpoint <> ${LOG_ENDPOINT} and q.attempts > 0 and q.sent_at >= ${from}
        and w.times @> q.sent_at and exists (select from ${answers} a where a.request_id = q.id)
        and not exists (select from ${matches} m where m.request_id = q.id)
    )
    select exists (select from ${log})
        or exists (select from ${runs} n where n.endpoint = ${LOG_ENDPOINT} and n.state = 'complete') as "isRead",
      count(*)::int as logged, count(*) filter (where is_certain)::int as matched,
      count(*) filter (where not is_certain)::int as ambiguous,
      (select jsonb_build_object('rows', count(*), 'points', coalesce(sum(points), 0)) from lost) as "chargedButLost",
      (select count(*)::int from unlogged) as unlogged,
      jsonb_build_object('rows', count(*) filter (where is_certain is null),
        'points', coalesce(sum(points) filter (where is_certain is null), 0)) as others
    from entries`.execute(db);
  const [row] = rows;
  if (!row?.isRead) return undefined;
  const { isRead: _, ...agreement } = row;
  return { since, ...agreement };
}
