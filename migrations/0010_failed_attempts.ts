/** Attempts that were answered with an error and followed by another, so that their rows of the request log can be found. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "requests" add column "failed_attempts" jsonb`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "requests" drop column "failed_attempts"`.execute(db);
}
