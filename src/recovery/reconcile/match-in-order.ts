/**
 * Matches log rows without identifiers with requests that ran concurrently. Which row belongs to which request cannot
 * be known then, but their total cost can. If a time range has as many rows as attempts, and both have the same order
 * and spacing, they are matched in order.
 */
import { type RawBuilder, sql } from 'kysely';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import {
  failedAttempts,
  type ReconcileDb,
  reconcileTables,
  type LogIdentifiers,
  instant,
  isOfEndpoint,
  requestsSince,
  toleranceMs,
} from '../../ledger/match-log.ts';

interface Row {
  readonly id: string;
  readonly endpoint: string;
  readonly at_ms: number;
}

/** The attempts and rows to match. */
export interface InOrder {
  /** How far the service's clock is ahead of ours, if no identifier shows it. */
  readonly offsetMs: number | undefined;
  readonly sentSince: Date;
  /** By the service's clock; undefined for all rows. */
  readonly loggedSince: Date | undefined;
}

/** How much the time difference between rows and their attempts may vary within a range. */
const SPREAD_MS = 5000;
/** With more rows or attempts, the rest is not matched. */
const MOST = 5000;

/** Matches what was sent and logged since these instants; returns the requests that were matched. */
export async function matchInOrder(
  database: ReconcileDb,
  { areKept, offsetMs }: LogIdentifiers,
  { sentSince, loggedSince }: InOrder,
  now: Date,
): Promise<string[]> {
  const tables = reconcileTables(database);
  const { log, matches } = tables;
  const isSettled = sql`m.match_kind in ('identifier', 'only_candidate', 'in_order')`;
  // If the log keeps identifiers, a row without one can only be of an attempt that was answered with an error.
  const mayLackIdentifier = (row: string, status: string): RawBuilder<unknown> =>
    areKept ? sql`${sql.ref(`${row}.${status}`)} >= 400` : sql`true`;
  // All attempts of such a request are known, except those that have a row.
  const { rows: attempts } = await sql<Row>`
    select id, endpoint, (extract(epoch from sent_at) * 1000)::float8 as at_ms from (
      select r.id::text as id, r.endpoint, t.sent_at, r.attempts - matched.rows as attempts,
        count(*) over (partition by r.id) as known
      from ${requestsSince(tables, sentSince)} r
      cross join lateral (select count(*) as rows from ${matches} m where m.request_id = r.id and ${isSettled}) matched
      cross join lateral (
        select r.sent_at, r.status union select f.sent_at, f.status from ${failedAttempts('r')}
      ) t
      where t.sent_at >= ${instant(sentSince)} and ${mayLackIdentifier('t', 'status')}
    ) sent
    where known = attempts order by sent_at, id::bigint limit ${MOST}`.execute(database.db);
  if (attempts.length === 0) return [];
  const endpoints = arrayLiteral([...new Set(attempts.map(({ endpoint }) => endpoint))]);
  const { rows } = await sql<Row>`
    select c.id::text as id, e.endpoint, (extract(epoch from c.started_at) * 1000)::float8 as at_ms
    from ${log} c join unnest(${endpoints}::text[]) as e(endpoint) on ${isOfEndpoint(sql`c.endpoint`, sql`e.endpoint`)}
    where c.started_at >= ${loggedSince ? instant(loggedSince) : sql`'-infinity'::timestamptz`}
      -- A row that was read before these attempts were sent is of none of them, whatever the clocks.
      and c._first_seen_at >= ${instant(sentSince)}
      and ${mayLackIdentifier('c', 'response_status_code')}
      and not exists (select from ${matches} m where m.log_id = c.id and ${isSettled})
    order by c.started_at, c.id limit ${MOST}`.execute(database.db);
  const pairs = [...Map.groupBy(attempts, ({ endpoint }) => endpoint)].flatMap(([endpoint, sent]) =>
    pairsOf(
      sent,
      rows.filter((row) => row.endpoint === endpoint),
      offsetMs,
    ),
  );
  if (pairs.length === 0) return [];
  const ids = arrayLiteral(pairs.map(([request]) => request));
  await sql`delete from ${matches} where request_id = any(${ids}::bigint[]) and match_kind = 'ambiguous'`.execute(
    database.db,
  );
  await sql`
    insert into ${matches} (request_id, log_id, match_kind, matched_at)
    select request_id, log_id, 'in_order', ${instant(now)}
    from ${rowsFrom(pairs, { request_id: ['bigint', ([request]) => request], log_id: ['uuid', ([, row]) => row] })} as p
    on conflict (request_id, log_id) do update set match_kind = excluded.match_kind, matched_at = excluded.matched_at`.execute(
    database.db,
  );
  return pairs.map(([request]) => request);
}

/** Pairs of attempts and rows of one endpoint, both in time order. */
function pairsOf(
  attempts: readonly Row[],
  rows: readonly Row[],
  offsetMs: number | undefined,
): (readonly [request: string, row: string])[] {
  const near = toleranceMs({ offsetMs });
  const about = offsetMs ?? 0;
  // Rows far from every attempt belong to other programs.
  const ours = rows.filter((row) => attempts.some((it) => Math.abs(row.at_ms - it.at_ms - about) <= near));
  if (ours.length !== attempts.length) return [];
  const distances = attempts.map((it, index) => (ours[index] as Row).at_ms - it.at_ms);
  if (Math.max(...distances) - Math.min(...distances) > SPREAD_MS) return [];
  return attempts.map((it, index) => [it.id, (ours[index] as Row).id] as const);
}
