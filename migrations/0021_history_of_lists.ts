/**
 * Adds the logs of keyed lists. The log of educations loses its foreign key, because answers remove educations and their
 * log stays.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const EDUCATION_KEY = 'pronet_user_education_changes_education_user_urn__e2565e0d_fkey';

const UP = [
  `create table "pronet_group_industry_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "type" text not null,
    "value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_group_industry_changes_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_industry_changes_group_urn_type_grou_fed9fc48_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_industry_changes_changed_at_idx" on "pronet_group_industry_changes" ("changed_at")',
  `create table "pronet_group_member_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_group_member_changes_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_member_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_member_changes_changed_at_idx" on "pronet_group_member_changes" ("changed_at")',
  `alter table "pronet_user_education_changes" drop constraint "${EDUCATION_KEY}"`,
];

const DOWN = [
  `alter table "pronet_user_education_changes" add constraint "${EDUCATION_KEY}"
    foreign key ("education_user_urn_type", "education_user_urn_value", "education_position")
    references "pronet_user_educations" ("user_urn_type", "user_urn_value", "position") on delete cascade`,
  'drop table "pronet_group_member_changes"',
  'drop table "pronet_group_industry_changes"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
