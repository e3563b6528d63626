-- The statements of the 20 migrations that the baseline replaced, with their names. They contain no views.
create schema sluice;
create schema sluice_ops;
create table sluice_ops.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
create table sluice_ops.kysely_migration_lock (id varchar(255) primary key, is_locked integer default 0 not null);
insert into sluice_ops.kysely_migration_lock values ('migration_lock', 0);
insert into sluice_ops.kysely_migration values
  ('0001_baseline_ledger', '2026-01-01T00:00:00.000Z'),
  ('0002_baseline_operations', '2026-01-01T00:00:00.001Z'),
  ('0003_baseline_pages_and_filings', '2026-01-01T00:00:00.002Z'),
  ('0004_baseline_pronet_people', '2026-01-01T00:00:00.003Z'),
  ('0005_baseline_pronet_posts', '2026-01-01T00:00:00.004Z'),
  ('0006_baseline_microblog', '2026-01-01T00:00:00.005Z'),
  ('0007_baseline_photoshare', '2026-01-01T00:00:00.006Z'),
  ('0008_plain_names', '2026-01-01T00:00:00.007Z'),
  ('0009_read_at_any_size', '2026-01-01T00:00:00.008Z'),
  ('0010_quote_confidence', '2026-01-01T00:00:00.009Z'),
  ('0011_masking_key', '2026-01-01T00:00:00.010Z'),
  ('0012_run_scope', '2026-01-01T00:00:00.011Z'),
  ('0013_run_tags', '2026-01-01T00:00:00.012Z'),
  ('0014_checks', '2026-01-01T00:00:00.013Z'),
  ('0016_forecasts', '2026-01-01T00:00:00.014Z'),
  ('0017_change_logs', '2026-01-01T00:00:00.015Z'),
  ('0018_presence', '2026-01-01T00:00:00.016Z'),
  ('0020_promoted_fields', '2026-01-01T00:00:00.017Z'),
  ('0021_history_of_lists', '2026-01-01T00:00:00.018Z'),
  ('0022_slices_and_alerts', '2026-01-01T00:00:00.019Z');
