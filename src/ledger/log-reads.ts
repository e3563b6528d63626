/** Reads of the request log: by syncs of the log, and by other syncs that resolve lost answers. */
import { type RawBuilder, sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { type Ops, operationsOf } from '../warehouse/connect/operations-db.ts';
import { LOG_ENDPOINT, LOG_TABLE } from '../service/request-log/request-log.ts';
import { syncLease } from './lease.ts';
import { notExists } from '../warehouse/sql/not-exists.ts';

/** A character that no sync name in a config can contain. */
const SEPARATOR = ':';

/** The run name of a sync's own reads of the log; chunks of a shared run read it separately. */
export const logReadName = (sync: string, chunk?: string): string =>
  [sync, 'log', ...(chunk === undefined ? [] : [chunk])].join(SEPARATOR);

/** True for the run name of log reads, which are no runs of a sync. */
export const isLogRead = (name: string): boolean => name.includes(SEPARATOR);

/** SQL for the sync of a row that belongs to a sync or to its log reads. */
export const syncInRow = (column: string): RawBuilder<string> =>
  sql<string>`split_part(${sql.ref(column)}, ${sql.lit(SEPARATOR)}, 1)`;

/** SQL condition that a row belongs to a sync itself, not to its log reads. */
export const isSync = sql<boolean>`strpos(sync, ${SEPARATOR}) = 0`;

/**
 * Returns the start of the newest row that existed when a run began or that the run read, by the service's clock, RFC
 * 3339 with microseconds; undefined if no row started after `after`.
 */
export async function newestLogged(
  ops: Ops,
  schema: string,
  run: { readonly id: string; readonly startedAt: string },
  after: Date,
): Promise<string | undefined> {
  const { rows } = await sql<{ started_at: string | null }>`
    select to_char(max(started_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as started_at
    from ${sql.table(`${schema}.${LOG_TABLE}`)}
    where started_at > ${after.toISOString()}::timestamptz
      and (_run_id = ${run.id} or _first_seen_at <= ${run.startedAt}::timestamptz)`.execute(ops);
  return rows[0]?.started_at ?? undefined;
}

/** Returns the start of the range that a run read of the log; undefined if it read from the log's beginning. */
export async function logReadStart(ops: Ops, runId: string): Promise<Date | undefined> {
  const row = await ops
    .selectFrom('requests')
    .select(
      sql<Date | null>`case when bool_and(body ? 'start_time') then min((body ->> 'start_time')::timestamptz) end`.as(
        'at',
      ),
    )
    .where('run_id', '=', runId)
    .where('parent_id', 'is', null)
    .executeTakeFirstOrThrow();
  return row.at ?? undefined;
}

/** A query for the ids of log reads of other syncs, as `n`. */
const logReads = (ops: Ops) =>
  ops
    .selectFrom('runs as n')
    .select('n.id')
    .where('n.endpoint', '=', LOG_ENDPOINT)
    .where(sql<boolean>`strpos(n.sync, ${SEPARATOR}) > 0`);

/**
 * A query for these reads while no sync reads the log itself, or none did until an instant. Their few ranges must not pass
 * for the complete spending.
 */
const standaloneLogReads = (ops: Ops, until?: Date) =>
  logReads(ops).where((eb) =>
    notExists(
      eb
        .selectFrom('runs as o')
        .select('o.id')
        .where('o.endpoint', '=', LOG_ENDPOINT)
        .where(sql<boolean>`strpos(o.sync, ${SEPARATOR}) = 0`)
        .$if(until !== undefined, (all) => all.where('o.started_at', '<=', until as Date)),
    ),
  );

/**
 * A query for those of these reads whose rows a sync may delete: its own, and those of syncs that no process runs. A
 * running sync may not have matched its rows yet. `name` is the run name of the sync's reads.
 */
export const deletableLogReads = (ops: Ops, name: string) =>
  standaloneLogReads(ops).where((eb) =>
    eb.or([
      eb('n.sync', '=', name),
      eb.fn<boolean>('starts_with', ['n.sync', eb.val(`${name}${SEPARATOR}`)]),
      notExists(
        eb
          .selectFrom('leases as l')
          .select('l.name')
          .where('l.name', '=', sql<string>`${sql.lit(syncLease(''))} || ${syncInRow('n.sync')}`)
          .where('l.expires_at', '>=', sql<Date>`clock_timestamp()`),
      ),
    ]),
  );

type LogReadDb = Pick<Warehouse, 'db' | 'ops'>;

const deletionLock = ({ ops }: LogReadDb): RawBuilder<unknown> => sql`hashtext(${`${ops}.log_reads`})`;

/** The watermark of deletions: the newest read that existed at the last one. */
const DELETIONS = { sync: logReadName(''), name: 'deleted' };

/**
 * A query for the ids of log reads whose rows no replay may load, up to an instant if one is given: standalone ones, and
 * those whose rows were deleted before a sync read the log.
 */
export const deletedLogReads = (ops: Ops, until?: Date) =>
  standaloneLogReads(ops, until).union(
    logReads(ops).innerJoin('marks as d', (on) =>
      on.on('d.sync', '=', DELETIONS.sync).on('d.name', '=', DELETIONS.name).on(sql`d.value::bigint`, '>=', sql`n.id`),
    ),
  );

/** Waits until no transaction deletes rows of log reads. Call it in the transaction that creates the run of a read. */
export async function waitForDeletions(database: LogReadDb): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${deletionLock(database)})`.execute(database.db);
}

/**
 * Records that this transaction deletes rows of log reads. No read that exists now proves any more that a request is not
 * in the log, because it may have brought or found such a row. New reads wait for the end of the transaction.
 */
export async function recordDeletion(database: LogReadDb, at: Date): Promise<void> {
  const { db, ops } = database;
  await sql`select pg_advisory_xact_lock(${deletionLock(database)})`.execute(db);
  await sql`
    insert into ${sql.table(`${ops}.marks`)} (sync, name, value, updated_at)
    select ${DELETIONS.sync}::text, ${DELETIONS.name}::text, max(id)::text, ${at.toISOString()}::timestamptz
    from ${standaloneLogReads(operationsOf(database))} reads having count(*) > 0
    on conflict (sync, name) do update set value = excluded.value, updated_at = excluded.updated_at`.execute(db);
}

/** SQL condition that a run of a log read lost no row by a recorded deletion. */
export const hasItsRows = ({ ops }: Pick<LogReadDb, 'ops'>, run: string): RawBuilder<boolean> => sql`
  (strpos(${sql.ref(`${run}.sync`)}, ${SEPARATOR}) = 0 or ${sql.ref(`${run}.id`)} > coalesce((
    select d.value::bigint from ${sql.table(`${ops}.marks`)} d where d.sync = ${DELETIONS.sync} and d.name = ${DELETIONS.name}), 0))`;
