/** Names tables and columns of the machinery by standard terms, and drops a column that was never written. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  'alter table "gate_slots" rename to "limiter_slots"',
  'alter table "limiter_slots" rename column "gate" to "token_digest"',
  'alter table "limiter_slots" rename constraint "gate_slots_pkey" to "limiter_slots_pkey"',
  'alter table "gate_paces" rename to "limiter_paces"',
  'alter table "limiter_paces" rename column "gate" to "token_digest"',
  'alter table "limiter_paces" rename constraint "gate_paces_pkey" to "limiter_paces_pkey"',
  'alter table "balances" rename column "gate" to "token_digest"',
  'alter table "doubts" rename to "lost_answers"',
  'alter table "lost_answers" rename constraint "doubts_pkey" to "lost_answers_pkey"',
  'alter table "lost_answers" rename constraint "doubts_request_id_fkey" to "lost_answers_request_id_fkey"',
  'alter index "doubts_run_id_idx" rename to "lost_answers_run_id_idx"',
  'alter index "doubts_sync_noticed_at_idx" rename to "lost_answers_sync_noticed_at_idx"',
  'alter table "request_cost_matches" rename column "sure" to "match_kind"',
  'alter table "runs" drop column "summary"',
];

const DOWN = [
  'alter table "runs" add column "summary" jsonb',
  'alter table "request_cost_matches" rename column "match_kind" to "sure"',
  'alter index "lost_answers_sync_noticed_at_idx" rename to "doubts_sync_noticed_at_idx"',
  'alter index "lost_answers_run_id_idx" rename to "doubts_run_id_idx"',
  'alter table "lost_answers" rename constraint "lost_answers_request_id_fkey" to "doubts_request_id_fkey"',
  'alter table "lost_answers" rename constraint "lost_answers_pkey" to "doubts_pkey"',
  'alter table "lost_answers" rename to "doubts"',
  'alter table "balances" rename column "token_digest" to "gate"',
  'alter table "limiter_paces" rename constraint "limiter_paces_pkey" to "gate_paces_pkey"',
  'alter table "limiter_paces" rename column "token_digest" to "gate"',
  'alter table "limiter_paces" rename to "gate_paces"',
  'alter table "limiter_slots" rename constraint "limiter_slots_pkey" to "gate_slots_pkey"',
  'alter table "limiter_slots" rename column "token_digest" to "gate"',
  'alter table "limiter_slots" rename to "gate_slots"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
