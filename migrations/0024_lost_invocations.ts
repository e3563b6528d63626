/** Counts the invocations in which no answer to a request arrived, so that it is not bought for ever. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "doubts" add column "lost_invocations" bigint not null default 0`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "doubts" drop column "lost_invocations"`.execute(db);
}
