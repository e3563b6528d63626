/** Finds requests by when they were sent, for budgets of a day and for the log, without reading the whole ledger. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index "requests_sent_at_idx" on "requests" using brin ("sent_at")`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop index "requests_sent_at_idx"`.execute(db);
}
