/** What the request log shows about single requests: their cost and token, and where the log ends. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { anyBigint, anyText, arrayLiteral } from '../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../warehouse/sql/rows-from.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';
import type { UnverifiedPoints } from './summary.ts';
import { hasDied } from '../warehouse/schema/views/sync-columns.ts';
import { quoted } from '../warehouse/sql/identifiers.ts';
import type { RunScope } from './run-scope.ts';
import { UNSETTLED_STATES } from './requests/states.ts';
import { type ReconcileDb, reconcileTables, instant, isOfEndpoint } from './match-log.ts';

interface LedgerDb {
  /** The connection, or the transaction in which the caller is. */
  readonly db: QueryExecutorProvider;
  readonly ops: string;
}

const requestsOf = ({ ops }: Pick<ReconcileDb, 'ops'>) => sql.table(`${ops}.requests`);

export interface LoggedCost {
  /** Points charged for all its rows; undefined while a row is missing or incomplete. */
  readonly charged: number | undefined;
  /** Number of rows that surely belong to this request. */
  readonly rows: number;
}

/** Returns the logged costs of these requests, by id. */
export async function loggedCosts(
  database: ReconcileDb,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LoggedCost>> {
  const { requests, matches } = reconcileTables(database);
  const { rows } = await sql<{ id: string; charged: string | null; rows: number }>`
    select r.id::text as id, r.charged,
      (select count(*) from ${matches} m where m.request_id = r.id and m.match_kind <> 'ambiguous')::int as rows
    from ${requests} r where r.id = ${anyBigint(ids)}`.execute(database.db);
  return new Map(
    rows.map((it) => [it.id, { charged: it.charged === null ? undefined : Number(it.charged), rows: it.rows }]),
  );
}

/** Returns the points of these runs' requests: as charged by the log if known, otherwise by the price list. */
export async function pointsOfRuns(database: ReconcileDb, runIds: readonly string[]): Promise<number> {
  const { requests } = reconcileTables(database);
  const { rows } = await sql<{ points: string }>`
    select coalesce(sum(coalesce(charged, points)), 0) as points from ${requests} where run_id = ${anyBigint(runIds)}`.execute(
    database.db,
  );
  return Number(rows[0]?.points ?? 0);
}

/**
 * Returns the points that may still be charged for all other requests: those in flight, and those sent recently that
 * are not in the log.
 */
export async function outstandingBeside(
  database: ReconcileDb,
  ids: readonly string[],
  { underWaySince, sentSince }: { readonly underWaySince: Date; readonly sentSince: Date },
): Promise<number> {
  const { requests } = reconcileTables(database);
  const { rows } = await sql<{ points: string }>`
    select coalesce(sum(points), 0) as points from ${requests}
    where endpoint <> ${LOG_ENDPOINT} and charged is null and points > 0 and id <> all(${arrayLiteral(ids)}::bigint[])
      and sent_at >= ${instant(underWaySince)}
      and (state = 'sent' or (state <> 'planned' and sent_at >= ${instant(sentSince)}))`.execute(database.db);
  return Number(rows[0]?.points ?? 0);
}

/** Most requests that are read together to learn a price. */
const MOST_UNCONFIRMED = 100;

/** Which earlier requests a run of a sync confirms. */
export interface EarlierRequests {
  readonly sync: string;
  /** All of this sync, for whose price there is only a guess; otherwise only those of runs that died or did not end in order. */
  readonly isPriceGuessed: boolean;
  readonly since: Date;
}

/**
 * Returns the newest requests that cost points and that the log does not confirm. Other runs read the log at their end,
 * and those of other syncs may be active.
 */
export async function unconfirmedRequests(
  database: ReconcileDb,
  { sync, isPriceGuessed, since }: EarlierRequests,
): Promise<readonly { readonly id: string; readonly sync: string; readonly points: number; readonly sentAt: Date }[]> {
  const { requests, runs } = reconcileTables(database);
  const { rows } = await sql<{ id: string; sync: string; points: string; sent_at: Date }>`
    select q.id::text as id, q.sync, q.points, q.sent_at from ${requests} q join ${runs} n on n.id = q.run_id
    where q.endpoint <> ${LOG_ENDPOINT} and q.sent_at >= ${instant(since)} and q.charged is null and q.points > 0
      and (n.state in ('interrupted', 'failed', 'abandoned') or (${sql.raw(hasDied('n', `${quoted(database.ops)}.leases`))})
        or (n.sync = ${sync} and (${isPriceGuessed} or n.state = 'running')))
    order by q.sent_at desc limit ${sql.lit(MOST_UNCONFIRMED)}`.execute(database.db);
  return rows.map(({ sent_at: sentAt, ...it }) => ({ ...it, points: Number(it.points), sentAt }));
}

/** Returns the points that requests may cost which ran at an instant, without those that the log has confirmed since. */
export async function pointsRunningAt(database: ReconcileDb, at: Date): Promise<number> {
  const { requests, answers } = reconcileTables(database);
  const { rows } = await sql<{ points: string }>`
    select coalesce(sum(r.points), 0) as points from ${requests} r left join ${answers} a on a.id = r.answer_id
    where r.sent_at < ${instant(at)} and r.sent_at >= ${instant(new Date(at.getTime() - RUNNING_MS))}
      and r.endpoint <> ${LOG_ENDPOINT} and r.charged is null and (r.state = 'sent' or a.received_at > ${instant(at)})`.execute(
    database.db,
  );
  return Number(rows[0]?.points ?? 0);
}

/** No request runs longer. */
const RUNNING_MS = 3_600_000;

/** What the requests of a continued run had cost when this invocation began with it. */
export interface EarlierPoints {
  /** When this invocation began with the run. */
  readonly startedAt: Date;
  /** The points of requests that earlier invocations sent and this one may send again, by id. */
  readonly pointsBefore: ReadonlyMap<string, number>;
}

/** Returns the points of a run's requests that were sent and may be sent again, by id. */
export async function pointsOfTried(database: LedgerDb, runId: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; points: string }>`
    select r.id::text as id, ${knownPoints(database)} as points from ${requestsOf(database)} r
    where r.run_id = ${runId} and r.attempts > 0 and r.state = ${anyText(UNSETTLED_STATES)}`.execute(database.db);
  return new Map(rows.map(({ id, points }) => [id, Number(points)]));
}

