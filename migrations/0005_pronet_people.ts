/** Analyst tables of people, companies and industries of the professional network. */
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
  `create table "pronet_companies" (
    "internal_id_type" text,
    "internal_id_value" text,
    "name" text,
    "urn_type" text not null,
    "urn_value" text not null,
    "url" text,
    "alias" text,
    "industry_type" text,
    "industry_value" text,
    "industry_full_urn_type" text,
    "industry_full_urn_value" text,
    "industry_full_name" text,
    "industry_full_hierarchy" text,
    "industry_full_description" text,
    "employee_range" text,
    "logo_url" text,
    "headline" text,
    "image" text,
    "extra" jsonb,
    "_detail" text not null,
    ${ORIGIN}
    constraint "pronet_companies_pkey" primary key ("urn_type", "urn_value")
  )`,
  'create index "pronet_companies_alias_idx" on "pronet_companies" using hash ("alias")',
  `create table "pronet_company_changes" (
    "company_urn_type" text not null,
    "company_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_company_changes_pkey" primary key ("company_urn_type", "company_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_company_changes_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_company_changes_changed_at_idx" on "pronet_company_changes" ("changed_at")',
  `create table "pronet_industries" (
    "urn_type" text not null,
    "urn_value" text not null,
    "name" text,
    "hierarchy" text,
    "description" text,
    "extra" jsonb,
    "_detail" text not null,
    ${ORIGIN}
    constraint "pronet_industries_pkey" primary key ("urn_type", "urn_value")
  )`,
  `create table "pronet_industry_changes" (
    "industry_urn_type" text not null,
    "industry_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_industry_changes_pkey" primary key ("industry_urn_type", "industry_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_industry_changes_industry_urn_type_industr_314d976e_fkey" foreign key ("industry_urn_type", "industry_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_industry_changes_changed_at_idx" on "pronet_industry_changes" ("changed_at")',
  `create table "pronet_users" (
    "internal_id_type" text,
    "internal_id_value" text,
    "urn_type" text not null,
    "urn_value" text not null,
    "name" text,
    "alias" text,
    "url" text,
    "image" text,
    "headline" text,
    "location" text,
    "open_to_work" boolean,
    "extra" jsonb,
    "_detail" text not null,
    ${ORIGIN}
    constraint "pronet_users_pkey" primary key ("urn_type", "urn_value")
  )`,
  'create index "pronet_users_alias_idx" on "pronet_users" using hash ("alias")',
  `create table "pronet_user_changes" (
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_user_changes_pkey" primary key ("user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_user_changes_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_user_changes_changed_at_idx" on "pronet_user_changes" ("changed_at")',
  `create table "pronet_user_educations" (
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    "position" bigint not null,
    "company_name" text,
    "company_urn_type" text,
    "company_urn_value" text,
    "company_url" text,
    "company_alias" text,
    "company_industry_type" text,
    "company_industry_value" text,
    "company_industry_full_urn_type" text,
    "company_industry_full_urn_value" text,
    "company_industry_full_name" text,
    "company_industry_full_hierarchy" text,
    "company_industry_full_description" text,
    "company_employee_range" text,
    "company_logo_url" text,
    "major" text,
    "interval" text,
    "description" text,
    "extra" jsonb,
    ${ORIGIN}
    constraint "pronet_user_educations_pkey" primary key ("user_urn_type", "user_urn_value", "position"),
    constraint "pronet_user_educations_company_industry_full_urn__43e90c30_fkey" foreign key ("company_industry_full_urn_type", "company_industry_full_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
    constraint "pronet_user_educations_company_industry_type_comp_baeb4832_fkey" foreign key ("company_industry_type", "company_industry_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
    constraint "pronet_user_educations_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete set null
  )`,
  'create index "pronet_user_educations_company_industry_full_urn_t_80f09323_idx" on "pronet_user_educations" ("company_industry_full_urn_type", "company_industry_full_urn_value")',
  'create index "pronet_user_educations_company_industry_type_compa_dc52832f_idx" on "pronet_user_educations" ("company_industry_type", "company_industry_value")',
  'create index "pronet_user_educations_company_urn_type_company_urn_value_idx" on "pronet_user_educations" ("company_urn_type", "company_urn_value")',
  `create table "pronet_user_education_changes" (
    "education_user_urn_type" text not null,
    "education_user_urn_value" text not null,
    "education_position" bigint not null,
    ${CHANGE}
    constraint "pronet_user_education_changes_pkey" primary key ("education_user_urn_type", "education_user_urn_value", "education_position", "attribute", "changed_at", "_answer_id")
  )`,
  'create index "pronet_user_education_changes_changed_at_idx" on "pronet_user_education_changes" ("changed_at")',
  `create table "pronet_user_search_hits" (
    "sync" text not null,
    "request_key" text not null,
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    "position" bigint,
    "_answer_id" bigint not null,
    constraint "pronet_user_search_hits_pkey" primary key ("sync", "request_key", "user_urn_type", "user_urn_value"),
    constraint "pronet_user_search_hits_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_user_search_hits_user_urn_type_user_urn_value_idx" on "pronet_user_search_hits" ("user_urn_type", "user_urn_value")',
];

const DOWN = `drop table
  "pronet_user_search_hits",
  "pronet_user_education_changes",
  "pronet_user_educations",
  "pronet_user_changes",
  "pronet_users",
  "pronet_industry_changes",
  "pronet_industries",
  "pronet_company_changes",
  "pronet_companies"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
