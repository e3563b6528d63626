-- The schema before the migrations were squashed, with the names of its 25 migrations.
-- Written from the catalog of a database to which those migrations were applied.
create schema sluice;
create schema sluice_ops;
set search_path to sluice_ops;
create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
create table kysely_migration_lock (id varchar(255) primary key, is_locked integer default 0 not null);
insert into kysely_migration_lock values ('migration_lock', 0);
insert into kysely_migration values
  ('0001_operations', '2026-01-01T00:00:00.000Z'),
  ('0002_tables', '2026-01-01T00:00:00.001Z'),
  ('0003_views', '2026-01-01T00:00:00.002Z'),
  ('0004_trust', '2026-01-01T00:00:00.003Z'),
  ('0005_ledger_times', '2026-01-01T00:00:00.004Z'),
  ('0006_lookups', '2026-01-01T00:00:00.005Z'),
  ('0007_insight', '2026-01-01T00:00:00.006Z'),
  ('0008_ledger_updates', '2026-01-01T00:00:00.007Z'),
  ('0009_costs', '2026-01-01T00:00:00.008Z'),
  ('0010_chunks', '2026-01-01T00:00:00.009Z'),
  ('0011_erasure', '2026-01-01T00:00:00.010Z'),
  ('0012_alerts', '2026-01-01T00:00:00.011Z'),
  ('0013_changed_items', '2026-01-01T00:00:00.012Z'),
  ('0014_changed_items_shown', '2026-01-01T00:00:00.013Z'),
  ('0015_quick_views', '2026-01-01T00:00:00.014Z'),
  ('0016_gate_wanted', '2026-01-01T00:00:00.015Z'),
  ('0017_readings_apart', '2026-01-01T00:00:00.016Z'),
  ('0018_texts_shared', '2026-01-01T00:00:00.017Z'),
  ('0019_unreadable', '2026-01-01T00:00:00.018Z'),
  ('0021_asked_names', '2026-01-01T00:00:00.019Z'),
  ('0024_lost_invocations', '2026-01-01T00:00:00.020Z'),
  ('0026_balances', '2026-01-01T00:00:00.021Z'),
  ('0027_spools', '2026-01-01T00:00:00.022Z'),
  ('0028_run_states', '2026-01-01T00:00:00.023Z'),
  ('0029_rebuilds', '2026-01-01T00:00:00.024Z');
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
create table "balances" (
  "gate" text not null,
  "points" numeric not null,
  "logged_at" timestamptz not null,
  "read_at" timestamptz not null,
  "token_id" uuid,
  constraint "balances_pkey" primary key ("gate")
);
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
set search_path to sluice, sluice_ops;
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
create view "logged_requests" ("log_id", "started_at", "date", "endpoint", "logged_endpoint", "plan", "sync", "run_id", "request_id", "match", "token", "cost", "is_paid", "points", "points_left", "outcome", "status", "error", "asked", "items", "duration_s") as
 SELECT c.id AS log_id,
    COALESCE(c.started_at, c._first_seen_at) AS started_at,
    (COALESCE(c.started_at, c._first_seen_at) AT TIME ZONE 'UTC'::text)::date AS date,
    COALESCE(q.endpoint, NULLIF(regexp_replace(btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$'::text, ''::text)), '/ '::text, '..'::text), '.'::text), '^(.*[.])?api[.]'::text, ''::text), ''::text), '(not told)'::text) AS endpoint,
    c.endpoint AS logged_endpoint,
    COALESCE(NULLIF(c.plan, ''::text), '(not told)'::text) AS plan,
        CASE
        WHEN q.id IS NOT NULL THEN split_part(q.sync, ':'::text, 1)
        WHEN m.log_id IS NULL THEN '(other programs)'::text
        ELSE '(ambiguous)'::text
        END AS sync,
    q.run_id,
    q.id AS request_id,
    COALESCE(m.sure, 'none'::text) AS match,
    COALESCE(c.token_id::text, '(not told)'::text) AS token,
    c.cost,
    c.is_paid,
        CASE
        WHEN COALESCE(c.is_paid, c.cost > 0) THEN COALESCE(c.cost, 0::bigint)
        ELSE 0::bigint
        END::numeric AS points,
    c.points_left,
        CASE
        WHEN c.response_status_code >= 200 AND c.response_status_code <= 299 THEN 'answered'::text
        WHEN c.response_status_code = 412 THEN 'missing'::text
        WHEN c.response_status_code IS NOT NULL OR c.response_error_text <> ''::text THEN 'failed'::text
        WHEN c.duration IS NULL THEN 'under way'::text
        ELSE 'not told'::text
        END AS outcome,
    c.response_status_code AS status,
    c.response_error_text AS error,
        CASE
        WHEN (q.body ->> 'count'::text) ~ '^[0-9]{1,15}$'::text THEN (q.body ->> 'count'::text)::bigint
        ELSE NULL::bigint
        END AS asked,
    c.response_count AS items,
    c.duration AS duration_s
   FROM fact_request_costs c
     LEFT JOIN ( SELECT k.log_id,
        min(k.request_id) FILTER (WHERE k.sure <> 'ambiguous'::text) AS request_id,
        COALESCE(min(k.sure) FILTER (WHERE k.sure <> 'ambiguous'::text), 'ambiguous'::text) AS sure
        FROM request_cost_matches k
        GROUP BY k.log_id) m ON m.log_id = c.id
     LEFT JOIN requests q ON q.id = m.request_id;
create view "answer_costs" ("answer_id", "request_id", "run_id", "sync", "endpoint", "request_key", "received_at", "date", "points", "is_logged", "received", "loaded", "unchanged", "new_rows", "is_nothing_new", "previous_at", "days_since_previous") as
 WITH appearances(endpoint, at, rows) AS (
        SELECT 'token.requests'::text AS "?column?",
        t._first_seen_at,
        count(*) AS count
        FROM fact_request_costs t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'webparser.parse'::text,
        t._first_seen_at,
        count(*) AS count
        FROM web_pages t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'sec.search.companies'::text,
        t._first_seen_at,
        count(*) AS count
        FROM sec_filings t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'pronet.post.reposts'::text,
        t._first_seen_at,
        count(*) AS count
        FROM pronet_posts t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'pronet.search.users'::text,
        t._first_seen_at,
        count(*) AS count
        FROM pronet_users t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'pronet.user.education'::text,
        t._first_seen_at,
        count(*) AS count
        FROM pronet_user_educations t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'pronet.group'::text,
        t._first_seen_at,
        count(*) AS count
        FROM pronet_groups t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'microblog.user'::text,
        t._first_seen_at,
        count(*) AS count
        FROM microblog_users t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'photoshare.user'::text,
        t._first_seen_at,
        count(*) AS count
        FROM photoshare_users t
        GROUP BY t._first_seen_at
        UNION ALL
        SELECT 'photoshare.user.posts'::text,
        t._first_seen_at,
        count(*) AS count
        FROM photoshare_posts t
        GROUP BY t._first_seen_at
        )
 SELECT a.id AS answer_id,
    a.request_id,
    a.run_id,
    split_part(a.sync, ':'::text, 1) AS sync,
    a.endpoint,
    a.request_key,
    a.received_at,
    (a.received_at AT TIME ZONE 'UTC'::text)::date AS date,
        CASE
        WHEN a.of_request = 1 THEN COALESCE(l.points, q.charged, q.points, 0::numeric)
        ELSE 0::numeric
        END AS points,
    l.points IS NOT NULL AS is_logged,
    COALESCE(a.received, 0::bigint) AS received,
    COALESCE(a.loaded, 0::bigint) AS loaded,
    COALESCE(a.unchanged, 0::bigint) AS unchanged,
        CASE
        WHEN a.of_moment = 1 THEN COALESCE(n.rows, 0::bigint)
        ELSE 0::bigint
        END AS new_rows,
    a.loaded_at IS NOT NULL AND COALESCE(a.loaded, 0::bigint) = 0 AND COALESCE(a.quarantined, 0::bigint) = 0 AS is_nothing_new,
    a.previous_at,
    (EXTRACT(epoch FROM a.received_at - a.previous_at) / 86400::numeric)::double precision AS days_since_previous
   FROM ( SELECT w.id,
        w.request_id,
        w.run_id,
        w.sync,
        w.endpoint,
        w.request_key,
        w.received_at,
        w.received,
        w.loaded,
        w.unchanged,
        w.quarantined,
        w.loaded_at,
        row_number() OVER (PARTITION BY w.request_id ORDER BY w.id DESC) AS of_request,
        row_number() OVER (PARTITION BY w.endpoint, w.received_at ORDER BY w.id) AS of_moment,
        lag(w.received_at) OVER (PARTITION BY w.sync, w.request_key ORDER BY w.received_at, w.id) AS previous_at
        FROM answers w) a
     LEFT JOIN requests q ON q.id = a.request_id
     LEFT JOIN ( SELECT r.request_id,
        sum(r.points) AS points
        FROM logged_requests r
        WHERE r.request_id IS NOT NULL
        GROUP BY r.request_id) l ON l.request_id = a.request_id
     LEFT JOIN appearances n ON n.endpoint = a.endpoint AND n.at = a.received_at;
create view "attribute_changes" ("table_name", "entity_key", "entity_name", "attribute", "from_value", "to_value", "changed_at", "changed_on", "answer_id") as
 SELECT 'pronet_users'::text AS table_name,
    (c.user_urn_type || ':'::text) || c.user_urn_value AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_user_changes c
     JOIN pronet_users e ON e.urn_type = c.user_urn_type AND e.urn_value = c.user_urn_value
UNION ALL
 SELECT 'pronet_companies'::text AS table_name,
    (c.company_urn_type || ':'::text) || c.company_urn_value AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_company_changes c
     JOIN pronet_companies e ON e.urn_type = c.company_urn_type AND e.urn_value = c.company_urn_value
UNION ALL
 SELECT 'pronet_groups'::text AS table_name,
    (c.group_urn_type || ':'::text) || c.group_urn_value AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_group_changes c
     JOIN pronet_groups e ON e.urn_type = c.group_urn_type AND e.urn_value = c.group_urn_value
UNION ALL
 SELECT 'microblog_users'::text AS table_name,
    c.user_rest_id AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM microblog_user_changes c
     JOIN microblog_users e ON e.rest_id = c.user_rest_id
UNION ALL
 SELECT 'photoshare_users'::text AS table_name,
    c.user_id AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM photoshare_user_changes c
     JOIN photoshare_users e ON e.id = c.user_id;
create view "balance_forecast" ("token", "is_ours", "points_left", "told_at", "newest_at", "points_7d", "points_30d", "points_per_day_7d", "points_per_day_30d", "runs_out_at", "runs_out_at_30d") as
 SELECT p.token,
    p.is_ours,
    b.points_left,
    b.started_at AS told_at,
    p.newest_at,
    p.points_7d,
    p.points_30d,
    x.week AS points_per_day_7d,
    x.month AS points_per_day_30d,
        CASE
        WHEN x.week > 0::double precision AND b.points_left::double precision <= (36500::double precision * x.week) THEN b.started_at + GREATEST(b.points_left, 0::bigint)::double precision / x.week * '24:00:00'::interval
        ELSE NULL::timestamp with time zone
        END AS runs_out_at,
        CASE
        WHEN x.month > 0::double precision AND b.points_left::double precision <= (36500::double precision * x.month) THEN b.started_at + GREATEST(b.points_left, 0::bigint)::double precision / x.month * '24:00:00'::interval
        ELSE NULL::timestamp with time zone
        END AS runs_out_at_30d
   FROM ( SELECT e.token,
        e.first_at,
        e.newest_at,
        bool_or(l.request_id IS NOT NULL) AS is_ours,
        COALESCE(sum(l.points) FILTER (WHERE l.started_at > (e.newest_at - '168:00:00'::interval)), 0::numeric) AS points_7d,
        COALESCE(sum(l.points) FILTER (WHERE l.started_at > (e.newest_at - '720:00:00'::interval)), 0::numeric) AS points_30d
        FROM ( SELECT t.token,
        min(t.started_at) AS first_at,
        max(t.started_at) AS newest_at
        FROM logged_requests t
        GROUP BY t.token) e
        JOIN logged_requests l ON l.token = e.token
        GROUP BY e.token, e.first_at, e.newest_at) p
     CROSS JOIN LATERAL ( SELECT GREATEST(EXTRACT(epoch FROM p.newest_at - p.first_at) / 86400::numeric, 1::numeric)::double precision AS days) s
     CROSS JOIN LATERAL ( SELECT p.points_7d::double precision / LEAST(s.days, 7::double precision) AS week,
        p.points_30d::double precision / LEAST(s.days, 30::double precision) AS month) x
     LEFT JOIN LATERAL ( SELECT l.points_left,
        l.started_at
        FROM logged_requests l
        WHERE l.token = p.token AND l.points_left IS NOT NULL
        ORDER BY l.started_at DESC, l.log_id DESC
        LIMIT 1) b ON true;
create view "charged_failures" ("log_id", "started_at", "date", "endpoint", "plan", "sync", "run_id", "request_id", "kind", "status", "error", "points") as
 SELECT p.log_id,
    p.started_at,
    p.date,
    p.endpoint,
    p.plan,
    p.sync,
    p.run_id,
    p.request_id,
        CASE
        WHEN p.outcome = 'failed'::text THEN 'failed'::text
        ELSE 'lost'::text
        END AS kind,
    p.status,
    p.error,
    p.points
   FROM ( SELECT l.log_id,
        l.started_at,
        l.date,
        l.endpoint,
        l.logged_endpoint,
        l.plan,
        l.sync,
        l.run_id,
        l.request_id,
        l.match,
        l.token,
        l.cost,
        l.is_paid,
        l.points,
        l.points_left,
        l.outcome,
        l.status,
        l.error,
        l.asked,
        l.items,
        l.duration_s,
        row_number() OVER (PARTITION BY l.request_id ORDER BY l.started_at DESC, l.log_id) AS place
        FROM logged_requests l
        WHERE l.points > 0::numeric) p
     LEFT JOIN ( SELECT w.request_id,
        count(*) AS rows
        FROM answers w
        GROUP BY w.request_id) a ON a.request_id = p.request_id
  WHERE p.outcome = 'failed'::text OR p.outcome <> 'under way'::text AND p.request_id IS NOT NULL AND p.place > COALESCE(a.rows, 0::bigint);
create view "contract_drift" ("resource", "path", "kind", "seen", "sample_type", "first_seen_at", "last_seen_at", "days_seen") as
 SELECT resource,
    path,
    kind,
    count AS seen,
    sample_type,
    first_seen_at,
    last_seen_at,
    (last_seen_at AT TIME ZONE 'UTC'::text)::date - (first_seen_at AT TIME ZONE 'UTC'::text)::date + 1 AS days_seen
   FROM drift d;
create view "daily_balance" ("token", "date", "requests", "points", "points_left", "told_at") as
 SELECT d.token,
    d.date,
    d.requests,
    d.points,
    b.points_left,
    b.started_at AS told_at
   FROM ( SELECT l.token,
        l.date,
        count(*) AS requests,
        sum(l.points) AS points
        FROM logged_requests l
        GROUP BY l.token, l.date) d
     LEFT JOIN ( SELECT DISTINCT ON (l.token, l.date) l.token,
        l.date,
        l.points_left,
        l.started_at
        FROM logged_requests l
        WHERE l.points_left IS NOT NULL
        ORDER BY l.token, l.date, l.started_at DESC, l.log_id DESC) b ON b.token = d.token AND b.date = d.date;
create view "daily_costs" ("date", "endpoint", "plan", "sync", "requests", "points", "list_points", "failed_requests", "failed_points", "missing_requests", "missing_points", "open_requests", "items") as
 SELECT date,
    endpoint,
    plan,
    sync,
    count(*) AS requests,
    sum(points) AS points,
    COALESCE(sum(cost), 0::numeric) AS list_points,
    count(*) FILTER (WHERE outcome = 'failed'::text) AS failed_requests,
    COALESCE(sum(points) FILTER (WHERE outcome = 'failed'::text), 0::numeric) AS failed_points,
    count(*) FILTER (WHERE outcome = 'missing'::text) AS missing_requests,
    COALESCE(sum(points) FILTER (WHERE outcome = 'missing'::text), 0::numeric) AS missing_points,
    count(*) FILTER (WHERE outcome = 'under way'::text) AS open_requests,
    COALESCE(sum(items), 0::numeric) AS items
   FROM logged_requests l
  GROUP BY date, endpoint, plan, sync;
create view "daily_reconciliation" ("date", "logged", "logged_points", "matched", "matched_points", "ambiguous", "ambiguous_points", "others", "other_points", "lost", "lost_points", "asked", "ledger_points", "unlogged") as
 WITH entries AS (
        SELECT p.date,
        p.points,
        p.match,
        p.request_id,
        p.request_id IS NOT NULL AND p.points > 0::numeric AND p.place > COALESCE(a.rows, 0::bigint) AS is_lost
        FROM ( SELECT l_1.date,
        l_1.points,
        l_1.match,
        l_1.request_id,
        row_number() OVER (PARTITION BY l_1.request_id, (l_1.points > 0::numeric) ORDER BY l_1.started_at DESC, l_1.log_id) AS place
        FROM logged_requests l_1) p
        LEFT JOIN ( SELECT w.request_id,
        count(*) AS rows
        FROM answers w
        GROUP BY w.request_id) a ON a.request_id = p.request_id
        ), logged AS (
        SELECT e.date,
        count(*) AS logged,
        sum(e.points) AS logged_points,
        count(*) FILTER (WHERE e.request_id IS NOT NULL) AS matched,
        COALESCE(sum(e.points) FILTER (WHERE e.request_id IS NOT NULL), 0::numeric) AS matched_points,
        count(*) FILTER (WHERE e.match = 'ambiguous'::text) AS ambiguous,
        COALESCE(sum(e.points) FILTER (WHERE e.match = 'ambiguous'::text), 0::numeric) AS ambiguous_points,
        count(*) FILTER (WHERE e.match = 'none'::text) AS others,
        COALESCE(sum(e.points) FILTER (WHERE e.match = 'none'::text), 0::numeric) AS other_points,
        count(*) FILTER (WHERE e.is_lost) AS lost,
        COALESCE(sum(e.points) FILTER (WHERE e.is_lost), 0::numeric) AS lost_points
        FROM entries e
        GROUP BY e.date
        ), sent AS (
        SELECT (q.sent_at AT TIME ZONE 'UTC'::text)::date AS date,
        count(*) AS asked,
        COALESCE(sum(q.points), 0::numeric) AS ledger_points,
        count(*) FILTER (WHERE q.answer_id IS NOT NULL AND NOT (EXISTS ( SELECT
        FROM request_cost_matches k
        WHERE k.request_id = q.id))) AS unlogged
        FROM requests q
        WHERE q.sent_at IS NOT NULL AND q.attempts > 0 AND q.endpoint <> 'token.requests'::text
        GROUP BY ((q.sent_at AT TIME ZONE 'UTC'::text)::date)
        )
 SELECT date,
    COALESCE(l.logged, 0::bigint) AS logged,
    COALESCE(l.logged_points, 0::numeric) AS logged_points,
    COALESCE(l.matched, 0::bigint) AS matched,
    COALESCE(l.matched_points, 0::numeric) AS matched_points,
    COALESCE(l.ambiguous, 0::bigint) AS ambiguous,
    COALESCE(l.ambiguous_points, 0::numeric) AS ambiguous_points,
    COALESCE(l.others, 0::bigint) AS others,
    COALESCE(l.other_points, 0::numeric) AS other_points,
    COALESCE(l.lost, 0::bigint) AS lost,
    COALESCE(l.lost_points, 0::numeric) AS lost_points,
    COALESCE(s.asked, 0::bigint) AS asked,
    COALESCE(s.ledger_points, 0::numeric) AS ledger_points,
    COALESCE(s.unlogged, 0::bigint) AS unlogged
   FROM logged l
     FULL JOIN sent s USING (date);
create view "dim_date" ("date", "year", "quarter", "month", "day", "day_of_year", "iso_year", "iso_week", "iso_weekday", "weekday_name", "weekday_short", "month_name", "month_short", "year_quarter", "year_month", "iso_year_week", "is_weekend", "is_first_of_month", "is_last_of_month", "first_of_week", "last_of_week", "first_of_month", "last_of_month", "first_of_quarter", "last_of_quarter", "first_of_year", "last_of_year", "days_in_month") as
 SELECT d AS date,
    EXTRACT(year FROM d)::integer AS year,
    EXTRACT(quarter FROM d)::integer AS quarter,
    EXTRACT(month FROM d)::integer AS month,
    EXTRACT(day FROM d)::integer AS day,
    EXTRACT(doy FROM d)::integer AS day_of_year,
    EXTRACT(isoyear FROM d)::integer AS iso_year,
    EXTRACT(week FROM d)::integer AS iso_week,
    EXTRACT(isodow FROM d)::integer AS iso_weekday,
    to_char(d::timestamp without time zone, 'FMDay'::text) AS weekday_name,
    to_char(d::timestamp without time zone, 'Dy'::text) AS weekday_short,
    to_char(d::timestamp without time zone, 'FMMonth'::text) AS month_name,
    to_char(d::timestamp without time zone, 'Mon'::text) AS month_short,
    to_char(d::timestamp without time zone, 'YYYY"-Q"Q'::text) AS year_quarter,
    to_char(d::timestamp without time zone, 'YYYY-MM'::text) AS year_month,
    to_char(d::timestamp without time zone, 'IYYY"-W"IW'::text) AS iso_year_week,
    EXTRACT(isodow FROM d) > 5::numeric AS is_weekend,
    EXTRACT(day FROM d) = 1::numeric AS is_first_of_month,
    EXTRACT(day FROM d + 1) = 1::numeric AS is_last_of_month,
    date_trunc('week'::text, d::timestamp without time zone)::date AS first_of_week,
    date_trunc('week'::text, d::timestamp without time zone)::date + 6 AS last_of_week,
    date_trunc('month'::text, d::timestamp without time zone)::date AS first_of_month,
    (date_trunc('month'::text, d::timestamp without time zone) + '1 mon -1 days'::interval)::date AS last_of_month,
    date_trunc('quarter'::text, d::timestamp without time zone)::date AS first_of_quarter,
    (date_trunc('quarter'::text, d::timestamp without time zone) + '3 mons -1 days'::interval)::date AS last_of_quarter,
    date_trunc('year'::text, d::timestamp without time zone)::date AS first_of_year,
    (date_trunc('year'::text, d::timestamp without time zone) + '1 year -1 days'::interval)::date AS last_of_year,
    EXTRACT(day FROM date_trunc('month'::text, d::timestamp without time zone) + '1 mon -1 days'::interval)::integer AS days_in_month
   FROM ( SELECT '1990-01-01'::date + n.n AS d
        FROM generate_series(0, 21914) n(n)) days;
create view "dim_endpoint" ("endpoint", "network", "table_name", "is_known", "first_logged_on", "last_logged_on") as
 WITH known(endpoint, table_name) AS (
        VALUES ('token.requests'::text,'fact_request_costs'::text), ('webparser.parse'::text,'web_pages'::text), ('sec.search.companies'::text,'sec_filings'::text), ('pronet.post.reposts'::text,'pronet_posts'::text), ('pronet.search.users'::text,'pronet_users'::text), ('pronet.user.education'::text,'pronet_user_educations'::text), ('pronet.group'::text,'pronet_groups'::text), ('microblog.user'::text,'microblog_users'::text), ('photoshare.user'::text,'photoshare_users'::text), ('photoshare.user.posts'::text,'photoshare_posts'::text)
        ), used AS (
        SELECT l.endpoint,
        min(l.date) AS first_on,
        max(l.date) AS last_on
        FROM logged_requests l
        GROUP BY l.endpoint
        )
 SELECT endpoint,
    split_part(endpoint, '.'::text, 1) AS network,
    k.table_name,
    k.endpoint IS NOT NULL AS is_known,
    u.first_on AS first_logged_on,
    u.last_on AS last_logged_on
   FROM known k
     FULL JOIN used u USING (endpoint);
create view "dim_plan" ("plan", "requests", "first_logged_on", "last_logged_on") as
 SELECT plan,
    count(*) AS requests,
    min(date) AS first_logged_on,
    max(date) AS last_logged_on
   FROM logged_requests l
  GROUP BY plan;
create view "dim_sync" ("sync", "is_sync", "endpoint", "runs", "first_run_at", "last_run_at") as
 SELECT sync,
    r.sync IS NOT NULL AS is_sync,
    r.endpoint,
    COALESCE(r.runs, 0::bigint) AS runs,
    r.first_run_at,
    r.last_run_at
   FROM ( SELECT split_part(n.sync, ':'::text, 1) AS sync,
        (array_agg(n.endpoint ORDER BY (strpos(n.sync, ':'::text)), n.id DESC))[1] AS endpoint,
        count(*) FILTER (WHERE strpos(n.sync, ':'::text) = 0) AS runs,
        min(n.started_at) AS first_run_at,
        max(n.started_at) AS last_run_at
        FROM runs n
        GROUP BY (split_part(n.sync, ':'::text, 1))) r
     FULL JOIN ( SELECT DISTINCT l.sync
        FROM logged_requests l) u USING (sync);
create view "microblog_user_overview" ("rest_id", "name", "alias", "url", "description", "location", "created_at", "verified", "verified_type", "is_blue_verified", "follower_count", "following_count", "tweet_count", "listed_count", "favorites_count", "media_count", "counted_at", "age_days", "followers_per_following", "followers_per_day", "tweets_per_day", "listed_per_1000_followers", "media_share", "profile_urls", "first_seen_at", "changed_at") as
 SELECT u.rest_id,
    u.name,
    u.alias,
    u.url,
    u.description,
    u.location,
    u.created_at,
    u.verified,
    u.verified_type,
    u.is_blue_verified,
    u.follower_count,
    u.following_count,
    u.tweet_count,
    u.listed_count,
    u.favorites_count,
    u.media_count,
    t.counted_at,
    t.age_days,
        CASE
        WHEN u.follower_count >= 0 AND u.following_count > 0 THEN u.follower_count::double precision / u.following_count::double precision
        ELSE NULL::double precision
        END AS followers_per_following,
        CASE
        WHEN u.follower_count >= 0 AND t.age_days >= 0 THEN u.follower_count::double precision / GREATEST(t.age_days, 1)::double precision
        ELSE NULL::double precision
        END AS followers_per_day,
        CASE
        WHEN u.tweet_count >= 0 AND t.age_days >= 0 THEN u.tweet_count::double precision / GREATEST(t.age_days, 1)::double precision
        ELSE NULL::double precision
        END AS tweets_per_day,
        CASE
        WHEN u.listed_count >= 0 AND u.follower_count > 0 THEN u.listed_count::double precision * 1000::double precision / u.follower_count::double precision
        ELSE NULL::double precision
        END AS listed_per_1000_followers,
        CASE
        WHEN u.media_count >= 0 AND u.tweet_count > 0 THEN u.media_count::double precision / u.tweet_count::double precision
        ELSE NULL::double precision
        END AS media_share,
    ( SELECT string_agg(
        CASE jsonb_typeof(l.item)
        WHEN 'string'::text THEN l.item #>> '{}'::text[]
        WHEN 'object'::text THEN COALESCE(l.item ->> 'expanded_url'::text, l.item ->> 'url'::text)
        ELSE NULL::text
        END, '; '::text ORDER BY l."position") AS string_agg
        FROM microblog_user_profile_urls l
        WHERE l.user_rest_id = u.rest_id) AS profile_urls,
    u._first_seen_at AS first_seen_at,
    u._changed_at AS changed_at
   FROM microblog_users u
     CROSS JOIN LATERAL ( SELECT c.counted_at,
        CASE
        WHEN c.counted_at >= u.created_at THEN floor(EXTRACT(epoch FROM c.counted_at - u.created_at) / 86400::numeric)::integer
        ELSE NULL::integer
        END AS age_days
        FROM ( SELECT GREATEST(u._changed_at, ( SELECT d._seen_at
        FROM fact_microblog_user_daily d
        WHERE d.user_rest_id = u.rest_id
        ORDER BY d.date DESC
        LIMIT 1)) AS counted_at) c) t;
create view "paid_answers" ("answer_id", "run_id", "sync", "endpoint", "request_key", "received_at", "took_ms", "status", "bytes", "asked", "received", "loaded", "unchanged", "superseded", "quarantined", "loaded_at") as
 SELECT id AS answer_id,
    run_id,
    sync,
    endpoint,
    request_key,
    received_at,
    took_ms,
    status,
    bytes,
    asked,
    received,
    loaded,
    unchanged,
    superseded,
    quarantined,
    loaded_at
   FROM answers a;
create view "photoshare_post_overview" ("id", "code", "url", "created_at", "type", "text", "user_id", "user_name", "user_alias", "user_follower_count", "like_count", "comment_count", "reshare_count", "view_count", "engagement_count", "engagement_rate", "media_count", "carousel_media_count", "is_paid_partnership", "detail", "first_seen_at", "changed_at") as
 SELECT p.id,
    p.code,
    p.url,
    p.created_at,
    p.type,
    p.text,
    p.user_id,
    COALESCE(p.user_name, u.name) AS user_name,
    COALESCE(p.user_alias, u.alias) AS user_alias,
    u.follower_count AS user_follower_count,
    p.like_count,
    p.comment_count,
    p.reshare_count,
    p.view_count,
    GREATEST(p.like_count, 0::bigint) + GREATEST(p.comment_count, 0::bigint) + GREATEST(p.reshare_count, 0::bigint) AS engagement_count,
        CASE
        WHEN p.like_count >= 0 AND p.comment_count >= 0 AND u.follower_count > 0 THEN (p.like_count + p.comment_count)::double precision / u.follower_count::double precision
        ELSE NULL::double precision
        END AS engagement_rate,
    p.media_count,
    p.carousel_media_count,
    p.is_paid_partnership,
    p._detail AS detail,
    p._first_seen_at AS first_seen_at,
    p._changed_at AS changed_at
   FROM photoshare_posts p
     LEFT JOIN photoshare_users u ON u.id = p.user_id;
create view "photoshare_user_overview" ("id", "alias", "name", "url", "description", "category", "is_private", "is_verified", "is_business", "created_at", "external_url", "location_city", "follower_count", "following_count", "media_count", "counted_at", "age_days", "followers_per_following", "posts_per_day", "loaded_post_count", "last_post_at", "mean_like_count", "mean_comment_count", "engagement_rate", "detail", "first_seen_at", "changed_at") as
 SELECT u.id,
    u.alias,
    u.name,
    u.url,
    u.description,
    u.category,
    u.is_private,
    u.is_verified,
    u.is_business,
    u.created_at,
    u.external_url,
    u.location_city,
    u.follower_count,
    u.following_count,
    u.media_count,
    t.counted_at,
    t.age_days,
        CASE
        WHEN u.follower_count >= 0 AND u.following_count > 0 THEN u.follower_count::double precision / u.following_count::double precision
        ELSE NULL::double precision
        END AS followers_per_following,
        CASE
        WHEN u.media_count >= 0 AND t.age_days >= 0 THEN u.media_count::double precision / GREATEST(t.age_days, 1)::double precision
        ELSE NULL::double precision
        END AS posts_per_day,
    p.posts AS loaded_post_count,
    p.last_at AS last_post_at,
    p.likes AS mean_like_count,
    p.comments AS mean_comment_count,
        CASE
        WHEN u.follower_count > 0 THEN p.engagement / u.follower_count::double precision
        ELSE NULL::double precision
        END AS engagement_rate,
    u._detail AS detail,
    u._first_seen_at AS first_seen_at,
    u._changed_at AS changed_at
   FROM photoshare_users u
     CROSS JOIN LATERAL ( SELECT c.counted_at,
        CASE
        WHEN c.counted_at >= u.created_at THEN floor(EXTRACT(epoch FROM c.counted_at - u.created_at) / 86400::numeric)::integer
        ELSE NULL::integer
        END AS age_days
        FROM ( SELECT GREATEST(u._changed_at, ( SELECT d._seen_at
        FROM fact_photoshare_user_daily d
        WHERE d.user_id = u.id
        ORDER BY d.date DESC
        LIMIT 1)) AS counted_at) c) t
     CROSS JOIN LATERAL ( SELECT count(*) AS posts,
        max(l.created_at) AS last_at,
        avg(l.like_count) FILTER (WHERE l.like_count >= 0)::double precision AS likes,
        avg(l.comment_count) FILTER (WHERE l.comment_count >= 0)::double precision AS comments,
        avg(l.like_count + l.comment_count) FILTER (WHERE l.like_count >= 0 AND l.comment_count >= 0)::double precision AS engagement
        FROM photoshare_posts l
        WHERE l.user_id = u.id) p;
create view "photoshare_user_post_overview" ("user_asked", "post_id", "position", "user_id", "user_alias", "user_name", "user_follower_count", "post_url", "post_created_at", "post_type", "post_like_count", "post_comment_count", "post_view_count") as
 SELECT b.user_asked,
    b.post_id,
    b."position",
    COALESCE(b.user_id, p.user_id) AS user_id,
    u.alias AS user_alias,
    u.name AS user_name,
    u.follower_count AS user_follower_count,
    p.url AS post_url,
    p.created_at AS post_created_at,
    p.type AS post_type,
    p.like_count AS post_like_count,
    p.comment_count AS post_comment_count,
    p.view_count AS post_view_count
   FROM photoshare_user_posts b
     JOIN photoshare_posts p ON p.id = b.post_id
     LEFT JOIN photoshare_users u ON u.id = COALESCE(b.user_id, p.user_id);
create view "price_book" ("endpoint", "plan", "samples", "min_points", "low_points", "median_points", "mean_points", "high_points", "max_points", "low_points_per_item", "median_points_per_item", "high_points_per_item", "empty_points", "missing_points", "failed_points", "last_at") as
 SELECT endpoint,
    plan,
    count(*) FILTER (WHERE outcome = 'answered'::text) AS samples,
    min(points) FILTER (WHERE outcome = 'answered'::text) AS min_points,
    percentile_disc(0.1::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'answered'::text) AS low_points,
    percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'answered'::text) AS median_points,
    avg(points) FILTER (WHERE outcome = 'answered'::text)::double precision AS mean_points,
    percentile_disc(0.9::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'answered'::text) AS high_points,
    max(points) FILTER (WHERE outcome = 'answered'::text) AS max_points,
    percentile_disc(0.1::double precision) WITHIN GROUP (ORDER BY (points / NULLIF(items, 0)::numeric)) FILTER (WHERE outcome = 'answered'::text AND items > 0)::double precision AS low_points_per_item,
    percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY (points / NULLIF(items, 0)::numeric)) FILTER (WHERE outcome = 'answered'::text AND items > 0)::double precision AS median_points_per_item,
    percentile_disc(0.9::double precision) WITHIN GROUP (ORDER BY (points / NULLIF(items, 0)::numeric)) FILTER (WHERE outcome = 'answered'::text AND items > 0)::double precision AS high_points_per_item,
    percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'answered'::text AND items = 0) AS empty_points,
    percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'missing'::text) AS missing_points,
    percentile_disc(0.5::double precision) WITHIN GROUP (ORDER BY points) FILTER (WHERE outcome = 'failed'::text) AS failed_points,
    max(started_at) AS last_at
   FROM logged_requests l
  WHERE (outcome = ANY (ARRAY['answered'::text, 'missing'::text, 'failed'::text])) AND cost >= 0 AND NOT (outcome = 'answered'::text AND cost > 0 AND points = 0::numeric)
  GROUP BY endpoint, plan;
