/** Reads a report from the views for analysts, in one snapshot. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { inSnapshot } from '../warehouse/connect/in-snapshot.ts';
import { dayNumber, dayOf } from '../day.ts';
import { lastDays } from './figures.ts';
import { readCalls, readSlowest } from './reading/calls.ts';
import { readMoney } from './reading/money.ts';
import type { ReportSource } from './reading/rows.ts';
import { readDrift, readFailingChecks, readQuality, readQuarantine, readSlices, readSyncs } from './reading/syncs.ts';
import { readGrowth } from './reading/tables.ts';
import type { Report } from './report.ts';
import { LOG_TABLE } from '../service/request-log/request-log.ts';

/** A quarter: long enough to show a trend, and short enough for one bar a day. */
const MOST_DAYS = 90;
/** The fewest days shown: a quarter would be mostly empty for a new warehouse. */
const FEWEST_DAYS = 14;

export interface ReadOptions {
  readonly now: Date;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
}

/** The report of a warehouse that has the schema. One transaction reads it, so that its figures agree. */
export function readReport(
  { db, schema }: Pick<Warehouse, 'db' | 'schema'>,
  { now, redact }: ReadOptions,
): Promise<Report> {
  return inSnapshot(db, async (tx) => {
    const source: ReportSource = { db: tx, schema, redact, days: await shownDays(tx, schema, now) };
    const money = await readMoney(source);
    return {
      madeAt: now,
      schema,
      days: source.days,
      ...(money && { money }),
      syncs: await readSyncs(source),
      failingChecks: await readFailingChecks(source),
      ...(await readSlices(source)),
      growth: await readGrowth(source),
      quality: await readQuality(source),
      quarantine: await readQuarantine(source),
      drift: await readDrift(source),
      calls: await readCalls(source),
      slowest: await readSlowest(source),
    };
  });
}

/** The UTC days to show, oldest first: since the first run or logged request, within bounds. */
export async function shownDays(db: Warehouse['db'], schema: string, now: Date): Promise<readonly string[]> {
  const { rows } = await sql<{ first: Date | null }>`
    select least(
      (select min(started_at) from ${sql.table(`${schema}.sync_runs`)}),
      (select min(started_at) from ${sql.table(`${schema}.${LOG_TABLE}`)})
    ) as first`.execute(db);
  const first = rows[0]?.first ?? now;
  const sinceFirst = dayNumber(dayOf(now)) - dayNumber(dayOf(first)) + 1;
  return lastDays(Math.min(MOST_DAYS, Math.max(FEWEST_DAYS, sinceFirst)), now);
}

/** The report of a warehouse that never had the schema. */
export const emptyReport = (schema: string, now: Date): Report => ({
  madeAt: now,
  schema,
  days: lastDays(FEWEST_DAYS, now),
  syncs: [],
  failingChecks: [],
  coverage: [],
  truncated: [],
  growth: [],
  quality: [],
  quarantine: { byDay: [], reasons: [] },
  drift: [],
  calls: [],
  slowest: [],
});
