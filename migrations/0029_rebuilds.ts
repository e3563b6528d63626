/** Records the schemas that rebuilds create, so that a rebuild removes no schema but those. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table "rebuilds" (
      "id" text not null,
      "schema_name" text not null,
      "started_at" timestamptz not null,
      constraint "rebuilds_pkey" primary key ("id")
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "rebuilds"`.execute(db);
}