create view "pronet_group_member_overview" ("group_urn_type", "group_urn_value", "group_name", "group_url", "group_member_count", "user_urn_type", "user_urn_value", "user_name", "user_alias", "user_url", "user_headline", "user_location", "role", "joined_at") as
 SELECT m.group_urn_type,
    m.group_urn_value,
    g.name AS group_name,
    g.url AS group_url,
    g.member_count AS group_member_count,
    m.user_urn_type,
    m.user_urn_value,
    COALESCE(m.user_name, u.name) AS user_name,
    COALESCE(m.user_alias, u.alias) AS user_alias,
    COALESCE(m.user_url, u.url) AS user_url,
    COALESCE(m.user_headline, u.headline) AS user_headline,
    u.location AS user_location,
    m.role,
    m.joined_at
   FROM pronet_group_members m
     JOIN pronet_groups g ON g.urn_type = m.group_urn_type AND g.urn_value = m.group_urn_value
     LEFT JOIN pronet_users u ON u.urn_type = m.user_urn_type AND u.urn_value = m.user_urn_value;
create view "pronet_group_overview" ("urn_type", "urn_value", "name", "url", "description", "member_count", "shown_member_count", "owner_count", "owners", "industries", "created_at", "geo_type", "geo_value", "first_seen_at", "changed_at") as
 SELECT g.urn_type,
    g.urn_value,
    g.name,
    g.url,
    g.description,
    g.member_count,
    g.members_count AS shown_member_count,
        CASE
        WHEN g.members_count IS NOT NULL THEN o.owners
        ELSE NULL::bigint
        END AS owner_count,
    o.names AS owners,
    ( SELECT string_agg(COALESCE(i.name, (l.type || ':'::text) || l.value), '; '::text ORDER BY l.type, l.value) AS string_agg
        FROM pronet_group_industries l
        LEFT JOIN pronet_industries i ON i.urn_type = l.type AND i.urn_value = l.value
        WHERE l.group_urn_type = g.urn_type AND l.group_urn_value = g.urn_value) AS industries,
    g.created_at,
    g.geo_type,
    g.geo_value,
    g._first_seen_at AS first_seen_at,
    g._changed_at AS changed_at
   FROM pronet_groups g
     CROSS JOIN LATERAL ( SELECT count(*) AS owners,
        string_agg(COALESCE(m.user_name, u.name), '; '::text ORDER BY m.user_urn_type, m.user_urn_value) AS names
        FROM pronet_group_members m
        LEFT JOIN pronet_users u ON u.urn_type = m.user_urn_type AND u.urn_value = m.user_urn_value
        WHERE m.group_urn_type = g.urn_type AND m.group_urn_value = g.urn_value AND lower(m.role) = 'owner'::text) o;
