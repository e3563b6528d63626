/** Analyst tables of the microblog. */
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
  `create table "microblog_users" (
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
    ${ORIGIN}
    constraint "microblog_users_pkey" primary key ("rest_id")
  )`,
  'create index "microblog_users_alias_idx" on "microblog_users" using hash ("alias")',
  `create table "microblog_user_changes" (
    "user_rest_id" text not null,
    ${CHANGE}
    constraint "microblog_user_changes_pkey" primary key ("user_rest_id", "attribute", "changed_at", "_answer_id"),
    constraint "microblog_user_changes_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
  )`,
  'create index "microblog_user_changes_changed_at_idx" on "microblog_user_changes" ("changed_at")',
  `create table "fact_microblog_user_daily" (
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
  )`,
  'create index "fact_microblog_user_daily_date_idx" on "fact_microblog_user_daily" ("date")',
  `create table "microblog_user_mentions" (
    "user_rest_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "microblog_user_mentions_pkey" primary key ("user_rest_id", "position"),
    constraint "microblog_user_mentions_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
  )`,
  `create table "microblog_user_professional_categories" (
    "user_rest_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "microblog_user_professional_categories_pkey" primary key ("user_rest_id", "position"),
    constraint "microblog_user_professional_categories_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
  )`,
  `create table "microblog_user_profile_urls" (
    "user_rest_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "microblog_user_profile_urls_pkey" primary key ("user_rest_id", "position"),
    constraint "microblog_user_profile_urls_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
  )`,
];

const DOWN = `drop table
  "microblog_user_profile_urls",
  "microblog_user_professional_categories",
  "microblog_user_mentions",
  "fact_microblog_user_daily",
  "microblog_user_changes",
  "microblog_users"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
