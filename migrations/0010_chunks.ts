/** Lets several workers share a run: its requests belong to chunks, each of which one worker at a time carries out. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "chunks" (
    "run_id" bigint not null,
    "number" bigint not null,
    "state" text not null,
    "requests" bigint not null,
    "exit_code" bigint,
    "error" text,
    "next" text,
    "ended_at" timestamptz,
    constraint "chunks_pkey" primary key ("run_id", "number"),
    constraint "chunks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
  )`,
  'alter table "requests" add column "chunk" bigint',
  'create index "requests_run_id_chunk_id_idx" on "requests" ("run_id", "chunk", "id") where chunk IS NOT NULL',
];

const DOWN = [
  'drop index "requests_run_id_chunk_id_idx"',
  'alter table "requests" drop column "chunk"',
  'drop table "chunks"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
