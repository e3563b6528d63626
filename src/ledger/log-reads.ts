/** Readings of the request log: by its own syncs, and those that other syncs make to find out about answers they lost. */
import { sql } from 'kysely';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** The endpoint that the log is read from. */
export const LOG_ENDPOINT = 'token.requests';

/** No name in a config can hold it. */
const MARK = ':';

/** The name under which a sync's own readings of the log are kept; chunks of a shared run read it each for themselves. */
export const logReadName = (sync: string, chunk?: string): string =>
  [sync, 'log', ...(chunk === undefined ? [] : [chunk])].join(MARK);

/** True of what is a sync's own, and not of such a reading. */
export const isSync = sql<boolean>`strpos(sync, ${MARK}) = 0`;

/**
 * The start of the newest row that was there when a run began or that it brought itself, RFC 3339 with microseconds by
 * the service's clock; undefined when none started after an instant.
 */
export async function newestLogged(
  ops: Ops,
  schema: string,
  run: { readonly id: string; readonly startedAt: string },
  after: Date,
): Promise<string | undefined> {
  const { rows } = await sql<{ started_at: string | null }>`
    select to_char(max(started_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as started_at
    from ${sql.table(`${schema}.fact_request_costs`)}
    where started_at > ${after.toISOString()}::timestamptz
      and (_run_id = ${run.id} or _first_seen_at <= ${run.startedAt}::timestamptz)`.execute(ops);
  return rows[0]?.started_at ?? undefined;
}

/** Where the stretch begins that a run read of the log; undefined when it began with the log itself. */
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
 * SQL for the ids of the readings of other syncs, as long as no sync reads the log itself: the few stretches of the log
 * that these brought would be taken for all that was spent.
 */
export const standaloneLogReads = (opsSchema: string) => {
  const runs = sql.id(opsSchema, 'runs');
  return sql`select r.id from ${runs} r where r.endpoint = ${LOG_ENDPOINT} and strpos(r.sync, ${MARK}) > 0
    and not exists (select from ${runs} o where o.endpoint = ${LOG_ENDPOINT} and strpos(o.sync, ${MARK}) = 0)`;
};
