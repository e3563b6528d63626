/** Analyst tables of groups of the professional network. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

/** The columns of every root table about its origin and changes. */
const ORIGIN = `"_first_seen_at" timestamptz not null,
    "_changed_at" timestamptz not null,
    "_run_id" bigint not null,
    "_answer_id" bigint not null,
    "_content_hash" text not null,
    "_part_hashes" text not null,`;

/** The columns of every change log about the change. */
const CHANGE = `"attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,`;

const UP = [
  `create table "pronet_groups" (
    "urn_type" text not null,
    "urn_value" text not null,
    "name" text,
    "url" text,
    "member_count" bigint,
    "image" text,
    "created_at" timestamptz,
    "created_at_epoch" bigint,
    "description" text,
    "rules" text,
    "geo_type" text,
    "geo_value" text,
    "industries_count" bigint,
    "members_count" bigint,
    "extra" jsonb,
    ${ORIGIN}
    constraint "pronet_groups_pkey" primary key ("urn_type", "urn_value")
  )`,
  `create table "pronet_group_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_group_changes_pkey" primary key ("group_urn_type", "group_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_changes_changed_at_idx" on "pronet_group_changes" ("changed_at")',
  `create table "fact_pronet_group_daily" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "date" date not null,
    "member_count" bigint,
    "_seen_at" timestamptz not null,
    "_answer_id" bigint not null,
    "_earlier" jsonb,
    constraint "fact_pronet_group_daily_pkey" primary key ("group_urn_type", "group_urn_value", "date"),
    constraint "fact_pronet_group_daily_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "fact_pronet_group_daily_date_idx" on "fact_pronet_group_daily" ("date")',
  `create table "pronet_group_industries" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "type" text not null,
    "value" text not null,
    "extra" jsonb,
    constraint "pronet_group_industries_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value"),
    constraint "pronet_group_industries_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
    constraint "pronet_group_industries_type_value_fkey" foreign key ("type", "value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_industries_type_value_idx" on "pronet_group_industries" ("type", "value")',
  `create table "pronet_group_industry_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "type" text not null,
    "value" text not null,
    ${CHANGE}
    constraint "pronet_group_industry_changes_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_industry_changes_group_urn_type_grou_fed9fc48_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_industry_changes_changed_at_idx" on "pronet_group_industry_changes" ("changed_at")',
  `create table "pronet_group_members" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    "user_name" text,
    "user_alias" text,
    "user_url" text,
    "user_headline" text,
    "role" text,
    "joined_at" timestamptz,
    "joined_at_epoch" bigint,
    "extra" jsonb,
    constraint "pronet_group_members_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value"),
    constraint "pronet_group_members_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
    constraint "pronet_group_members_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_members_user_urn_type_user_urn_value_idx" on "pronet_group_members" ("user_urn_type", "user_urn_value")',
  `create table "pronet_group_member_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_group_member_changes_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_member_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_member_changes_changed_at_idx" on "pronet_group_member_changes" ("changed_at")',
];

const DOWN = `drop table
  "pronet_group_member_changes",
  "pronet_group_members",
  "pronet_group_industry_changes",
  "pronet_group_industries",
  "fact_pronet_group_daily",
  "pronet_group_changes",
  "pronet_groups"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
