/** Answers without their bodies, after retention or erasure; what is forgotten, by salted digests, and the receipts. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  'alter table "answers" alter column "body" drop not null',
  'alter table "answers" add column "pruned_at" timestamptz',
  'alter table "answers" add column "redacted_at" timestamptz',
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
];

const DOWN = [
  'drop table "forgotten"',
  'drop table "erasures"',
  'drop table "erasure_salts"',
  // Where a body is gone, the columns that say so keep the step from being taken back.
  `update "answers" set "body" = '' where "body" is null`,
  'alter table "answers" drop column "redacted_at"',
  'alter table "answers" drop column "pruned_at"',
  'alter table "answers" alter column "body" set not null',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
