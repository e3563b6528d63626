/**
 * Stores the sums of days that ended at least 48 hours ago, so that readers of costs need only the rows of the other
 * days. Decision 23 has the rules.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Notice } from '../../ledger/summary.ts';
import { NEWEST_CLOSED, periodsOf } from '../../warehouse/schema/closed-days/periods.ts';
import { daySums, FORMULA, STORED_DAYS } from '../../warehouse/schema/closed-days/sums.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { errorCode } from '../../warehouse/sql/errors.ts';
import { literal, quoted, quotedList } from '../../warehouse/sql/identifiers.ts';
import { changeTriggerDrift } from '../../warehouse/migrate/change-triggers.ts';

/** How long a call works; the next one continues. After an upgrade, this spreads the work over some syncs. */
const WORK_MS = 3000;
/** Rows of earlier days are absurd, and their sums are never stored. */
const OLDEST = '2000-01-01T00:00:00Z';
/** Number of days in a transaction: most days without rows cost next to nothing. */
const DAYS = 3;
/** Other processes use the days, or change the rows that are read. The next call tries again. */
const BUSY = ['55P03', '40001', '40P01'];

interface CloseOptions {
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly onNotice: (notice: Notice) => void;
  /** How long to work (default: some seconds). */
  readonly workMs?: number;
}

/** Stores the sums of closed days that have none, newest first, for a limited time. An error becomes a notice. */
export async function closeDays(warehouse: Warehouse, options: CloseOptions): Promise<void> {
  const { now, signal, onNotice, workMs = WORK_MS } = options;
  const startedMs = now().getTime();
  try {
    while (!signal.aborted && now().getTime() - startedMs < workMs)
      if ((await closeSome(warehouse, DAYS)) < DAYS) return;
  } catch (error) {
    if (BUSY.includes(errorCode(error) ?? '')) return;
    const message = error instanceof Error ? error.message : String(error);
    onNotice({ level: 'warn', message: `sums of earlier days were not stored, so costs take longer: ${message}` });
  }
}

/**
 * Stores the sums of the newest days without any, at most `most`, and returns how many days there were. One transaction
 * reads all rows in one snapshot. It deletes only the changes that it sees, so a change of a concurrent transaction is
 * either in the sums or stays recorded.
 */
export function closeSome({ db, schema, ops }: Warehouse, most: number): Promise<number> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const run = async <T>(statement: string): Promise<T[]> => (await sql.raw<T>(statement).execute(tx)).rows;
      await run(`set local search_path to ${quoted(schema)}, ${quoted(ops)}, pg_temp`);
      // Only one process works. The lock comes before the snapshot, so that the snapshot shows what the last one did.
      await run('lock table closed_days in share row exclusive mode nowait');
      // After a wrong clock was set right, days may be stored that are not over.
      await run(`delete from closed_days where day > ${NEWEST_CLOSED}`);
      if (!(await isSafe(tx, { schema, ops }))) return 0;
      const found = await run<{ day: string }>(`
        select d.day::date::text as day
        from generate_series(
          date_trunc('day', greatest(
            least((select min(started_at) from runs), (select min(started_at) from ${LOG_TABLE})), '${OLDEST}'
          ) at time zone 'UTC'),
          ${NEWEST_CLOSED}::timestamp, interval '1 day') as d(day)
        where d.day::date not in (${STORED_DAYS}) order by 1 desc limit ${most}`);
      if (found.length > 0) await store(run, `${literal(`{${found.map(({ day }) => day).join(',')}}`)}::date[]`);
      return found.length;
    });
}

/** Replaces the stored sums of these days. */
async function store(run: (statement: string) => Promise<unknown>, days: string): Promise<void> {
  for (const { table, columns, over } of daySums) {
    await run(`delete from ${table} where date = any(${days})`);
    await run(
      `insert into ${table} (${quotedList(columns)}) select ${quotedList(columns)} from (${over(periodsOf(days))}) s`,
    );
  }
  await run(`delete from changed_days where day = any(${days})`);
  await run(`
    insert into closed_days (day, formula) select day, '${FORMULA}' from unnest(${days}) as d(day)
    on conflict (day) do update set formula = excluded.formula`);
}

/**
 * False if changes may not have been recorded: a trigger is missing, or a transaction is so old that it took days for
 * young that are closed now. Postgres shows the transactions of other roles only to some roles.
 */
async function isSafe(tx: QueryExecutorProvider, names: Pick<Warehouse, 'schema' | 'ops'>): Promise<boolean> {
  if ((await changeTriggerDrift(tx, names)).length > 0) {
    await sql`delete from closed_days`.execute(tx);
    return false;
  }
  const { rows } = await sql<{ is_old: boolean }>`
    select exists (select from pg_stat_activity where xact_start < now() - interval '12 hours')
      or exists (select from pg_prepared_xacts where prepared < now() - interval '12 hours') as is_old`.execute(tx);
  return rows[0]?.is_old !== true;
}