create view "pronet_post_mention_overview" ("post_urn_type", "post_urn_value", "position", "created_at", "author_urn_type", "author_urn_value", "author_name", "kind", "mentioned_urn_type", "mentioned_urn_value", "mentioned_name", "mentioned_headline") as
 SELECT m.post_urn_type,
    m.post_urn_value,
    m."position",
    p.created_at,
    p.author_urn_type,
    p.author_urn_value,
    p.author_name,
    m.kind,
    m.urn_type AS mentioned_urn_type,
    m.urn_value AS mentioned_urn_value,
    COALESCE(m.name, person.name, organization.name) AS mentioned_name,
    COALESCE(person.headline, organization.headline) AS mentioned_headline
   FROM pronet_post_mentions m
     JOIN pronet_posts p ON p.urn_type = m.post_urn_type AND p.urn_value = m.post_urn_value
     LEFT JOIN pronet_users person ON person.urn_type = m.urn_type AND person.urn_value = m.urn_value
     LEFT JOIN pronet_companies organization ON organization.urn_type = m.urn_type AND organization.urn_value = m.urn_value;
create view "pronet_post_overview" ("urn_type", "urn_value", "url", "created_at", "text", "author_urn_type", "author_urn_value", "author_kind", "author_name", "author_alias", "author_url", "author_headline", "is_repost", "is_empty_repost", "repost_urn_type", "repost_urn_value", "repost_author_name", "comment_count", "share_count", "reaction_count", "like_count", "praise_count", "empathy_count", "interest_count", "appreciation_count", "entertainment_count", "other_reaction_count", "engagement_count", "mention_count", "image_count", "has_video", "article_title", "article_url", "document_title", "event_title", "detail", "first_seen_at", "changed_at") as
 SELECT p.urn_type,
    p.urn_value,
    p.url,
    p.created_at,
    p.text,
    p.author_urn_type,
    p.author_urn_value,
        CASE
        WHEN p.author_urn_type = ANY (ARRAY['fsd_company'::text, 'company'::text, 'school'::text]) THEN 'company'::text
        WHEN p.author_urn_type IS NOT NULL THEN 'user'::text
        ELSE NULL::text
        END AS author_kind,
    COALESCE(p.author_name, person.name, organization.name) AS author_name,
    COALESCE(p.author_alias, person.alias, organization.alias) AS author_alias,
    COALESCE(p.author_url, person.url, organization.url) AS author_url,
    COALESCE(p.author_headline, person.headline, organization.headline) AS author_headline,
    p.repost_urn_value IS NOT NULL AS is_repost,
    p.is_empty_repost,
    p.repost_urn_type,
    p.repost_urn_value,
    repeated.author_name AS repost_author_name,
    p.comment_count,
    p.share_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r."all"
        ELSE NULL::bigint
        END AS reaction_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r."like"
        ELSE NULL::bigint
        END AS like_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.praise
        ELSE NULL::bigint
        END AS praise_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.empathy
        ELSE NULL::bigint
        END AS empathy_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.interest
        ELSE NULL::bigint
        END AS interest_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.appreciation
        ELSE NULL::bigint
        END AS appreciation_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.entertainment
        ELSE NULL::bigint
        END AS entertainment_count,
        CASE
        WHEN p.reactions_count IS NOT NULL THEN r.other
        ELSE NULL::bigint
        END AS other_reaction_count,
    GREATEST(p.comment_count, 0::bigint) + GREATEST(p.share_count, 0::bigint) + r."all" AS engagement_count,
    p.mentioned_count AS mention_count,
    p.images_count AS image_count,
    p.video_url IS NOT NULL AS has_video,
    p.article_title,
    p.article_url,
    p.document_title,
    p.event_title,
    p._detail AS detail,
    p._first_seen_at AS first_seen_at,
    p._changed_at AS changed_at
   FROM pronet_posts p
     LEFT JOIN pronet_users person ON person.urn_type = p.author_urn_type AND person.urn_value = p.author_urn_value
     LEFT JOIN pronet_companies organization ON organization.urn_type = p.author_urn_type AND organization.urn_value = p.author_urn_value
     LEFT JOIN pronet_posts repeated ON repeated.urn_type = p.repost_urn_type AND repeated.urn_value = p.repost_urn_value
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'like'::text), 0::numeric)::bigint AS "like",
        COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'praise'::text), 0::numeric)::bigint AS praise,
        COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'empathy'::text), 0::numeric)::bigint AS empathy,
        COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'interest'::text), 0::numeric)::bigint AS interest,
        COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'appreciation'::text), 0::numeric)::bigint AS appreciation,
        COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'entertainment'::text), 0::numeric)::bigint AS entertainment,
        COALESCE(sum(l.count) FILTER (WHERE (lower(l.type) <> ALL (ARRAY['like'::text, 'praise'::text, 'empathy'::text, 'interest'::text, 'appreciation'::text, 'entertainment'::text])) OR l.type IS NULL), 0::numeric)::bigint AS other,
        COALESCE(sum(l.count), 0::numeric)::bigint AS "all"
        FROM pronet_post_reactions l
        WHERE l.post_urn_type = p.urn_type AND l.post_urn_value = p.urn_value AND l.count >= 0) r;