set local search_path to sluice_ops, sluice;
create table "answers" (
  "id" bigint generated always as identity not null,
  "request_id" bigint not null,
  "run_id" bigint not null,
  "sync" text not null,
  "endpoint" text not null,
  "request_key" text not null,
  "received_at" timestamptz not null,
  "took_ms" bigint not null,
  "status" bigint not null,
  "headers" jsonb not null,
  "body" bytea,
  "encoding" text not null,
  "sha256" text not null,
  "bytes" bigint not null,
  "asked" bigint,
  "received" bigint,
  "loaded" bigint,
  "unchanged" bigint,
  "superseded" bigint,
  "quarantined" bigint,
  "loaded_at" timestamptz,
  "pruned_at" timestamptz,
  "redacted_at" timestamptz,
  "changed" bigint,
  "unreadable" boolean default false not null,
  constraint "answers_pkey" primary key ("id")
);
alter table "answers" alter column "body" set storage external;
create index "answers_request_id_idx" on "answers" ("request_id");
create index "answers_request_key_received_at_idx" on "answers" ("request_key", "received_at");
create index "answers_unreadable_idx" on "answers" ("request_key", "received_at") where unreadable;
create index "answers_waiting_idx" on "answers" ("id") where loaded_at IS NULL;
create table "runs" (
  "id" bigint generated always as identity not null,
  "sync" text not null,
  "endpoint" text not null,
  "definition_hash" text not null,
  "state" text not null,
  "exit_code" bigint,
  "today" date not null,
  "started_at" timestamptz not null,
  "ended_at" timestamptz,
  "holder" text,
  "planned" bigint default 0 not null,
  "fresh" bigint default 0 not null,
  "asked" bigint default 0 not null,
  "stored" bigint default 0 not null,
  "received" bigint default 0 not null,
  "loaded" bigint default 0 not null,
  "unchanged" bigint default 0 not null,
  "superseded" bigint default 0 not null,
  "quarantined" bigint default 0 not null,
  "failed" bigint default 0 not null,
  "missing" bigint default 0 not null,
  "truncated" bigint default 0 not null,
  "points" numeric,
  "error" text,
  "summary" jsonb,
  "quote" jsonb,
  "changed" bigint,
  "unreadable" bigint default 0 not null,
  "spools" jsonb,
  constraint "runs_pkey" primary key ("id")
);
create index "runs_sync_started_at_idx" on "runs" ("sync", "started_at");
create table "chunks" (
  "run_id" bigint not null,
  "number" bigint not null,
  "state" text not null,
  "requests" bigint not null,
  "exit_code" bigint,
  "error" text,
  "next" text,
  "ended_at" timestamptz,
  "spools" jsonb,
  constraint "chunks_pkey" primary key ("run_id", "number"),
  constraint "chunks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
);
create table "coverage" (
  "id" bigint generated always as identity not null,
  "request_id" bigint not null,
  "run_id" bigint not null,
  "sync" text not null,
  "endpoint" text not null,
  "request_key" text not null,
  "filters" jsonb not null,
  "asked" bigint,
  "returned" bigint not null,
  "depth" bigint not null,
  "complete" boolean not null,
  "reason" text,
  "as_of" timestamptz not null,
  "unreadable" boolean default false not null,
  constraint "coverage_pkey" primary key ("id")
);
create index "coverage_request_id_idx" on "coverage" ("request_id");
create index "coverage_run_id_idx" on "coverage" ("run_id");
create index "coverage_sync_as_of_idx" on "coverage" ("sync", "as_of");
create index "coverage_sync_request_key_id_idx" on "coverage" ("sync", "request_key", "id");
create index "coverage_unreadable_idx" on "coverage" ("request_key") where unreadable;
create table "drift" (
  "resource" text not null,
  "path" text not null,
  "kind" text not null,
  "count" bigint not null,
  "first_seen_at" timestamptz not null,
  "last_seen_at" timestamptz not null,
  "sample_type" text not null,
  constraint "drift_pkey" primary key ("resource", "path", "kind")
);
create table "leases" (
  "name" text not null,
  "holder" text not null,
  "token" bigint not null,
  "acquired_at" timestamptz not null,
  "expires_at" timestamptz not null,
  constraint "leases_pkey" primary key ("name")
);
create table "marks" (
  "sync" text not null,
  "name" text not null,
  "value" text not null,
  "updated_at" timestamptz not null,
  constraint "marks_pkey" primary key ("sync", "name")
);
create table "quarantine" (
  "id" bigint generated always as identity not null,
  "answer_id" bigint not null,
  "sync" text not null,
  "endpoint" text not null,
  "resource" text not null,
  "position" bigint,
  "pointer" text not null,
  "reason" text not null,
  "created_at" timestamptz not null,
  "resolved_at" timestamptz,
  constraint "quarantine_pkey" primary key ("id"),
  constraint "quarantine_answer_id_fkey" foreign key ("answer_id") references "answers" ("id") on delete cascade
);
create unique index "quarantine_answer_id_position_idx" on "quarantine" ("answer_id", COALESCE("position", '-1'::integer::bigint));
create index "quarantine_open_idx" on "quarantine" ("id") where resolved_at IS NULL;
create table "requests" (
  "id" bigint generated always as identity not null,
  "run_id" bigint not null,
  "sync" text not null,
  "endpoint" text not null,
  "request_key" text not null,
  "body" jsonb not null,
  "sent_body" jsonb,
  "input" jsonb not null,
  "depth" bigint default 0 not null,
  "parent_id" bigint,
  "state" text not null,
  "attempts" bigint default 0 not null,
  "points" numeric,
  "x_request_id" uuid,
  "planned_at" timestamptz not null,
  "sent_at" timestamptz,
  "finished_at" timestamptz,
  "answer_id" bigint,
  "status" bigint,
  "failure_class" text,
  "error" text,
  "next" text,
  "charged" numeric,
  "chunk" bigint,
  constraint "requests_pkey" primary key ("id"),
  constraint "requests_run_id_request_key_key" unique ("run_id", "request_key"),
  constraint "requests_parent_id_fkey" foreign key ("parent_id") references "requests" ("id") on delete set null,
  constraint "requests_run_id_fkey" foreign key ("run_id") references "runs" ("id")
) with (fillfactor = 50);
create index "requests_parent_id_idx" on "requests" ("parent_id");
create index "requests_request_key_sync_id_idx" on "requests" ("request_key", "sync", "id");
create index "requests_run_id_chunk_id_idx" on "requests" ("run_id", "chunk", "id") where chunk IS NOT NULL;
create index "requests_run_id_id_idx" on "requests" ("run_id", "id");
create index "requests_sent_at_idx" on "requests" using brin ("sent_at");
create table "alerts" (
  "sync" text not null,
  "kind" text not null,
  "state" text not null,
  "since" timestamptz not null,
  "because" text not null,
  "next" text,
  "run_id" text,
  "tried_at" timestamptz,
  "webhook_at" timestamptz,
  "command_at" timestamptz,
  constraint "alerts_pkey" primary key ("sync", "kind")
);
create table "balances" (
  "gate" text not null,
  "points" numeric not null,
  "logged_at" timestamptz not null,
  "read_at" timestamptz not null,
  "token_id" uuid,
  constraint "balances_pkey" primary key ("gate")
);
create table "doubts" (
  "request_id" bigint not null,
  "attempt" bigint not null,
  "run_id" bigint not null,
  "sync" text not null,
  "endpoint" text not null,
  "sent_at" timestamptz not null,
  "noticed_at" timestamptz not null,
  "reason" text not null,
  "verdict" text,
  "log_id" uuid,
  "points" numeric,
  "settled_at" timestamptz,
  "lost_invocations" bigint default 0 not null,
  constraint "doubts_pkey" primary key ("request_id", "attempt"),
  constraint "doubts_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "doubts_run_id_idx" on "doubts" ("run_id");
create index "doubts_sync_noticed_at_idx" on "doubts" ("sync", "noticed_at");
create table "erasure_salts" (
  "id" bigint not null,
  "salt" bytea not null,
  constraint "erasure_salts_pkey" primary key ("id")
);
create table "erasures" (
  "id" bigint generated always as identity not null,
  "table_name" text not null,
  "digest" text not null,
  "erased_at" timestamptz not null,
  "row_counts" jsonb not null,
  "answers" bigint not null,
  "bodies" bigint not null,
  "requests" bigint not null,
  "spooled" bigint,
  "comes_again" boolean not null,
  constraint "erasures_pkey" primary key ("id")
);
create index "erasures_digest_idx" on "erasures" ("digest");
create table "forgotten" (
  "digest" text not null,
  "erasure_id" bigint not null,
  constraint "forgotten_pkey" primary key ("digest", "erasure_id"),
  constraint "forgotten_erasure_id_fkey" foreign key ("erasure_id") references "erasures" ("id") on delete cascade
);
create index "forgotten_erasure_id_idx" on "forgotten" ("erasure_id");
create table "gate_paces" (
  "gate" text not null,
  "next_at" timestamptz not null,
  "wanted_at" timestamptz,
  "wanted_by" text,
  constraint "gate_paces_pkey" primary key ("gate")
);
create table "gate_slots" (
  "gate" text not null,
  "number" bigint not null,
  "holder" text not null,
  "expires_at" timestamptz not null,
  constraint "gate_slots_pkey" primary key ("gate", "number")
);
create table "identities" (
  "resource" text not null,
  "kind" text not null,
  "name" text not null,
  "entity" text not null,
  "first_seen_at" timestamptz not null,
  "last_seen_at" timestamptz not null,
  "answer_id" bigint not null,
  "asked" boolean not null,
  constraint "identities_pkey" primary key ("resource", "kind", "name", "entity")
);
create index "identities_resource_entity_kind_idx" on "identities" ("resource", "entity", "kind");
create table "rebuilds" (
  "id" text not null,
  "schema_name" text not null,
  "started_at" timestamptz not null,
  constraint "rebuilds_pkey" primary key ("id")
);
create table "request_cost_matches" (
  "request_id" bigint not null,
  "log_id" uuid not null,
  "sure" text not null,
  "matched_at" timestamptz not null,
  constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
  constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "request_cost_matches_log_id_idx" on "request_cost_matches" ("log_id");
create table "spending" (
  "name" text not null,
  "points" numeric not null,
  "updated_at" timestamptz not null,
  constraint "spending_pkey" primary key ("name")
);
set local search_path to sluice, sluice_ops;
create table "fact_request_costs" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "fact_request_costs_pkey" primary key ("id")
);
create index "fact_request_costs_response_request_id_idx" on "fact_request_costs" using hash ("response_request_id");
create index "fact_request_costs_started_at_idx" on "fact_request_costs" ("started_at");
create table "sec_filings" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "sec_filings_pkey" primary key ("accession_number", "file_name")
);
create index "sec_filings_file_date_idx" on "sec_filings" ("file_date");
create index "sec_filings_period_ending_idx" on "sec_filings" ("period_ending");
create table "sec_filing_biz_locations" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "biz_location" text,
  constraint "sec_filing_biz_locations_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_locations_filing_accession_number__45000e0b_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "sec_filing_biz_states" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "biz_state" text,
  constraint "sec_filing_biz_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_states_filing_accession_number_fil_c874e867_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "sec_filing_ciks" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "cik" text,
  constraint "sec_filing_ciks_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_ciks_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create index "sec_filing_ciks_cik_idx" on "sec_filing_ciks" using spgist ("cik");
