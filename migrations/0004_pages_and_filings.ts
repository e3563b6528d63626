/** Analyst tables of the request log, web pages and filings. */
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
  `create table "fact_request_costs" (
    "id" uuid not null,
    "cost" bigint,
    "is_paid" boolean,
    "endpoint" text,
    "plan" text,
    "started_at" timestamptz,
    "points_left" bigint,
    "token_id" uuid,
    "duration" double precision,
    "response_status_code" bigint,
    "response_error_text" text,
    "response_count" bigint,
    "response_execution_time" double precision,
    "response_request_id" text,
    "timeout" bigint,
    "is_token_expired" boolean,
    "is_points_run_out" boolean,
    "extra" jsonb,
    ${ORIGIN}
    constraint "fact_request_costs_pkey" primary key ("id")
  )`,
  'create index "fact_request_costs_response_request_id_idx" on "fact_request_costs" using hash ("response_request_id")',
  'create index "fact_request_costs_started_at_idx" on "fact_request_costs" ("started_at")',
  `create table "sec_filings" (
    "accession_number" text not null,
    "file_name" text not null,
    "document_url" text,
    "filing_type" text,
    "file_date" date,
    "period_ending" date,
    "ciks_count" bigint,
    "display_names_count" bigint,
    "file_description" text,
    "biz_locations_count" bigint,
    "biz_states_count" bigint,
    "inc_states_count" bigint,
    "sics_count" bigint,
    "items_count" bigint,
    "extra" jsonb,
    ${ORIGIN}
    constraint "sec_filings_pkey" primary key ("accession_number", "file_name")
  )`,
  'create index "sec_filings_file_date_idx" on "sec_filings" ("file_date")',
  'create index "sec_filings_period_ending_idx" on "sec_filings" ("period_ending")',
  `create table "sec_filing_changes" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    ${CHANGE}
    constraint "sec_filing_changes_pkey" primary key ("filing_accession_number", "filing_file_name", "attribute", "changed_at", "_answer_id"),
    constraint "sec_filing_changes_filing_accession_number_filing_75dbef66_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  'create index "sec_filing_changes_changed_at_idx" on "sec_filing_changes" ("changed_at")',
  `create table "sec_filing_biz_locations" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "biz_location" text,
    constraint "sec_filing_biz_locations_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_biz_locations_filing_accession_number__45000e0b_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "sec_filing_biz_states" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "biz_state" text,
    constraint "sec_filing_biz_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_biz_states_filing_accession_number_fil_c874e867_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "sec_filing_ciks" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "cik" text,
    constraint "sec_filing_ciks_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_ciks_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  'create index "sec_filing_ciks_cik_idx" on "sec_filing_ciks" using spgist ("cik")',
  `create table "sec_filing_display_names" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "display_name" text,
    constraint "sec_filing_display_names_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_display_names_filing_accession_number__d6b2e6d0_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "sec_filing_inc_states" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "inc_state" text,
    constraint "sec_filing_inc_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_inc_states_filing_accession_number_fil_7af8b6b3_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "sec_filing_items" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "item" text,
    constraint "sec_filing_items_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_items_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "sec_filing_sics" (
    "filing_accession_number" text not null,
    "filing_file_name" text not null,
    "position" bigint not null,
    "sic" text,
    constraint "sec_filing_sics_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
    constraint "sec_filing_sics_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
  )`,
  `create table "web_pages" (
    "page_key" text not null,
    "requested_url" text,
    "options" jsonb,
    "cleaned_html" text,
    "url" text,
    "title" text,
    "meta_description" text,
    "metadata" jsonb,
    "links_count" bigint,
    "emails_count" bigint,
    "phones_count" bigint,
    "extra" jsonb,
    ${ORIGIN}
    constraint "web_pages_pkey" primary key ("page_key")
  )`,
  'create index "web_pages_requested_url_idx" on "web_pages" using hash ("requested_url")',
  `create table "web_page_changes" (
    "page_key" text not null,
    ${CHANGE}
    constraint "web_page_changes_pkey" primary key ("page_key", "attribute", "changed_at", "_answer_id"),
    constraint "web_page_changes_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
  )`,
  'create index "web_page_changes_changed_at_idx" on "web_page_changes" ("changed_at")',
  `create table "web_page_emails" (
    "page_key" text not null,
    "position" bigint not null,
    "email" text,
    constraint "web_page_emails_pkey" primary key ("page_key", "position"),
    constraint "web_page_emails_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
  )`,
  `create table "web_page_links" (
    "page_key" text not null,
    "position" bigint not null,
    "link" text,
    constraint "web_page_links_pkey" primary key ("page_key", "position"),
    constraint "web_page_links_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
  )`,
  `create table "web_page_phones" (
    "page_key" text not null,
    "position" bigint not null,
    "phone" text,
    constraint "web_page_phones_pkey" primary key ("page_key", "position"),
    constraint "web_page_phones_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
  )`,
];

const DOWN = `drop table
  "web_page_phones",
  "web_page_links",
  "web_page_emails",
  "web_page_changes",
  "web_pages",
  "sec_filing_sics",
  "sec_filing_items",
  "sec_filing_inc_states",
  "sec_filing_display_names",
  "sec_filing_ciks",
  "sec_filing_biz_states",
  "sec_filing_biz_locations",
  "sec_filing_changes",
  "sec_filings",
  "fact_request_costs"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
