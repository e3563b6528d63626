/** Indexes with which a status, costs and a report do not read the complete ledger. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  'create index "answers_sync_received_at_endpoint_took_ms_idx" on "answers" ("sync", "received_at", "endpoint", "took_ms")',
  'create index "coverage_bounds_idx" on "coverage" ("sync") where reason IS NOT NULL',
  `create index "coverage_question_idx" on "coverage" (sync, jsonb_hash(filters - 'date_from' - 'date_to'), jsonb_hash(filters))`,
  'create index "request_cost_matches_log_id_request_id_match_kind_idx" on "request_cost_matches" ("log_id", "request_id", "match_kind")',
  'drop index "request_cost_matches_log_id_idx"',
];

const DOWN = [
  'create index "request_cost_matches_log_id_idx" on "request_cost_matches" ("log_id")',
  'drop index "request_cost_matches_log_id_request_id_match_kind_idx"',
  'drop index "coverage_question_idx"',
  'drop index "coverage_bounds_idx"',
  'drop index "answers_sync_received_at_endpoint_took_ms_idx"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
