/** Keeps the balance that the request log showed last, by token, for limits that keep points and for `plan`. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "balances" (
    "gate" text not null,
    "points" numeric not null,
    "logged_at" timestamp with time zone not null,
    "read_at" timestamp with time zone not null,
    "token_id" uuid,
    constraint "balances_pkey" primary key ("gate")
  )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "balances"`.execute(db);
}
