/** Counts the answers with a difference from the contract, and lists columns that loads have to fill. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  'alter table "drift" add column "answers" bigint not null default 0',
  // The least number that the times allow; how many answers there were was not recorded.
  'update "drift" set "answers" = case when first_seen_at < last_seen_at then 2 else 1 end',
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