create view "pronet_post_repost_overview" ("post_urn_type", "post_urn_value", "post_author_name", "post_created_at", "repost_urn_type", "repost_urn_value", "position", "repost_author_urn_type", "repost_author_urn_value", "repost_author_name", "repost_created_at", "repost_text", "repost_comment_count", "repost_share_count") as
 SELECT b.post_urn_type,
    b.post_urn_value,
    p.author_name AS post_author_name,
    p.created_at AS post_created_at,
    b.repost_urn_type,
    b.repost_urn_value,
    b."position",
    r.author_urn_type AS repost_author_urn_type,
    r.author_urn_value AS repost_author_urn_value,
    r.author_name AS repost_author_name,
    r.created_at AS repost_created_at,
    r.text AS repost_text,
    r.comment_count AS repost_comment_count,
    r.share_count AS repost_share_count
   FROM pronet_post_reposts b
     JOIN pronet_posts r ON r.urn_type = b.repost_urn_type AND r.urn_value = b.repost_urn_value
     LEFT JOIN pronet_posts p ON p.urn_type = b.post_urn_type AND p.urn_value = b.post_urn_value;
create view "pronet_user_overview" ("urn_type", "urn_value", "name", "alias", "url", "headline", "location", "open_to_work", "school_count", "school_name", "school_urn_type", "school_urn_value", "school_industry", "school_major", "school_interval", "school_end_year", "group_count", "search_count", "detail", "first_seen_at", "changed_at") as
 SELECT u.urn_type,
    u.urn_value,
    u.name,
    u.alias,
    u.url,
    u.headline,
    u.location,
    u.open_to_work,
    COALESCE(s.school_count, 0::bigint) AS school_count,
    s.company_name AS school_name,
    s.company_urn_type AS school_urn_type,
    s.company_urn_value AS school_urn_value,
    s.company_industry_full_name AS school_industry,
    s.major AS school_major,
    s."interval" AS school_interval,
    s.end_year AS school_end_year,
    ( SELECT count(*) AS count
        FROM pronet_group_members m
        WHERE m.user_urn_type = u.urn_type AND m.user_urn_value = u.urn_value) AS group_count,
    ( SELECT count(*) AS count
        FROM pronet_user_search_hits h
        WHERE h.user_urn_type = u.urn_type AND h.user_urn_value = u.urn_value) AS search_count,
    u._detail AS detail,
    u._first_seen_at AS first_seen_at,
    u._changed_at AS changed_at
   FROM pronet_users u
     LEFT JOIN LATERAL ( SELECT e.company_name,
        e.company_urn_type,
        e.company_urn_value,
        e.company_industry_full_name,
        e.major,
        e."interval",
        y.last AS end_year,
        count(*) OVER () AS school_count
        FROM pronet_user_educations e
        CROSS JOIN LATERAL ( SELECT min(word.word::integer) AS first,
        max(word.word::integer) AS last
        FROM string_to_table(regexp_replace(e."interval", '[^0-9]+'::text, ' '::text, 'g'::text), ' '::text) word(word)
        WHERE length(word.word) = 4 AND ("left"(word.word, 2) = ANY (ARRAY['19'::text, '20'::text]))) y
        WHERE e.user_urn_type = u.urn_type AND e.user_urn_value = u.urn_value
        ORDER BY (COALESCE(e."interval" ~* 'present|current|today'::text, false)) DESC, y.last DESC NULLS LAST, e."position"
        LIMIT 1) s ON true;
