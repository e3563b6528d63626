/** The limiter, points and lost answers of a token; alerts, erasures and rebuilds. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "alerts" (
    "sync" text not null,
    "kind" text not null,
    "state" text not null,
    "since" timestamptz not null,
    "because" text not null,
    "next" text,
    "run_id" text,
    "tried_at" timestamptz,
    "webhook_at" timestamptz,
    "command_at" timestamptz,
    constraint "alerts_pkey" primary key ("sync", "kind")
  )`,
  `create table "balances" (
    "gate" text not null,
    "points" numeric not null,
    "logged_at" timestamptz not null,
    "read_at" timestamptz not null,
    "token_id" uuid,
    constraint "balances_pkey" primary key ("gate")
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
    "lost_invocations" bigint default 0 not null,
    constraint "doubts_pkey" primary key ("request_id", "attempt"),
    constraint "doubts_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "doubts_run_id_idx" on "doubts" ("run_id")',
  'create index "doubts_sync_noticed_at_idx" on "doubts" ("sync", "noticed_at")',
  `create table "erasure_salts" (
    "id" bigint not null,
    "salt" bytea not null,
    constraint "erasure_salts_pkey" primary key ("id")
  )`,
  `create table "erasures" (
    "id" bigint generated always as identity not null,
    "table_name" text not null,
    "digest" text not null,
    "erased_at" timestamptz not null,
    "row_counts" jsonb not null,
    "answers" bigint not null,
    "bodies" bigint not null,
    "requests" bigint not null,
    "spooled" bigint,
    "comes_again" boolean not null,
    constraint "erasures_pkey" primary key ("id")
  )`,
  'create index "erasures_digest_idx" on "erasures" ("digest")',
  `create table "forgotten" (
    "digest" text not null,
    "erasure_id" bigint not null,
    constraint "forgotten_pkey" primary key ("digest", "erasure_id"),
    constraint "forgotten_erasure_id_fkey" foreign key ("erasure_id") references "erasures" ("id") on delete cascade
  )`,
  'create index "forgotten_erasure_id_idx" on "forgotten" ("erasure_id")',
  `create table "gate_paces" (
    "gate" text not null,
    "next_at" timestamptz not null,
    "wanted_at" timestamptz,
    "wanted_by" text,
    constraint "gate_paces_pkey" primary key ("gate")
  )`,
  `create table "gate_slots" (
    "gate" text not null,
    "number" bigint not null,
    "holder" text not null,
    "expires_at" timestamptz not null,
    constraint "gate_slots_pkey" primary key ("gate", "number")
  )`,
  `create table "identities" (
    "resource" text not null,
    "kind" text not null,
    "name" text not null,
    "entity" text not null,
    "first_seen_at" timestamptz not null,
    "last_seen_at" timestamptz not null,
    "answer_id" bigint not null,
    "asked" boolean not null,
    constraint "identities_pkey" primary key ("resource", "kind", "name", "entity")
  )`,
  'create index "identities_resource_entity_kind_idx" on "identities" ("resource", "entity", "kind")',
  `create table "rebuilds" (
    "id" text not null,
    "schema_name" text not null,
    "started_at" timestamptz not null,
    constraint "rebuilds_pkey" primary key ("id")
  )`,
  `create table "request_cost_matches" (
    "request_id" bigint not null,
    "log_id" uuid not null,
    "sure" text not null,
    "matched_at" timestamptz not null,
    constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
    constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
  )`,
  'create index "request_cost_matches_log_id_idx" on "request_cost_matches" ("log_id")',
  `create table "spending" (
    "name" text not null,
    "points" numeric not null,
    "updated_at" timestamptz not null,
    constraint "spending_pkey" primary key ("name")
  )`,
];

const DOWN = `drop table
  "spending",
  "request_cost_matches",
  "rebuilds",
  "identities",
  "gate_slots",
  "gate_paces",
  "forgotten",
  "erasures",
  "erasure_salts",
  "doubts",
  "balances",
  "alerts"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
