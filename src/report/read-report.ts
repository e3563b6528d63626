/** Reads a report from the views for analysts, in one snapshot. */
import { sql } from 'kysely';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { inSnapshot } from '../warehouse/connect/in-snapshot.ts';
import { dayNumber, dayOf } from '../day.ts';
import { lastDays } from './figures.ts';
import { readMoney } from './reading/money.ts';
import { type ReportSource, relation, rowsOf, startOf } from './reading/rows.ts';
import { readDrift, readFailingChecks, readQuality, readQuarantine, readSlices, readSyncs } from './reading/syncs.ts';
import type { Report, EndpointCalls, SlowCall, TableGrowth } from './report.ts';
import { LOG_TABLE } from '../service/request-log/request-log.ts';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import { tables } from '../warehouse/schema/tables.ts';

/** A quarter: long enough to show a trend, and short enough for one bar a day. */
const MOST_DAYS = 90;
/** The fewest days shown: a quarter would be mostly empty for a new warehouse. */
const FEWEST_DAYS = 14;

interface ReadOptions {
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

/** The durations of answered calls by endpoint, slowest first. */
const readCalls = (source: ReportSource): Promise<EndpointCalls[]> =>
  rowsOf(
    source,
    sql<EndpointCalls>`
      select endpoint, count(*)::float8 as calls,
        percentile_cont(0.5) within group (order by took_ms) as "medianMs",
        percentile_cont(0.95) within group (order by took_ms) as "p95Ms",
        max(took_ms)::float8 as "longestMs"
      from ${relation(source, 'paid_answers')} where received_at >= ${startOf(source)}::timestamptz
      group by endpoint order by "p95Ms" desc, endpoint`,
  );

const SHOWN_CALLS = 15;

interface CallRow extends Omit<SlowCall, 'input'> {
  readonly requestKey: string;
}

async function readSlowest(source: ReportSource): Promise<SlowCall[]> {
  const calls = await rowsOf(
    source,
    sql<CallRow>`
      select answer_id::text as "answerId", sync, endpoint, request_key as "requestKey", status::float8 as status,
        took_ms::float8 as "tookMs", bytes::float8 as bytes, received_at as "receivedAt"
      from ${relation(source, 'paid_answers')} where received_at >= ${startOf(source)}::timestamptz
      order by took_ms desc, answer_id limit ${sql.lit(SHOWN_CALLS)}`,
  );
  const keys = arrayLiteral(calls.map(({ requestKey }) => requestKey));
  const inputs = await rowsOf(
    source,
    sql<{ sync: string; request_key: string; input_value: string | null }>`
      select sync, request_key, input_value from ${relation(source, 'sync_inputs')} where request_key = any(${keys}::text[])`,
  );
  return calls.map(({ requestKey, ...call }) => ({
    ...call,
    input: inputs.find(({ sync, request_key: key }) => sync === call.sync && key === requestKey)?.input_value ?? null,
  }));
}

/** The growth of each table of entities that has rows; tables of lists and bridge tables are omitted. */
async function readGrowth(source: ReportSource): Promise<TableGrowth[]> {
  const growth: TableGrowth[] = [];
  for (const { name } of tables.filter(({ kind }) => kind === 'root')) {
    const rows = await rowsOf(
      source,
      sql<{ day: string; rows: number }>`
        select seen.day::text as day, count(*)::float8 as rows
        from (select (_first_seen_at at time zone 'UTC')::date as day from ${relation(source, name)}) seen
        group by seen.day order by seen.day`,
    );
    if (rows.length > 0) growth.push({ table: name, byDay: summedUp(source.days, rows) });
  }
  return growth;
}

/** The number of rows at the end of each day. Earlier rows count from the first day on, later ones on the last day. */
function summedUp(days: readonly string[], rows: readonly { readonly day: string; readonly rows: number }[]): number[] {
  const added = days.map(() => 0);
  for (const { day, rows: count } of rows) {
    const from = Math.max(
      0,
      days.findLastIndex((it) => it <= day),
    );
    added[from] = (added[from] ?? 0) + count;
  }
  let sum = 0;
  return added.map((count) => (sum += count));
}
