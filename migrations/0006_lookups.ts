/**
 * Looks texts up by trees instead of hash tables: a hash table's bucket is read to its end for each row that joins it, so
 * a column with few values made loading slower the more it held. These trees take texts of any length too.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const LOOKED_UP = [
  ['fact_request_costs', 'response_request_id'],
  ['web_pages', 'requested_url'],
  ['sec_filings', 'filing_type'],
  ['sec_filing_ciks', 'cik'],
  ['pronet_users', 'alias'],
  ['pronet_companies', 'alias'],
  ['pronet_posts', 'author_urn_value'],
  ['microblog_users', 'alias'],
  ['photoshare_users', 'alias'],
  ['photoshare_posts', 'code'],
] as const;

const rebuild = async (db: Kysely<unknown>, using: 'spgist' | 'hash'): Promise<void> => {
  for (const [table, column] of LOOKED_UP) {
    const index = `${table}_${column}_idx`;
    await sql`drop index ${sql.id(index)}`.execute(db);
    await sql`create index ${sql.id(index)} on ${sql.id(table)} using ${sql.raw(using)} (${sql.id(column)})`.execute(
      db,
    );
  }
};

export const up = (db: Kysely<unknown>): Promise<void> => rebuild(db, 'spgist');

export const down = (db: Kysely<unknown>): Promise<void> => rebuild(db, 'hash');
