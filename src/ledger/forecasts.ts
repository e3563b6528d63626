/** Saved forecasts of spending, and how they compare with what was spent since. */
import { sql } from 'kysely';
import { dayOf } from '../day.ts';
import type { ScheduledCost } from '../plan/forecast/scheduled-points.ts';
import { rowsFrom } from '../warehouse/sql/rows-from.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { SQL_STATE, errorCode } from '../warehouse/sql/sql-states.ts';

/** An earlier forecast, for its days that are over. The day on which it was made does not count. */
export interface ForecastScore {
  readonly madeOn: string;
  readonly days: number;
  readonly low: number;
  readonly likely: number;
  readonly high: number;
  /** As charged by the service if known, otherwise by the price list. */
  readonly spent: number;
}

/** The role may not write, or the transaction is read-only. */
const MAY_NOT_WRITE: readonly string[] = [SQL_STATE.insufficientPrivilege, SQL_STATE.readOnlyTransaction];

/**
 * Saves the UTC days of a forecast that end by `until`, and replaces an earlier forecast of the same UTC day. A part of a day
 * could not be compared with the spending of the complete day. Returns false if the role has no right to write: then only
 * the comparison with later spending is missing.
 */
export async function saveForecast(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  costs: readonly ScheduledCost[],
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const madeOn = dayOf(now);
  // The first day after `until` if that is the last millisecond of a day.
  const firstPartial = dayOf(new Date(until.getTime() + 1));
  const days = costs
    .flatMap(({ sync, firings }) =>
      firings.map(({ at, low, likely, high }) => ({ sync, date: dayOf(at), low, likely, high })),
    )
    .filter(({ date }) => date < firstPartial);
  const rows = rowsFrom(days, {
    sync: ['text', ({ sync }) => sync],
    date: ['text', ({ date }) => date],
    low: ['numeric', ({ low }) => low],
    likely: ['numeric', ({ likely }) => likely],
    high: ['numeric', ({ high }) => high],
  });
  try {
    await db.transaction().execute(async (tx) => {
      const table = sql.id(ops, 'forecast_days');
      await sql`delete from ${table} where made_on = ${madeOn}::date`.execute(tx);
      await sql`
        insert into ${table} (made_on, sync, date, low, likely, high)
        select ${madeOn}::date, sync, date::date, sum(low), sum(likely), sum(high) from ${rows} as day group by sync, date
        on conflict (made_on, sync, date) do nothing`.execute(tx);
    });
    return true;
  } catch (error) {
    if (MAY_NOT_WRITE.includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** Returns the newest forecasts with days that are over, newest first. */
export async function readForecastScores(
  { db, schema }: Pick<Warehouse, 'db' | 'schema'>,
  most: number,
): Promise<readonly ForecastScore[]> {
  const { rows } = await sql<ForecastScore>`
    select made_on::text as "madeOn", max(days)::float8 as days, sum(low)::float8 as low, sum(likely)::float8 as likely,
      sum(high)::float8 as high, sum(spent)::float8 as spent
    from ${sql.id(schema, 'forecast_scores')} group by made_on order by made_on desc limit ${most}`.execute(db);
  return rows;
}
