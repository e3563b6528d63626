/**
 * Makes it cheap to move a request from state to state: no index holds what such a move changes, and pages have room for
 * a row's next version, so that no index is touched. Open requests of a run are found in the order planned.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index "requests_sync_state_idx"`.execute(db);
  await sql`drop index "requests_answer_id_idx"`.execute(db);
  await sql`create index "requests_run_id_id_idx" on "requests" ("run_id", "id")`.execute(db);
  await sql`alter table "requests" set (fillfactor = 50)`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "requests" reset (fillfactor)`.execute(db);
  await sql`drop index "requests_run_id_id_idx"`.execute(db);
  await sql`create index "requests_answer_id_idx" on "requests" ("answer_id")`.execute(db);
  await sql`create index "requests_sync_state_idx" on "requests" ("sync", "state")`.execute(db);
}
