/** The limiter, points and lost answers of a token, and forecasts of spending. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "limiter_slots" (
    "token_digest" text not null,
    "number" bigint not null,
    "holder" text not null,
    "expires_at" timestamptz not null,
    constraint "limiter_slots_pkey" primary key ("token_digest", "number")
  )`,
  `create table "limiter_paces" (
    "token_digest" text not null,
    "next_at" timestamptz not null,
    "wanted_at" timestamptz,
    "wanted_by" text,
    constraint "limiter_paces_pkey" primary key ("token_digest")
  )`,
  `create table "balances" (
    "token_digest" text not null,
    "points" numeric not null,
    "logged_at" timestamptz not null,
    "read_at" timestamptz not null,
    "token_id" uuid,
    constraint "balances_pkey" primary key ("token_digest")
  )`,
  `create table "spending" (
    "name" text not null,
    "points" numeric not null,
    "updated_at" timestamptz not null,
    constraint "spending_pkey" primary key ("name")
  )`,
  `create table "request_cost_matches" (
    "request_id" bigint not null,
    "log_id" uuid not null,
    "match_kind" text not null,
    "matched_at" timestamptz not null,
    constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
    constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "request_cost_matches_log_id_request_id_match_kind_idx" on "request_cost_matches" ("log_id", "request_id", "match_kind")',
  `create table "lost_answers" (
    "request_id" bigint not null,
    "attempt" bigint not null,
    "run_id" bigint not null,
    "sync" text not null,
    "endpoint" text not null,
    "sent_at" timestamptz not null,
    "noticed_at" timestamptz not null,
    "reason" text not null,
    "verdict" text,
    "log_id" uuid,
    "points" numeric,
    "settled_at" timestamptz,
    "lost_invocations" bigint default 0 not null,
    constraint "lost_answers_pkey" primary key ("request_id", "attempt"),
    constraint "lost_answers_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "lost_answers_run_id_idx" on "lost_answers" ("run_id")',
  'create index "lost_answers_sync_noticed_at_idx" on "lost_answers" ("sync", "noticed_at")',
  `create table "forecast_days" (
    "made_on" date not null,
    "sync" text not null,
    "date" date not null,
    "low" numeric not null,
    "likely" numeric not null,
    "high" numeric not null,
    constraint "forecast_days_pkey" primary key ("made_on", "sync", "date")
  )`,
];

const DOWN = `drop table
  "forecast_days",
  "lost_answers",
  "request_cost_matches",
  "spending",
  "balances",
  "limiter_paces",
  "limiter_slots"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
