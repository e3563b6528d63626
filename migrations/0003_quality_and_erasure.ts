/** Differences from the contract, checks, alerts, presence, erasure and masking. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "drift" (
    "resource" text not null,
    "path" text not null,
    "kind" text not null,
    "count" bigint not null,
    "first_seen_at" timestamptz not null,
    "last_seen_at" timestamptz not null,
    "sample_type" text not null,
    "answers" bigint,
    constraint "drift_pkey" primary key ("resource", "path", "kind")
  )`,
  `create table "changed_columns" (
    "table_name" text not null,
    "column_name" text not null,
    constraint "changed_columns_pkey" primary key ("table_name", "column_name")
  )`,
  `create table "checks" (
    "run_id" bigint not null,
    "name" text not null,
    "sync" text not null,
    "kind" text not null,
    "severity" text not null,
    "status" text not null,
    "found" numeric,
    "allowed" text not null,
    "message" text not null,
    "at" timestamptz not null,
    constraint "checks_pkey" primary key ("run_id", "name"),
    constraint "checks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
  )`,
  'create index "checks_sync_name_run_id_idx" on "checks" ("sync", "name", "run_id")',
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
    "config" text,
    constraint "alerts_pkey" primary key ("sync", "kind")
  )`,
  `create table "question_contents" (
    "request_key" text not null,
    "endpoint" text not null,
    "answer_id" bigint not null,
    "received_at" timestamptz not null,
    "is_complete" boolean not null,
    "was_complete" boolean not null,
    "keys" bytea not null,
    constraint "question_contents_pkey" primary key ("request_key")
  )`,
  `create table "left_entities" (
    "request_key" text not null,
    "key" bytea not null,
    "last_answer_id" bigint not null,
    "last_seen_at" timestamptz not null,
    "gone_answer_id" bigint,
    "gone_at" timestamptz,
    constraint "left_entities_pkey" primary key ("request_key", "key")
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
  `create table "masking_keys" (
    "id" bigint not null,
    "key" bytea not null,
    constraint "masking_keys_pkey" primary key ("id")
  )`,
];

const DOWN = `drop table
  "masking_keys",
  "forgotten",
  "erasures",
  "erasure_salts",
  "rebuilds",
  "identities",
  "left_entities",
  "question_contents",
  "alerts",
  "checks",
  "changed_columns",
  "drift"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