create view "pronet_user_school_overview" ("user_urn_type", "user_urn_value", "position", "user_name", "user_headline", "user_location", "is_latest", "school_urn_type", "school_urn_value", "school_name", "school_url", "school_industry", "school_employee_range", "major", "interval", "start_year", "end_year") as
 SELECT e.user_urn_type,
    e.user_urn_value,
    e."position",
    u.name AS user_name,
    u.headline AS user_headline,
    u.location AS user_location,
    row_number() OVER (PARTITION BY e.user_urn_type, e.user_urn_value ORDER BY (COALESCE(e."interval" ~* 'present|current|today'::text, false)) DESC, y.last DESC NULLS LAST, e."position") = 1 AS is_latest,
    e.company_urn_type AS school_urn_type,
    e.company_urn_value AS school_urn_value,
    e.company_name AS school_name,
    COALESCE(e.company_url, c.url) AS school_url,
    COALESCE(e.company_industry_full_name, c.industry_full_name) AS school_industry,
    COALESCE(e.company_employee_range, c.employee_range) AS school_employee_range,
    e.major,
    e."interval",
    y.first AS start_year,
    y.last AS end_year
   FROM pronet_user_educations e
     CROSS JOIN LATERAL ( SELECT min(word.word::integer) AS first,
        max(word.word::integer) AS last
        FROM string_to_table(regexp_replace(e."interval", '[^0-9]+'::text, ' '::text, 'g'::text), ' '::text) word(word)
        WHERE length(word.word) = 4 AND ("left"(word.word, 2) = ANY (ARRAY['19'::text, '20'::text]))) y
     LEFT JOIN pronet_users u ON u.urn_type = e.user_urn_type AND u.urn_value = e.user_urn_value
     LEFT JOIN pronet_companies c ON c.urn_type = e.company_urn_type AND c.urn_value = e.company_urn_value;
