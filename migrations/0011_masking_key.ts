/** Adds the table of the masking key, with which the masked views hash identifiers of people. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "masking_keys" (
    "id" bigint not null,
    "key" bytea not null,
    constraint "masking_keys_pkey" primary key ("id")
  )`,
];

const DOWN = ['drop table "masking_keys"'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