/** Returns the points of a run's requests that an invocation sent, without those of earlier invocations. */
export async function pointsSentSince(
  database: LedgerDb,
  runId: string,
  { startedAt, pointsBefore }: EarlierPoints,
): Promise<number> {
  const earlier = rowsFrom([...pointsBefore], {
    id: ['bigint', ([id]) => id],
    points: ['numeric', ([, points]) => points],
  });
  const { rows } = await sql<{ points: string }>`
    select coalesce(sum(greatest(${knownPoints(database)} - coalesce(b.points, 0), 0)), 0) as points
    from ${requestsOf(database)} r left join ${earlier} b on b.id = r.id
    where r.run_id = ${runId} and r.sent_at >= ${instant(startedAt)}`.execute(database.db);
  return Number(rows[0]?.points ?? 0);
}

/** SQL condition that the log does not show what became of a lost attempt of a request `r`. */
const hasUnknownLoss = ({ ops }: Pick<ReconcileDb, 'ops'>): RawBuilder<boolean> => sql`exists (
  select from ${sql.table(`${ops}.lost_answers`)} d
  where d.request_id = r.id and coalesce(d.verdict, 'unknown') = 'unknown')`;

/** SQL for the points of a request `r` that the log does not confirm, also those of its lost attempts. */
export const unconfirmedPoints = (database: Pick<ReconcileDb, 'ops'>): RawBuilder<string> => sql`case
  when r.charged is null then r.points
  when r.points > r.charged and ${hasUnknownLoss(database)} then r.points - r.charged
  else 0 end`;

