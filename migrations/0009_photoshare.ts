/** Analyst tables of the photo network. */
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
  `create table "photoshare_users" (
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
    ${ORIGIN}
    constraint "photoshare_users_pkey" primary key ("id")
  )`,
  'create index "photoshare_users_alias_idx" on "photoshare_users" using hash ("alias")',
  `create table "photoshare_user_changes" (
    "user_id" text not null,
    ${CHANGE}
    constraint "photoshare_user_changes_pkey" primary key ("user_id", "attribute", "changed_at", "_answer_id"),
    constraint "photoshare_user_changes_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  'create index "photoshare_user_changes_changed_at_idx" on "photoshare_user_changes" ("changed_at")',
  `create table "fact_photoshare_user_daily" (
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
  )`,
  'create index "fact_photoshare_user_daily_date_idx" on "fact_photoshare_user_daily" ("date")',
  `create table "photoshare_user_hashtags" (
    "user_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_user_hashtags_pkey" primary key ("user_id", "position"),
    constraint "photoshare_user_hashtags_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  `create table "photoshare_user_links" (
    "user_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_user_links_pkey" primary key ("user_id", "position"),
    constraint "photoshare_user_links_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  `create table "photoshare_user_mentions" (
    "user_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_user_mentions_pkey" primary key ("user_id", "position"),
    constraint "photoshare_user_mentions_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  `create table "photoshare_user_pinned_channels" (
    "user_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_user_pinned_channels_pkey" primary key ("user_id", "position"),
    constraint "photoshare_user_pinned_channels_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  `create table "photoshare_user_similar_users" (
    "user_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_user_similar_users_pkey" primary key ("user_id", "position"),
    constraint "photoshare_user_similar_users_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  `create table "photoshare_posts" (
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
    ${ORIGIN}
    constraint "photoshare_posts_pkey" primary key ("id"),
    constraint "photoshare_posts_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete set null
  )`,
  'create index "photoshare_posts_code_idx" on "photoshare_posts" using hash ("code")',
  'create index "photoshare_posts_created_at_idx" on "photoshare_posts" ("created_at")',
  'create index "photoshare_posts_user_id_idx" on "photoshare_posts" ("user_id")',
  `create table "photoshare_post_changes" (
    "post_id" text not null,
    ${CHANGE}
    constraint "photoshare_post_changes_pkey" primary key ("post_id", "attribute", "changed_at", "_answer_id"),
    constraint "photoshare_post_changes_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
  )`,
  'create index "photoshare_post_changes_changed_at_idx" on "photoshare_post_changes" ("changed_at")',
  `create table "fact_photoshare_post_daily" (
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
  )`,
  'create index "fact_photoshare_post_daily_date_idx" on "fact_photoshare_post_daily" ("date")',
  `create table "photoshare_post_media" (
    "post_id" text not null,
    "position" bigint not null,
    "item" jsonb,
    constraint "photoshare_post_media_pkey" primary key ("post_id", "position"),
    constraint "photoshare_post_media_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
  )`,
  `create table "photoshare_user_posts" (
    "user_asked" text not null,
    "post_id" text not null,
    "position" bigint,
    "user_id" text,
    "_answer_id" bigint not null,
    constraint "photoshare_user_posts_pkey" primary key ("user_asked", "post_id"),
    constraint "photoshare_user_posts_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
  )`,
  'create index "photoshare_user_posts_post_id_idx" on "photoshare_user_posts" ("post_id")',
];

const DOWN = `drop table
  "photoshare_user_posts",
  "photoshare_post_media",
  "fact_photoshare_post_daily",
  "photoshare_post_changes",
  "photoshare_posts",
  "photoshare_user_similar_users",
  "photoshare_user_pinned_channels",
  "photoshare_user_mentions",
  "photoshare_user_links",
  "photoshare_user_hashtags",
  "fact_photoshare_user_daily",
  "photoshare_user_changes",
  "photoshare_users"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
