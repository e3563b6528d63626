/** Removes the slices of answers 412. They read nothing, and hid lower bounds that earlier answers had shown. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    delete from "coverage" c using "requests" r
    where r.id = c.request_id and c.reason is null
      and (r.state = 'missing' or exists (select from "answers" a where a.id = r.answer_id and a.status = 412))
  `.execute(db);
}

/** What was removed said nothing, so nothing returns. */
export async function down(): Promise<void> {}
