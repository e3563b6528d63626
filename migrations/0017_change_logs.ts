/** Adds the logs of attribute changes of the remaining entities. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const UP = [
  `create table "web_page_changes" (
    "page_key" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "web_page_changes_pkey" primary key ("page_key", "attribute", "changed_at", "_answer_id"),
    constraint "web_page_changes_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
  )`,
  'create index "web_page_changes_changed_at_idx" on "web_page_changes" ("changed_at")',
  `create table "sec_filing_changes" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "sec_filing_changes_pkey" primary key ("filing_accession_number", "filing_file_name", "attribute", "changed_at", "_answer_id"),
    constraint "sec_filing_changes_filing_accession_number_filing_75dbef66_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  'create index "sec_filing_changes_changed_at_idx" on "sec_filing_changes" ("changed_at")',
  `create table "pronet_industry_changes" (
    "industry_urn_type" text not null,
    "industry_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_industry_changes_pkey" primary key ("industry_urn_type", "industry_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_industry_changes_industry_urn_type_industr_314d976e_fkey" foreign key ("industry_urn_type", "industry_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_industry_changes_changed_at_idx" on "pronet_industry_changes" ("changed_at")',
  `create table "pronet_post_changes" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_post_changes_pkey" primary key ("post_urn_type", "post_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_post_changes_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_post_changes_changed_at_idx" on "pronet_post_changes" ("changed_at")',
  `create table "pronet_user_education_changes" (
    "education_user_urn_type" text not null,
    "education_user_urn_value" text not null,
    "education_position" bigint not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_user_education_changes_pkey" primary key ("education_user_urn_type", "education_user_urn_value", "education_position", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_user_education_changes_education_user_urn__e2565e0d_fkey" foreign key ("education_user_urn_type", "education_user_urn_value", "education_position") references "pronet_user_educations" ("user_urn_type", "user_urn_value", "position") on delete cascade
  )`,
  'create index "pronet_user_education_changes_changed_at_idx" on "pronet_user_education_changes" ("changed_at")',
  `create table "photoshare_post_changes" (
    "post_id" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "photoshare_post_changes_pkey" primary key ("post_id", "attribute", "changed_at", "_answer_id"),
    constraint "photoshare_post_changes_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
  )`,
  'create index "photoshare_post_changes_changed_at_idx" on "photoshare_post_changes" ("changed_at")',
];

const DOWN = [
  'drop table "photoshare_post_changes"',
  'drop table "pronet_user_education_changes"',
  'drop table "pronet_post_changes"',
  'drop table "pronet_industry_changes"',
  'drop table "sec_filing_changes"',
  'drop table "web_page_changes"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
