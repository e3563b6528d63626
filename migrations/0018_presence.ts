/** Adds the tables of presence: what the newest answer to each question contains, and what it no longer does. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "question_contents" (
    "request_key" text not null,
    "endpoint" text not null,
    "answer_id" bigint not null,
    "received_at" timestamptz not null,
    "is_complete" boolean not null,
    "was_complete" boolean not null,
    "keys" bytea not null,
    constraint "question_contents_pkey" primary key ("request_key")
  )`,
  `create table "left_entities" (
    "request_key" text not null,
    "key" bytea not null,
    "last_answer_id" bigint not null,
    "last_seen_at" timestamptz not null,
    "gone_answer_id" bigint,
    "gone_at" timestamptz,
    constraint "left_entities_pkey" primary key ("request_key", "key")
  )`,
];

const DOWN = ['drop table "left_entities"', 'drop table "question_contents"'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
