/** Reads of the request log: by syncs of the log, and by other syncs that resolve lost answers. */
import { sql } from 'kysely';
import type { Ops } from '../warehouse/connect/operations-db.ts';
import { LOG_ENDPOINT, LOG_TABLE } from '../service/request-log/request-log.ts';

/** A character that no sync name in a config can contain. */
const MARK = ':';

/** The run name of a sync's own reads of the log; chunks of a shared run read it separately. */
export const logReadName = (sync: string, chunk?: string): string =>
  [sync, 'log', ...(chunk === undefined ? [] : [chunk])].join(MARK);

/** SQL condition that a row belongs to a sync itself, not to its log reads. */
export const isSync = sql<boolean>`strpos(sync, ${MARK}) = 0`;

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

/**
 * A query for the ids of other syncs' log reads, while no sync reads the log itself, or none did until an instant. Their
 * few ranges must not pass for the complete spending.
 */
export const standaloneLogReads = (ops: Ops, until?: Date) =>
  ops
    .selectFrom('runs as n')
    .select('n.id')
    .where('n.endpoint', '=', LOG_ENDPOINT)
    .where(sql<boolean>`strpos(n.sync, ${MARK}) > 0`)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('runs as o')
            .select('o.id')
            .where('o.endpoint', '=', LOG_ENDPOINT)
            .where(sql<boolean>`strpos(o.sync, ${MARK}) = 0`)
            .$if(until !== undefined, (all) => all.where('o.started_at', '<=', until as Date)),
        ),
      ),
    );
