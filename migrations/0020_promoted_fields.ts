/** Counts the answers with a difference from the contract, and lists columns that loads have to fill. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  'alter table "drift" add column "answers" bigint',
  `create table "changed_columns" (
    "table_name" text not null,
    "column_name" text not null,
    constraint "changed_columns_pkey" primary key ("table_name", "column_name")
  )`,
];

const DOWN = ['drop table "changed_columns"', 'alter table "drift" drop column "answers"'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
