/** A table of alerts, so that each is told once. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "alerts" (
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
  )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "alerts"`.execute(db);
}
