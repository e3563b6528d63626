/** Reads the durations of calls. */
import { sql } from 'kysely';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { EndpointCalls, SlowCall } from '../report.ts';
import { relation, rowsOf, type ReportSource, startOf } from './rows.ts';

/** The durations of answered calls by endpoint, slowest first. */
export const readCalls = (source: ReportSource): Promise<EndpointCalls[]> =>
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

/** The slowest calls, slowest first. */
export async function readSlowest(source: ReportSource): Promise<SlowCall[]> {
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
