/** Analyst tables of posts of the professional network. */
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
  `create table "pronet_posts" (
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
    ${ORIGIN}
    constraint "pronet_posts_pkey" primary key ("urn_type", "urn_value"),
    constraint "pronet_posts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete set null
  )`,
  'create index "pronet_posts_author_urn_value_idx" on "pronet_posts" using spgist ("author_urn_value")',
  'create index "pronet_posts_created_at_idx" on "pronet_posts" ("created_at")',
  'create index "pronet_posts_repost_urn_type_repost_urn_value_idx" on "pronet_posts" ("repost_urn_type", "repost_urn_value")',
  `create table "pronet_post_changes" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    ${CHANGE}
    constraint "pronet_post_changes_pkey" primary key ("post_urn_type", "post_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_post_changes_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_post_changes_changed_at_idx" on "pronet_post_changes" ("changed_at")',
  `create table "fact_pronet_post_daily" (
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
  )`,
  'create index "fact_pronet_post_daily_date_idx" on "fact_pronet_post_daily" ("date")',
  `create table "pronet_post_document_cover_images" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "position" bigint not null,
    "cover_image" text,
    constraint "pronet_post_document_cover_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
    constraint "pronet_post_document_cover_images_post_urn_type_p_8eb850d4_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  `create table "pronet_post_document_images" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "position" bigint not null,
    "image" text,
    constraint "pronet_post_document_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
    constraint "pronet_post_document_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  `create table "pronet_post_images" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "position" bigint not null,
    "image" text,
    constraint "pronet_post_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
    constraint "pronet_post_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  `create table "pronet_post_mentions" (
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
  )`,
  `create table "pronet_post_reactions" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "position" bigint not null,
    "type" text,
    "count" bigint,
    "extra" jsonb,
    constraint "pronet_post_reactions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
    constraint "pronet_post_reactions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  `create table "pronet_post_reposts" (
    "post_urn_type" text not null,
    "post_urn_value" text not null,
    "repost_urn_type" text not null,
    "repost_urn_value" text not null,
    "position" bigint,
    "_answer_id" bigint not null,
    constraint "pronet_post_reposts_pkey" primary key ("post_urn_type", "post_urn_value", "repost_urn_type", "repost_urn_value"),
    constraint "pronet_post_reposts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_post_reposts_repost_urn_type_repost_urn_value_idx" on "pronet_post_reposts" ("repost_urn_type", "repost_urn_value")',
];

const DOWN = `drop table
  "pronet_post_reposts",
  "pronet_post_reactions",
  "pronet_post_mentions",
  "pronet_post_images",
  "pronet_post_document_images",
  "pronet_post_document_cover_images",
  "fact_pronet_post_daily",
  "pronet_post_changes",
  "pronet_posts"`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DOWN).execute(db);
}
