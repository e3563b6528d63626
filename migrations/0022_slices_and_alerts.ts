/**
 * Slices that the sync no longer requests, and the config of each alert. Removes the slices of answers 412: they read
 * nothing, and hid lower bounds that earlier answers had shown.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "coverage" add column "former" boolean`.execute(db);
  await sql`alter table "alerts" add column "config" text`.execute(db);
  await sql`
    delete from "coverage" c using "requests" r
    where r.id = c.request_id and c.reason is null
      and (r.state = 'missing' or exists (select from "answers" a where a.id = r.answer_id and a.status = 412))
  `.execute(db);
}

/** What was removed said nothing, so nothing returns. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "alerts" drop column "config"`.execute(db);
  await sql`alter table "coverage" drop column "former"`.execute(db);
}
