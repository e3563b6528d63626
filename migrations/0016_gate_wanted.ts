/** Tells the processes that share a token’s gate when one of them finds no slot, so that slots move where they are wanted. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "gate_paces" add column "wanted_at" timestamptz, add column "wanted_by" text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "gate_paces" drop column "wanted_at", drop column "wanted_by"`.execute(db);
}