create table "sec_filing_display_names" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "display_name" text,
  constraint "sec_filing_display_names_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_display_names_filing_accession_number__d6b2e6d0_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "sec_filing_inc_states" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "inc_state" text,
  constraint "sec_filing_inc_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_inc_states_filing_accession_number_fil_7af8b6b3_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "sec_filing_items" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "item" text,
  constraint "sec_filing_items_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_items_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "sec_filing_sics" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "position" bigint not null,
  "sic" text,
  constraint "sec_filing_sics_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_sics_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create table "web_pages" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "web_pages_pkey" primary key ("page_key")
);
create index "web_pages_requested_url_idx" on "web_pages" using hash ("requested_url");
create table "web_page_emails" (
  "page_key" text not null,
  "position" bigint not null,
  "email" text,
  constraint "web_page_emails_pkey" primary key ("page_key", "position"),
  constraint "web_page_emails_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);
create table "web_page_links" (
  "page_key" text not null,
  "position" bigint not null,
  "link" text,
  constraint "web_page_links_pkey" primary key ("page_key", "position"),
  constraint "web_page_links_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);
create table "web_page_phones" (
  "page_key" text not null,
  "position" bigint not null,
  "phone" text,
  constraint "web_page_phones_pkey" primary key ("page_key", "position"),
  constraint "web_page_phones_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);
create table "pronet_companies" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_companies_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_companies_alias_idx" on "pronet_companies" using hash ("alias");
create table "pronet_company_changes" (
  "company_urn_type" text not null,
  "company_urn_value" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "pronet_company_changes_pkey" primary key ("company_urn_type", "company_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_company_changes_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_company_changes_changed_at_idx" on "pronet_company_changes" ("changed_at");
create table "pronet_industries" (
  "urn_type" text not null,
  "urn_value" text not null,
  "name" text,
  "hierarchy" text,
  "description" text,
  "extra" jsonb,
  "_detail" text not null,
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_industries_pkey" primary key ("urn_type", "urn_value")
);
create table "pronet_users" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_users_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_users_alias_idx" on "pronet_users" using hash ("alias");
create table "pronet_user_changes" (
  "user_urn_type" text not null,
  "user_urn_value" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "pronet_user_changes_pkey" primary key ("user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_user_changes_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_user_changes_changed_at_idx" on "pronet_user_changes" ("changed_at");
create table "pronet_user_educations" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_user_educations_pkey" primary key ("user_urn_type", "user_urn_value", "position"),
  constraint "pronet_user_educations_company_industry_full_urn__43e90c30_fkey" foreign key ("company_industry_full_urn_type", "company_industry_full_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_industry_type_comp_baeb4832_fkey" foreign key ("company_industry_type", "company_industry_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete set null
);
create index "pronet_user_educations_company_industry_full_urn_t_80f09323_idx" on "pronet_user_educations" ("company_industry_full_urn_type", "company_industry_full_urn_value");
create index "pronet_user_educations_company_industry_type_compa_dc52832f_idx" on "pronet_user_educations" ("company_industry_type", "company_industry_value");
create index "pronet_user_educations_company_urn_type_company_urn_value_idx" on "pronet_user_educations" ("company_urn_type", "company_urn_value");
create table "pronet_user_search_hits" (
  "sync" text not null,
  "request_key" text not null,
  "user_urn_type" text not null,
  "user_urn_value" text not null,
  "position" bigint,
  "_answer_id" bigint not null,
  constraint "pronet_user_search_hits_pkey" primary key ("sync", "request_key", "user_urn_type", "user_urn_value"),
  constraint "pronet_user_search_hits_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_user_search_hits_user_urn_type_user_urn_value_idx" on "pronet_user_search_hits" ("user_urn_type", "user_urn_value");
create table "pronet_groups" (
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
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_groups_pkey" primary key ("urn_type", "urn_value")
);
create table "fact_pronet_group_daily" (
  "group_urn_type" text not null,
  "group_urn_value" text not null,
  "date" date not null,
  "member_count" bigint,
  "_seen_at" timestamptz not null,
  "_answer_id" bigint not null,
  "_earlier" jsonb,
  constraint "fact_pronet_group_daily_pkey" primary key ("group_urn_type", "group_urn_value", "date"),
  constraint "fact_pronet_group_daily_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "fact_pronet_group_daily_date_idx" on "fact_pronet_group_daily" ("date");
create table "pronet_posts" (
  "urn_type" text not null,
  "urn_value" text not null,
  "url" text,
  "share_url" text,
  "author_internal_id_type" text,
  "author_internal_id_value" text,
  "author_urn_type" text,
  "author_urn_value" text,
  "author_name" text,
  "author_alias" text,
  "author_url" text,
  "author_headline" text,
  "author_image" text,
  "created_at" timestamptz,
  "created_at_epoch" bigint,
  "share_urn_type" text,
  "share_urn_value" text,
  "is_empty_repost" boolean,
  "repost_urn_type" text,
  "repost_urn_value" text,
  "images_count" bigint,
  "video_url" text,
  "text" text,
  "comment_count" bigint,
  "share_count" bigint,
  "reactions_count" bigint,
  "event_url" text,
  "event_image" text,
  "event_title" text,
  "event_date" text,
  "event_participant_count" bigint,
  "article_url" text,
  "article_urn_type" text,
  "article_urn_value" text,
  "article_image" text,
  "article_title" text,
  "article_subtitle" text,
  "article_description" text,
  "document_urn_type" text,
  "document_urn_value" text,
  "document_url" text,
  "document_title" text,
  "document_cover_images_count" bigint,
  "document_images_count" bigint,
  "document_total_images_count" bigint,
  "mentioned_count" bigint,
  "extra" jsonb,
  "_detail" text not null,
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "pronet_posts_pkey" primary key ("urn_type", "urn_value"),
  constraint "pronet_posts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete set null
);
create index "pronet_posts_author_urn_value_idx" on "pronet_posts" using spgist ("author_urn_value");
create index "pronet_posts_created_at_idx" on "pronet_posts" ("created_at");
create index "pronet_posts_repost_urn_type_repost_urn_value_idx" on "pronet_posts" ("repost_urn_type", "repost_urn_value");
create table "fact_pronet_post_daily" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "date" date not null,
  "comment_count" bigint,
  "share_count" bigint,
  "reaction_count" bigint,
  "_seen_at" timestamptz not null,
  "_answer_id" bigint not null,
  "_earlier" jsonb,
  constraint "fact_pronet_post_daily_pkey" primary key ("post_urn_type", "post_urn_value", "date"),
  constraint "fact_pronet_post_daily_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "fact_pronet_post_daily_date_idx" on "fact_pronet_post_daily" ("date");
create table "pronet_group_changes" (
  "group_urn_type" text not null,
  "group_urn_value" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "pronet_group_changes_pkey" primary key ("group_urn_type", "group_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_group_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_changes_changed_at_idx" on "pronet_group_changes" ("changed_at");
create table "pronet_group_industries" (
  "group_urn_type" text not null,
  "group_urn_value" text not null,
  "type" text not null,
  "value" text not null,
  "extra" jsonb,
  constraint "pronet_group_industries_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value"),
  constraint "pronet_group_industries_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
  constraint "pronet_group_industries_type_value_fkey" foreign key ("type", "value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_industries_type_value_idx" on "pronet_group_industries" ("type", "value");
create table "pronet_group_members" (
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
);
create index "pronet_group_members_user_urn_type_user_urn_value_idx" on "pronet_group_members" ("user_urn_type", "user_urn_value");
create table "pronet_post_document_cover_images" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "position" bigint not null,
  "cover_image" text,
  constraint "pronet_post_document_cover_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_cover_images_post_urn_type_p_8eb850d4_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create table "pronet_post_document_images" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "position" bigint not null,
  "image" text,
  constraint "pronet_post_document_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create table "pronet_post_images" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "position" bigint not null,
  "image" text,
  constraint "pronet_post_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create table "pronet_post_mentions" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "position" bigint not null,
  "urn_type" text,
  "urn_value" text,
  "name" text,
  "alias" text,
  "url" text,
  "kind" text,
  "extra" jsonb,
  constraint "pronet_post_mentions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_mentions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create table "pronet_post_reactions" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "position" bigint not null,
  "type" text,
  "count" bigint,
  "extra" jsonb,
  constraint "pronet_post_reactions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_reactions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create table "pronet_post_reposts" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "repost_urn_type" text not null,
  "repost_urn_value" text not null,
  "position" bigint,
  "_answer_id" bigint not null,
  constraint "pronet_post_reposts_pkey" primary key ("post_urn_type", "post_urn_value", "repost_urn_type", "repost_urn_value"),
  constraint "pronet_post_reposts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_post_reposts_repost_urn_type_repost_urn_value_idx" on "pronet_post_reposts" ("repost_urn_type", "repost_urn_value");
create table "microblog_users" (
  "internal_id" text,
  "rest_id" text not null,
  "name" text,
  "alias" text,
  "url" text,
  "description" text,
  "location" text,
  "follower_count" bigint,
  "following_count" bigint,
  "tweet_count" bigint,
  "listed_count" bigint,
  "favorites_count" bigint,
  "media_count" bigint,
  "image" text,
  "banner_url" text,
  "verified" boolean,
  "verified_type" text,
  "is_blue_verified" boolean,
  "created_at" timestamptz,
  "created_at_epoch" bigint,
  "professional_rest_id" text,
  "professional_professional_type" text,
  "professional_categories_count" bigint,
  "verification_info_is_identity_verified" boolean,
  "verification_info_verified_since" text,
  "verification_info_reason_description" text,
  "profile_urls_count" bigint,
  "mentions_count" bigint,
  "birthdate_day" bigint,
  "birthdate_month" bigint,
  "birthdate_year" bigint,
  "birthdate_visibility" text,
  "birthdate_year_visibility" text,
  "birthdate_timestamp" bigint,
  "is_profile_translatable" boolean,
  "has_hidden_subscriptions" boolean,
  "can_highlight_tweets" boolean,
  "premium_gifting_eligible" boolean,
  "highlighted_tweets_count" bigint,
  "user_seed_tweet_count" bigint,
  "creator_subscriptions_count" bigint,
  "extra" jsonb,
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "microblog_users_pkey" primary key ("rest_id")
);
create index "microblog_users_alias_idx" on "microblog_users" using hash ("alias");
create table "fact_microblog_user_daily" (
  "user_rest_id" text not null,
  "date" date not null,
  "follower_count" bigint,
  "following_count" bigint,
  "tweet_count" bigint,
  "listed_count" bigint,
  "favorites_count" bigint,
  "media_count" bigint,
  "highlighted_tweets_count" bigint,
  "user_seed_tweet_count" bigint,
  "creator_subscriptions_count" bigint,
  "_seen_at" timestamptz not null,
  "_answer_id" bigint not null,
  "_earlier" jsonb,
  constraint "fact_microblog_user_daily_pkey" primary key ("user_rest_id", "date"),
  constraint "fact_microblog_user_daily_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create index "fact_microblog_user_daily_date_idx" on "fact_microblog_user_daily" ("date");
create table "microblog_user_changes" (
  "user_rest_id" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "microblog_user_changes_pkey" primary key ("user_rest_id", "attribute", "changed_at", "_answer_id"),
  constraint "microblog_user_changes_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create index "microblog_user_changes_changed_at_idx" on "microblog_user_changes" ("changed_at");
create table "microblog_user_mentions" (
  "user_rest_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "microblog_user_mentions_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_mentions_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create table "microblog_user_professional_categories" (
  "user_rest_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "microblog_user_professional_categories_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_professional_categories_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create table "microblog_user_profile_urls" (
  "user_rest_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "microblog_user_profile_urls_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_profile_urls_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create table "photoshare_users" (
  "id" text not null,
  "alias" text,
  "name" text,
  "url" text,
  "image" text,
  "follower_count" bigint,
  "following_count" bigint,
  "media_count" bigint,
  "description" text,
  "is_private" boolean,
  "is_verified" boolean,
  "is_business" boolean,
  "created_at" timestamptz,
  "created_at_epoch" bigint,
  "category" text,
  "external_url" text,
  "email" text,
  "whatsapp_number" text,
  "phone" text,
  "location_city_id" bigint,
  "location_street" text,
  "location_city" text,
  "location_zip" text,
  "location_latitude" double precision,
  "location_longitude" double precision,
  "links_count" bigint,
  "mentions_count" bigint,
  "hashtags_count" bigint,
  "pinned_channels_count" bigint,
  "similar_users_count" bigint,
  "posts_count" bigint,
  "extra" jsonb,
  "_detail" text not null,
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "photoshare_users_pkey" primary key ("id")
);
create index "photoshare_users_alias_idx" on "photoshare_users" using hash ("alias");
create table "photoshare_posts" (
  "id" text not null,
  "code" text,
  "url" text,
  "image" text,
  "text" text,
  "created_at" timestamptz,
  "created_at_epoch" bigint,
  "like_count" bigint,
  "comment_count" bigint,
  "reshare_count" bigint,
  "view_count" bigint,
  "user_id" text,
  "user_name" text,
  "user_alias" text,
  "user_url" text,
  "user_image" text,
  "user_is_verified" boolean,
  "user_is_private" boolean,
  "type" text,
  "media_count" bigint,
  "carousel_media_count" bigint,
  "is_paid_partnership" boolean,
  "extra" jsonb,
  "_detail" text not null,
  "_first_seen_at" timestamptz not null,
  "_changed_at" timestamptz not null,
  "_run_id" bigint not null,
  "_answer_id" bigint not null,
  "_content_hash" text not null,
  "_part_hashes" text not null,
  constraint "photoshare_posts_pkey" primary key ("id"),
  constraint "photoshare_posts_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete set null
);
create index "photoshare_posts_code_idx" on "photoshare_posts" using hash ("code");
create index "photoshare_posts_created_at_idx" on "photoshare_posts" ("created_at");
create index "photoshare_posts_user_id_idx" on "photoshare_posts" ("user_id");
create table "fact_photoshare_post_daily" (
  "post_id" text not null,
  "date" date not null,
  "like_count" bigint,
  "comment_count" bigint,
  "reshare_count" bigint,
  "view_count" bigint,
  "_seen_at" timestamptz not null,
  "_answer_id" bigint not null,
  "_earlier" jsonb,
  constraint "fact_photoshare_post_daily_pkey" primary key ("post_id", "date"),
  constraint "fact_photoshare_post_daily_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "fact_photoshare_post_daily_date_idx" on "fact_photoshare_post_daily" ("date");
create table "fact_photoshare_user_daily" (
  "user_id" text not null,
  "date" date not null,
  "follower_count" bigint,
  "following_count" bigint,
  "media_count" bigint,
  "_seen_at" timestamptz not null,
  "_answer_id" bigint not null,
  "_earlier" jsonb,
  constraint "fact_photoshare_user_daily_pkey" primary key ("user_id", "date"),
  constraint "fact_photoshare_user_daily_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create index "fact_photoshare_user_daily_date_idx" on "fact_photoshare_user_daily" ("date");
create table "photoshare_post_media" (
  "post_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_post_media_pkey" primary key ("post_id", "position"),
  constraint "photoshare_post_media_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create table "photoshare_user_changes" (
  "user_id" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "photoshare_user_changes_pkey" primary key ("user_id", "attribute", "changed_at", "_answer_id"),
  constraint "photoshare_user_changes_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create index "photoshare_user_changes_changed_at_idx" on "photoshare_user_changes" ("changed_at");
create table "photoshare_user_hashtags" (
  "user_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_user_hashtags_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_hashtags_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create table "photoshare_user_links" (
  "user_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_user_links_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_links_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create table "photoshare_user_mentions" (
  "user_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_user_mentions_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_mentions_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create table "photoshare_user_pinned_channels" (
  "user_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_user_pinned_channels_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_pinned_channels_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create table "photoshare_user_posts" (
  "user_asked" text not null,
  "post_id" text not null,
  "position" bigint,
  "user_id" text,
  "_answer_id" bigint not null,
  constraint "photoshare_user_posts_pkey" primary key ("user_asked", "post_id"),
  constraint "photoshare_user_posts_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "photoshare_user_posts_post_id_idx" on "photoshare_user_posts" ("post_id");
create table "photoshare_user_similar_users" (
  "user_id" text not null,
  "position" bigint not null,
  "item" jsonb,
  constraint "photoshare_user_similar_users_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_similar_users_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
set local search_path to sluice_ops, sluice;
alter table "gate_slots" rename to "limiter_slots";
alter table "limiter_slots" rename column "gate" to "token_digest";
alter table "limiter_slots" rename constraint "gate_slots_pkey" to "limiter_slots_pkey";
alter table "gate_paces" rename to "limiter_paces";
alter table "limiter_paces" rename column "gate" to "token_digest";
alter table "limiter_paces" rename constraint "gate_paces_pkey" to "limiter_paces_pkey";
alter table "balances" rename column "gate" to "token_digest";
alter table "doubts" rename to "lost_answers";
alter table "lost_answers" rename constraint "doubts_pkey" to "lost_answers_pkey";
alter table "lost_answers" rename constraint "doubts_request_id_fkey" to "lost_answers_request_id_fkey";
alter index "doubts_run_id_idx" rename to "lost_answers_run_id_idx";
alter index "doubts_sync_noticed_at_idx" rename to "lost_answers_sync_noticed_at_idx";
alter table "request_cost_matches" rename column "sure" to "match_kind";
alter table "runs" drop column "summary";
create index "answers_sync_received_at_endpoint_took_ms_idx" on "answers" ("sync", "received_at", "endpoint", "took_ms");
create index "coverage_bounds_idx" on "coverage" ("sync") where reason IS NOT NULL;
create index "coverage_question_idx" on "coverage" (sync, jsonb_hash(filters - 'date_from' - 'date_to'), jsonb_hash(filters));
create index "request_cost_matches_log_id_request_id_match_kind_idx" on "request_cost_matches" ("log_id", "request_id", "match_kind");
drop index "request_cost_matches_log_id_idx";
update "runs" set quote = quote - 'sure' || jsonb_build_object('confidence', quote -> 'sure')
where quote ? 'sure';
create table "masking_keys" (
  "id" bigint not null,
  "key" bytea not null,
  constraint "masking_keys_pkey" primary key ("id")
);
alter table "runs" add column "scope" text;
alter table "runs" add column "tags" jsonb;
create table "checks" (
  "run_id" bigint not null,
  "name" text not null,
  "sync" text not null,
  "kind" text not null,
  "severity" text not null,
  "status" text not null,
  "found" numeric,
  "allowed" text not null,
  "message" text not null,
  "at" timestamptz not null,
  constraint "checks_pkey" primary key ("run_id", "name"),
  constraint "checks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
);
create index "checks_sync_name_run_id_idx" on "checks" ("sync", "name", "run_id");
create table "forecast_days" (
  "made_on" date not null,
  "sync" text not null,
  "date" date not null,
  "low" numeric not null,
  "likely" numeric not null,
  "high" numeric not null,
  primary key ("made_on", "sync", "date")
);
set local search_path to sluice, sluice_ops;
create table "web_page_changes" (
  "page_key" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "web_page_changes_pkey" primary key ("page_key", "attribute", "changed_at", "_answer_id"),
  constraint "web_page_changes_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);
create index "web_page_changes_changed_at_idx" on "web_page_changes" ("changed_at");
create table "sec_filing_changes" (
  "filing_accession_number" text not null,
  "filing_file_name" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "sec_filing_changes_pkey" primary key ("filing_accession_number", "filing_file_name", "attribute", "changed_at", "_answer_id"),
  constraint "sec_filing_changes_filing_accession_number_filing_75dbef66_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create index "sec_filing_changes_changed_at_idx" on "sec_filing_changes" ("changed_at");
create table "pronet_industry_changes" (
  "industry_urn_type" text not null,
  "industry_urn_value" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "pronet_industry_changes_pkey" primary key ("industry_urn_type", "industry_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_industry_changes_industry_urn_type_industr_314d976e_fkey" foreign key ("industry_urn_type", "industry_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_industry_changes_changed_at_idx" on "pronet_industry_changes" ("changed_at");
create table "pronet_post_changes" (
  "post_urn_type" text not null,
  "post_urn_value" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "pronet_post_changes_pkey" primary key ("post_urn_type", "post_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_post_changes_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_post_changes_changed_at_idx" on "pronet_post_changes" ("changed_at");
create table "pronet_user_education_changes" (
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
);
create index "pronet_user_education_changes_changed_at_idx" on "pronet_user_education_changes" ("changed_at");
create table "photoshare_post_changes" (
  "post_id" text not null,
  "attribute" text not null,
  "changed_at" timestamptz not null,
  "from_value" text,
  "to_value" text,
  "_answer_id" bigint not null,
  constraint "photoshare_post_changes_pkey" primary key ("post_id", "attribute", "changed_at", "_answer_id"),
  constraint "photoshare_post_changes_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "photoshare_post_changes_changed_at_idx" on "photoshare_post_changes" ("changed_at");
set local search_path to sluice_ops, sluice;
create table "question_contents" (
  "request_key" text not null,
  "endpoint" text not null,
  "answer_id" bigint not null,
  "received_at" timestamptz not null,
  "is_complete" boolean not null,
  "was_complete" boolean not null,
  "keys" bytea not null,
  constraint "question_contents_pkey" primary key ("request_key")
);
create table "left_entities" (
  "request_key" text not null,
  "key" bytea not null,
  "last_answer_id" bigint not null,
  "last_seen_at" timestamptz not null,
  "gone_answer_id" bigint,
  "gone_at" timestamptz,
  constraint "left_entities_pkey" primary key ("request_key", "key")
);
alter table "drift" add column "answers" bigint;
create table "changed_columns" (
  "table_name" text not null,
  "column_name" text not null,
  constraint "changed_columns_pkey" primary key ("table_name", "column_name")
);
set local search_path to sluice, sluice_ops;
create table "pronet_group_industry_changes" (
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
);
create index "pronet_group_industry_changes_changed_at_idx" on "pronet_group_industry_changes" ("changed_at");
create table "pronet_group_member_changes" (
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
);
create index "pronet_group_member_changes_changed_at_idx" on "pronet_group_member_changes" ("changed_at");
alter table "pronet_user_education_changes" drop constraint "pronet_user_education_changes_education_user_urn__e2565e0d_fkey";
set local search_path to sluice_ops, sluice;
alter table "coverage" add column "former" boolean;
alter table "alerts" add column "config" text;
delete from "coverage" c using "requests" r
where r.id = c.request_id and c.reason is null
and (r.state = 'missing' or exists (select from "answers" a where a.id = r.answer_id and a.status = 412));
