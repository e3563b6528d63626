/** Adds the table of the results of checks. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
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
];

const DOWN = ['drop table "checks"'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
