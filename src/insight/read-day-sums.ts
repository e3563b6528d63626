/** Reads the sums by day once, for all statements that derive figures from them. */
import { type RawBuilder, sql } from 'kysely';
import type { ReconcileDb } from '../ledger/match-log.ts';

/** The rows of the views of sums by day, as table expressions with the columns of the views. */
export interface SumsByDay {
  readonly costs: RawBuilder<unknown>;
  readonly requests: RawBuilder<unknown>;
  readonly results: RawBuilder<unknown>;
}

/** The sums of all days. They return to the database as JSON, so no digit is lost, and days without stored sums are computed once. */
export async function readDaySums({ db, schema }: Pick<ReconcileDb, 'db' | 'schema'>): Promise<SumsByDay> {
  const sumsOf = async (view: string): Promise<RawBuilder<unknown>> => {
    const relation = sql.table(`${schema}.${view}`);
    const { rows } = await sql<{ all: string }>`
      select coalesce(jsonb_agg(to_jsonb(s)), '[]')::text as all from ${relation} s`.execute(db);
    return sql`jsonb_populate_recordset(null::${relation}, ${rows[0]?.all ?? '[]'}::jsonb)`;
  };
  return {
    costs: await sumsOf('daily_run_costs'),
    requests: await sumsOf('daily_requests'),
    results: await sumsOf('daily_results'),
  };
}
