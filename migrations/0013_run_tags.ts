/** Tags of the sync, in each of its runs. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" add column "tags" jsonb`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" drop column "tags"`.execute(db);
}
