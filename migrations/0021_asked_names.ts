/**
 * Tells names that were asked for and answered from names that answers only show. Names learned before count as shown, since
 * some were learned from addresses without their query; a replay learns them anew.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "identities" add column "asked" boolean not null default false`.execute(db);
  await sql`alter table "identities" alter column "asked" drop default`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "identities" drop column "asked"`.execute(db);
}