const knownPoints = (database: LedgerDb): RawBuilder<string> =>
  sql`coalesce(r.charged, 0) + ${unconfirmedPoints(database)}`;

/** Returns the requests with points that the log does not confirm: of one run, or of all syncs since an instant. */
export async function unverifiedPoints(
  database: LedgerDb,
  which: { readonly runId: string } | { readonly since: Date },
): Promise<UnverifiedPoints> {
  const isOne = 'runId' in which ? sql`r.run_id = ${which.runId}` : sql`r.sent_at >= ${instant(which.since)}`;
  const { rows } = await sql<{ requests: string; points: string }>`
    select count(*) as requests, coalesce(sum(points), 0) as points from (
      select ${unconfirmedPoints(database)} as points from ${requestsOf(database)} r
      where r.endpoint <> ${LOG_ENDPOINT} and ${isOne}
    ) unconfirmed where points > 0`.execute(database.db);
  return { requests: Number(rows[0]?.requests ?? 0), points: Number(rows[0]?.points ?? 0) };
}

/** Returns the newest start of all log rows that were read, by the service's clock; undefined without rows. */
export async function newestStart(database: ReconcileDb): Promise<Date | undefined> {
  const { log } = reconcileTables(database);
  const { rows } = await sql<{ at: Date | null }>`select max(started_at) as at from ${log}`.execute(database.db);
  return rows[0]?.at ?? undefined;
}

/** Returns the start of the only row of an endpoint since an instant, or of all rows; undefined if there are none or several. */
export async function onlyStart(
  database: ReconcileDb,
  endpoint: string,
  since: Date | undefined,
): Promise<Date | undefined> {
  const { log } = reconcileTables(database);
  const { rows } = await sql<{ at: Date }>`
    select c.started_at as at from ${log} c
    where ${since === undefined ? sql`true` : sql`c.started_at > ${instant(since)}`}
      and ${isOfEndpoint(sql`c.endpoint`, sql`${endpoint}`)} limit 2`.execute(database.db);
  return rows.length === 1 ? rows[0]?.at : undefined;
}

/** Returns the token of rows that surely belong to these requests by identifier; undefined if none shows one. */
export async function tokenOf(database: ReconcileDb, ids: readonly string[]): Promise<string | undefined> {
  const { log, matches } = reconcileTables(database);
  const { rows } = await sql<{ token_id: string }>`
    select c.token_id from ${matches} m join ${log} c on c.id = m.log_id
    where m.request_id = ${anyBigint(ids)} and m.match_kind = 'identifier' and c.token_id is not null limit 1`.execute(
    database.db,
  );
  return rows[0]?.token_id;
}

/** Returns the balances in the headers of the answers to these runs' requests, newest first. */
export async function headerBalances(database: ReconcileDb, runIds: readonly string[]): Promise<(string | null)[]> {
  const { requests, answers } = reconcileTables(database);
  const { rows } = await sql<{ points: string | null }>`
    select a.headers ->> 'x-token-points' as points from ${requests} r join ${answers} a on a.request_id = r.id
    where r.run_id = ${anyBigint(runIds)} order by a.id desc`.execute(database.db);
  return rows.map(({ points }) => points);
}

/** Replaces the listed price by the logged charge, for requests of a run or chunk without unresolved lost attempts. */
export async function settleCharged(database: ReconcileDb, { id, chunk }: RunScope): Promise<void> {
  const { requests } = reconcileTables(database);
  const ofChunk = chunk === undefined ? sql`true` : sql`r.chunk = ${chunk}`;
  await sql`
    update ${requests} r set points = r.charged
    where r.run_id = ${id} and ${ofChunk} and r.charged is not null and r.points is distinct from r.charged
      and r.state in ('planned', 'loaded', 'empty', 'quarantined', 'missing', 'failed')
      and not ${hasUnknownLoss(database)}`.execute(database.db);
}
