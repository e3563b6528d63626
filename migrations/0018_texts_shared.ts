/**
 * Texts that many rows share are looked up in trees. In a hash table such rows lie in one chain, which is read to its end
 * for each that joins it: a filing added to ten million took three times as long.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const SHARED = [
  ['sec_filing_ciks', 'cik'],
  ['pronet_posts', 'author_urn_value'],
] as const;

export const up = (db: Kysely<unknown>): Promise<void> => index(db, 'spgist');
export const down = (db: Kysely<unknown>): Promise<void> => index(db, 'hash');

async function index(db: Kysely<unknown>, method: 'spgist' | 'hash'): Promise<void> {
  for (const [table, column] of SHARED) {
    const name = sql.id(`${table}_${column}_idx`);
    await sql`drop index ${name}`.execute(db);
    await sql`create index ${name} on ${sql.id(table)} using ${sql.raw(method)} (${sql.id(column)})`.execute(db);
  }
}
