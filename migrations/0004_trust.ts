/** The token's gate over processes, shared limits, lost answers and their rows in the request log, names of one entity. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "gate_slots" (
    "gate" text not null,
    "number" bigint not null,
    "holder" text not null,
    "expires_at" timestamptz not null,
    constraint "gate_slots_pkey" primary key ("gate", "number")
  )`,
  `create table "gate_paces" (
    "gate" text not null,
    "next_at" timestamptz not null,
    constraint "gate_paces_pkey" primary key ("gate")
  )`,
  `create table "spending" (
    "name" text not null,
    "points" numeric not null,
    "updated_at" timestamptz not null,
    constraint "spending_pkey" primary key ("name")
  )`,
  `create table "doubts" (
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
    constraint "doubts_pkey" primary key ("request_id", "attempt"),
    constraint "doubts_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "doubts_run_id_idx" on "doubts" ("run_id")',
  'create index "doubts_sync_noticed_at_idx" on "doubts" ("sync", "noticed_at")',
  `create table "request_cost_matches" (
    "request_id" bigint not null,
    "log_id" uuid not null,
    "sure" text not null,
    "matched_at" timestamptz not null,
    constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
    constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "request_cost_matches_log_id_idx" on "request_cost_matches" ("log_id")',
  `create table "identities" (
    "resource" text not null,
    "kind" text not null,
    "name" text not null,
    "entity" text not null,
    "first_seen_at" timestamptz not null,
    "last_seen_at" timestamptz not null,
    "answer_id" bigint not null,
    constraint "identities_pkey" primary key ("resource", "kind", "name", "entity")
  )`,
  'create index "identities_resource_entity_kind_idx" on "identities" ("resource", "entity", "kind")',
  'alter table "runs" add column "quote" jsonb',
  'alter table "requests" add column "charged" numeric',
  'create index "coverage_sync_request_key_id_idx" on "coverage" ("sync", "request_key", "id")',
];

const DOWN = [
  'drop index "coverage_sync_request_key_id_idx"',
  'alter table "requests" drop column "charged"',
  'alter table "runs" drop column "quote"',
  'drop table "identities"',
  'drop table "request_cost_matches"',
  'drop table "doubts"',
  'drop table "spending"',
  'drop table "gate_paces"',
  'drop table "gate_slots"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
