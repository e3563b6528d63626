/**
 * Filings are no longer looked up by their type through a hash table: its bucket is read to its end for each row that
 * joins it, so a column with a few values made loading slower the more it held.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index "sec_filings_filing_type_idx"`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`create index "sec_filings_filing_type_idx" on "sec_filings" using hash ("filing_type")`.execute(db);
}