create view "pronet_user_search_hit_overview" ("sync", "request_key", "position", "user_urn_type", "user_urn_value", "user_name", "user_alias", "user_url", "user_headline", "user_location", "user_open_to_work") as
 SELECT h.sync,
    h.request_key,
    h."position",
    h.user_urn_type,
    h.user_urn_value,
    u.name AS user_name,
    u.alias AS user_alias,
    u.url AS user_url,
    u.headline AS user_headline,
    u.location AS user_location,
    u.open_to_work AS user_open_to_work
   FROM pronet_user_search_hits h
     JOIN pronet_users u ON u.urn_type = h.user_urn_type AND u.urn_value = h.user_urn_value;
create view "quarantined_items" ("entry_id", "answer_id", "sync", "endpoint", "resource", "position", "reason", "created_at", "resolved_at", "is_open") as
 SELECT id AS entry_id,
    answer_id,
    sync,
    endpoint,
    resource,
    "position",
    reason,
    created_at,
    resolved_at,
    resolved_at IS NULL AS is_open
   FROM quarantine i;
create view "run_costs" ("run_id", "sync", "endpoint", "started_at", "date", "state", "requests", "points", "failed_points", "ledger_points", "quoted_points", "received", "loaded", "new_rows", "nothing_new_points", "points_per_loaded", "points_per_new_row") as
 SELECT r.id AS run_id,
    split_part(r.sync, ':'::text, 1) AS sync,
    r.endpoint,
    r.started_at,
    (r.started_at AT TIME ZONE 'UTC'::text)::date AS date,
        CASE
        WHEN r.state = 'running'::text AND NOT (EXISTS ( SELECT
        FROM leases l_1
        WHERE l_1.expires_at >= now() AND (l_1.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'interrupted'::text
        ELSE r.state
        END AS state,
    COALESCE(l.requests, 0::bigint) AS requests,
    COALESCE(l.points, 0::numeric) AS points,
    COALESCE(l.failed_points, 0::numeric) AS failed_points,
    r.points AS ledger_points,
        CASE
        WHEN jsonb_typeof(r.quote -> 'likely'::text) = 'number'::text THEN (r.quote ->> 'likely'::text)::numeric
        ELSE NULL::numeric
        END AS quoted_points,
    COALESCE(a.received, 0::bigint) AS received,
    COALESCE(a.loaded, 0::bigint) AS loaded,
    COALESCE(a.new_rows, 0::bigint) AS new_rows,
    COALESCE(a.nothing_new_points, 0::numeric) AS nothing_new_points,
    (COALESCE(l.points, r.points) / NULLIF(a.loaded, 0)::numeric)::double precision AS points_per_loaded,
    (COALESCE(l.points, r.points) / NULLIF(a.new_rows, 0)::numeric)::double precision AS points_per_new_row
   FROM runs r
     LEFT JOIN ( SELECT g.run_id,
        count(*) AS requests,
        sum(g.points) AS points,
        sum(g.points) FILTER (WHERE g.outcome = 'failed'::text) AS failed_points
        FROM logged_requests g
        WHERE g.run_id IS NOT NULL
        GROUP BY g.run_id) l ON l.run_id = r.id
     LEFT JOIN ( SELECT w.run_id,
        sum(w.received)::bigint AS received,
        sum(w.loaded)::bigint AS loaded,
        sum(w.new_rows)::bigint AS new_rows,
        sum(w.points) FILTER (WHERE w.is_nothing_new) AS nothing_new_points
        FROM answer_costs w
        GROUP BY w.run_id) a ON a.run_id = r.id;
create view "sec_filing_filers" ("accession_number", "file_name", "position", "cik", "display_name", "filing_type", "file_date", "period_ending", "document_url") as
 SELECT f.accession_number,
    f.file_name,
    l."position",
    c.cik,
    n.display_name,
    f.filing_type,
    f.file_date,
    f.period_ending,
    f.document_url
   FROM sec_filings f
     CROSS JOIN LATERAL ( SELECT generate_series(0::bigint, GREATEST(f.ciks_count, f.display_names_count) - 1) AS "position") l
     LEFT JOIN sec_filing_ciks c ON c.filing_accession_number = f.accession_number AND c.filing_file_name = f.file_name AND c."position" = l."position"
     LEFT JOIN sec_filing_display_names n ON n.filing_accession_number = f.accession_number AND n.filing_file_name = f.file_name AND n."position" = l."position";
create view "sec_filing_overview" ("accession_number", "file_name", "document_url", "filing_type", "is_amendment", "file_date", "period_ending", "days_to_file", "file_description", "filer_count", "filers", "ciks", "first_filer", "first_cik", "biz_locations", "biz_states", "inc_states", "sics", "items", "first_seen_at", "changed_at") as
 SELECT accession_number,
    file_name,
    document_url,
    filing_type,
    filing_type ~~ '%/A'::text AS is_amendment,
    file_date,
    period_ending,
    file_date - period_ending AS days_to_file,
    file_description,
    GREATEST(ciks_count, display_names_count) AS filer_count,
    ( SELECT string_agg(l.display_name, '; '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_display_names l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.display_name <> ''::text) AS filers,
    ( SELECT string_agg(l.cik, ', '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_ciks l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.cik <> ''::text) AS ciks,
    ( SELECT l.display_name
        FROM sec_filing_display_names l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l."position" = 0) AS first_filer,
    ( SELECT l.cik
        FROM sec_filing_ciks l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l."position" = 0) AS first_cik,
    ( SELECT string_agg(l.biz_location, '; '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_biz_locations l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.biz_location <> ''::text) AS biz_locations,
    ( SELECT string_agg(l.biz_state, ', '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_biz_states l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.biz_state <> ''::text) AS biz_states,
    ( SELECT string_agg(l.inc_state, ', '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_inc_states l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.inc_state <> ''::text) AS inc_states,
    ( SELECT string_agg(l.sic, ', '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_sics l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.sic <> ''::text) AS sics,
    ( SELECT string_agg(l.item, ', '::text ORDER BY l."position") AS string_agg
        FROM sec_filing_items l
        WHERE l.filing_accession_number = f.accession_number AND l.filing_file_name = f.file_name AND l.item <> ''::text) AS items,
    _first_seen_at AS first_seen_at,
    _changed_at AS changed_at
   FROM sec_filings f;
create view "sync_costs" ("sync", "endpoint", "requests", "points", "failed_requests", "failed_points", "first_on", "last_on", "ledger_points", "answers", "answer_points", "received", "loaded", "new_rows", "points_per_loaded", "points_per_new_row", "nothing_new_answers", "nothing_new_points", "nothing_new_share") as
 WITH logged AS (
        SELECT g.sync,
        g.endpoint,
        count(*) AS requests,
        sum(g.points) AS points,
        count(*) FILTER (WHERE g.outcome = 'failed'::text) AS failed_requests,
        COALESCE(sum(g.points) FILTER (WHERE g.outcome = 'failed'::text), 0::numeric) AS failed_points,
        min(g.date) AS first_on,
        max(g.date) AS last_on
        FROM logged_requests g
        GROUP BY g.sync, g.endpoint
        ), ledger AS (
        SELECT split_part(q.sync, ':'::text, 1) AS sync,
        q.endpoint,
        sum(q.points) AS points
        FROM requests q
        GROUP BY (split_part(q.sync, ':'::text, 1)), q.endpoint
        ), bought AS (
        SELECT w.sync,
        w.endpoint,
        count(*) AS answers,
        sum(w.points) AS points,
        sum(w.received)::bigint AS received,
        sum(w.loaded)::bigint AS loaded,
        sum(w.new_rows)::bigint AS new_rows,
        count(*) FILTER (WHERE w.is_nothing_new) AS nothing_new_answers,
        COALESCE(sum(w.points) FILTER (WHERE w.is_nothing_new), 0::numeric) AS nothing_new_points
        FROM answer_costs w
        GROUP BY w.sync, w.endpoint
        )
 SELECT sync,
    endpoint,
    COALESCE(l.requests, 0::bigint) AS requests,
    COALESCE(l.points, 0::numeric) AS points,
    COALESCE(l.failed_requests, 0::bigint) AS failed_requests,
    COALESCE(l.failed_points, 0::numeric) AS failed_points,
    l.first_on,
    l.last_on,
    COALESCE(k.points, 0::numeric) AS ledger_points,
    COALESCE(a.answers, 0::bigint) AS answers,
    COALESCE(a.points, 0::numeric) AS answer_points,
    COALESCE(a.received, 0::bigint) AS received,
    COALESCE(a.loaded, 0::bigint) AS loaded,
    COALESCE(a.new_rows, 0::bigint) AS new_rows,
    (COALESCE(l.points, k.points) / NULLIF(a.loaded, 0)::numeric)::double precision AS points_per_loaded,
    (COALESCE(l.points, k.points) / NULLIF(a.new_rows, 0)::numeric)::double precision AS points_per_new_row,
    COALESCE(a.nothing_new_answers, 0::bigint) AS nothing_new_answers,
    COALESCE(a.nothing_new_points, 0::numeric) AS nothing_new_points,
    (a.nothing_new_points / NULLIF(a.points, 0::numeric))::double precision AS nothing_new_share
   FROM logged l
     FULL JOIN ledger k USING (sync, endpoint)
     FULL JOIN bought a USING (sync, endpoint);
create view "sync_slices" ("slice_id", "sync", "endpoint", "request_key", "run_id", "filters", "asked", "returned", "depth", "extent", "reason", "as_of") as
 WITH narrowing(endpoint, facets, day_from, day_to) AS (
        VALUES ('sec.search.companies'::text,ARRAY['forms'::text, 'location_codes'::text],'date_from'::text,'date_to'::text), ('pronet.search.users'::text,ARRAY['current_company'::text, 'past_company'::text, 'location'::text, 'industry'::text, 'education'::text],''::text,''::text)
        ), slices AS (
        SELECT c_1.id,
        c_1.request_id,
        c_1.sync,
        c_1.endpoint,
        c_1.request_key,
        c_1.run_id,
        c_1.filters,
        c_1.asked,
        c_1.returned,
        c_1.depth,
        c_1.complete,
        c_1.reason,
        c_1.as_of,
        c_1.unreadable,
        w.facets,
        c_1.filters - w.day_from - w.day_to AS question,
        CASE
        WHEN w.day_from = ''::text THEN ''::text
        ELSE (c_1.filters -> w.day_from)::text
        END AS first_day,
        CASE
        WHEN w.day_to = ''::text THEN ''::text
        ELSE (c_1.filters -> w.day_to)::text
        END AS last_day
        FROM coverage c_1
        LEFT JOIN narrowing w ON w.endpoint = c_1.endpoint
        WHERE c_1.sync !~~ '%:%'::text
        ), newest AS (
        SELECT DISTINCT ON (slices.sync, slices.endpoint, slices.filters) slices.id,
        slices.request_id,
        slices.sync,
        slices.endpoint,
        slices.request_key,
        slices.run_id,
        slices.filters,
        slices.asked,
        slices.returned,
        slices.depth,
        slices.complete,
        slices.reason,
        slices.as_of,
        slices.unreadable,
        slices.facets,
        slices.question,
        slices.first_day,
        slices.last_day
        FROM slices
        ORDER BY slices.sync, slices.endpoint, slices.filters, slices.id DESC
        ), with_room AS (
        SELECT slices.sync,
        slices.endpoint,
        slices.question,
        slices.first_day,
        slices.last_day,
        max(slices.id) AS id
        FROM slices
        WHERE slices.returned < slices.asked AND NOT slices.unreadable
        GROUP BY slices.sync, slices.endpoint, slices.question, slices.first_day, slices.last_day
        ), wider AS MATERIALIZED (
        SELECT c_1.id,
        c_1.sync,
        c_1.endpoint,
        c_1.first_day,
        c_1.last_day,
        c_1.question - (ARRAY( SELECT f.name
        FROM unnest(n.facets) WITH ORDINALITY f(name, place)
        WHERE ((b.left_out >> (f.place - 1)::integer) & 1) = 1)) AS question
        FROM newest c_1
        CROSS JOIN LATERAL ( SELECT ARRAY( SELECT f.f
        FROM unnest(c_1.facets) f(f)
        WHERE c_1.question ? f.f) AS facets) n
        CROSS JOIN LATERAL generate_series(0, (1 << cardinality(n.facets)) - 1) b(left_out)
        WHERE NOT c_1.complete AND c_1.reason IS NOT NULL
        ), told AS (
        SELECT DISTINCT w.id
        FROM wider w
        JOIN with_room n ON n.sync = w.sync AND n.endpoint = w.endpoint AND n.question = w.question AND n.id > w.id AND n.first_day <= w.first_day AND n.last_day >= w.last_day
        )
 SELECT c.id AS slice_id,
    c.sync,
    c.endpoint,
    c.request_key,
    c.run_id,
    c.filters::text AS filters,
    c.asked,
    c.returned,
    c.depth,
    x.extent,
        CASE
        WHEN x.extent = 'lower_bound'::text THEN c.reason
        ELSE NULL::text
        END AS reason,
    c.as_of
   FROM newest c
     LEFT JOIN told t ON t.id = c.id
     CROSS JOIN LATERAL ( SELECT
        CASE
        WHEN c.complete THEN 'complete'::text
        WHEN c.reason IS NULL THEN 'open'::text
        WHEN t.id IS NOT NULL THEN 'open'::text
        WHEN (EXISTS ( SELECT
        FROM requests s
        WHERE s.sync = c.sync AND s.request_key = c.request_key AND s.id > c.request_id AND s.state = 'skipped'::text AND s.attempts = 0 AND s.next IS NOT NULL)) THEN 'open'::text
        ELSE 'lower_bound'::text
        END AS extent
        OFFSET 0) x;
create view "sync_coverage" ("sync", "endpoint", "slices", "complete_slices", "lower_bound_slices", "open_slices", "complete_share", "returned", "oldest_as_of", "newest_as_of") as
 SELECT sync,
    endpoint,
    count(*) AS slices,
    count(*) FILTER (WHERE extent = 'complete'::text) AS complete_slices,
    count(*) FILTER (WHERE extent = 'lower_bound'::text) AS lower_bound_slices,
    count(*) FILTER (WHERE extent = 'open'::text) AS open_slices,
    count(*) FILTER (WHERE extent = 'complete'::text)::double precision / NULLIF(count(*) FILTER (WHERE extent <> 'open'::text), 0)::double precision AS complete_share,
    sum(returned)::bigint AS returned,
    min(as_of) AS oldest_as_of,
    max(as_of) AS newest_as_of
   FROM sync_slices s
  GROUP BY sync, endpoint;
create view "sync_freshness" ("sync", "endpoint", "last_run_id", "last_state", "last_exit_code", "last_started_at", "last_ended_at", "last_error", "refreshed_at", "completed_at", "answered_at", "loaded_at", "hours_since_refresh", "open_requests", "in_doubt_requests", "waiting_answers") as
 SELECT r.sync,
    r.endpoint,
    r.id AS last_run_id,
        CASE
        WHEN r.state = 'running'::text AND NOT (EXISTS ( SELECT
        FROM leases l
        WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'interrupted'::text
        ELSE r.state
        END AS last_state,
    r.exit_code AS last_exit_code,
    r.started_at AS last_started_at,
    r.ended_at AS last_ended_at,
        CASE
        WHEN r.state = 'running'::text AND NOT (EXISTS ( SELECT
        FROM leases l
        WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'its process died before the run ended; the next sync continues it'::text
        ELSE r.error
        END AS last_error,
    t.refreshed_at,
    t.completed_at,
    GREATEST(a.answered_at, s.answered_at) AS answered_at,
    a.loaded_at,
    (EXTRACT(epoch FROM now() - t.refreshed_at) / 3600::numeric)::double precision AS hours_since_refresh,
    COALESCE(q.open_requests, 0::bigint) AS open_requests,
    COALESCE(q.in_doubt_requests, 0::bigint) AS in_doubt_requests,
    COALESCE(a.waiting_answers, 0::bigint) AS waiting_answers
   FROM ( SELECT DISTINCT ON (runs.sync) runs.id,
        runs.sync,
        runs.endpoint,
        runs.state,
        runs.exit_code,
        runs.started_at,
        runs.ended_at,
        runs.error,
        runs.holder
        FROM runs
        WHERE strpos(runs.sync, ':'::text) = 0
        ORDER BY runs.sync, runs.id DESC) r
     CROSS JOIN LATERAL ( SELECT max(e.ended_at) FILTER (WHERE (e.state = ANY (ARRAY['complete'::text, 'partial'::text])) AND e.unreadable = 0 AND e.ended_at <= (now() + '00:01:00'::interval)) AS refreshed_at,
        max(e.ended_at) FILTER (WHERE e.state = 'complete'::text AND e.ended_at <= (now() + '00:01:00'::interval)) AS completed_at
        FROM runs e
        WHERE e.sync = r.sync) t
     LEFT JOIN ( SELECT w.sync,
        max(w.received_at) AS answered_at,
        max(w.loaded_at) AS loaded_at,
        count(*) FILTER (WHERE w.loaded_at IS NULL) AS waiting_answers
        FROM answers w
        GROUP BY w.sync) a ON a.sync = r.sync
     LEFT JOIN ( SELECT o.sync,
        count(*) AS open_requests,
        count(*) FILTER (WHERE o.state = 'in_doubt'::text) AS in_doubt_requests
        FROM requests o
        WHERE o.state = ANY (ARRAY['planned'::text, 'sent'::text, 'in_doubt'::text])
        GROUP BY o.sync) q ON q.sync = r.sync
     LEFT JOIN ( SELECT q_1.sync,
        max(w.received_at) AS answered_at
        FROM requests q_1
        JOIN answers w ON w.id = q_1.answer_id
        WHERE q_1.state = 'fresh'::text
        GROUP BY q_1.sync) s ON s.sync = r.sync;
create view "sync_inputs" ("sync", "endpoint", "request_key", "input", "outcome", "at", "answer_id", "error", "next", "input_value", "received", "run_id", "question", "depth", "part_of") as
 SELECT request.sync,
    request.endpoint,
    request.request_key,
    request.input::text AS input,
        CASE
        WHEN request.state <> ALL (ARRAY['fresh'::text, 'loaded'::text]) THEN request.state
        WHEN answer.loaded_at IS NULL THEN 'stored'::text
        WHEN answer.status = 412 THEN 'missing'::text
        WHEN answer.received = 0 THEN 'empty'::text
        WHEN answer.quarantined = answer.received THEN 'quarantined'::text
        WHEN answer.loaded = 0 AND answer.unchanged > 0 THEN 'unchanged'::text
        ELSE 'loaded'::text
        END AS outcome,
    COALESCE(answer.received_at, request.finished_at, request.sent_at, request.planned_at) AS at,
    request.answer_id,
    request.error,
    request.next,
    ( SELECT string_agg(
        CASE
        WHEN jsonb_typeof(field.value) = 'object'::text AND field.value ? 'type'::text AND field.value ? 'value'::text THEN ((field.value ->> 'type'::text) || ':'::text) || (field.value ->> 'value'::text)
        ELSE field.value #>> '{}'::text[]
        END, ', '::text ORDER BY field.key) AS string_agg
        FROM jsonb_each(request.input) field(key, value)) AS input_value,
    answer.received,
    request.run_id,
    request.body::text AS question,
    request.depth,
    ( SELECT p.request_key
        FROM requests p
        WHERE p.id = request.parent_id) AS part_of
   FROM ( SELECT DISTINCT ON (requests.request_key, requests.sync) requests.id,
        requests.sync,
        requests.endpoint,
        requests.request_key,
        requests.run_id,
        requests.state,
        requests.attempts,
        requests.input,
        requests.body,
        requests.depth,
        requests.parent_id,
        requests.answer_id,
        requests.error,
        requests.next,
        requests.planned_at,
        requests.sent_at,
        requests.finished_at
        FROM requests
        ORDER BY requests.request_key DESC, requests.sync DESC, requests.id DESC) request
     LEFT JOIN answers answer ON answer.id = request.answer_id
  WHERE strpos(request.sync, ':'::text) = 0 AND NOT (request.state = 'skipped'::text AND request.attempts = 0 AND request.next IS NOT NULL);
create view "sync_max_age_savings" ("sync", "max_age_days", "answers", "points", "saved_answers", "saved_points", "saved_share", "late_answers") as
 WITH RECURSIVE repeated AS (
        SELECT a.sync,
        a.request_key,
        min(a.received_at) AS first_at
        FROM answers a
        WHERE a.endpoint <> 'token.requests'::text
        GROUP BY a.sync, a.request_key
        HAVING count(*) > 1
        ), ages(days) AS (
        VALUES (1), (7), (30)
        ), bought(days, sync, request_key, at) AS (
        SELECT d_1.days,
        r.sync,
        r.request_key,
        r.first_at
        FROM repeated r
        CROSS JOIN ages d_1
        UNION ALL
        SELECT b.days,
        b.sync,
        b.request_key,
        n.received_at
        FROM bought b
        CROSS JOIN LATERAL ( SELECT b.at + b.days::double precision * '24:00:00'::interval AS until) u
        CROSS JOIN LATERAL ( SELECT a.request_key,
        a.received_at
        FROM answers a
        WHERE ((ROW(a.request_key, a.received_at) > ROW(b.request_key, u.until))) AND (a.request_key <> b.request_key OR a.sync = b.sync AND (a.received_at - a.took_ms::double precision * '00:00:00.001'::interval) > u.until)
        ORDER BY a.request_key, a.received_at
        LIMIT 1) n
        WHERE n.request_key = b.request_key
        ), paid AS (
        SELECT c.sync,
        c.request_key,
        c.received_at,
        count(*) AS answers,
        count(*) FILTER (WHERE NOT c.is_nothing_new) AS telling,
        sum(c.points) AS points
        FROM answer_costs c
        WHERE c.endpoint <> 'token.requests'::text
        GROUP BY c.sync, c.request_key, c.received_at
        ), saved AS (
        SELECT d_1.days,
        p.sync,
        sum(p.answers)::bigint AS answers,
        sum(p.points) AS points,
        sum(p.telling)::bigint AS telling
        FROM paid p
        JOIN repeated r ON r.sync = p.sync AND r.request_key = p.request_key
        CROSS JOIN ages d_1
        LEFT JOIN bought b ON b.days = d_1.days AND b.sync = p.sync AND b.request_key = p.request_key AND b.at = p.received_at
        WHERE b.days IS NULL
        GROUP BY d_1.days, p.sync
        )
 SELECT t.sync,
    d.days AS max_age_days,
    t.answers,
    t.points,
    COALESCE(s.answers, 0::bigint) AS saved_answers,
    COALESCE(s.points, 0::numeric) AS saved_points,
    (COALESCE(s.points, 0::numeric) / NULLIF(t.points, 0::numeric))::double precision AS saved_share,
    COALESCE(s.telling, 0::bigint) AS late_answers
   FROM ( SELECT p.sync,
        sum(p.answers)::bigint AS answers,
        sum(p.points) AS points
        FROM paid p
        GROUP BY p.sync) t
     CROSS JOIN ages d
     LEFT JOIN saved s ON s.sync = t.sync AND s.days = d.days;
create view "sync_quality" ("sync", "endpoint", "answers", "received", "loaded", "unchanged", "superseded", "quarantined", "quarantined_share", "open_quarantine", "last_quarantined_at", "last_run_failed", "last_run_missing", "last_run_truncated") as
 SELECT n.sync,
    n.endpoint,
    COALESCE(a.answers, 0::bigint) AS answers,
    COALESCE(a.received, 0::bigint) AS received,
    COALESCE(a.loaded, 0::bigint) AS loaded,
    COALESCE(a.unchanged, 0::bigint) AS unchanged,
    COALESCE(a.superseded, 0::bigint) AS superseded,
    COALESCE(a.quarantined, 0::bigint) AS quarantined,
    a.quarantined::double precision / NULLIF(a.received, 0)::double precision AS quarantined_share,
    COALESCE(q.open_quarantine, 0::bigint) AS open_quarantine,
    q.last_quarantined_at,
    n.failed AS last_run_failed,
    n.missing AS last_run_missing,
    n.truncated AS last_run_truncated
   FROM ( SELECT DISTINCT ON (runs.sync) runs.id,
        runs.sync,
        runs.endpoint,
        runs.failed,
        runs.missing,
        runs.truncated
        FROM runs
        WHERE strpos(runs.sync, ':'::text) = 0
        ORDER BY runs.sync, runs.id DESC) n
     LEFT JOIN ( SELECT w.sync,
        count(*) AS answers,
        sum(w.received)::bigint AS received,
        sum(w.loaded)::bigint AS loaded,
        sum(w.unchanged)::bigint AS unchanged,
        sum(w.superseded)::bigint AS superseded,
        sum(w.quarantined)::bigint AS quarantined
        FROM answers w
        GROUP BY w.sync) a ON a.sync = n.sync
     LEFT JOIN ( SELECT i.sync,
        count(*) FILTER (WHERE i.resolved_at IS NULL) AS open_quarantine,
        max(i.created_at) AS last_quarantined_at
        FROM quarantine i
        GROUP BY i.sync) q ON q.sync = n.sync;
create view "sync_runs" ("run_id", "sync", "endpoint", "state", "exit_code", "started_at", "ended_at", "duration_s", "planned", "fresh", "asked", "stored", "received", "loaded", "unchanged", "superseded", "quarantined", "failed", "missing", "truncated", "points", "error", "changed", "unreadable") as
 SELECT id AS run_id,
    sync,
    endpoint,
        CASE
        WHEN state = 'running'::text AND NOT (EXISTS ( SELECT
        FROM leases l
        WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'interrupted'::text
        ELSE state
        END AS state,
    exit_code,
    started_at,
    ended_at,
        CASE
        WHEN ended_at >= started_at THEN EXTRACT(epoch FROM ended_at - started_at)::double precision
        ELSE NULL::double precision
        END AS duration_s,
    planned,
    fresh,
    asked,
    stored,
    received,
    loaded,
    unchanged,
    superseded,
    quarantined,
    failed,
    missing,
    truncated,
    points,
        CASE
        WHEN state = 'running'::text AND NOT (EXISTS ( SELECT
        FROM leases l
        WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'its process died before the run ended; the next sync continues it'::text
        ELSE error
        END AS error,
    changed,
    unreadable
   FROM runs r
  WHERE strpos(sync, ':'::text) = 0;
create view "web_page_overview" ("page_key", "requested_url", "url", "host", "is_redirected", "title", "meta_description", "options", "content_bytes", "link_count", "host_link_count", "email_count", "emails", "phone_count", "phones", "first_seen_at", "changed_at") as
 SELECT p.page_key,
    p.requested_url,
    p.url,
    h.host,
    p.url <> p.requested_url AS is_redirected,
    p.title,
    p.meta_description,
    p.options::text AS options,
    octet_length(p.cleaned_html) AS content_bytes,
    p.links_count AS link_count,
        CASE
        WHEN p.links_count IS NOT NULL THEN ( SELECT count(*) AS count
        FROM web_page_links l
        WHERE l.page_key = p.page_key AND (lower("substring"(l.link, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'::text)) = h.host OR l.link !~ '^[a-zA-Z][a-zA-Z0-9+.-]*:'::text))
        ELSE NULL::bigint
        END AS host_link_count,
    p.emails_count AS email_count,
    ( SELECT string_agg(l.email, '; '::text ORDER BY l."position") AS string_agg
        FROM web_page_emails l
        WHERE l.page_key = p.page_key) AS emails,
    p.phones_count AS phone_count,
    ( SELECT string_agg(l.phone, '; '::text ORDER BY l."position") AS string_agg
        FROM web_page_phones l
        WHERE l.page_key = p.page_key) AS phones,
    p._first_seen_at AS first_seen_at,
    p._changed_at AS changed_at
   FROM web_pages p
     CROSS JOIN LATERAL ( SELECT lower("substring"(COALESCE(p.url, p.requested_url), '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'::text)) AS host) h;
reset search_path;
