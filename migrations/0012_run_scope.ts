/** Runs of a part of a sync, such as what failed before. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" add column "scope" text`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" drop column "scope"`.execute(db);
}
