/** Names the spools of a run, so that a later run knows where answers can be that the database could not take. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "runs" add column "spools" jsonb`.execute(db);
  await sql`alter table "chunks" add column "spools" jsonb`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "chunks" drop column "spools"`.execute(db);
  await sql`alter table "runs" drop column "spools"`.execute(db);
}
