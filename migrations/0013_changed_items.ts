/** Counts, of the items that were loaded, those that changed rows which were there. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" add column "changed" bigint`.execute(db);
  await sql`alter table "answers" add column "changed" bigint`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "answers" drop column "changed"`.execute(db);
  await sql`alter table "runs" drop column "changed"`.execute(db);
}
