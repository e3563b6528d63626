-- Daily numbers of each user: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.
create table sluice."fact_microblog_user_daily" (
  -- Key of the user. Personal data.
  "user_rest_id" text not null,
  -- UTC day of receipt of the answers; joins dim_date.
  "date" date not null,
  -- Number of followers; null if not reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if not reported.
  "following_count" bigint,
  -- Number of published messages; null if not reported.
  "tweet_count" bigint,
  -- Number of lists with the profile; null if not reported.
  "listed_count" bigint,
  -- Number of messages marked as favorites; null if not reported.
  "favorites_count" bigint,
  -- Number of messages with a picture or a video; null if not reported.
  "media_count" bigint,
  -- Number of highlighted messages.
  "highlighted_tweets_count" bigint,
  -- Number of seed messages.
  "user_seed_tweet_count" bigint,
  -- Number of subscribed creators.
  "creator_subscriptions_count" bigint,
  -- Receipt of the first answer of that day that showed it, or of the last answer that changed a number.
  "_seen_at" timestamp with time zone not null,
  -- Id of that answer in the operations schema.
  "_answer_id" bigint not null,
  -- Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.
  "_earlier" jsonb,
  constraint "fact_microblog_user_daily_pkey" primary key ("user_rest_id", "date"),
  constraint "fact_microblog_user_daily_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create index "fact_microblog_user_daily_date_idx" on sluice."fact_microblog_user_daily" using btree (date);

-- Daily numbers of each post: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.
create table sluice."fact_photoshare_post_daily" (
  -- Key of the post. Personal data.
  "post_id" text not null,
  -- UTC day of receipt of the answers; joins dim_date.
  "date" date not null,
  -- Number of likes; negative if hidden, null if never reported.
  "like_count" bigint,
  -- Number of comments; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; null if never reported.
  "reshare_count" bigint,
  -- Number of views of a video; null if never reported.
  "view_count" bigint,
  -- Receipt of the first answer of that day that showed it, or of the last answer that changed a number.
  "_seen_at" timestamp with time zone not null,
  -- Id of that answer in the operations schema.
  "_answer_id" bigint not null,
  -- Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.
  "_earlier" jsonb,
  constraint "fact_photoshare_post_daily_pkey" primary key ("post_id", "date"),
  constraint "fact_photoshare_post_daily_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "fact_photoshare_post_daily_date_idx" on sluice."fact_photoshare_post_daily" using btree (date);

-- Daily numbers of each user: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.
create table sluice."fact_photoshare_user_daily" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- UTC day of receipt of the answers; joins dim_date.
  "date" date not null,
  -- Number of followers; null if never reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if never reported.
  "following_count" bigint,
  -- Number of published posts; null if never reported.
  "media_count" bigint,
  -- Receipt of the first answer of that day that showed it, or of the last answer that changed a number.
  "_seen_at" timestamp with time zone not null,
  -- Id of that answer in the operations schema.
  "_answer_id" bigint not null,
  -- Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.
  "_earlier" jsonb,
  constraint "fact_photoshare_user_daily_pkey" primary key ("user_id", "date"),
  constraint "fact_photoshare_user_daily_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create index "fact_photoshare_user_daily_date_idx" on sluice."fact_photoshare_user_daily" using btree (date);

-- Daily numbers of each group: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.
create table sluice."fact_pronet_group_daily" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- UTC day of receipt of the answers; joins dim_date.
  "date" date not null,
  -- Number of members that the group reports.
  "member_count" bigint,
  -- Receipt of the first answer of that day that showed it, or of the last answer that changed a number.
  "_seen_at" timestamp with time zone not null,
  -- Id of that answer in the operations schema.
  "_answer_id" bigint not null,
  -- Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.
  "_earlier" jsonb,
  constraint "fact_pronet_group_daily_pkey" primary key ("group_urn_type", "group_urn_value", "date"),
  constraint "fact_pronet_group_daily_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "fact_pronet_group_daily_date_idx" on sluice."fact_pronet_group_daily" using btree (date);

-- Daily numbers of each post: one row per UTC day with an answer that showed it. Each number is the last one reported on that day.
create table sluice."fact_pronet_post_daily" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- UTC day of receipt of the answers; joins dim_date.
  "date" date not null,
  -- Number of comments on the post; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; negative if hidden, null if never reported.
  "share_count" bigint,
  -- Number of reactions of all types without hidden ones; null if not reported.
  "reaction_count" bigint,
  -- Receipt of the first answer of that day that showed it, or of the last answer that changed a number.
  "_seen_at" timestamp with time zone not null,
  -- Id of that answer in the operations schema.
  "_answer_id" bigint not null,
  -- Numbers that this answer did not report, each with the receipt and id of the answer that last reported it; null if there are none.
  "_earlier" jsonb,
  constraint "fact_pronet_post_daily_pkey" primary key ("post_urn_type", "post_urn_value", "date"),
  constraint "fact_pronet_post_daily_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "fact_pronet_post_daily_date_idx" on sluice."fact_pronet_post_daily" using btree (date);

-- Cost of each request to the service: one row per request in the service’s log.
create table sluice."fact_request_costs" (
  -- Identifier of the logged request.
  "id" uuid not null,
  -- Price of the request, in points.
  "cost" bigint,
  -- Whether the points were charged.
  "is_paid" boolean,
  -- Path of the requested endpoint.
  "endpoint" text,
  -- Plan of the token when the request was made.
  "plan" text,
  -- Start time of the request.
  "started_at" timestamp with time zone,
  -- Balance after the request, in points.
  "points_left" bigint,
  -- Identifier of the token.
  "token_id" uuid,
  -- Duration of the request, in seconds; null while it runs.
  "duration" double precision,
  -- HTTP status of the answer; null while the request runs.
  "response_status_code" bigint,
  -- Error text of the answer. Personal data.
  "response_error_text" text,
  -- Number of items in the answer.
  "response_count" bigint,
  -- Duration of the extraction, in seconds.
  "response_execution_time" double precision,
  -- Request identifier in the service’s records.
  "response_request_id" text,
  -- Maximum time for the request, in seconds.
  "timeout" bigint,
  -- Whether the token had expired.
  "is_token_expired" boolean,
  -- Whether the points had run out.
  "is_points_run_out" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "fact_request_costs_pkey" primary key ("id")
);
create index "fact_request_costs_response_request_id_idx" on sluice."fact_request_costs" using hash (response_request_id);
create index "fact_request_costs_started_at_idx" on sluice."fact_request_costs" using btree (started_at);

-- Changes of each user: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. Daily numbers are not included.
create table sluice."microblog_user_changes" (
  -- Key of the user. Personal data.
  "user_rest_id" text not null,
  -- Name of the changed column of microblog_users.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "microblog_user_changes_pkey" primary key ("user_rest_id", "attribute", "changed_at", "_answer_id"),
  constraint "microblog_user_changes_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);
create index "microblog_user_changes_changed_at_idx" on sluice."microblog_user_changes" using btree (changed_at);

-- Profiles that the description mentions, as sent. One row per element.
create table sluice."microblog_user_mentions" (
  -- Key of the user. Personal data.
  "user_rest_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "microblog_user_mentions_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_mentions_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Categories of the professional account, as sent. One row per element.
create table sluice."microblog_user_professional_categories" (
  -- Key of the user. Personal data.
  "user_rest_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "microblog_user_professional_categories_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_professional_categories_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Addresses on the profile, as sent. One row per element.
create table sluice."microblog_user_profile_urls" (
  -- Key of the user. Personal data.
  "user_rest_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "microblog_user_profile_urls_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_profile_urls_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Profiles of the microblogging network.
create table sluice."microblog_users" (
  -- The network’s internal identifier. Personal data.
  "internal_id" text,
  -- Identifier of the profile. Personal data.
  "rest_id" text not null,
  -- Displayed name. Personal data.
  "name" text,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Number of followers; null if not reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if not reported.
  "following_count" bigint,
  -- Number of published messages; null if not reported.
  "tweet_count" bigint,
  -- Number of lists with the profile; null if not reported.
  "listed_count" bigint,
  -- Number of messages marked as favorites; null if not reported.
  "favorites_count" bigint,
  -- Number of messages with a picture or a video; null if not reported.
  "media_count" bigint,
  -- Address of the portrait. Personal data.
  "image" text,
  -- Address of the banner. Personal data.
  "banner_url" text,
  -- Whether the network vouches for the profile.
  "verified" boolean,
  -- Kind of verification, such as business.
  "verified_type" text,
  -- Whether the profile has the paid check mark.
  "is_blue_verified" boolean,
  -- Time when the profile was opened.
  "created_at" timestamp with time zone,
  -- Time when the profile was opened. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Identifier of the professional account. Personal data.
  "professional_rest_id" text,
  -- Type of professional account, such as creator.
  "professional_professional_type" text,
  -- Number of elements: categories of the professional account, as sent. Null if not reported; 0 if there are none.
  "professional_categories_count" bigint,
  -- Whether the identity was verified.
  "verification_info_is_identity_verified" boolean,
  -- Start of the verification, as written.
  "verification_info_verified_since" text,
  -- Reason for the verification, as written.
  "verification_info_reason_description" text,
  -- Number of elements: addresses on the profile, as sent. Null if not reported; 0 if there are none.
  "profile_urls_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null if not reported; 0 if there are none.
  "mentions_count" bigint,
  -- Day of the month. Personal data.
  "birthdate_day" bigint,
  -- Month of the year. Personal data.
  "birthdate_month" bigint,
  -- Year. Personal data.
  "birthdate_year" bigint,
  -- Audience of day and month. Personal data.
  "birthdate_visibility" text,
  -- Audience of the year. Personal data.
  "birthdate_year_visibility" text,
  -- Birthdate as an epoch, as sent. Personal data.
  "birthdate_timestamp" bigint,
  -- Whether the description can be translated.
  "is_profile_translatable" boolean,
  -- Whether subscriptions are hidden.
  "has_hidden_subscriptions" boolean,
  -- Whether messages can be highlighted.
  "can_highlight_tweets" boolean,
  -- Whether a premium account can be given to the profile.
  "premium_gifting_eligible" boolean,
  -- Number of highlighted messages.
  "highlighted_tweets_count" bigint,
  -- Number of seed messages.
  "user_seed_tweet_count" bigint,
  -- Number of subscribed creators.
  "creator_subscriptions_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "microblog_users_pkey" primary key ("rest_id")
);
create index "microblog_users_alias_idx" on sluice."microblog_users" using hash (alias);

-- Changes of each post: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. Daily numbers are not included.
create table sluice."photoshare_post_changes" (
  -- Key of the post. Personal data.
  "post_id" text not null,
  -- Name of the changed column of photoshare_posts.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "photoshare_post_changes_pkey" primary key ("post_id", "attribute", "changed_at", "_answer_id"),
  constraint "photoshare_post_changes_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "photoshare_post_changes_changed_at_idx" on sluice."photoshare_post_changes" using btree (changed_at);

-- Pictures and videos of the post, as sent. One row per element.
create table sluice."photoshare_post_media" (
  -- Key of the post. Personal data.
  "post_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_post_media_pkey" primary key ("post_id", "position"),
  constraint "photoshare_post_media_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);

-- Posts of the photo-sharing network.
create table sluice."photoshare_posts" (
  -- Identifier of the post. Personal data.
  "id" text not null,
  -- Short code in the post’s address; not unique over time. Personal data.
  "code" text,
  -- Address of the post. Personal data.
  "url" text,
  -- Address of the cover picture; signed and short-lived. Personal data.
  "image" text,
  -- Caption. Personal data.
  "text" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- Time of publication. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Number of likes; negative if hidden, null if never reported.
  "like_count" bigint,
  -- Number of comments; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; null if never reported.
  "reshare_count" bigint,
  -- Number of views of a video; null if never reported.
  "view_count" bigint,
  -- Identifier of the profile. Personal data.
  "user_id" text,
  -- Displayed name. Personal data.
  "user_name" text,
  -- Handle. Personal data.
  "user_alias" text,
  -- Address of the profile. Personal data.
  "user_url" text,
  -- Address of the portrait; signed and short-lived. Personal data.
  "user_image" text,
  -- Whether the network vouches for the profile.
  "user_is_verified" boolean,
  -- Whether only approved followers see the posts.
  "user_is_private" boolean,
  -- Type of post, such as photo or video.
  "type" text,
  -- Number of elements: pictures and videos of the post, as sent. Null if not reported; 0 if there are none.
  "media_count" bigint,
  -- Number of pictures and videos of a post with several.
  "carousel_media_count" bigint,
  -- Whether the post is marked as paid.
  "is_paid_partnership" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "photoshare_posts_pkey" primary key ("id"),
  constraint "photoshare_posts_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete set null
);
create index "photoshare_posts_code_idx" on sluice."photoshare_posts" using hash (code);
create index "photoshare_posts_created_at_idx" on sluice."photoshare_posts" using btree (created_at);
create index "photoshare_posts_user_id_idx" on sluice."photoshare_posts" using btree (user_id);

-- Changes of each user: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. Daily numbers are not included.
create table sluice."photoshare_user_changes" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Name of the changed column of photoshare_users.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "photoshare_user_changes_pkey" primary key ("user_id", "attribute", "changed_at", "_answer_id"),
  constraint "photoshare_user_changes_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);
create index "photoshare_user_changes_changed_at_idx" on sluice."photoshare_user_changes" using btree (changed_at);

-- Hashtags in the description, as sent. One row per element.
create table sluice."photoshare_user_hashtags" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_user_hashtags_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_hashtags_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Links on the profile, as sent. One row per element.
create table sluice."photoshare_user_links" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_user_links_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_links_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Profiles that the description mentions, as sent. One row per element.
create table sluice."photoshare_user_mentions" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_user_mentions_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_mentions_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Channels pinned to the profile, as sent. One row per element.
create table sluice."photoshare_user_pinned_channels" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_user_pinned_channels_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_pinned_channels_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Posts returned for each requested profile.
create table sluice."photoshare_user_posts" (
  -- The profile as requested: an identifier, an alias or an address. Personal data.
  "user_asked" text not null,
  -- Key of the returned post: id in photoshare_posts. Personal data.
  "post_id" text not null,
  -- Index in the answer, from 0.
  "position" bigint,
  -- Identifier of the profile; null if unknown. Personal data.
  "user_id" text,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "photoshare_user_posts_pkey" primary key ("user_asked", "post_id"),
  constraint "photoshare_user_posts_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "photoshare_user_posts_post_id_idx" on sluice."photoshare_user_posts" using btree (post_id);

-- Profiles that the network suggests beside this one, as sent. One row per element.
create table sluice."photoshare_user_similar_users" (
  -- Key of the user. Personal data.
  "user_id" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Element as sent, as JSON; the contract does not define its structure. Personal data.
  "item" jsonb,
  constraint "photoshare_user_similar_users_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_similar_users_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Profiles of the photo-sharing network: one row per profile, from profile answers and from posts that name profiles.
create table sluice."photoshare_users" (
  -- Identifier of the profile. Personal data.
  "id" text not null,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Displayed name. Personal data.
  "name" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Address of the portrait; signed and short-lived. Personal data.
  "image" text,
  -- Number of followers; null if never reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if never reported.
  "following_count" bigint,
  -- Number of published posts; null if never reported.
  "media_count" bigint,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Whether only approved followers see the posts.
  "is_private" boolean,
  -- Whether the network vouches for the profile.
  "is_verified" boolean,
  -- Whether it is a business profile.
  "is_business" boolean,
  -- Time when the profile was opened; null unless requested by with_creation_date.
  "created_at" timestamp with time zone,
  -- Time when the profile was opened; null unless requested by with_creation_date. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Line of business, as chosen by the profile.
  "category" text,
  -- Address that the profile points to. Personal data.
  "external_url" text,
  -- Public e-mail address. Personal data.
  "email" text,
  -- Public WhatsApp number. Personal data.
  "whatsapp_number" text,
  -- Public phone number. Personal data.
  "phone" text,
  -- Identifier of the city. Personal data.
  "location_city_id" bigint,
  -- Street. Personal data.
  "location_street" text,
  -- City. Personal data.
  "location_city" text,
  -- Postal code. Personal data.
  "location_zip" text,
  -- Latitude in degrees. Personal data.
  "location_latitude" double precision,
  -- Longitude in degrees. Personal data.
  "location_longitude" double precision,
  -- Number of elements: links on the profile, as sent. Null if not reported; 0 if there are none.
  "links_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null if not reported; 0 if there are none.
  "mentions_count" bigint,
  -- Number of elements: hashtags in the description, as sent. Null if not reported; 0 if there are none.
  "hashtags_count" bigint,
  -- Number of elements: channels pinned to the profile, as sent. Null if not reported; 0 if there are none.
  "pinned_channels_count" bigint,
  -- Number of elements: profiles that the network suggests beside this one, as sent. Null if not reported; 0 if there are none.
  "similar_users_count" bigint,
  -- Number of elements: recent posts, if requested by with_posts. Null if not reported; 0 if there are none.
  "posts_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "photoshare_users_pkey" primary key ("id")
);
create index "photoshare_users_alias_idx" on sluice."photoshare_users" using hash (alias);

-- Organizations of the professional network (companies and schools), from educations, authorship and mentions.
create table sluice."pronet_companies" (
  -- The network’s internal identifier of the organization. Type of the URN, such as company.
  "internal_id_type" text,
  -- The network’s internal identifier of the organization. Value of the URN.
  "internal_id_value" text,
  -- Name of the organization.
  "name" text,
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "urn_type" text not null,
  -- The organization’s URN. Value of the URN.
  "urn_value" text not null,
  -- Address of the organization’s page.
  "url" text,
  -- Public handle in the page’s address; it can change hands, so it is not an identifier.
  "alias" text,
  -- The organization’s industry. Type of the URN, such as industry.
  "industry_type" text,
  -- The organization’s industry. Value of the URN.
  "industry_value" text,
  -- The industry’s URN. Type of the URN, such as industry.
  "industry_full_urn_type" text,
  -- The industry’s URN. Value of the URN.
  "industry_full_urn_value" text,
  -- Name of the industry.
  "industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "industry_full_hierarchy" text,
  -- Description of the industry.
  "industry_full_description" text,
  -- Size class by number of employees, as written.
  "employee_range" text,
  -- Address of the logo; signed and short-lived.
  "logo_url" text,
  -- The line under the name.
  "headline" text,
  -- Address of the picture shown beside its posts; signed and short-lived.
  "image" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_companies_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_companies_alias_idx" on sluice."pronet_companies" using hash (alias);

-- Changes of each company: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.
create table sluice."pronet_company_changes" (
  -- Key of the company.
  "company_urn_type" text not null,
  -- Key of the company.
  "company_urn_value" text not null,
  -- Name of the changed column of pronet_companies.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_company_changes_pkey" primary key ("company_urn_type", "company_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_company_changes_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_company_changes_changed_at_idx" on sluice."pronet_company_changes" using btree (changed_at);

-- Changes of each group: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. Daily numbers are not included.
create table sluice."pronet_group_changes" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- Name of the changed column of pronet_groups.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_group_changes_pkey" primary key ("group_urn_type", "group_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_group_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_changes_changed_at_idx" on sluice."pronet_group_changes" using btree (changed_at);

-- Industries of the group. One row per element.
create table sluice."pronet_group_industries" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- URN type of the industry.
  "type" text not null,
  -- URN value of the industry.
  "value" text not null,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  constraint "pronet_group_industries_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value"),
  constraint "pronet_group_industries_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
  constraint "pronet_group_industries_type_value_fkey" foreign key ("type", "value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_industries_type_value_idx" on sluice."pronet_group_industries" using btree (type, value);

-- Changes of each pronet group industry: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. The first list of a new parent is not included.
create table sluice."pronet_group_industry_changes" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- URN type of the industry.
  "type" text not null,
  -- URN value of the industry.
  "value" text not null,
  -- Name of the changed column of pronet_group_industries; _first_seen_at for a row that came or went.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_group_industry_changes_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_group_industry_changes_group_urn_type_grou_fed9fc48_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_industry_changes_changed_at_idx" on sluice."pronet_group_industry_changes" using btree (changed_at);

-- Changes of each pronet group member: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. The first list of a new parent is not included.
create table sluice."pronet_group_member_changes" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- The member’s URN. Type of the URN, such as fsd_profile.
  "user_urn_type" text not null,
  -- The member’s URN. Value of the URN. Personal data.
  "user_urn_value" text not null,
  -- Name of the changed column of pronet_group_members; _first_seen_at for a row that came or went.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_group_member_changes_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_group_member_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_member_changes_changed_at_idx" on sluice."pronet_group_member_changes" using btree (changed_at);

-- Members that the group shows. One row per element.
create table sluice."pronet_group_members" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- The member’s URN. Type of the URN, such as fsd_profile.
  "user_urn_type" text not null,
  -- The member’s URN. Value of the URN. Personal data.
  "user_urn_value" text not null,
  -- Name of the member. Personal data.
  "user_name" text,
  -- Public handle of the member. Personal data.
  "user_alias" text,
  -- Address of the member’s profile. Personal data.
  "user_url" text,
  -- The line under the member’s name. Personal data.
  "user_headline" text,
  -- Role in the group, such as owner.
  "role" text,
  -- Time when the member joined.
  "joined_at" timestamp with time zone,
  -- Time when the member joined. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "joined_at_epoch" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  constraint "pronet_group_members_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value"),
  constraint "pronet_group_members_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
  constraint "pronet_group_members_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_members_user_urn_type_user_urn_value_idx" on sluice."pronet_group_members" using btree (user_urn_type, user_urn_value);

-- Groups of the professional network.
create table sluice."pronet_groups" (
  -- The group’s URN. Type of the URN, such as group.
  "urn_type" text not null,
  -- The group’s URN. Value of the URN.
  "urn_value" text not null,
  -- Name of the group.
  "name" text,
  -- Address of the group.
  "url" text,
  -- Number of members that the group reports.
  "member_count" bigint,
  -- Address of the group’s picture; signed and short-lived.
  "image" text,
  -- Time when the group was founded.
  "created_at" timestamp with time zone,
  -- Time when the group was founded. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Description of the group.
  "description" text,
  -- Rules of the group.
  "rules" text,
  -- URN of the place that the group belongs to. Type of the URN, such as geo.
  "geo_type" text,
  -- URN of the place that the group belongs to. Value of the URN.
  "geo_value" text,
  -- Number of elements: industries of the group. Null if not reported; 0 if there are none.
  "industries_count" bigint,
  -- Number of elements: members that the group shows. Null if not reported; 0 if there are none.
  "members_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_groups_pkey" primary key ("urn_type", "urn_value")
);

-- Industries of the professional network’s taxonomy.
create table sluice."pronet_industries" (
  -- The industry’s URN. Type of the URN, such as industry.
  "urn_type" text not null,
  -- The industry’s URN. Value of the URN.
  "urn_value" text not null,
  -- Name of the industry.
  "name" text,
  -- Path from the top-level industry down to this one.
  "hierarchy" text,
  -- Description of the industry.
  "description" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_industries_pkey" primary key ("urn_type", "urn_value")
);

-- Changes of each industry: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.
create table sluice."pronet_industry_changes" (
  -- Key of the industry.
  "industry_urn_type" text not null,
  -- Key of the industry.
  "industry_urn_value" text not null,
  -- Name of the changed column of pronet_industries.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_industry_changes_pkey" primary key ("industry_urn_type", "industry_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_industry_changes_industry_urn_type_industr_314d976e_fkey" foreign key ("industry_urn_type", "industry_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_industry_changes_changed_at_idx" on sluice."pronet_industry_changes" using btree (changed_at);

-- Changes of each post: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. Daily numbers are not included.
create table sluice."pronet_post_changes" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Name of the changed column of pronet_posts.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_post_changes_pkey" primary key ("post_urn_type", "post_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_post_changes_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_post_changes_changed_at_idx" on sluice."pronet_post_changes" using btree (changed_at);

-- Addresses of the cover pictures; signed and short-lived. One row per element.
create table sluice."pronet_post_document_cover_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the addresses of the cover pictures; signed and short-lived. Personal data.
  "cover_image" text,
  constraint "pronet_post_document_cover_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_cover_images_post_urn_type_p_8eb850d4_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Addresses of the page pictures; signed and short-lived. One row per element.
create table sluice."pronet_post_document_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the addresses of the page pictures; signed and short-lived. Personal data.
  "image" text,
  constraint "pronet_post_document_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Addresses of the pictures; signed and short-lived. One row per element.
create table sluice."pronet_post_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the addresses of the pictures; signed and short-lived. Personal data.
  "image" text,
  constraint "pronet_post_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- People and organizations that the post mentions. One row per element.
create table sluice."pronet_post_mentions" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- URN of the mentioned person or organization. Type of the URN, such as fsd_profile or fsd_company.
  "urn_type" text,
  -- URN of the mentioned person or organization. Value of the URN. Personal data.
  "urn_value" text,
  -- Name of the mentioned person or organization. Personal data.
  "name" text,
  -- Public handle of the mentioned person or organization. Personal data.
  "alias" text,
  -- Address of the mentioned profile or page. Personal data.
  "url" text,
  -- Kind of the mentioned entity, by the type of its URN: user for a person, company for an organization.
  "kind" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  constraint "pronet_post_mentions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_mentions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Reactions to the post, counted by type. One row per element.
create table sluice."pronet_post_reactions" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post. Personal data.
  "post_urn_value" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- Type of reaction, such as like.
  "type" text,
  -- Number of reactions of this type; negative if hidden.
  "count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  constraint "pronet_post_reactions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_reactions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Reposts returned for each requested post.
create table sluice."pronet_post_reposts" (
  -- URN type of the requested post.
  "post_urn_type" text not null,
  -- URN value of the requested post. Personal data.
  "post_urn_value" text not null,
  -- Key of the returned repost: urn_type in pronet_posts.
  "repost_urn_type" text not null,
  -- Key of the returned repost: urn_value in pronet_posts. Personal data.
  "repost_urn_value" text not null,
  -- Index in the answer, from 0.
  "position" bigint,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_post_reposts_pkey" primary key ("post_urn_type", "post_urn_value", "repost_urn_type", "repost_urn_value"),
  constraint "pronet_post_reposts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_post_reposts_repost_urn_type_repost_urn_value_idx" on sluice."pronet_post_reposts" using btree (repost_urn_type, repost_urn_value);

-- Posts of the professional network, including reposts and the posts that they repeat.
create table sluice."pronet_posts" (
  -- The post’s URN. Type of the URN, such as activity.
  "urn_type" text not null,
  -- The post’s URN. Value of the URN. Personal data.
  "urn_value" text not null,
  -- Address of the post. Personal data.
  "url" text,
  -- Address for sharing the post. Personal data.
  "share_url" text,
  -- The network’s internal identifier of the author. Type of the URN, such as member or company.
  "author_internal_id_type" text,
  -- The network’s internal identifier of the author. Value of the URN. Personal data.
  "author_internal_id_value" text,
  -- The author’s URN. Type of the URN, such as fsd_profile or fsd_company.
  "author_urn_type" text,
  -- The author’s URN. Value of the URN. Personal data.
  "author_urn_value" text,
  -- Name of the author. Personal data.
  "author_name" text,
  -- Public handle of the author. Personal data.
  "author_alias" text,
  -- Address of the author’s profile or page. Personal data.
  "author_url" text,
  -- The line under the author’s name. Personal data.
  "author_headline" text,
  -- Address of the author’s portrait; signed and short-lived. Personal data.
  "author_image" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- Time of publication. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- URN of the share that carries the post. Type of the URN, such as share.
  "share_urn_type" text,
  -- URN of the share that carries the post. Value of the URN. Personal data.
  "share_urn_value" text,
  -- Whether the post repeats another without text of its own.
  "is_empty_repost" boolean,
  -- The post that this one repeats. Its urn_type.
  "repost_urn_type" text,
  -- The post that this one repeats. Its urn_value. Personal data.
  "repost_urn_value" text,
  -- Number of elements: addresses of the pictures; signed and short-lived. Null if not reported; 0 if there are none.
  "images_count" bigint,
  -- Address of the video. Personal data.
  "video_url" text,
  -- The text of the post. Personal data.
  "text" text,
  -- Number of comments on the post; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; negative if hidden, null if never reported.
  "share_count" bigint,
  -- Number of elements: reactions to the post, counted by type. Null if not reported; 0 if there are none.
  "reactions_count" bigint,
  -- Address of the event. Personal data.
  "event_url" text,
  -- Address of the event’s picture; signed and short-lived. Personal data.
  "event_image" text,
  -- Title of the event. Personal data.
  "event_title" text,
  -- Time of the event, as written. Personal data.
  "event_date" text,
  -- Number of participants of the event. Personal data.
  "event_participant_count" bigint,
  -- Address of the article. Personal data.
  "article_url" text,
  -- The article’s URN. Type of the URN, such as article. Personal data.
  "article_urn_type" text,
  -- The article’s URN. Value of the URN. Personal data.
  "article_urn_value" text,
  -- Address of the article’s picture; signed and short-lived. Personal data.
  "article_image" text,
  -- Title of the article. Personal data.
  "article_title" text,
  -- Subtitle of the article. Personal data.
  "article_subtitle" text,
  -- Summary of the article. Personal data.
  "article_description" text,
  -- The document’s URN. Type of the URN, such as document. Personal data.
  "document_urn_type" text,
  -- The document’s URN. Value of the URN. Personal data.
  "document_urn_value" text,
  -- Address of the document. Personal data.
  "document_url" text,
  -- Title of the document. Personal data.
  "document_title" text,
  -- Number of elements: addresses of the cover pictures; signed and short-lived. Null if not reported; 0 if there are none.
  "document_cover_images_count" bigint,
  -- Number of elements: addresses of the page pictures; signed and short-lived. Null if not reported; 0 if there are none.
  "document_images_count" bigint,
  -- Number of pages of the document. Personal data.
  "document_total_images_count" bigint,
  -- Number of elements: people and organizations that the post mentions. Null if not reported; 0 if there are none.
  "mentioned_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_posts_pkey" primary key ("urn_type", "urn_value"),
  constraint "pronet_posts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete set null
);
create index "pronet_posts_author_urn_value_idx" on sluice."pronet_posts" using spgist (author_urn_value);
create index "pronet_posts_created_at_idx" on sluice."pronet_posts" using btree (created_at);
create index "pronet_posts_repost_urn_type_repost_urn_value_idx" on sluice."pronet_posts" using btree (repost_urn_type, repost_urn_value);

-- Changes of each user: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.
create table sluice."pronet_user_changes" (
  -- Key of the user.
  "user_urn_type" text not null,
  -- Key of the user. Personal data.
  "user_urn_value" text not null,
  -- Name of the changed column of pronet_users.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_user_changes_pkey" primary key ("user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
  constraint "pronet_user_changes_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_user_changes_changed_at_idx" on sluice."pronet_user_changes" using btree (changed_at);

-- Changes of each education: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.
create table sluice."pronet_user_education_changes" (
  -- Key of the education.
  "education_user_urn_type" text not null,
  -- Key of the education. Personal data.
  "education_user_urn_value" text not null,
  -- Key of the education.
  "education_position" bigint not null,
  -- Name of the changed column of pronet_user_educations; _first_seen_at for a row that came or went.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_user_education_changes_pkey" primary key ("education_user_urn_type", "education_user_urn_value", "education_position", "attribute", "changed_at", "_answer_id")
);
create index "pronet_user_education_changes_changed_at_idx" on sluice."pronet_user_education_changes" using btree (changed_at);

-- Schools that a person lists, in the person’s order.
create table sluice."pronet_user_educations" (
  -- URN type of the requested person.
  "user_urn_type" text not null,
  -- URN value of the requested person. Personal data.
  "user_urn_value" text not null,
  -- Position in the person’s list, from 0.
  "position" bigint not null,
  -- Name of the organization.
  "company_name" text,
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "company_urn_type" text,
  -- The organization’s URN. Value of the URN.
  "company_urn_value" text,
  -- Address of the organization’s page.
  "company_url" text,
  -- Public handle in the page’s address; it can change hands, so it is not an identifier.
  "company_alias" text,
  -- The organization’s industry. Type of the URN, such as industry.
  "company_industry_type" text,
  -- The organization’s industry. Value of the URN.
  "company_industry_value" text,
  -- The industry’s URN. Type of the URN, such as industry.
  "company_industry_full_urn_type" text,
  -- The industry’s URN. Value of the URN.
  "company_industry_full_urn_value" text,
  -- Name of the industry.
  "company_industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "company_industry_full_hierarchy" text,
  -- Description of the industry.
  "company_industry_full_description" text,
  -- Size class by number of employees, as written.
  "company_employee_range" text,
  -- Address of the logo; signed and short-lived.
  "company_logo_url" text,
  -- Degree and field of study, as written. Personal data.
  "major" text,
  -- Years attended, as written. Personal data.
  "interval" text,
  -- The person’s description of the education. Personal data.
  "description" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_user_educations_pkey" primary key ("user_urn_type", "user_urn_value", "position"),
  constraint "pronet_user_educations_company_industry_full_urn__43e90c30_fkey" foreign key ("company_industry_full_urn_type", "company_industry_full_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_industry_type_comp_baeb4832_fkey" foreign key ("company_industry_type", "company_industry_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete set null
);
create index "pronet_user_educations_company_industry_full_urn_t_80f09323_idx" on sluice."pronet_user_educations" using btree (company_industry_full_urn_type, company_industry_full_urn_value);
create index "pronet_user_educations_company_industry_type_compa_dc52832f_idx" on sluice."pronet_user_educations" using btree (company_industry_type, company_industry_value);
create index "pronet_user_educations_company_urn_type_company_urn_value_idx" on sluice."pronet_user_educations" using btree (company_urn_type, company_urn_value);

-- People returned by each search of each sync, with their position.
create table sluice."pronet_user_search_hits" (
  -- The sync that searched.
  "sync" text not null,
  -- SHA-256, in hex, that identifies the search. Personal data.
  "request_key" text not null,
  -- Key of the returned user: urn_type in pronet_users.
  "user_urn_type" text not null,
  -- Key of the returned user: urn_value in pronet_users. Personal data.
  "user_urn_value" text not null,
  -- Index in the answer, from 0.
  "position" bigint,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_user_search_hits_pkey" primary key ("sync", "request_key", "user_urn_type", "user_urn_value"),
  constraint "pronet_user_search_hits_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_user_search_hits_user_urn_type_user_urn_value_idx" on sluice."pronet_user_search_hits" using btree (user_urn_type, user_urn_value);

-- People of the professional network: one row per person, from searches, authorship, mentions and memberships.
create table sluice."pronet_users" (
  -- The network’s internal identifier of the person. Type of the URN, such as member.
  "internal_id_type" text,
  -- The network’s internal identifier of the person. Value of the URN. Personal data.
  "internal_id_value" text,
  -- The person’s URN. Type of the URN, such as fsd_profile.
  "urn_type" text not null,
  -- The person’s URN. Value of the URN. Personal data.
  "urn_value" text not null,
  -- Name displayed on the profile. Personal data.
  "name" text,
  -- Public handle in the profile’s address; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Address of the portrait; signed and short-lived. Personal data.
  "image" text,
  -- The line under the name. Personal data.
  "headline" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Whether the person states that they look for work.
  "open_to_work" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Highest detail of any observation so far: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "pronet_users_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_users_alias_idx" on sluice."pronet_users" using hash (alias);

-- Business locations of the filers. One row per element.
create table sluice."sec_filing_biz_locations" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the business locations of the filers. Personal data.
  "biz_location" text,
  constraint "sec_filing_biz_locations_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_locations_filing_accession_number__45000e0b_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- States of business. One row per element.
create table sluice."sec_filing_biz_states" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the states of business.
  "biz_state" text,
  constraint "sec_filing_biz_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_states_filing_accession_number_fil_c874e867_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Changes of each filing: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included.
create table sluice."sec_filing_changes" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Name of the changed column of sec_filings.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "sec_filing_changes_pkey" primary key ("filing_accession_number", "filing_file_name", "attribute", "changed_at", "_answer_id"),
  constraint "sec_filing_changes_filing_accession_number_filing_75dbef66_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create index "sec_filing_changes_changed_at_idx" on sluice."sec_filing_changes" using btree (changed_at);

-- Central index keys of the filers, in the order of display_names but not of the other lists. One row per element.
create table sluice."sec_filing_ciks" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the central index keys of the filers, in the order of display_names but not of the other lists.
  "cik" text,
  constraint "sec_filing_ciks_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_ciks_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create index "sec_filing_ciks_cik_idx" on sluice."sec_filing_ciks" using spgist (cik);

-- Names of the filers, in the order of ciks. One row per element.
create table sluice."sec_filing_display_names" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the names of the filers, in the order of ciks. Personal data.
  "display_name" text,
  constraint "sec_filing_display_names_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_display_names_filing_accession_number__d6b2e6d0_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- States of incorporation. One row per element.
create table sluice."sec_filing_inc_states" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the states of incorporation.
  "inc_state" text,
  constraint "sec_filing_inc_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_inc_states_filing_accession_number_fil_7af8b6b3_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Items that the filing reports on, such as 2.02. One row per element.
create table sluice."sec_filing_items" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the items that the filing reports on, such as 2.02.
  "item" text,
  constraint "sec_filing_items_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_items_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Standard industrial classification codes. One row per element.
create table sluice."sec_filing_sics" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the standard industrial classification codes.
  "sic" text,
  constraint "sec_filing_sics_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_sics_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Documents of public company filings; one filing has one accession number and several documents.
create table sluice."sec_filings" (
  -- Number of the filing; shared by all its documents.
  "accession_number" text not null,
  -- File name of the document within the filing.
  "file_name" text not null,
  -- Address of the document.
  "document_url" text,
  -- Form type, such as 10-K.
  "filing_type" text,
  -- Day of the filing.
  "file_date" date,
  -- Last day of the reported period.
  "period_ending" date,
  -- Number of elements: central index keys of the filers, in the order of display_names but not of the other lists. Null if not reported; 0 if there are none.
  "ciks_count" bigint,
  -- Number of elements: names of the filers, in the order of ciks. Null if not reported; 0 if there are none.
  "display_names_count" bigint,
  -- Description of the document.
  "file_description" text,
  -- Number of elements: business locations of the filers. Null if not reported; 0 if there are none.
  "biz_locations_count" bigint,
  -- Number of elements: states of business. Null if not reported; 0 if there are none.
  "biz_states_count" bigint,
  -- Number of elements: states of incorporation. Null if not reported; 0 if there are none.
  "inc_states_count" bigint,
  -- Number of elements: standard industrial classification codes. Null if not reported; 0 if there are none.
  "sics_count" bigint,
  -- Number of elements: items that the filing reports on, such as 2.02. Null if not reported; 0 if there are none.
  "items_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "sec_filings_pkey" primary key ("accession_number", "file_name")
);
create index "sec_filings_file_date_idx" on sluice."sec_filings" using btree (file_date);
create index "sec_filings_period_ending_idx" on sluice."sec_filings" using btree (period_ending);

-- Changes of each page: one row per attribute that an answer changed. Image addresses, which differ in every answer, are not included. The values of cleaned_html are SHA-256 digests, in hex.
create table sluice."web_page_changes" (
  -- Key of the page. Personal data.
  "page_key" text not null,
  -- Name of the changed column of web_pages.
  "attribute" text not null,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone not null,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Id of the paid answer that showed the change, in the operations schema.
  "_answer_id" bigint not null,
  constraint "web_page_changes_pkey" primary key ("page_key", "attribute", "changed_at", "_answer_id"),
  constraint "web_page_changes_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);
create index "web_page_changes_changed_at_idx" on sluice."web_page_changes" using btree (changed_at);

-- E-mail addresses on the page. One row per element.
create table sluice."web_page_emails" (
  -- Key of the page. Personal data.
  "page_key" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the e-mail addresses on the page. Personal data.
  "email" text,
  constraint "web_page_emails_pkey" primary key ("page_key", "position"),
  constraint "web_page_emails_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Addresses that the page links to. One row per element.
create table sluice."web_page_links" (
  -- Key of the page. Personal data.
  "page_key" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the addresses that the page links to. Personal data.
  "link" text,
  constraint "web_page_links_pkey" primary key ("page_key", "position"),
  constraint "web_page_links_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Phone numbers on the page. One row per element.
create table sluice."web_page_phones" (
  -- Key of the page. Personal data.
  "page_key" text not null,
  -- Index in the list, from 0.
  "position" bigint not null,
  -- One of the phone numbers on the page. Personal data.
  "phone" text,
  constraint "web_page_phones_pkey" primary key ("page_key", "position"),
  constraint "web_page_phones_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Web pages as parsed: one row per requested address and set of content options.
create table sluice."web_pages" (
  -- SHA-256, in hex, of the requested address and the content options. Personal data.
  "page_key" text not null,
  -- Requested address. Personal data.
  "requested_url" text,
  -- Content options that differ from the service’s defaults.
  "options" jsonb,
  -- Content of the page after cleaning; may be empty. Personal data.
  "cleaned_html" text,
  -- Address of the original page; after redirects it may differ from the requested address. Personal data.
  "url" text,
  -- Title of the page. Personal data.
  "title" text,
  -- Description in the page’s head. Personal data.
  "meta_description" text,
  -- Further metadata, as sent. Personal data.
  "metadata" jsonb,
  -- Number of elements: addresses that the page links to. Null if not reported; 0 if there are none.
  "links_count" bigint,
  -- Number of elements: e-mail addresses on the page. Null if not reported; 0 if there are none.
  "emails_count" bigint,
  -- Number of elements: phone numbers on the page. Null if not reported; 0 if there are none.
  "phones_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- Run that last wrote the row.
  "_run_id" bigint not null,
  -- Id of the paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; it changes only when the content changes.
  "_content_hash" text not null,
  -- Digests of parts of the row. A later load uses them to detect unchanged parts.
  "_part_hashes" text not null,
  constraint "web_pages_pkey" primary key ("page_key")
);
create index "web_pages_requested_url_idx" on sluice."web_pages" using hash (requested_url);

-- Costs and results of paid answers: one row per answer.
create view sluice."answer_costs" (
  -- Id of the answer; joins paid_answers.
  "answer_id" bigint,
  -- Request that returned the answer.
  "request_id" bigint,
  -- Run that sent the request.
  "run_id" bigint,
  -- Name of the sync in the config. The cost of lookups of its lost answers is included.
  "sync" text,
  -- Name of the endpoint: its path with dots. Joins dim_endpoint.
  "endpoint" text,
  -- SHA-256 of the endpoint and the canonical body, in hex. Personal data.
  "request_key" text,
  -- Receipt of its last byte.
  "received_at" timestamp with time zone,
  -- UTC day of received_at; joins dim_date.
  "date" date,
  -- Points for its request with all attempts, by the log if it has them, otherwise by the ledger. If a request has several answers, the newest has the points.
  "points" numeric,
  -- Whether the log has the request, so that the points are those that the service charged.
  "is_logged" boolean,
  -- Number of items in the answer.
  "received" bigint,
  -- Number of items that created or changed rows.
  "loaded" bigint,
  -- Number of items equal to their stored rows.
  "unchanged" bigint,
  -- Number of new rows in the table that the endpoint fills, without rows that were deleted later.
  "new_rows" bigint,
  -- Whether the answer has nothing new: all items equal their stored rows, or there are none, it removed no rows, and the previous answer to the same request of the same sync has the same bytes or also no items. A first answer has something new if it has items and a table lists what each request returned.
  "is_nothing_new" boolean,
  -- Receipt of the previous answer to the same request of the same sync; null for the first.
  "previous_at" timestamp with time zone,
  -- Days since previous_at; null for the first.
  "days_since_previous" double precision,
  -- Start of the request: the receipt minus the duration.
  "sent_at" timestamp with time zone
) as
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
    a.loaded_at IS NOT NULL AND COALESCE(a.loaded, 0::bigint) = 0 AND COALESCE(a.quarantined, 0::bigint) = 0 AND g._answer_id IS NULL AND NOT a.has_other_rows AS is_nothing_new,
    a.previous_at,
    (EXTRACT(epoch FROM a.received_at - a.previous_at) / 86400::numeric)::double precision AS days_since_previous,
    a.received_at - a.took_ms::double precision * '00:00:00.001'::interval AS sent_at
   FROM ( SELECT w.id,
            w.request_id,
            w.run_id,
            w.sync,
            w.endpoint,
            w.request_key,
            w.received_at,
            w.took_ms,
            w.received,
            w.loaded,
            w.unchanged,
            w.quarantined,
            w.loaded_at,
            row_number() OVER (PARTITION BY w.request_id ORDER BY w.id DESC) AS of_request,
            row_number() OVER (PARTITION BY w.received_at, w.endpoint ORDER BY w.id) AS of_moment,
            lag(w.received_at) OVER p AS previous_at,
            COALESCE(
                CASE
                    WHEN w.received = 0 THEN ''::text
                    WHEN w.redacted_at IS NULL THEN w.sha256
                    ELSE NULL::text
                END <> lag(
                CASE
                    WHEN w.received = 0 THEN ''::text
                    WHEN w.redacted_at IS NULL THEN w.sha256
                    ELSE NULL::text
                END) OVER p, w.received > 0 AND (w.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.search.users'::text, 'photoshare.user'::text, 'photoshare.user.posts'::text])) AND row_number() OVER p = 1, false) AS has_other_rows
           FROM answers w
          WINDOW p AS (PARTITION BY w.sync, w.request_key ORDER BY w.received_at, w.id)) a
     LEFT JOIN requests q ON q.id = a.request_id
     LEFT JOIN ( SELECT r.request_id,
            sum(r.points) AS points
           FROM logged_requests r
          WHERE r.request_id IS NOT NULL
          GROUP BY r.request_id) l ON l.request_id = a.request_id
     LEFT JOIN appearances n ON n.endpoint = a.endpoint AND n.at = a.received_at
     LEFT JOIN ( SELECT DISTINCT c._answer_id
           FROM pronet_user_education_changes c
          WHERE c.attribute = '_first_seen_at'::text AND c.to_value IS NULL) g ON g._answer_id = a.id;

-- Attribute changes of all entities: one row per change. Changes of list elements, and of rows that an answer removed, are not included.
create view sluice."attribute_changes" (
  -- Table of the entity, such as pronet_users.
  "table_name" text,
  -- Key of the entity; colons separate its parts. Personal data.
  "entity_key" text,
  -- Name of the entity; null if it has none or it is unknown. Personal data.
  "entity_name" text,
  -- Name of the changed column.
  "attribute" text,
  -- Value before the change, as text; null if there was none. Personal data.
  "from_value" text,
  -- Value after the change, as text; null if there is none. Personal data.
  "to_value" text,
  -- Receipt of the answer that showed the change.
  "changed_at" timestamp with time zone,
  -- UTC day of changed_at; joins dim_date.
  "changed_on" date,
  -- Paid answer that showed the change; joins paid_answers.
  "answer_id" bigint
) as
 SELECT 'web_pages'::text AS table_name,
    c.page_key AS entity_key,
    NULL::text AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM web_page_changes c
     JOIN web_pages e ON e.page_key = c.page_key
UNION ALL
 SELECT 'sec_filings'::text AS table_name,
    (c.filing_accession_number || ':'::text) || c.filing_file_name AS entity_key,
    NULL::text AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM sec_filing_changes c
     JOIN sec_filings e ON e.accession_number = c.filing_accession_number AND e.file_name = c.filing_file_name
UNION ALL
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
 SELECT 'pronet_industries'::text AS table_name,
    (c.industry_urn_type || ':'::text) || c.industry_urn_value AS entity_key,
    e.name AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_industry_changes c
     JOIN pronet_industries e ON e.urn_type = c.industry_urn_type AND e.urn_value = c.industry_urn_value
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
 SELECT 'pronet_posts'::text AS table_name,
    (c.post_urn_type || ':'::text) || c.post_urn_value AS entity_key,
    NULL::text AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_post_changes c
     JOIN pronet_posts e ON e.urn_type = c.post_urn_type AND e.urn_value = c.post_urn_value
UNION ALL
 SELECT 'pronet_user_educations'::text AS table_name,
    (((c.education_user_urn_type || ':'::text) || c.education_user_urn_value) || ':'::text) || c.education_position AS entity_key,
    NULL::text AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM pronet_user_education_changes c
     JOIN pronet_user_educations e ON e.user_urn_type = c.education_user_urn_type AND e.user_urn_value = c.education_user_urn_value AND e."position" = c.education_position AND c.changed_at > e._first_seen_at
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
     JOIN photoshare_users e ON e.id = c.user_id
UNION ALL
 SELECT 'photoshare_posts'::text AS table_name,
    c.post_id AS entity_key,
    NULL::text AS entity_name,
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at AT TIME ZONE 'UTC'::text)::date AS changed_on,
    c._answer_id AS answer_id
   FROM photoshare_post_changes c
     JOIN photoshare_posts e ON e.id = c.post_id;

-- Points left, and when they run out at the current rate, by the part of the log that was read: one row per token.
create view sluice."balance_forecast" (
  -- Identifier of the token; `(not reported)` if the log has none.
  "token" text,
  -- Whether a request of this warehouse’s ledger was certainly sent with the token.
  "is_ours" boolean,
  -- Points left after the newest request that reports them; null if none does.
  "points_left" bigint,
  -- Start of that request; null if there is none.
  "told_at" timestamp with time zone,
  -- Start of the token’s newest request in the log, where the periods of the rates end.
  "newest_at" timestamp with time zone,
  -- Points charged in the 7 days before newest_at.
  "points_7d" numeric,
  -- Points charged in the 30 days before newest_at.
  "points_30d" numeric,
  -- Points per day over 7 days, or over fewer days, but at least one, if the log is shorter.
  "points_per_day_7d" double precision,
  -- Points per day over 30 days, or over fewer days, but at least one, if the log is shorter.
  "points_per_day_30d" double precision,
  -- Time at which the points run out at the rate of the last 7 days, counted from told_at; null without a balance, without spending, or if it is more than a century ahead.
  "runs_out_at" timestamp with time zone,
  -- Time at which the points run out at the rate of the last 30 days, counted from told_at; null without a balance, without spending, or if it is more than a century ahead.
  "runs_out_at_30d" timestamp with time zone
) as
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
            (EXISTS ( SELECT
                   FROM fact_request_costs c
                     JOIN request_cost_matches k ON k.log_id = c.id AND k.match_kind <> 'ambiguous'::text
                  WHERE COALESCE(c.token_id::text, '(not reported)'::text) = e.token)) AS is_ours,
            r.points_7d,
            r.points_30d
           FROM ( SELECT t.token,
                    min(t.started_at) AS first_at,
                    max(t.started_at) AS newest_at
                   FROM logged_requests t
                  GROUP BY t.token) e
             CROSS JOIN LATERAL ( SELECT COALESCE(sum(l.points) FILTER (WHERE l.started_at > (e.newest_at - '168:00:00'::interval)), 0::numeric) AS points_7d,
                    COALESCE(sum(l.points), 0::numeric) AS points_30d
                   FROM ( SELECT c.id AS log_id,
                            COALESCE(c.started_at, c._first_seen_at) AS started_at,
                            (COALESCE(c.started_at, c._first_seen_at) AT TIME ZONE 'UTC'::text)::date AS date,
                            COALESCE(q.endpoint, NULLIF(regexp_replace(btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$'::text, ''::text)), '/ '::text, '..'::text), '.'::text), '^(.*[.])?api[.]'::text, ''::text), ''::text), '(not reported)'::text) AS endpoint,
                            c.endpoint AS logged_endpoint,
                            COALESCE(NULLIF(c.plan, ''::text), '(not reported)'::text) AS plan,
                                CASE
                                    WHEN q.id IS NOT NULL THEN split_part(q.sync, ':'::text, 1)
                                    WHEN m.log_id IS NULL THEN '(other programs)'::text
                                    ELSE '(ambiguous)'::text
                                END AS sync,
                            q.run_id,
                            q.id AS request_id,
                            COALESCE(m.match_kind, 'none'::text) AS match,
                            COALESCE(c.token_id::text, '(not reported)'::text) AS token,
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
                            c.duration AS duration_s,
                                CASE
                                    WHEN q.id IS NOT NULL THEN COALESCE(r_1.tags, '{}'::jsonb)
                                    ELSE NULL::jsonb
                                END AS tags
                           FROM ( SELECT fact_request_costs.id,
                                    fact_request_costs.cost,
                                    fact_request_costs.is_paid,
                                    fact_request_costs.endpoint,
                                    fact_request_costs.plan,
                                    fact_request_costs.started_at,
                                    fact_request_costs.points_left,
                                    fact_request_costs.token_id,
                                    fact_request_costs.duration,
                                    fact_request_costs.response_status_code,
                                    fact_request_costs.response_error_text,
                                    fact_request_costs.response_count,
                                    fact_request_costs.response_execution_time,
                                    fact_request_costs.response_request_id,
                                    fact_request_costs.timeout,
                                    fact_request_costs.is_token_expired,
                                    fact_request_costs.is_points_run_out,
                                    fact_request_costs.extra,
                                    fact_request_costs._first_seen_at,
                                    fact_request_costs._changed_at,
                                    fact_request_costs._run_id,
                                    fact_request_costs._answer_id,
                                    fact_request_costs._content_hash,
                                    fact_request_costs._part_hashes
                                   FROM fact_request_costs
                                  WHERE fact_request_costs.started_at > (e.newest_at - '720:00:00'::interval) OR fact_request_costs.started_at IS NULL) c
                             LEFT JOIN ( SELECT k.log_id,
                                    min(k.request_id) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])) AS request_id,
                                    COALESCE(min(k.match_kind) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])), 'ambiguous'::text) AS match_kind
                                   FROM request_cost_matches k
                                  GROUP BY k.log_id) m ON m.log_id = c.id
                             LEFT JOIN requests q ON q.id = m.request_id
                             LEFT JOIN runs r_1 ON r_1.id = q.run_id) l
                  WHERE l.token = e.token AND l.started_at > (e.newest_at - '720:00:00'::interval)) r) p
     CROSS JOIN LATERAL ( SELECT GREATEST(EXTRACT(epoch FROM p.newest_at - p.first_at) / 86400::numeric, 1::numeric)::double precision AS days) s
     CROSS JOIN LATERAL ( SELECT p.points_7d::double precision / LEAST(s.days, 7::double precision) AS week,
            p.points_30d::double precision / LEAST(s.days, 30::double precision) AS month) x
     LEFT JOIN LATERAL ( SELECT l.points_left,
            l.started_at
           FROM logged_requests l
          WHERE l.token = p.token AND l.points_left IS NOT NULL
          ORDER BY l.started_at DESC, l.log_id DESC
         LIMIT 1) b ON true;

-- Requests that were charged without a usable answer: one row per logged request that failed or whose answer was lost.
create view sluice."charged_failures" (
  -- Row of the log; joins fact_request_costs.id.
  "log_id" uuid,
  -- Start of the request.
  "started_at" timestamp with time zone,
  -- UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.
  "date" date,
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Plan of the token at the time; `(not reported)` if the log has none. Joins dim_plan.
  "plan" text,
  -- Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.
  "sync" text,
  -- Run that sent the request; null if not certain. Joins sync_runs.
  "run_id" bigint,
  -- Request in the ledger; null if not certain.
  "request_id" bigint,
  -- Kind of failure: failed if the service reports that; lost if the request ended and no answer is stored.
  "kind" text,
  -- HTTP status of the answer; null while the request runs.
  "status" bigint,
  -- Error text of the answer. Personal data.
  "error" text,
  -- Points charged.
  "points" numeric
) as
 WITH unanswered AS MATERIALIZED (
         SELECT m.request_id
           FROM ( SELECT k.request_id,
                    count(*) AS rows
                   FROM request_cost_matches k
                  GROUP BY k.request_id) m
             LEFT JOIN ( SELECT w.request_id,
                    count(*) AS rows
                   FROM answers w
                  GROUP BY w.request_id) a ON a.request_id = m.request_id
          WHERE m.rows > COALESCE(a.rows, 0::bigint)
        ), candidates AS MATERIALIZED (
         SELECT k.log_id
           FROM unanswered u
             JOIN request_cost_matches k ON k.request_id = u.request_id
        UNION
         SELECT c.id
           FROM fact_request_costs c
          WHERE c.response_status_code < 200 OR c.response_status_code > 299 OR c.response_status_code IS NULL
        )
 SELECT log_id,
    started_at,
    date,
    endpoint,
    plan,
    sync,
    run_id,
    request_id,
        CASE
            WHEN outcome = 'failed'::text THEN 'failed'::text
            ELSE 'lost'::text
        END AS kind,
    status,
    error,
    points
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
            l.tags,
            row_number() OVER (PARTITION BY l.request_id ORDER BY l.started_at DESC, l.log_id) AS place
           FROM ( SELECT c.id AS log_id,
                    COALESCE(c.started_at, c._first_seen_at) AS started_at,
                    (COALESCE(c.started_at, c._first_seen_at) AT TIME ZONE 'UTC'::text)::date AS date,
                    COALESCE(q.endpoint, NULLIF(regexp_replace(btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$'::text, ''::text)), '/ '::text, '..'::text), '.'::text), '^(.*[.])?api[.]'::text, ''::text), ''::text), '(not reported)'::text) AS endpoint,
                    c.endpoint AS logged_endpoint,
                    COALESCE(NULLIF(c.plan, ''::text), '(not reported)'::text) AS plan,
                        CASE
                            WHEN q.id IS NOT NULL THEN split_part(q.sync, ':'::text, 1)
                            WHEN m.log_id IS NULL THEN '(other programs)'::text
                            ELSE '(ambiguous)'::text
                        END AS sync,
                    q.run_id,
                    q.id AS request_id,
                    COALESCE(m.match_kind, 'none'::text) AS match,
                    COALESCE(c.token_id::text, '(not reported)'::text) AS token,
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
                    c.duration AS duration_s,
                        CASE
                            WHEN q.id IS NOT NULL THEN COALESCE(r.tags, '{}'::jsonb)
                            ELSE NULL::jsonb
                        END AS tags
                   FROM ( SELECT fact_request_costs.id,
                            fact_request_costs.cost,
                            fact_request_costs.is_paid,
                            fact_request_costs.endpoint,
                            fact_request_costs.plan,
                            fact_request_costs.started_at,
                            fact_request_costs.points_left,
                            fact_request_costs.token_id,
                            fact_request_costs.duration,
                            fact_request_costs.response_status_code,
                            fact_request_costs.response_error_text,
                            fact_request_costs.response_count,
                            fact_request_costs.response_execution_time,
                            fact_request_costs.response_request_id,
                            fact_request_costs.timeout,
                            fact_request_costs.is_token_expired,
                            fact_request_costs.is_points_run_out,
                            fact_request_costs.extra,
                            fact_request_costs._first_seen_at,
                            fact_request_costs._changed_at,
                            fact_request_costs._run_id,
                            fact_request_costs._answer_id,
                            fact_request_costs._content_hash,
                            fact_request_costs._part_hashes
                           FROM fact_request_costs
                          WHERE (fact_request_costs.id IN ( SELECT candidates.log_id
                                   FROM candidates))) c
                     LEFT JOIN ( SELECT k.log_id,
                            min(k.request_id) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])) AS request_id,
                            COALESCE(min(k.match_kind) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])), 'ambiguous'::text) AS match_kind
                           FROM ( SELECT request_cost_matches.request_id,
                                    request_cost_matches.log_id,
                                    request_cost_matches.match_kind,
                                    request_cost_matches.matched_at
                                   FROM request_cost_matches
                                  WHERE (request_cost_matches.log_id IN ( SELECT candidates.log_id
   FROM candidates))) k
                          GROUP BY k.log_id) m ON m.log_id = c.id
                     LEFT JOIN requests q ON q.id = m.request_id
                     LEFT JOIN runs r ON r.id = q.run_id) l
          WHERE l.points > 0::numeric) p
  WHERE outcome = 'failed'::text OR (outcome <> ALL (ARRAY['failed'::text, 'under way'::text])) AND request_id IS NOT NULL AND place > (( SELECT count(*) AS count
           FROM answers w
          WHERE w.request_id = p.request_id));

-- Results of the checks of syncs: one row per run and check.
create view sluice."check_results" (
  -- Id of the run; tables refer to it as _run_id.
  "run_id" bigint,
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the check in its sync.
  "check_name" text,
  -- Kind of the check: sql, rows, fresh, complete, nulls or cost.
  "kind" text,
  -- Severity: error if a failure ends the run with exit code 4, otherwise warn.
  "severity" text,
  -- Result: pass, fail, error if the check could not run, or skipped if the run does not allow a result, for example because it is a sample.
  "status" text,
  -- Number found: rows for sql, items for rows, seconds for fresh, incomplete requests for complete, a share from 0 to 1 for nulls, points for each row for cost; null if there is none.
  "found" numeric,
  -- Description of what is allowed.
  "allowed" text,
  -- Description of what was found, or the reason why the check could not run. Personal data.
  "message" text,
  -- Time of the result.
  "at" timestamp with time zone
) as
 SELECT run_id,
    sync,
    name AS check_name,
    kind,
    severity,
    status,
    found,
    allowed,
    message,
    at
   FROM checks c;

-- Current checks of each sync, which are those of its newest run that ended complete or partial: one row per check. Each row is the newest result that is not skipped, if there is one.
create view sluice."check_status" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the check in its sync.
  "check_name" text,
  -- Kind of the check: sql, rows, fresh, complete, nulls or cost.
  "kind" text,
  -- Severity: error if a failure ends the run with exit code 4, otherwise warn.
  "severity" text,
  -- Result: pass, fail, error if the check could not run, or skipped if the run does not allow a result, for example because it is a sample.
  "status" text,
  -- Number found: rows for sql, items for rows, seconds for fresh, incomplete requests for complete, a share from 0 to 1 for nulls, points for each row for cost; null if there is none.
  "found" numeric,
  -- Description of what is allowed.
  "allowed" text,
  -- Description of what was found, or the reason why the check could not run. Personal data.
  "message" text,
  -- Time of the result.
  "at" timestamp with time zone,
  -- Id of the run; tables refer to it as _run_id.
  "run_id" bigint
) as
 SELECT DISTINCT ON (c.sync, c.name) c.sync,
    c.name AS check_name,
    c.kind,
    c.severity,
    c.status,
    c.found,
    c.allowed,
    c.message,
    c.at,
    c.run_id
   FROM ( SELECT DISTINCT ON (runs.sync) runs.id
           FROM runs
          WHERE runs.state = ANY (ARRAY['complete'::text, 'partial'::text])
          ORDER BY runs.sync, runs.id DESC) n
     JOIN checks k ON k.run_id = n.id
     JOIN checks c ON c.sync = k.sync AND c.name = k.name
  ORDER BY c.sync, c.name, (c.status = 'skipped'::text), c.run_id DESC;

-- Differences between answers and the service’s contract: one row per difference, with its count.
create view sluice."contract_drift" (
  -- Name of the resource in the contract.
  "resource" text,
  -- Field names joined by dots, without list positions. Personal data.
  "path" text,
  -- Kind of difference: unknown field, missing, wrong type or other @type.
  "kind" text,
  -- Number of occurrences.
  "seen" bigint,
  -- Example of a JSON type that was found; never a value.
  "sample_type" text,
  -- Receipt of the first answer with the difference.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the last answer with the difference.
  "last_seen_at" timestamp with time zone,
  -- Number of days from the first to the last, including both.
  "days_seen" integer
) as
 SELECT resource,
    path,
    kind,
    count AS seen,
    sample_type,
    first_seen_at,
    last_seen_at,
    (last_seen_at AT TIME ZONE 'UTC'::text)::date - (first_seen_at AT TIME ZONE 'UTC'::text)::date + 1 AS days_seen
   FROM drift d;

-- Points left at the end of each day: one row per token and day.
create view sluice."daily_balance" (
  -- Identifier of the token; `(not reported)` if the log has none.
  "token" text,
  -- UTC day; joins dim_date.
  "date" date,
  -- Number of rows in the request log.
  "requests" bigint,
  -- Points charged on that day.
  "points" numeric,
  -- Points left after the last request of the day that reports them; null if none does.
  "points_left" bigint,
  -- Start of that request; null if there is none.
  "told_at" timestamp with time zone
) as
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
     LEFT JOIN ( SELECT DISTINCT ON (l.date, l.token) l.token,
            l.date,
            l.points_left,
            l.started_at
           FROM logged_requests l
          WHERE l.points_left IS NOT NULL
          ORDER BY l.date, l.token, l.started_at DESC, l.log_id DESC) b ON b.token = d.token AND b.date = d.date;

-- Points by day, endpoint, plan and sync over the complete request log: one row per combination.
create view sluice."daily_costs" (
  -- UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.
  "date" date,
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Plan of the token at the time; `(not reported)` if the log has none. Joins dim_plan.
  "plan" text,
  -- Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.
  "sync" text,
  -- Number of rows in the request log.
  "requests" bigint,
  -- Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.
  "points" numeric,
  -- Cost of all these requests by the log in points, charged or not.
  "list_points" numeric,
  -- Number of these requests that failed by their status or error, without those for unknown entities.
  "failed_requests" bigint,
  -- Points charged for failed requests.
  "failed_points" numeric,
  -- Number of these requests for an entity that the service does not know.
  "missing_requests" bigint,
  -- Points charged for requests for unknown entities.
  "missing_points" numeric,
  -- Number of these requests that had not ended when the log was read.
  "open_requests" bigint,
  -- Number of items in the answers, by the log.
  "items" numeric
) as
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

-- Comparison of the request log with the ledger: one row per day on which either has a request.
create view sluice."daily_reconciliation" (
  -- UTC day; joins dim_date. Rows of the log have the clock of the service, requests of the ledger that of the database.
  "date" date,
  -- Number of rows in the log.
  "logged" bigint,
  -- Points charged for these rows.
  "logged_points" numeric,
  -- Number of these rows that certainly belong to requests of the ledger.
  "matched" bigint,
  -- Points charged for the matched rows.
  "matched_points" numeric,
  -- Number of rows that may belong to one of several requests.
  "ambiguous" bigint,
  -- Points charged for the ambiguous rows.
  "ambiguous_points" numeric,
  -- Number of rows without a request in the ledger: from other programs or tokens.
  "others" bigint,
  -- Points charged for the rows of others.
  "other_points" numeric,
  -- Number of matched charged rows in excess of the stored answers, without those of failed requests.
  "lost" bigint,
  -- Points charged for these lost answers.
  "lost_points" numeric,
  -- Number of requests of the ledger that were last sent on this day.
  "asked" bigint,
  -- Points for these requests by the ledger: as charged by the log if known, otherwise by the price list.
  "ledger_points" numeric,
  -- Number of answered requests among these without a row in the log. For the last days, the log may not have been read yet.
  "unlogged" bigint
) as
 WITH entries AS (
         SELECT p.date,
            p.points,
            p.match,
            p.request_id,
            p.request_id IS NOT NULL AND p.points > 0::numeric AND (p.outcome <> ALL (ARRAY['failed'::text, 'under way'::text])) AND p.place > COALESCE(a.rows, 0::bigint) AS is_lost
           FROM ( SELECT l_1.date,
                    l_1.points,
                    l_1.match,
                    l_1.request_id,
                    l_1.outcome,
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

-- Points by day and tag over the complete request log: one row per day, tag, value, sync and endpoint. A request counts once for each tag of its run, so add up the rows of one tag only.
create view sluice."daily_tag_costs" (
  -- UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.
  "date" date,
  -- Name of the tag in the config.
  "tag" text,
  -- Value of the tag when the run was last started.
  "value" text,
  -- Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.
  "sync" text,
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Number of rows in the request log.
  "requests" bigint,
  -- Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.
  "points" numeric,
  -- Number of these requests that failed by their status or error, without those for unknown entities.
  "failed_requests" bigint,
  -- Points charged for failed requests.
  "failed_points" numeric
) as
 SELECT l.date,
    t.tag,
    t.value,
    l.sync,
    l.endpoint,
    count(*) AS requests,
    sum(l.points) AS points,
    count(*) FILTER (WHERE l.outcome = 'failed'::text) AS failed_requests,
    COALESCE(sum(l.points) FILTER (WHERE l.outcome = 'failed'::text), 0::numeric) AS failed_points
   FROM logged_requests l
     JOIN run_tags t ON t.run_id = l.run_id
  GROUP BY l.date, t.tag, t.value, l.sync, l.endpoint;

-- Calendar: one row per day from 1990-01-01 to 2049-12-31. It begins before the first filing and the oldest profile.
create view sluice."dim_date" (
  -- Day.
  "date" date,
  -- Calendar year.
  "year" integer,
  -- Quarter of the year, from 1.
  "quarter" integer,
  -- Month of the year, from 1.
  "month" integer,
  -- Day of the month, from 1.
  "day" integer,
  -- Day of the year, from 1.
  "day_of_year" integer,
  -- Year of the ISO week; differs from the calendar year around New Year.
  "iso_year" integer,
  -- ISO week, from 1; weeks begin on Monday.
  "iso_week" integer,
  -- Day of the ISO week: 1 is Monday, 7 is Sunday.
  "iso_weekday" integer,
  -- Name of the weekday in English.
  "weekday_name" text,
  -- First three letters of that name.
  "weekday_short" text,
  -- Name of the month in English.
  "month_name" text,
  -- First three letters of that name.
  "month_short" text,
  -- Year and quarter, such as 2026-Q1.
  "year_quarter" text,
  -- Year and month, such as 2026-03.
  "year_month" text,
  -- ISO year and week, such as 2026-W10.
  "iso_year_week" text,
  -- Whether the day is a Saturday or a Sunday.
  "is_weekend" boolean,
  -- Whether it is the first day of its month.
  "is_first_of_month" boolean,
  -- Whether it is the last day of its month.
  "is_last_of_month" boolean,
  -- Monday of the ISO week.
  "first_of_week" date,
  -- Sunday of the ISO week.
  "last_of_week" date,
  -- First day of the month.
  "first_of_month" date,
  -- Last day of the month.
  "last_of_month" date,
  -- First day of the quarter.
  "first_of_quarter" date,
  -- Last day of the quarter.
  "last_of_quarter" date,
  -- First day of the year.
  "first_of_year" date,
  -- Last day of the year.
  "last_of_year" date,
  -- Number of days in the month.
  "days_in_month" integer
) as
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

-- Endpoints that can be synced or occur in the request log: one row per endpoint.
create view sluice."dim_endpoint" (
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- First part of the name: token, webparser, sec, pronet, microblog or photoshare.
  "network" text,
  -- Table that its items fill; null if the endpoint can’t be synced.
  "table_name" text,
  -- Whether the endpoint can be synced.
  "is_known" boolean,
  -- First day with such a row in the request log; null if there is none.
  "first_logged_on" date,
  -- Last day with such a row in the request log; null if there is none.
  "last_logged_on" date
) as
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

-- Plans of tokens in the request log: one row per plan.
create view sluice."dim_plan" (
  -- Name of the plan; `(not reported)` if the log has none.
  "plan" text,
  -- Number of rows in the request log.
  "requests" bigint,
  -- First day with such a row in the request log; null if there is none.
  "first_logged_on" date,
  -- Last day with such a row in the request log; null if there is none.
  "last_logged_on" date
) as
 SELECT plan,
    count(*) AS requests,
    min(date) AS first_logged_on,
    max(date) AS last_logged_on
   FROM logged_requests l
  GROUP BY plan;

-- Syncs that ran, and two names for requests without a certain sync: one row each.
create view sluice."dim_sync" (
  -- Name of the sync in the config, or `(other programs)` or `(ambiguous)` for requests without a certain sync.
  "sync" text,
  -- Whether it is a sync: false for `(other programs)` and `(ambiguous)`.
  "is_sync" boolean,
  -- Endpoint of its newest run; null if it is no sync.
  "endpoint" text,
  -- Number of its runs.
  "runs" bigint,
  -- Start of the first run; null if it is no sync.
  "first_run_at" timestamp with time zone,
  -- Start of the newest run; null if it is no sync.
  "last_run_at" timestamp with time zone
) as
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

-- Earlier forecasts of spending and what was spent: one row per forecast and sync, over its days before that of the newest run.
create view sluice."forecast_scores" (
  -- UTC day on which `sluice plan --for` made the forecast; its own points do not count.
  "made_on" date,
  -- Name of the sync in the config.
  "sync" text,
  -- Number of the days.
  "days" bigint,
  -- Points at the lower end of the range.
  "low" numeric,
  -- Likely points.
  "likely" numeric,
  -- Points at the upper end of the range.
  "high" numeric,
  -- Points spent: as charged by the service if known, otherwise by the price list.
  "spent" numeric,
  -- Difference of spent and likely as a share of likely, negative if less was spent; null if likely is 0.
  "error_share" double precision
) as
 WITH forecast AS (
         SELECT f_1.made_on,
            f_1.sync,
            n.today,
            COALESCE(sum(f_1.low) FILTER (WHERE f_1.date > f_1.made_on AND f_1.date < n.today), 0::numeric) AS low,
            COALESCE(sum(f_1.likely) FILTER (WHERE f_1.date > f_1.made_on AND f_1.date < n.today), 0::numeric) AS likely,
            COALESCE(sum(f_1.high) FILTER (WHERE f_1.date > f_1.made_on AND f_1.date < n.today), 0::numeric) AS high
           FROM forecast_days f_1
             JOIN ( SELECT g.made_on,
                    LEAST(max(g.date) + 1, ( SELECT COALESCE((max(r.started_at) AT TIME ZONE 'UTC'::text)::date, g.made_on) AS "coalesce"
                           FROM runs r)) AS today
                   FROM forecast_days g
                  GROUP BY g.made_on) n ON n.made_on = f_1.made_on AND (n.today - n.made_on) > 1
          GROUP BY f_1.made_on, f_1.sync, n.today
        ), spent AS (
         SELECT split_part(q.sync, ':'::text, 1) AS sync,
            (q.sent_at AT TIME ZONE 'UTC'::text)::date AS date,
            sum(COALESCE(q.charged, q.points)) AS points
           FROM requests q
          WHERE q.sent_at >= (( SELECT (min(f_1.made_on)::timestamp without time zone AT TIME ZONE 'UTC'::text) AS timezone
                   FROM forecast f_1))
          GROUP BY (split_part(q.sync, ':'::text, 1)), ((q.sent_at AT TIME ZONE 'UTC'::text)::date)
        )
 SELECT f.made_on,
    f.sync,
    (f.today - f.made_on - 1)::bigint AS days,
    f.low,
    f.likely,
    f.high,
    COALESCE(s.points, 0::numeric) AS spent,
    (COALESCE(s.points, 0::numeric) / NULLIF(f.likely, 0::numeric) - 1::numeric)::double precision AS error_share
   FROM forecast f
     LEFT JOIN LATERAL ( SELECT sum(d.points) AS points
           FROM spent d
          WHERE d.sync = f.sync AND d.date > f.made_on AND d.date < f.today) s ON true;

-- Request log of the service with sync, run and request: one row per logged request. Sums over it equal sums over fact_request_costs.
create view sluice."logged_requests" (
  -- Row of the log; joins fact_request_costs.id.
  "log_id" uuid,
  -- Start of the request; if the log has no start, the time at which its row was first read.
  "started_at" timestamp with time zone,
  -- UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.
  "date" date,
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Endpoint as written in the log.
  "logged_endpoint" text,
  -- Plan of the token at the time; `(not reported)` if the log has none. Joins dim_plan.
  "plan" text,
  -- Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.
  "sync" text,
  -- Run that sent the request; null if not certain. Joins sync_runs.
  "run_id" bigint,
  -- Request in the ledger; null if not certain.
  "request_id" bigint,
  -- Kind of match with a request: identifier, only_candidate, ambiguous (one of several candidates, or matched by time order alone) or none (not in this ledger).
  "match" text,
  -- Identifier of the token; `(not reported)` if the log has none.
  "token" text,
  -- Price of the request, in points.
  "cost" bigint,
  -- Whether the points were charged.
  "is_paid" boolean,
  -- Points charged: the cost if the row is marked as paid, or has no mark but a cost; otherwise 0.
  "points" numeric,
  -- Balance after the request, in points.
  "points_left" bigint,
  -- Outcome: `answered` (status 2xx), `missing` (412: no such entity), `failed` (another status, or an error), `under way` (not ended yet) or `not told` (unknown).
  "outcome" text,
  -- HTTP status of the answer; null while the request runs.
  "status" bigint,
  -- Error text of the answer. Personal data.
  "error" text,
  -- Limit of items in the request; null if it has no limit or the request is not certain.
  "asked" bigint,
  -- Number of items in the answer.
  "items" bigint,
  -- Duration of the request, in seconds; null while it runs.
  "duration_s" double precision,
  -- Tags of the sync when the run was last started, such as {"team": "growth"}; empty if it has none, null if the request is not certain.
  "tags" jsonb
) as
 SELECT c.id AS log_id,
    COALESCE(c.started_at, c._first_seen_at) AS started_at,
    (COALESCE(c.started_at, c._first_seen_at) AT TIME ZONE 'UTC'::text)::date AS date,
    COALESCE(q.endpoint, NULLIF(regexp_replace(btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$'::text, ''::text)), '/ '::text, '..'::text), '.'::text), '^(.*[.])?api[.]'::text, ''::text), ''::text), '(not reported)'::text) AS endpoint,
    c.endpoint AS logged_endpoint,
    COALESCE(NULLIF(c.plan, ''::text), '(not reported)'::text) AS plan,
        CASE
            WHEN q.id IS NOT NULL THEN split_part(q.sync, ':'::text, 1)
            WHEN m.log_id IS NULL THEN '(other programs)'::text
            ELSE '(ambiguous)'::text
        END AS sync,
    q.run_id,
    q.id AS request_id,
    COALESCE(m.match_kind, 'none'::text) AS match,
    COALESCE(c.token_id::text, '(not reported)'::text) AS token,
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
    c.duration AS duration_s,
        CASE
            WHEN q.id IS NOT NULL THEN COALESCE(r.tags, '{}'::jsonb)
            ELSE NULL::jsonb
        END AS tags
   FROM fact_request_costs c
     LEFT JOIN ( SELECT k.log_id,
            min(k.request_id) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])) AS request_id,
            COALESCE(min(k.match_kind) FILTER (WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])), 'ambiguous'::text) AS match_kind
           FROM request_cost_matches k
          GROUP BY k.log_id) m ON m.log_id = c.id
     LEFT JOIN requests q ON q.id = m.request_id
     LEFT JOIN runs r ON r.id = q.run_id;

-- Profiles of the microblogging network with computed rates: one row per profile.
create view sluice."microblog_user_overview" (
  -- Identifier of the profile. Personal data.
  "rest_id" text,
  -- Displayed name. Personal data.
  "name" text,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Time when the profile was opened.
  "created_at" timestamp with time zone,
  -- Whether the network vouches for the profile.
  "verified" boolean,
  -- Kind of verification, such as business.
  "verified_type" text,
  -- Whether the profile has the paid check mark.
  "is_blue_verified" boolean,
  -- Number of followers; null if not reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if not reported.
  "following_count" bigint,
  -- Number of published messages; null if not reported.
  "tweet_count" bigint,
  -- Number of lists with the profile; null if not reported.
  "listed_count" bigint,
  -- Number of messages marked as favorites; null if not reported.
  "favorites_count" bigint,
  -- Number of messages with a picture or a video; null if not reported.
  "media_count" bigint,
  -- Reference time of the rates: receipt of the last answer that changed the profile or a count or, if later, of the first answer of the newest day with its counts. Equal answers later that day do not change it.
  "counted_at" timestamp with time zone,
  -- Full days from the creation of the profile to counted_at; null if the creation is unknown.
  "age_days" integer,
  -- Followers per followed profile; null if the profile follows none.
  "followers_per_following" double precision,
  -- Average number of new followers per day since the creation of the profile; null if that is unknown.
  "followers_per_day" double precision,
  -- Average number of messages per day since the creation of the profile; null if that is unknown.
  "tweets_per_day" double precision,
  -- Number of lists with the profile per 1000 followers; null without followers.
  "listed_per_1000_followers" double precision,
  -- Pictures and videos per message, which may exceed 1; null without messages.
  "media_share" double precision,
  -- Addresses on the profile, separated by semicolons. An address that is an object is shown as its url. Personal data.
  "profile_urls" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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

-- Profiles of the microblogging network, as they were: one row per user and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."microblog_users_history" (
  -- Identifier of the profile. Personal data.
  "rest_id" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- The network’s internal identifier. Personal data.
  "internal_id" text,
  -- Displayed name. Personal data.
  "name" text,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Number of followers; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "follower_count" bigint,
  -- Number of followed profiles; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "following_count" bigint,
  -- Number of published messages; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "tweet_count" bigint,
  -- Number of lists with the profile; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "listed_count" bigint,
  -- Number of messages marked as favorites; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "favorites_count" bigint,
  -- Number of messages with a picture or a video; null if not reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "media_count" bigint,
  -- Whether the network vouches for the profile.
  "verified" boolean,
  -- Kind of verification, such as business.
  "verified_type" text,
  -- Whether the profile has the paid check mark.
  "is_blue_verified" boolean,
  -- Time when the profile was opened.
  "created_at" timestamp with time zone,
  -- Time when the profile was opened. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Identifier of the professional account. Personal data.
  "professional_rest_id" text,
  -- Type of professional account, such as creator.
  "professional_professional_type" text,
  -- Number of elements: categories of the professional account, as sent. Null if not reported; 0 if there are none.
  "professional_categories_count" bigint,
  -- Whether the identity was verified.
  "verification_info_is_identity_verified" boolean,
  -- Start of the verification, as written.
  "verification_info_verified_since" text,
  -- Reason for the verification, as written.
  "verification_info_reason_description" text,
  -- Number of elements: addresses on the profile, as sent. Null if not reported; 0 if there are none.
  "profile_urls_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null if not reported; 0 if there are none.
  "mentions_count" bigint,
  -- Day of the month. Personal data.
  "birthdate_day" bigint,
  -- Month of the year. Personal data.
  "birthdate_month" bigint,
  -- Year. Personal data.
  "birthdate_year" bigint,
  -- Audience of day and month. Personal data.
  "birthdate_visibility" text,
  -- Audience of the year. Personal data.
  "birthdate_year_visibility" text,
  -- Birthdate as an epoch, as sent. Personal data.
  "birthdate_timestamp" bigint,
  -- Whether the description can be translated.
  "is_profile_translatable" boolean,
  -- Whether subscriptions are hidden.
  "has_hidden_subscriptions" boolean,
  -- Whether messages can be highlighted.
  "can_highlight_tweets" boolean,
  -- Whether a premium account can be given to the profile.
  "premium_gifting_eligible" boolean,
  -- Number of highlighted messages. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "highlighted_tweets_count" bigint,
  -- Number of seed messages. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "user_seed_tweet_count" bigint,
  -- Number of subscribed creators. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "creator_subscriptions_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.user_rest_id, each.changed_at) each.user_rest_id,
            each.changed_at,
            each.before
           FROM ( SELECT microblog_user_changes.user_rest_id,
                    microblog_user_changes.changed_at,
                    microblog_user_changes._answer_id,
                    jsonb_object_agg(microblog_user_changes.attribute, microblog_user_changes.from_value) OVER (PARTITION BY microblog_user_changes.user_rest_id ORDER BY microblog_user_changes.changed_at DESC, microblog_user_changes._answer_id DESC) AS before
                   FROM microblog_user_changes) each
          ORDER BY each.user_rest_id, each.changed_at, each._answer_id
        )
 SELECT b.user_rest_id AS rest_id,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.user_rest_id ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'internal_id'::text THEN b.before ->> 'internal_id'::text
            ELSE t.internal_id
        END AS internal_id,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'alias'::text THEN b.before ->> 'alias'::text
            ELSE t.alias
        END AS alias,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'description'::text THEN b.before ->> 'description'::text
            ELSE t.description
        END AS description,
        CASE
            WHEN b.before ? 'location'::text THEN b.before ->> 'location'::text
            ELSE t.location
        END AS location,
    ( SELECT d.follower_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.follower_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS follower_count,
    ( SELECT d.following_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.following_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS following_count,
    ( SELECT d.tweet_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.tweet_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS tweet_count,
    ( SELECT d.listed_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.listed_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS listed_count,
    ( SELECT d.favorites_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.favorites_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS favorites_count,
    ( SELECT d.media_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.media_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS media_count,
        CASE
            WHEN b.before ? 'verified'::text THEN (b.before ->> 'verified'::text)::boolean
            ELSE t.verified
        END AS verified,
        CASE
            WHEN b.before ? 'verified_type'::text THEN b.before ->> 'verified_type'::text
            ELSE t.verified_type
        END AS verified_type,
        CASE
            WHEN b.before ? 'is_blue_verified'::text THEN (b.before ->> 'is_blue_verified'::text)::boolean
            ELSE t.is_blue_verified
        END AS is_blue_verified,
        CASE
            WHEN b.before ? 'created_at'::text THEN (b.before ->> 'created_at'::text)::timestamp with time zone
            ELSE t.created_at
        END AS created_at,
        CASE
            WHEN b.before ? 'created_at_epoch'::text THEN (b.before ->> 'created_at_epoch'::text)::bigint
            ELSE t.created_at_epoch
        END AS created_at_epoch,
        CASE
            WHEN b.before ? 'professional_rest_id'::text THEN b.before ->> 'professional_rest_id'::text
            ELSE t.professional_rest_id
        END AS professional_rest_id,
        CASE
            WHEN b.before ? 'professional_professional_type'::text THEN b.before ->> 'professional_professional_type'::text
            ELSE t.professional_professional_type
        END AS professional_professional_type,
        CASE
            WHEN b.before ? 'professional_categories_count'::text THEN (b.before ->> 'professional_categories_count'::text)::bigint
            ELSE t.professional_categories_count
        END AS professional_categories_count,
        CASE
            WHEN b.before ? 'verification_info_is_identity_verified'::text THEN (b.before ->> 'verification_info_is_identity_verified'::text)::boolean
            ELSE t.verification_info_is_identity_verified
        END AS verification_info_is_identity_verified,
        CASE
            WHEN b.before ? 'verification_info_verified_since'::text THEN b.before ->> 'verification_info_verified_since'::text
            ELSE t.verification_info_verified_since
        END AS verification_info_verified_since,
        CASE
            WHEN b.before ? 'verification_info_reason_description'::text THEN b.before ->> 'verification_info_reason_description'::text
            ELSE t.verification_info_reason_description
        END AS verification_info_reason_description,
        CASE
            WHEN b.before ? 'profile_urls_count'::text THEN (b.before ->> 'profile_urls_count'::text)::bigint
            ELSE t.profile_urls_count
        END AS profile_urls_count,
        CASE
            WHEN b.before ? 'mentions_count'::text THEN (b.before ->> 'mentions_count'::text)::bigint
            ELSE t.mentions_count
        END AS mentions_count,
        CASE
            WHEN b.before ? 'birthdate_day'::text THEN (b.before ->> 'birthdate_day'::text)::bigint
            ELSE t.birthdate_day
        END AS birthdate_day,
        CASE
            WHEN b.before ? 'birthdate_month'::text THEN (b.before ->> 'birthdate_month'::text)::bigint
            ELSE t.birthdate_month
        END AS birthdate_month,
        CASE
            WHEN b.before ? 'birthdate_year'::text THEN (b.before ->> 'birthdate_year'::text)::bigint
            ELSE t.birthdate_year
        END AS birthdate_year,
        CASE
            WHEN b.before ? 'birthdate_visibility'::text THEN b.before ->> 'birthdate_visibility'::text
            ELSE t.birthdate_visibility
        END AS birthdate_visibility,
        CASE
            WHEN b.before ? 'birthdate_year_visibility'::text THEN b.before ->> 'birthdate_year_visibility'::text
            ELSE t.birthdate_year_visibility
        END AS birthdate_year_visibility,
        CASE
            WHEN b.before ? 'birthdate_timestamp'::text THEN (b.before ->> 'birthdate_timestamp'::text)::bigint
            ELSE t.birthdate_timestamp
        END AS birthdate_timestamp,
        CASE
            WHEN b.before ? 'is_profile_translatable'::text THEN (b.before ->> 'is_profile_translatable'::text)::boolean
            ELSE t.is_profile_translatable
        END AS is_profile_translatable,
        CASE
            WHEN b.before ? 'has_hidden_subscriptions'::text THEN (b.before ->> 'has_hidden_subscriptions'::text)::boolean
            ELSE t.has_hidden_subscriptions
        END AS has_hidden_subscriptions,
        CASE
            WHEN b.before ? 'can_highlight_tweets'::text THEN (b.before ->> 'can_highlight_tweets'::text)::boolean
            ELSE t.can_highlight_tweets
        END AS can_highlight_tweets,
        CASE
            WHEN b.before ? 'premium_gifting_eligible'::text THEN (b.before ->> 'premium_gifting_eligible'::text)::boolean
            ELSE t.premium_gifting_eligible
        END AS premium_gifting_eligible,
    ( SELECT d.highlighted_tweets_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.highlighted_tweets_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS highlighted_tweets_count,
    ( SELECT d.user_seed_tweet_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.user_seed_tweet_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS user_seed_tweet_count,
    ( SELECT d.creator_subscriptions_count
           FROM fact_microblog_user_daily d
          WHERE d.user_rest_id = b.user_rest_id AND d._seen_at < b.changed_at AND d.creator_subscriptions_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS creator_subscriptions_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN microblog_users t ON b.user_rest_id = t.rest_id
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.rest_id,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.internal_id,
    t.name,
    t.alias,
    t.url,
    t.description,
    t.location,
    t.follower_count,
    t.following_count,
    t.tweet_count,
    t.listed_count,
    t.favorites_count,
    t.media_count,
    t.verified,
    t.verified_type,
    t.is_blue_verified,
    t.created_at,
    t.created_at_epoch,
    t.professional_rest_id,
    t.professional_professional_type,
    t.professional_categories_count,
    t.verification_info_is_identity_verified,
    t.verification_info_verified_since,
    t.verification_info_reason_description,
    t.profile_urls_count,
    t.mentions_count,
    t.birthdate_day,
    t.birthdate_month,
    t.birthdate_year,
    t.birthdate_visibility,
    t.birthdate_year_visibility,
    t.birthdate_timestamp,
    t.is_profile_translatable,
    t.has_hidden_subscriptions,
    t.can_highlight_tweets,
    t.premium_gifting_eligible,
    t.highlighted_tweets_count,
    t.user_seed_tweet_count,
    t.creator_subscriptions_count,
    t.extra
   FROM microblog_users t
     LEFT JOIN ( SELECT microblog_user_changes.user_rest_id,
            max(microblog_user_changes.changed_at) AS changed_at
           FROM microblog_user_changes
          GROUP BY microblog_user_changes.user_rest_id) l ON l.user_rest_id = t.rest_id;

-- When each row of microblog_users was last seen in an answer, and since when it is missing: one row per user.
create view sluice."microblog_users_presence" (
  -- Identifier of the profile. Personal data.
  "rest_id" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone. An alias or a URL that moved to another user proves nothing.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'microblog.user'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'microblog.user'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.rest_id,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT COALESCE(item.is_held, false) AND item.gone_at > GREATEST(item.seen_at) THEN GREATEST(item.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM microblog_users t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to('microblog_users/'::text || t.rest_id, 'UTF8'::name)) FROM 1 FOR 8);

-- Paid answers without their content: one row per answer. Rows of tables refer to their answer as _answer_id.
create view sluice."paid_answers" (
  -- Id of the answer; ids increase in the order of storing.
  "answer_id" bigint,
  -- Id of the run; tables refer to it as _run_id.
  "run_id" bigint,
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- SHA-256 of the endpoint and the canonical body, in hex. Personal data.
  "request_key" text,
  -- Receipt of its last byte. All times of its content in other tables are this time.
  "received_at" timestamp with time zone,
  -- Time from sending to the last byte, in milliseconds.
  "took_ms" bigint,
  -- HTTP status of the answer.
  "status" bigint,
  -- Size of the body, in bytes.
  "bytes" bigint,
  -- Limit of items in the request; null if it has no limit.
  "asked" bigint,
  -- Number of items in the loaded answers: the sum of loaded, unchanged, superseded and quarantined.
  "received" bigint,
  -- Number of items that created or changed rows.
  "loaded" bigint,
  -- Number of items equal to their stored rows.
  "unchanged" bigint,
  -- Number of items that occur again later in their answer, or that a newer loaded answer replaces.
  "superseded" bigint,
  -- Number of items that could not be loaded and are in quarantine.
  "quarantined" bigint,
  -- Last load of its rows; null while it waits.
  "loaded_at" timestamp with time zone
) as
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

-- Posts of the photo-sharing network with author, counts and engagement: one row per post.
create view sluice."photoshare_post_overview" (
  -- Identifier of the post. Personal data.
  "id" text,
  -- Short code in the post’s address; not unique over time. Personal data.
  "code" text,
  -- Address of the post. Personal data.
  "url" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- Type of post, such as photo or video.
  "type" text,
  -- Caption. Personal data.
  "text" text,
  -- Identifier of the profile. Personal data.
  "user_id" text,
  -- Displayed name. Personal data.
  "user_name" text,
  -- Handle. Personal data.
  "user_alias" text,
  -- Number of followers of the author; null while the profile itself is not loaded.
  "user_follower_count" bigint,
  -- Number of likes; negative if hidden, null if never reported.
  "like_count" bigint,
  -- Number of comments; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; null if never reported.
  "reshare_count" bigint,
  -- Number of views of a video; null if never reported.
  "view_count" bigint,
  -- Sum of likes, comments and reshares. Hidden and unreported numbers count as 0. Null beyond bigint.
  "engagement_count" bigint,
  -- Likes and comments per follower of the author; null if one of the three is hidden or unknown.
  "engagement_rate" double precision,
  -- Number of pictures and videos of the post; null if not reported.
  "media_count" bigint,
  -- Number of pictures and videos of a post with several.
  "carousel_media_count" bigint,
  -- Whether the post is marked as paid.
  "is_paid_partnership" boolean,
  -- Highest detail of any observation of the post so far: preview or full.
  "detail" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
 SELECT p.id,
    p.code,
    p.url,
    p.created_at,
    p.type,
    p.text,
    COALESCE(p.user_id, owner.user_id) AS user_id,
    COALESCE(p.user_name, u.name) AS user_name,
    COALESCE(p.user_alias, u.alias) AS user_alias,
    u.follower_count AS user_follower_count,
    p.like_count,
    p.comment_count,
    p.reshare_count,
    p.view_count,
        CASE
            WHEN (GREATEST(p.like_count, 0::bigint)::numeric + GREATEST(p.comment_count, 0::bigint)::numeric + GREATEST(p.reshare_count, 0::bigint)::numeric) <= '9223372036854775807'::bigint::numeric THEN (GREATEST(p.like_count, 0::bigint)::numeric + GREATEST(p.comment_count, 0::bigint)::numeric + GREATEST(p.reshare_count, 0::bigint)::numeric)::bigint
            ELSE NULL::bigint
        END AS engagement_count,
        CASE
            WHEN p.like_count >= 0 AND p.comment_count >= 0 AND u.follower_count > 0 THEN (p.like_count::numeric + p.comment_count::numeric)::double precision / u.follower_count::double precision
            ELSE NULL::double precision
        END AS engagement_rate,
    p.media_count,
    p.carousel_media_count,
    p.is_paid_partnership,
    p._detail AS detail,
    p._first_seen_at AS first_seen_at,
    p._changed_at AS changed_at
   FROM photoshare_posts p
     LEFT JOIN ( SELECT o.post_id,
            min(o.user_id) AS user_id
           FROM photoshare_user_posts o
          WHERE o.user_id IS NOT NULL
          GROUP BY o.post_id) owner ON owner.post_id = p.id
     LEFT JOIN photoshare_users u ON u.id = COALESCE(p.user_id, owner.user_id);

-- Posts of the photo-sharing network, as they were: one row per post and version. A version begins when an answer shows a change. Image addresses are not included. Foreign keys by time: user_id to photoshare_users_history.
create view sluice."photoshare_posts_history" (
  -- Identifier of the post. Personal data.
  "id" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Short code in the post’s address; not unique over time. Personal data.
  "code" text,
  -- Address of the post. Personal data.
  "url" text,
  -- Caption. Personal data.
  "text" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- Time of publication. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Number of likes; negative if hidden, null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "like_count" bigint,
  -- Number of comments; negative if hidden, null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "comment_count" bigint,
  -- Number of times the post was shared; null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "reshare_count" bigint,
  -- Number of views of a video; null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "view_count" bigint,
  -- Identifier of the profile. Personal data.
  "user_id" text,
  -- Displayed name. Personal data.
  "user_name" text,
  -- Handle. Personal data.
  "user_alias" text,
  -- Address of the profile. Personal data.
  "user_url" text,
  -- Whether the network vouches for the profile.
  "user_is_verified" boolean,
  -- Whether only approved followers see the posts.
  "user_is_private" boolean,
  -- Type of post, such as photo or video.
  "type" text,
  -- Number of pictures and videos of a post with several.
  "carousel_media_count" bigint,
  -- Whether the post is marked as paid.
  "is_paid_partnership" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.post_id, each.changed_at) each.post_id,
            each.changed_at,
            each.before
           FROM ( SELECT photoshare_post_changes.post_id,
                    photoshare_post_changes.changed_at,
                    photoshare_post_changes._answer_id,
                    jsonb_object_agg(photoshare_post_changes.attribute, photoshare_post_changes.from_value) OVER (PARTITION BY photoshare_post_changes.post_id ORDER BY photoshare_post_changes.changed_at DESC, photoshare_post_changes._answer_id DESC) AS before
                   FROM photoshare_post_changes) each
          ORDER BY each.post_id, each.changed_at, each._answer_id
        )
 SELECT b.post_id AS id,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.post_id ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'code'::text THEN b.before ->> 'code'::text
            ELSE t.code
        END AS code,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'text'::text THEN b.before ->> 'text'::text
            ELSE t.text
        END AS text,
        CASE
            WHEN b.before ? 'created_at'::text THEN (b.before ->> 'created_at'::text)::timestamp with time zone
            ELSE t.created_at
        END AS created_at,
        CASE
            WHEN b.before ? 'created_at_epoch'::text THEN (b.before ->> 'created_at_epoch'::text)::bigint
            ELSE t.created_at_epoch
        END AS created_at_epoch,
    ( SELECT d.like_count
           FROM fact_photoshare_post_daily d
          WHERE d.post_id = b.post_id AND d._seen_at < b.changed_at AND d.like_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS like_count,
    ( SELECT d.comment_count
           FROM fact_photoshare_post_daily d
          WHERE d.post_id = b.post_id AND d._seen_at < b.changed_at AND d.comment_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS comment_count,
    ( SELECT d.reshare_count
           FROM fact_photoshare_post_daily d
          WHERE d.post_id = b.post_id AND d._seen_at < b.changed_at AND d.reshare_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS reshare_count,
    ( SELECT d.view_count
           FROM fact_photoshare_post_daily d
          WHERE d.post_id = b.post_id AND d._seen_at < b.changed_at AND d.view_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS view_count,
        CASE
            WHEN b.before ? 'user_id'::text THEN b.before ->> 'user_id'::text
            ELSE t.user_id
        END AS user_id,
        CASE
            WHEN b.before ? 'user_name'::text THEN b.before ->> 'user_name'::text
            ELSE t.user_name
        END AS user_name,
        CASE
            WHEN b.before ? 'user_alias'::text THEN b.before ->> 'user_alias'::text
            ELSE t.user_alias
        END AS user_alias,
        CASE
            WHEN b.before ? 'user_url'::text THEN b.before ->> 'user_url'::text
            ELSE t.user_url
        END AS user_url,
        CASE
            WHEN b.before ? 'user_is_verified'::text THEN (b.before ->> 'user_is_verified'::text)::boolean
            ELSE t.user_is_verified
        END AS user_is_verified,
        CASE
            WHEN b.before ? 'user_is_private'::text THEN (b.before ->> 'user_is_private'::text)::boolean
            ELSE t.user_is_private
        END AS user_is_private,
        CASE
            WHEN b.before ? 'type'::text THEN b.before ->> 'type'::text
            ELSE t.type
        END AS type,
        CASE
            WHEN b.before ? 'carousel_media_count'::text THEN (b.before ->> 'carousel_media_count'::text)::bigint
            ELSE t.carousel_media_count
        END AS carousel_media_count,
        CASE
            WHEN b.before ? 'is_paid_partnership'::text THEN (b.before ->> 'is_paid_partnership'::text)::boolean
            ELSE t.is_paid_partnership
        END AS is_paid_partnership,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN photoshare_posts t ON b.post_id = t.id
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.id,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.code,
    t.url,
    t.text,
    t.created_at,
    t.created_at_epoch,
    t.like_count,
    t.comment_count,
    t.reshare_count,
    t.view_count,
    t.user_id,
    t.user_name,
    t.user_alias,
    t.user_url,
    t.user_is_verified,
    t.user_is_private,
    t.type,
    t.carousel_media_count,
    t.is_paid_partnership,
    t.extra
   FROM photoshare_posts t
     LEFT JOIN ( SELECT photoshare_post_changes.post_id,
            max(photoshare_post_changes.changed_at) AS changed_at
           FROM photoshare_post_changes
          GROUP BY photoshare_post_changes.post_id) l ON l.post_id = t.id;

-- When each row of photoshare_posts was last seen in an answer, and since when it is missing: one row per post.
create view sluice."photoshare_posts_presence" (
  -- Identifier of the post. Personal data.
  "id" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = ANY (ARRAY['photoshare.user'::text, 'photoshare.user.posts'::text])
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = ANY (ARRAY['photoshare.user'::text, 'photoshare.user.posts'::text])
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.id,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at, nested.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT (COALESCE(item.is_held, false) OR COALESCE(nested.is_held, false)) AND item.gone_at > GREATEST(item.seen_at, nested.seen_at) THEN GREATEST(item.gone_at, nested.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM photoshare_posts t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to('photoshare_posts/'::text || t.id, 'UTF8'::name)) FROM 1 FOR 8)
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to('photoshare_posts>'::text || t.id, 'UTF8'::name)) FROM 1 FOR 8);

-- Profiles of the photo-sharing network with computed rates, some of them over their loaded posts: one row per profile.
create view sluice."photoshare_user_overview" (
  -- Identifier of the profile. Personal data.
  "id" text,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Displayed name. Personal data.
  "name" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Line of business, as chosen by the profile.
  "category" text,
  -- Whether only approved followers see the posts.
  "is_private" boolean,
  -- Whether the network vouches for the profile.
  "is_verified" boolean,
  -- Whether it is a business profile.
  "is_business" boolean,
  -- Time when the profile was opened; null unless requested by with_creation_date.
  "created_at" timestamp with time zone,
  -- Address that the profile points to. Personal data.
  "external_url" text,
  -- City. Personal data.
  "location_city" text,
  -- Number of followers; null if never reported.
  "follower_count" bigint,
  -- Number of followed profiles; null if never reported.
  "following_count" bigint,
  -- Number of published posts; null if never reported.
  "media_count" bigint,
  -- Reference time of the rates: receipt of the last answer that changed the profile or a count or, if later, of the first answer of the newest day with its counts. Equal answers later that day do not change it.
  "counted_at" timestamp with time zone,
  -- Full days from the creation of the profile to counted_at; null if the creation is unknown.
  "age_days" integer,
  -- Followers per followed profile; null if the profile follows none.
  "followers_per_following" double precision,
  -- Average number of posts per day since the creation of the profile; null if that is unknown.
  "posts_per_day" double precision,
  -- Number of posts of the profile in the warehouse.
  "loaded_post_count" bigint,
  -- Publication of the newest loaded post; null without posts.
  "last_post_at" timestamp with time zone,
  -- Average number of likes of the loaded posts, without hidden numbers.
  "mean_like_count" double precision,
  -- Average number of comments on the loaded posts, without hidden numbers.
  "mean_comment_count" double precision,
  -- Average likes and comments per post and follower, over the loaded posts.
  "engagement_rate" double precision,
  -- Highest detail of any observation of the profile so far: reference, preview or full.
  "detail" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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
    COALESCE(p.posts, 0::bigint) AS loaded_post_count,
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
     LEFT JOIN ( SELECT COALESCE(l.user_id, owner.user_id) AS user_id,
            count(*) AS posts,
            max(l.created_at) AS last_at,
            avg(l.like_count) FILTER (WHERE l.like_count >= 0)::double precision AS likes,
            avg(l.comment_count) FILTER (WHERE l.comment_count >= 0)::double precision AS comments,
            avg(l.like_count::numeric + l.comment_count::numeric) FILTER (WHERE l.like_count >= 0 AND l.comment_count >= 0)::double precision AS engagement
           FROM photoshare_posts l
             LEFT JOIN ( SELECT o.post_id,
                    min(o.user_id) AS user_id
                   FROM photoshare_user_posts o
                  WHERE o.user_id IS NOT NULL
                  GROUP BY o.post_id) owner ON owner.post_id = l.id
          GROUP BY (COALESCE(l.user_id, owner.user_id))) p ON p.user_id = u.id;

-- Posts that requests for a profile returned, with profile and post: one row per requested profile and post.
create view sluice."photoshare_user_post_overview" (
  -- The profile as requested: an identifier, an alias or an address. Personal data.
  "user_asked" text,
  -- Key of the returned post: id in photoshare_posts. Personal data.
  "post_id" text,
  -- Index in the answer, from 0.
  "position" bigint,
  -- Identifier of the profile; null if unknown. Personal data.
  "user_id" text,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "user_alias" text,
  -- Displayed name. Personal data.
  "user_name" text,
  -- Number of followers; null if never reported.
  "user_follower_count" bigint,
  -- Address of the post. Personal data.
  "post_url" text,
  -- Time of publication.
  "post_created_at" timestamp with time zone,
  -- Type of post, such as photo or video.
  "post_type" text,
  -- Number of likes; negative if hidden, null if never reported.
  "post_like_count" bigint,
  -- Number of comments; negative if hidden, null if never reported.
  "post_comment_count" bigint,
  -- Number of views of a video; null if never reported.
  "post_view_count" bigint
) as
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

-- Profiles of the photo-sharing network: one row per profile, from profile answers and from posts that name profiles, as they were: one row per user and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."photoshare_users_history" (
  -- Identifier of the profile. Personal data.
  "id" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Handle; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Displayed name. Personal data.
  "name" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- Number of followers; null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "follower_count" bigint,
  -- Number of followed profiles; null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "following_count" bigint,
  -- Number of published posts; null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "media_count" bigint,
  -- Description that the profile gives of itself. Personal data.
  "description" text,
  -- Whether only approved followers see the posts.
  "is_private" boolean,
  -- Whether the network vouches for the profile.
  "is_verified" boolean,
  -- Whether it is a business profile.
  "is_business" boolean,
  -- Time when the profile was opened; null unless requested by with_creation_date.
  "created_at" timestamp with time zone,
  -- Time when the profile was opened; null unless requested by with_creation_date. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Line of business, as chosen by the profile.
  "category" text,
  -- Address that the profile points to. Personal data.
  "external_url" text,
  -- Public e-mail address. Personal data.
  "email" text,
  -- Public WhatsApp number. Personal data.
  "whatsapp_number" text,
  -- Public phone number. Personal data.
  "phone" text,
  -- Identifier of the city. Personal data.
  "location_city_id" bigint,
  -- Street. Personal data.
  "location_street" text,
  -- City. Personal data.
  "location_city" text,
  -- Postal code. Personal data.
  "location_zip" text,
  -- Latitude in degrees. Personal data.
  "location_latitude" double precision,
  -- Longitude in degrees. Personal data.
  "location_longitude" double precision,
  -- Number of elements: links on the profile, as sent. Null if not reported; 0 if there are none.
  "links_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null if not reported; 0 if there are none.
  "mentions_count" bigint,
  -- Number of elements: hashtags in the description, as sent. Null if not reported; 0 if there are none.
  "hashtags_count" bigint,
  -- Number of elements: channels pinned to the profile, as sent. Null if not reported; 0 if there are none.
  "pinned_channels_count" bigint,
  -- Number of elements: recent posts, if requested by with_posts. Null if not reported; 0 if there are none.
  "posts_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.user_id, each.changed_at) each.user_id,
            each.changed_at,
            each.before
           FROM ( SELECT photoshare_user_changes.user_id,
                    photoshare_user_changes.changed_at,
                    photoshare_user_changes._answer_id,
                    jsonb_object_agg(photoshare_user_changes.attribute, photoshare_user_changes.from_value) OVER (PARTITION BY photoshare_user_changes.user_id ORDER BY photoshare_user_changes.changed_at DESC, photoshare_user_changes._answer_id DESC) AS before
                   FROM photoshare_user_changes) each
          ORDER BY each.user_id, each.changed_at, each._answer_id
        )
 SELECT b.user_id AS id,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.user_id ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'alias'::text THEN b.before ->> 'alias'::text
            ELSE t.alias
        END AS alias,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
    ( SELECT d.follower_count
           FROM fact_photoshare_user_daily d
          WHERE d.user_id = b.user_id AND d._seen_at < b.changed_at AND d.follower_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS follower_count,
    ( SELECT d.following_count
           FROM fact_photoshare_user_daily d
          WHERE d.user_id = b.user_id AND d._seen_at < b.changed_at AND d.following_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS following_count,
    ( SELECT d.media_count
           FROM fact_photoshare_user_daily d
          WHERE d.user_id = b.user_id AND d._seen_at < b.changed_at AND d.media_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS media_count,
        CASE
            WHEN b.before ? 'description'::text THEN b.before ->> 'description'::text
            ELSE t.description
        END AS description,
        CASE
            WHEN b.before ? 'is_private'::text THEN (b.before ->> 'is_private'::text)::boolean
            ELSE t.is_private
        END AS is_private,
        CASE
            WHEN b.before ? 'is_verified'::text THEN (b.before ->> 'is_verified'::text)::boolean
            ELSE t.is_verified
        END AS is_verified,
        CASE
            WHEN b.before ? 'is_business'::text THEN (b.before ->> 'is_business'::text)::boolean
            ELSE t.is_business
        END AS is_business,
        CASE
            WHEN b.before ? 'created_at'::text THEN (b.before ->> 'created_at'::text)::timestamp with time zone
            ELSE t.created_at
        END AS created_at,
        CASE
            WHEN b.before ? 'created_at_epoch'::text THEN (b.before ->> 'created_at_epoch'::text)::bigint
            ELSE t.created_at_epoch
        END AS created_at_epoch,
        CASE
            WHEN b.before ? 'category'::text THEN b.before ->> 'category'::text
            ELSE t.category
        END AS category,
        CASE
            WHEN b.before ? 'external_url'::text THEN b.before ->> 'external_url'::text
            ELSE t.external_url
        END AS external_url,
        CASE
            WHEN b.before ? 'email'::text THEN b.before ->> 'email'::text
            ELSE t.email
        END AS email,
        CASE
            WHEN b.before ? 'whatsapp_number'::text THEN b.before ->> 'whatsapp_number'::text
            ELSE t.whatsapp_number
        END AS whatsapp_number,
        CASE
            WHEN b.before ? 'phone'::text THEN b.before ->> 'phone'::text
            ELSE t.phone
        END AS phone,
        CASE
            WHEN b.before ? 'location_city_id'::text THEN (b.before ->> 'location_city_id'::text)::bigint
            ELSE t.location_city_id
        END AS location_city_id,
        CASE
            WHEN b.before ? 'location_street'::text THEN b.before ->> 'location_street'::text
            ELSE t.location_street
        END AS location_street,
        CASE
            WHEN b.before ? 'location_city'::text THEN b.before ->> 'location_city'::text
            ELSE t.location_city
        END AS location_city,
        CASE
            WHEN b.before ? 'location_zip'::text THEN b.before ->> 'location_zip'::text
            ELSE t.location_zip
        END AS location_zip,
        CASE
            WHEN b.before ? 'location_latitude'::text THEN (b.before ->> 'location_latitude'::text)::double precision
            ELSE t.location_latitude
        END AS location_latitude,
        CASE
            WHEN b.before ? 'location_longitude'::text THEN (b.before ->> 'location_longitude'::text)::double precision
            ELSE t.location_longitude
        END AS location_longitude,
        CASE
            WHEN b.before ? 'links_count'::text THEN (b.before ->> 'links_count'::text)::bigint
            ELSE t.links_count
        END AS links_count,
        CASE
            WHEN b.before ? 'mentions_count'::text THEN (b.before ->> 'mentions_count'::text)::bigint
            ELSE t.mentions_count
        END AS mentions_count,
        CASE
            WHEN b.before ? 'hashtags_count'::text THEN (b.before ->> 'hashtags_count'::text)::bigint
            ELSE t.hashtags_count
        END AS hashtags_count,
        CASE
            WHEN b.before ? 'pinned_channels_count'::text THEN (b.before ->> 'pinned_channels_count'::text)::bigint
            ELSE t.pinned_channels_count
        END AS pinned_channels_count,
        CASE
            WHEN b.before ? 'posts_count'::text THEN (b.before ->> 'posts_count'::text)::bigint
            ELSE t.posts_count
        END AS posts_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN photoshare_users t ON b.user_id = t.id
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.id,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.alias,
    t.name,
    t.url,
    t.follower_count,
    t.following_count,
    t.media_count,
    t.description,
    t.is_private,
    t.is_verified,
    t.is_business,
    t.created_at,
    t.created_at_epoch,
    t.category,
    t.external_url,
    t.email,
    t.whatsapp_number,
    t.phone,
    t.location_city_id,
    t.location_street,
    t.location_city,
    t.location_zip,
    t.location_latitude,
    t.location_longitude,
    t.links_count,
    t.mentions_count,
    t.hashtags_count,
    t.pinned_channels_count,
    t.posts_count,
    t.extra
   FROM photoshare_users t
     LEFT JOIN ( SELECT photoshare_user_changes.user_id,
            max(photoshare_user_changes.changed_at) AS changed_at
           FROM photoshare_user_changes
          GROUP BY photoshare_user_changes.user_id) l ON l.user_id = t.id;

-- When each row of photoshare_users was last seen in an answer, and since when it is missing: one row per user.
create view sluice."photoshare_users_presence" (
  -- Identifier of the profile. Personal data.
  "id" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone. An alias or a URL that moved to another user proves nothing.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = ANY (ARRAY['photoshare.user'::text, 'photoshare.user.posts'::text])
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = ANY (ARRAY['photoshare.user'::text, 'photoshare.user.posts'::text])
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.id,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at, nested.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT (COALESCE(item.is_held, false) OR COALESCE(nested.is_held, false)) AND item.gone_at > GREATEST(item.seen_at, nested.seen_at) THEN GREATEST(item.gone_at, nested.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM photoshare_users t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to('photoshare_users/'::text || t.id, 'UTF8'::name)) FROM 1 FOR 8)
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to('photoshare_users>'::text || t.id, 'UTF8'::name)) FROM 1 FOR 8);

-- Distribution of the costs of requests over the complete request log: one row per endpoint and plan. Rows with a price that were not charged are not included.
create view sluice."price_book" (
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Plan of the token at the time; `(not reported)` if the log has none. Joins dim_plan.
  "plan" text,
  -- Number of answered requests.
  "samples" bigint,
  -- Minimum of the points per answered request.
  "min_points" numeric,
  -- 10th percentile of the points per answered request.
  "low_points" numeric,
  -- Median of the points per answered request.
  "median_points" numeric,
  -- Mean of the points per answered request.
  "mean_points" double precision,
  -- 90th percentile of the points per answered request.
  "high_points" numeric,
  -- Maximum of the points per answered request.
  "max_points" numeric,
  -- 10th percentile of the points per item, over answered requests with items; null without any.
  "low_points_per_item" double precision,
  -- Median of the points per item, over the same requests.
  "median_points_per_item" double precision,
  -- 90th percentile of the points per item, over the same requests.
  "high_points_per_item" double precision,
  -- Median of the points per answer without items; null if there is none.
  "empty_points" numeric,
  -- Median of the points per request for an unknown entity; null if there is none.
  "missing_points" numeric,
  -- Median of the points per failed request; null if there is none.
  "failed_points" numeric,
  -- Start of the newest of these requests.
  "last_at" timestamp with time zone
) as
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

-- Organizations of the professional network (companies and schools), from educations, authorship and mentions, as they were: one row per company and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."pronet_companies_history" (
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "urn_type" text,
  -- The organization’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- The network’s internal identifier of the organization. Type of the URN, such as company.
  "internal_id_type" text,
  -- The network’s internal identifier of the organization. Value of the URN.
  "internal_id_value" text,
  -- Name of the organization.
  "name" text,
  -- Address of the organization’s page.
  "url" text,
  -- Public handle in the page’s address; it can change hands, so it is not an identifier.
  "alias" text,
  -- The organization’s industry. Type of the URN, such as industry.
  "industry_type" text,
  -- The organization’s industry. Value of the URN.
  "industry_value" text,
  -- The industry’s URN. Type of the URN, such as industry.
  "industry_full_urn_type" text,
  -- The industry’s URN. Value of the URN.
  "industry_full_urn_value" text,
  -- Name of the industry.
  "industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "industry_full_hierarchy" text,
  -- Description of the industry.
  "industry_full_description" text,
  -- Size class by number of employees, as written.
  "employee_range" text,
  -- The line under the name.
  "headline" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.company_urn_type, each.company_urn_value, each.changed_at) each.company_urn_type,
            each.company_urn_value,
            each.changed_at,
            each.before
           FROM ( SELECT pronet_company_changes.company_urn_type,
                    pronet_company_changes.company_urn_value,
                    pronet_company_changes.changed_at,
                    pronet_company_changes._answer_id,
                    jsonb_object_agg(pronet_company_changes.attribute, pronet_company_changes.from_value) OVER (PARTITION BY pronet_company_changes.company_urn_type, pronet_company_changes.company_urn_value ORDER BY pronet_company_changes.changed_at DESC, pronet_company_changes._answer_id DESC) AS before
                   FROM pronet_company_changes) each
          ORDER BY each.company_urn_type, each.company_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.company_urn_type AS urn_type,
    b.company_urn_value AS urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.company_urn_type, b.company_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'internal_id_type'::text THEN b.before ->> 'internal_id_type'::text
            ELSE t.internal_id_type
        END AS internal_id_type,
        CASE
            WHEN b.before ? 'internal_id_value'::text THEN b.before ->> 'internal_id_value'::text
            ELSE t.internal_id_value
        END AS internal_id_value,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'alias'::text THEN b.before ->> 'alias'::text
            ELSE t.alias
        END AS alias,
        CASE
            WHEN b.before ? 'industry_type'::text THEN b.before ->> 'industry_type'::text
            ELSE t.industry_type
        END AS industry_type,
        CASE
            WHEN b.before ? 'industry_value'::text THEN b.before ->> 'industry_value'::text
            ELSE t.industry_value
        END AS industry_value,
        CASE
            WHEN b.before ? 'industry_full_urn_type'::text THEN b.before ->> 'industry_full_urn_type'::text
            ELSE t.industry_full_urn_type
        END AS industry_full_urn_type,
        CASE
            WHEN b.before ? 'industry_full_urn_value'::text THEN b.before ->> 'industry_full_urn_value'::text
            ELSE t.industry_full_urn_value
        END AS industry_full_urn_value,
        CASE
            WHEN b.before ? 'industry_full_name'::text THEN b.before ->> 'industry_full_name'::text
            ELSE t.industry_full_name
        END AS industry_full_name,
        CASE
            WHEN b.before ? 'industry_full_hierarchy'::text THEN b.before ->> 'industry_full_hierarchy'::text
            ELSE t.industry_full_hierarchy
        END AS industry_full_hierarchy,
        CASE
            WHEN b.before ? 'industry_full_description'::text THEN b.before ->> 'industry_full_description'::text
            ELSE t.industry_full_description
        END AS industry_full_description,
        CASE
            WHEN b.before ? 'employee_range'::text THEN b.before ->> 'employee_range'::text
            ELSE t.employee_range
        END AS employee_range,
        CASE
            WHEN b.before ? 'headline'::text THEN b.before ->> 'headline'::text
            ELSE t.headline
        END AS headline,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_companies t ON b.company_urn_type = t.urn_type AND b.company_urn_value = t.urn_value
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.urn_type,
    t.urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.internal_id_type,
    t.internal_id_value,
    t.name,
    t.url,
    t.alias,
    t.industry_type,
    t.industry_value,
    t.industry_full_urn_type,
    t.industry_full_urn_value,
    t.industry_full_name,
    t.industry_full_hierarchy,
    t.industry_full_description,
    t.employee_range,
    t.headline,
    t.extra
   FROM pronet_companies t
     LEFT JOIN ( SELECT pronet_company_changes.company_urn_type,
            pronet_company_changes.company_urn_value,
            max(pronet_company_changes.changed_at) AS changed_at
           FROM pronet_company_changes
          GROUP BY pronet_company_changes.company_urn_type, pronet_company_changes.company_urn_value) l ON l.company_urn_type = t.urn_type AND l.company_urn_value = t.urn_value;

-- When each row of pronet_companies was last seen in an answer, and since when it is missing: one row per company.
create view sluice."pronet_companies_presence" (
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "urn_type" text,
  -- The organization’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Always null: answers contain it only inside other entities, so its absence proves nothing.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.user.education'::text])
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.user.education'::text])
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.urn_type,
    t.urn_value,
    t._first_seen_at,
    GREATEST(t._changed_at, nested.seen_at) AS _last_seen_at,
    NULL::timestamp with time zone AS _missing_since
   FROM pronet_companies t
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to(((('pronet_companies>'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8);

-- Industries of the group, as they were: one row per element and version. A version begins when an answer shows a change. Image addresses are not included. A version ends without a next one when an answer shows the list without the element. An answer without the list changes nothing. Foreign keys by time: group_urn_type, group_urn_value to pronet_groups_history; type, value to pronet_industries_history.
create view sluice."pronet_group_industries_history" (
  -- Key of the group.
  "group_urn_type" text,
  -- Key of the group.
  "group_urn_value" text,
  -- URN type of the industry.
  "type" text,
  -- URN value of the industry.
  "value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.group_urn_type, each.group_urn_value, each.type, each.value, each.changed_at) each.group_urn_type,
            each.group_urn_value,
            each.type,
            each.value,
            each.life,
            each.changed_at,
            each.before
           FROM ( SELECT lives.group_urn_type,
                    lives.group_urn_value,
                    lives.type,
                    lives.value,
                    lives.life,
                    lives.changed_at,
                    lives._answer_id,
                    jsonb_object_agg(lives.attribute, lives.from_value) OVER (PARTITION BY lives.group_urn_type, lives.group_urn_value, lives.type, lives.value, lives.life ORDER BY lives.changed_at DESC, lives._answer_id DESC) AS before
                   FROM ( SELECT pronet_group_industry_changes.group_urn_type,
                            pronet_group_industry_changes.group_urn_value,
                            pronet_group_industry_changes.type,
                            pronet_group_industry_changes.value,
                            pronet_group_industry_changes.attribute,
                            pronet_group_industry_changes.changed_at,
                            pronet_group_industry_changes.from_value,
                            pronet_group_industry_changes.to_value,
                            pronet_group_industry_changes._answer_id,
                            count(*) FILTER (WHERE pronet_group_industry_changes.attribute = '_first_seen_at'::text AND pronet_group_industry_changes.to_value IS NULL) OVER (PARTITION BY pronet_group_industry_changes.group_urn_type, pronet_group_industry_changes.group_urn_value, pronet_group_industry_changes.type, pronet_group_industry_changes.value ORDER BY pronet_group_industry_changes.changed_at DESC, pronet_group_industry_changes._answer_id DESC) AS life
                           FROM pronet_group_industry_changes) lives) each
          ORDER BY each.group_urn_type, each.group_urn_value, each.type, each.value, each.changed_at, each._answer_id
        )
 SELECT b.group_urn_type,
    b.group_urn_value,
    b.type,
    b.value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.group_urn_type, b.group_urn_value, b.type, b.value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN ( SELECT e.group_urn_type,
            e.group_urn_value,
            e.type,
            e.value,
            e.extra,
            COALESCE((( SELECT c.to_value
                   FROM pronet_group_industry_changes c
                  WHERE c.group_urn_type = e.group_urn_type AND c.group_urn_value = e.group_urn_value AND c.type = e.type AND c.value = e.value AND c.attribute = '_first_seen_at'::text
                  ORDER BY c.changed_at DESC, c._answer_id DESC
                 LIMIT 1))::timestamp with time zone, p._first_seen_at) AS _first_seen_at
           FROM pronet_group_industries e
             JOIN pronet_groups p ON p.urn_type = e.group_urn_type AND p.urn_value = e.group_urn_value) t ON b.group_urn_type = t.group_urn_type AND b.group_urn_value = t.group_urn_value AND b.type = t.type AND b.value = t.value AND b.life = 0
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.group_urn_type,
    t.group_urn_value,
    t.type,
    t.value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.extra
   FROM ( SELECT e.group_urn_type,
            e.group_urn_value,
            e.type,
            e.value,
            e.extra,
            COALESCE((( SELECT c.to_value
                   FROM pronet_group_industry_changes c
                  WHERE c.group_urn_type = e.group_urn_type AND c.group_urn_value = e.group_urn_value AND c.type = e.type AND c.value = e.value AND c.attribute = '_first_seen_at'::text
                  ORDER BY c.changed_at DESC, c._answer_id DESC
                 LIMIT 1))::timestamp with time zone, p._first_seen_at) AS _first_seen_at
           FROM pronet_group_industries e
             JOIN pronet_groups p ON p.urn_type = e.group_urn_type AND p.urn_value = e.group_urn_value) t
     LEFT JOIN ( SELECT pronet_group_industry_changes.group_urn_type,
            pronet_group_industry_changes.group_urn_value,
            pronet_group_industry_changes.type,
            pronet_group_industry_changes.value,
            max(pronet_group_industry_changes.changed_at) AS changed_at
           FROM pronet_group_industry_changes
          GROUP BY pronet_group_industry_changes.group_urn_type, pronet_group_industry_changes.group_urn_value, pronet_group_industry_changes.type, pronet_group_industry_changes.value) l ON l.group_urn_type = t.group_urn_type AND l.group_urn_value = t.group_urn_value AND l.type = t.type AND l.value = t.value;

-- Members that groups show, with the group and the person: one row per group and person.
create view sluice."pronet_group_member_overview" (
  -- Key of the group.
  "group_urn_type" text,
  -- Key of the group.
  "group_urn_value" text,
  -- Name of the group.
  "group_name" text,
  -- Address of the group.
  "group_url" text,
  -- Number of members that the group reports.
  "group_member_count" bigint,
  -- The member’s URN. Type of the URN, such as fsd_profile.
  "user_urn_type" text,
  -- The member’s URN. Value of the URN. Personal data.
  "user_urn_value" text,
  -- Name displayed on the profile. Personal data.
  "user_name" text,
  -- Public handle in the profile’s address; it can change hands, so it is not an identifier. Personal data.
  "user_alias" text,
  -- Address of the profile. Personal data.
  "user_url" text,
  -- The line under the name. Personal data.
  "user_headline" text,
  -- Place as written on the profile. Personal data.
  "user_location" text,
  -- Role in the group, such as owner.
  "role" text,
  -- Time when the member joined.
  "joined_at" timestamp with time zone
) as
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

-- Members that the group shows, as they were: one row per element and version. A version begins when an answer shows a change. Image addresses are not included. A version ends without a next one when an answer shows the list without the element. An answer without the list changes nothing. Foreign keys by time: group_urn_type, group_urn_value to pronet_groups_history; user_urn_type, user_urn_value to pronet_users_history.
create view sluice."pronet_group_members_history" (
  -- Key of the group.
  "group_urn_type" text,
  -- Key of the group.
  "group_urn_value" text,
  -- The member’s URN. Type of the URN, such as fsd_profile.
  "user_urn_type" text,
  -- The member’s URN. Value of the URN. Personal data.
  "user_urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Name of the member. Personal data.
  "user_name" text,
  -- Public handle of the member. Personal data.
  "user_alias" text,
  -- Address of the member’s profile. Personal data.
  "user_url" text,
  -- The line under the member’s name. Personal data.
  "user_headline" text,
  -- Role in the group, such as owner.
  "role" text,
  -- Time when the member joined.
  "joined_at" timestamp with time zone,
  -- Time when the member joined. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "joined_at_epoch" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.group_urn_type, each.group_urn_value, each.user_urn_type, each.user_urn_value, each.changed_at) each.group_urn_type,
            each.group_urn_value,
            each.user_urn_type,
            each.user_urn_value,
            each.life,
            each.changed_at,
            each.before
           FROM ( SELECT lives.group_urn_type,
                    lives.group_urn_value,
                    lives.user_urn_type,
                    lives.user_urn_value,
                    lives.life,
                    lives.changed_at,
                    lives._answer_id,
                    jsonb_object_agg(lives.attribute, lives.from_value) OVER (PARTITION BY lives.group_urn_type, lives.group_urn_value, lives.user_urn_type, lives.user_urn_value, lives.life ORDER BY lives.changed_at DESC, lives._answer_id DESC) AS before
                   FROM ( SELECT pronet_group_member_changes.group_urn_type,
                            pronet_group_member_changes.group_urn_value,
                            pronet_group_member_changes.user_urn_type,
                            pronet_group_member_changes.user_urn_value,
                            pronet_group_member_changes.attribute,
                            pronet_group_member_changes.changed_at,
                            pronet_group_member_changes.from_value,
                            pronet_group_member_changes.to_value,
                            pronet_group_member_changes._answer_id,
                            count(*) FILTER (WHERE pronet_group_member_changes.attribute = '_first_seen_at'::text AND pronet_group_member_changes.to_value IS NULL) OVER (PARTITION BY pronet_group_member_changes.group_urn_type, pronet_group_member_changes.group_urn_value, pronet_group_member_changes.user_urn_type, pronet_group_member_changes.user_urn_value ORDER BY pronet_group_member_changes.changed_at DESC, pronet_group_member_changes._answer_id DESC) AS life
                           FROM pronet_group_member_changes) lives) each
          ORDER BY each.group_urn_type, each.group_urn_value, each.user_urn_type, each.user_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.group_urn_type,
    b.group_urn_value,
    b.user_urn_type,
    b.user_urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.group_urn_type, b.group_urn_value, b.user_urn_type, b.user_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'user_name'::text THEN b.before ->> 'user_name'::text
            ELSE t.user_name
        END AS user_name,
        CASE
            WHEN b.before ? 'user_alias'::text THEN b.before ->> 'user_alias'::text
            ELSE t.user_alias
        END AS user_alias,
        CASE
            WHEN b.before ? 'user_url'::text THEN b.before ->> 'user_url'::text
            ELSE t.user_url
        END AS user_url,
        CASE
            WHEN b.before ? 'user_headline'::text THEN b.before ->> 'user_headline'::text
            ELSE t.user_headline
        END AS user_headline,
        CASE
            WHEN b.before ? 'role'::text THEN b.before ->> 'role'::text
            ELSE t.role
        END AS role,
        CASE
            WHEN b.before ? 'joined_at'::text THEN (b.before ->> 'joined_at'::text)::timestamp with time zone
            ELSE t.joined_at
        END AS joined_at,
        CASE
            WHEN b.before ? 'joined_at_epoch'::text THEN (b.before ->> 'joined_at_epoch'::text)::bigint
            ELSE t.joined_at_epoch
        END AS joined_at_epoch,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN ( SELECT e.group_urn_type,
            e.group_urn_value,
            e.user_urn_type,
            e.user_urn_value,
            e.user_name,
            e.user_alias,
            e.user_url,
            e.user_headline,
            e.role,
            e.joined_at,
            e.joined_at_epoch,
            e.extra,
            COALESCE((( SELECT c.to_value
                   FROM pronet_group_member_changes c
                  WHERE c.group_urn_type = e.group_urn_type AND c.group_urn_value = e.group_urn_value AND c.user_urn_type = e.user_urn_type AND c.user_urn_value = e.user_urn_value AND c.attribute = '_first_seen_at'::text
                  ORDER BY c.changed_at DESC, c._answer_id DESC
                 LIMIT 1))::timestamp with time zone, p._first_seen_at) AS _first_seen_at
           FROM pronet_group_members e
             JOIN pronet_groups p ON p.urn_type = e.group_urn_type AND p.urn_value = e.group_urn_value) t ON b.group_urn_type = t.group_urn_type AND b.group_urn_value = t.group_urn_value AND b.user_urn_type = t.user_urn_type AND b.user_urn_value = t.user_urn_value AND b.life = 0
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.group_urn_type,
    t.group_urn_value,
    t.user_urn_type,
    t.user_urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.user_name,
    t.user_alias,
    t.user_url,
    t.user_headline,
    t.role,
    t.joined_at,
    t.joined_at_epoch,
    t.extra
   FROM ( SELECT e.group_urn_type,
            e.group_urn_value,
            e.user_urn_type,
            e.user_urn_value,
            e.user_name,
            e.user_alias,
            e.user_url,
            e.user_headline,
            e.role,
            e.joined_at,
            e.joined_at_epoch,
            e.extra,
            COALESCE((( SELECT c.to_value
                   FROM pronet_group_member_changes c
                  WHERE c.group_urn_type = e.group_urn_type AND c.group_urn_value = e.group_urn_value AND c.user_urn_type = e.user_urn_type AND c.user_urn_value = e.user_urn_value AND c.attribute = '_first_seen_at'::text
                  ORDER BY c.changed_at DESC, c._answer_id DESC
                 LIMIT 1))::timestamp with time zone, p._first_seen_at) AS _first_seen_at
           FROM pronet_group_members e
             JOIN pronet_groups p ON p.urn_type = e.group_urn_type AND p.urn_value = e.group_urn_value) t
     LEFT JOIN ( SELECT pronet_group_member_changes.group_urn_type,
            pronet_group_member_changes.group_urn_value,
            pronet_group_member_changes.user_urn_type,
            pronet_group_member_changes.user_urn_value,
            max(pronet_group_member_changes.changed_at) AS changed_at
           FROM pronet_group_member_changes
          GROUP BY pronet_group_member_changes.group_urn_type, pronet_group_member_changes.group_urn_value, pronet_group_member_changes.user_urn_type, pronet_group_member_changes.user_urn_value) l ON l.group_urn_type = t.group_urn_type AND l.group_urn_value = t.group_urn_value AND l.user_urn_type = t.user_urn_type AND l.user_urn_value = t.user_urn_value;

-- Groups of the professional network with their visible content: one row per group.
create view sluice."pronet_group_overview" (
  -- The group’s URN. Type of the URN, such as group.
  "urn_type" text,
  -- The group’s URN. Value of the URN.
  "urn_value" text,
  -- Name of the group.
  "name" text,
  -- Address of the group.
  "url" text,
  -- Description of the group.
  "description" text,
  -- Number of members that the group reports.
  "member_count" bigint,
  -- Number of members on the group’s page; null if not reported.
  "shown_member_count" bigint,
  -- Number of shown members with the role owner.
  "owner_count" bigint,
  -- Names of shown members with the role owner, separated by semicolons. Personal data.
  "owners" text,
  -- Names of the group’s industries, or their URNs without a name, separated by semicolons.
  "industries" text,
  -- Time when the group was founded.
  "created_at" timestamp with time zone,
  -- URN of the place that the group belongs to. Type of the URN, such as geo.
  "geo_type" text,
  -- URN of the place that the group belongs to. Value of the URN.
  "geo_value" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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

-- Groups of the professional network, as they were: one row per group and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."pronet_groups_history" (
  -- The group’s URN. Type of the URN, such as group.
  "urn_type" text,
  -- The group’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Name of the group.
  "name" text,
  -- Address of the group.
  "url" text,
  -- Number of members that the group reports. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "member_count" bigint,
  -- Time when the group was founded.
  "created_at" timestamp with time zone,
  -- Time when the group was founded. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Description of the group.
  "description" text,
  -- Rules of the group.
  "rules" text,
  -- URN of the place that the group belongs to. Type of the URN, such as geo.
  "geo_type" text,
  -- URN of the place that the group belongs to. Value of the URN.
  "geo_value" text,
  -- Number of elements: industries of the group. Null if not reported; 0 if there are none.
  "industries_count" bigint,
  -- Number of elements: members that the group shows. Null if not reported; 0 if there are none.
  "members_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.group_urn_type, each.group_urn_value, each.changed_at) each.group_urn_type,
            each.group_urn_value,
            each.changed_at,
            each.before
           FROM ( SELECT pronet_group_changes.group_urn_type,
                    pronet_group_changes.group_urn_value,
                    pronet_group_changes.changed_at,
                    pronet_group_changes._answer_id,
                    jsonb_object_agg(pronet_group_changes.attribute, pronet_group_changes.from_value) OVER (PARTITION BY pronet_group_changes.group_urn_type, pronet_group_changes.group_urn_value ORDER BY pronet_group_changes.changed_at DESC, pronet_group_changes._answer_id DESC) AS before
                   FROM pronet_group_changes) each
          ORDER BY each.group_urn_type, each.group_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.group_urn_type AS urn_type,
    b.group_urn_value AS urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.group_urn_type, b.group_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
    ( SELECT d.member_count
           FROM fact_pronet_group_daily d
          WHERE d.group_urn_type = b.group_urn_type AND d.group_urn_value = b.group_urn_value AND d._seen_at < b.changed_at AND d.member_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS member_count,
        CASE
            WHEN b.before ? 'created_at'::text THEN (b.before ->> 'created_at'::text)::timestamp with time zone
            ELSE t.created_at
        END AS created_at,
        CASE
            WHEN b.before ? 'created_at_epoch'::text THEN (b.before ->> 'created_at_epoch'::text)::bigint
            ELSE t.created_at_epoch
        END AS created_at_epoch,
        CASE
            WHEN b.before ? 'description'::text THEN b.before ->> 'description'::text
            ELSE t.description
        END AS description,
        CASE
            WHEN b.before ? 'rules'::text THEN b.before ->> 'rules'::text
            ELSE t.rules
        END AS rules,
        CASE
            WHEN b.before ? 'geo_type'::text THEN b.before ->> 'geo_type'::text
            ELSE t.geo_type
        END AS geo_type,
        CASE
            WHEN b.before ? 'geo_value'::text THEN b.before ->> 'geo_value'::text
            ELSE t.geo_value
        END AS geo_value,
        CASE
            WHEN b.before ? 'industries_count'::text THEN (b.before ->> 'industries_count'::text)::bigint
            ELSE t.industries_count
        END AS industries_count,
        CASE
            WHEN b.before ? 'members_count'::text THEN (b.before ->> 'members_count'::text)::bigint
            ELSE t.members_count
        END AS members_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_groups t ON b.group_urn_type = t.urn_type AND b.group_urn_value = t.urn_value
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.urn_type,
    t.urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.name,
    t.url,
    t.member_count,
    t.created_at,
    t.created_at_epoch,
    t.description,
    t.rules,
    t.geo_type,
    t.geo_value,
    t.industries_count,
    t.members_count,
    t.extra
   FROM pronet_groups t
     LEFT JOIN ( SELECT pronet_group_changes.group_urn_type,
            pronet_group_changes.group_urn_value,
            max(pronet_group_changes.changed_at) AS changed_at
           FROM pronet_group_changes
          GROUP BY pronet_group_changes.group_urn_type, pronet_group_changes.group_urn_value) l ON l.group_urn_type = t.urn_type AND l.group_urn_value = t.urn_value;

-- When each row of pronet_groups was last seen in an answer, and since when it is missing: one row per group.
create view sluice."pronet_groups_presence" (
  -- The group’s URN. Type of the URN, such as group.
  "urn_type" text,
  -- The group’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone. An alias or a URL that moved to another group proves nothing.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'pronet.group'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'pronet.group'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.urn_type,
    t.urn_value,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT COALESCE(item.is_held, false) AND item.gone_at > GREATEST(item.seen_at) THEN GREATEST(item.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM pronet_groups t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to(((('pronet_groups/'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8);

-- Industries of the professional network’s taxonomy, as they were: one row per industry and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."pronet_industries_history" (
  -- The industry’s URN. Type of the URN, such as industry.
  "urn_type" text,
  -- The industry’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Name of the industry.
  "name" text,
  -- Path from the top-level industry down to this one.
  "hierarchy" text,
  -- Description of the industry.
  "description" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.industry_urn_type, each.industry_urn_value, each.changed_at) each.industry_urn_type,
            each.industry_urn_value,
            each.changed_at,
            each.before
           FROM ( SELECT pronet_industry_changes.industry_urn_type,
                    pronet_industry_changes.industry_urn_value,
                    pronet_industry_changes.changed_at,
                    pronet_industry_changes._answer_id,
                    jsonb_object_agg(pronet_industry_changes.attribute, pronet_industry_changes.from_value) OVER (PARTITION BY pronet_industry_changes.industry_urn_type, pronet_industry_changes.industry_urn_value ORDER BY pronet_industry_changes.changed_at DESC, pronet_industry_changes._answer_id DESC) AS before
                   FROM pronet_industry_changes) each
          ORDER BY each.industry_urn_type, each.industry_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.industry_urn_type AS urn_type,
    b.industry_urn_value AS urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.industry_urn_type, b.industry_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'hierarchy'::text THEN b.before ->> 'hierarchy'::text
            ELSE t.hierarchy
        END AS hierarchy,
        CASE
            WHEN b.before ? 'description'::text THEN b.before ->> 'description'::text
            ELSE t.description
        END AS description,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_industries t ON b.industry_urn_type = t.urn_type AND b.industry_urn_value = t.urn_value
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.urn_type,
    t.urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.name,
    t.hierarchy,
    t.description,
    t.extra
   FROM pronet_industries t
     LEFT JOIN ( SELECT pronet_industry_changes.industry_urn_type,
            pronet_industry_changes.industry_urn_value,
            max(pronet_industry_changes.changed_at) AS changed_at
           FROM pronet_industry_changes
          GROUP BY pronet_industry_changes.industry_urn_type, pronet_industry_changes.industry_urn_value) l ON l.industry_urn_type = t.urn_type AND l.industry_urn_value = t.urn_value;

-- When each row of pronet_industries was last seen in an answer, and since when it is missing: one row per industry.
create view sluice."pronet_industries_presence" (
  -- The industry’s URN. Type of the URN, such as industry.
  "urn_type" text,
  -- The industry’s URN. Value of the URN.
  "urn_value" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Always null: answers contain it only inside other entities, so its absence proves nothing.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.user.education'::text, 'pronet.group'::text])
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.user.education'::text, 'pronet.group'::text])
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.urn_type,
    t.urn_value,
    t._first_seen_at,
    GREATEST(t._changed_at, nested.seen_at) AS _last_seen_at,
    NULL::timestamp with time zone AS _missing_since
   FROM pronet_industries t
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to(((('pronet_industries>'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8);

-- Mentions in posts, with the post’s author and time: one row per mention.
create view sluice."pronet_post_mention_overview" (
  -- The post’s URN. Type of the URN, such as activity.
  "post_urn_type" text,
  -- The post’s URN. Value of the URN. Personal data.
  "post_urn_value" text,
  -- Index in the list, from 0.
  "position" bigint,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- The author’s URN. Type of the URN, such as fsd_profile or fsd_company.
  "author_urn_type" text,
  -- The author’s URN. Value of the URN. Personal data.
  "author_urn_value" text,
  -- Name of the author. Personal data.
  "author_name" text,
  -- Kind of the mentioned entity, by the type of its URN: user for a person, company for an organization.
  "kind" text,
  -- URN type of the mentioned person or organization.
  "mentioned_urn_type" text,
  -- URN value of the mentioned person or organization. Personal data.
  "mentioned_urn_value" text,
  -- Name of the mentioned person or organization as in the post, otherwise as in its own row. Personal data.
  "mentioned_name" text,
  -- Headline of the mentioned person or organization. Personal data.
  "mentioned_headline" text
) as
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

-- Posts of the professional network with author, counts and reactions by type: one row per post.
create view sluice."pronet_post_overview" (
  -- The post’s URN. Type of the URN, such as activity.
  "urn_type" text,
  -- The post’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Address of the post. Personal data.
  "url" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- The text of the post. Personal data.
  "text" text,
  -- The author’s URN. Type of the URN, such as fsd_profile or fsd_company.
  "author_urn_type" text,
  -- The author’s URN. Value of the URN. Personal data.
  "author_urn_value" text,
  -- Kind of author by the type of the URN: user (a person) or company (an organization).
  "author_kind" text,
  -- Name of the author. Personal data.
  "author_name" text,
  -- Public handle of the author. Personal data.
  "author_alias" text,
  -- Address of the author’s profile or page. Personal data.
  "author_url" text,
  -- The line under the author’s name. Personal data.
  "author_headline" text,
  -- Whether the post is a repost of another, also if the other is unknown.
  "is_repost" boolean,
  -- Whether the post repeats another without text of its own.
  "is_empty_repost" boolean,
  -- The post that this one repeats. Its urn_type.
  "repost_urn_type" text,
  -- The post that this one repeats. Its urn_value. Personal data.
  "repost_urn_value" text,
  -- Name of the author of the reposted post; null if unknown. Personal data.
  "repost_author_name" text,
  -- Number of comments on the post; negative if hidden, null if never reported.
  "comment_count" bigint,
  -- Number of times the post was shared; negative if hidden, null if never reported.
  "share_count" bigint,
  -- Number of reactions of all types, without hidden ones; null if reactions are not reported, or beyond bigint.
  "reaction_count" bigint,
  -- Number of reactions of type like; null if reactions are not reported, or beyond bigint.
  "like_count" bigint,
  -- Number of reactions of type praise; null if reactions are not reported, or beyond bigint.
  "praise_count" bigint,
  -- Number of reactions of type empathy; null if reactions are not reported, or beyond bigint.
  "empathy_count" bigint,
  -- Number of reactions of type interest; null if reactions are not reported, or beyond bigint.
  "interest_count" bigint,
  -- Number of reactions of type appreciation; null if reactions are not reported, or beyond bigint.
  "appreciation_count" bigint,
  -- Number of reactions of type entertainment; null if reactions are not reported, or beyond bigint.
  "entertainment_count" bigint,
  -- Number of reactions of other types; null if reactions are not reported, or beyond bigint.
  "other_reaction_count" bigint,
  -- Sum of reactions, comments and shares. Hidden and unreported numbers count as 0. Null beyond bigint.
  "engagement_count" bigint,
  -- Number of people and organizations that the post mentions; null if not reported.
  "mention_count" bigint,
  -- Number of pictures of the post; null if not reported.
  "image_count" bigint,
  -- Whether the post has a video.
  "has_video" boolean,
  -- Title of the article. Personal data.
  "article_title" text,
  -- Address of the article. Personal data.
  "article_url" text,
  -- Title of the document. Personal data.
  "document_title" text,
  -- Title of the event. Personal data.
  "event_title" text,
  -- Highest detail of any observation of the post so far: preview or full.
  "detail" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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
    p.repost_urn_value IS NOT NULL OR p.is_empty_repost IS TRUE OR COALESCE((p.extra -> 'repost'::text) <> '{}'::jsonb, false) AS is_repost,
    p.is_empty_repost,
    p.repost_urn_type,
    p.repost_urn_value,
    repeated.author_name AS repost_author_name,
    p.comment_count,
    p.share_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r."all" <= '9223372036854775807'::bigint::numeric THEN r."all"::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS reaction_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r."like" <= '9223372036854775807'::bigint::numeric THEN r."like"::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS like_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.praise <= '9223372036854775807'::bigint::numeric THEN r.praise::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS praise_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.empathy <= '9223372036854775807'::bigint::numeric THEN r.empathy::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS empathy_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.interest <= '9223372036854775807'::bigint::numeric THEN r.interest::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS interest_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.appreciation <= '9223372036854775807'::bigint::numeric THEN r.appreciation::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS appreciation_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.entertainment <= '9223372036854775807'::bigint::numeric THEN r.entertainment::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS entertainment_count,
        CASE
            WHEN p.reactions_count IS NOT NULL THEN
            CASE
                WHEN r.other <= '9223372036854775807'::bigint::numeric THEN r.other::bigint
                ELSE NULL::bigint
            END
            ELSE NULL::bigint
        END AS other_reaction_count,
        CASE
            WHEN (GREATEST(p.comment_count, 0::bigint)::numeric + GREATEST(p.share_count, 0::bigint)::numeric + r."all") <= '9223372036854775807'::bigint::numeric THEN (GREATEST(p.comment_count, 0::bigint)::numeric + GREATEST(p.share_count, 0::bigint)::numeric + r."all")::bigint
            ELSE NULL::bigint
        END AS engagement_count,
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
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'like'::text), 0::numeric) AS "like",
            COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'praise'::text), 0::numeric) AS praise,
            COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'empathy'::text), 0::numeric) AS empathy,
            COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'interest'::text), 0::numeric) AS interest,
            COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'appreciation'::text), 0::numeric) AS appreciation,
            COALESCE(sum(l.count) FILTER (WHERE lower(l.type) = 'entertainment'::text), 0::numeric) AS entertainment,
            COALESCE(sum(l.count) FILTER (WHERE (lower(l.type) <> ALL (ARRAY['like'::text, 'praise'::text, 'empathy'::text, 'interest'::text, 'appreciation'::text, 'entertainment'::text])) OR l.type IS NULL), 0::numeric) AS other,
            COALESCE(sum(l.count), 0::numeric) AS "all"
           FROM pronet_post_reactions l
          WHERE l.post_urn_type = p.urn_type AND l.post_urn_value = p.urn_value AND l.count >= 0) r;

-- Posts and their reposts, both with author and time: one row per repost.
create view sluice."pronet_post_repost_overview" (
  -- The post’s URN. Type of the URN, such as activity.
  "post_urn_type" text,
  -- The post’s URN. Value of the URN. Personal data.
  "post_urn_value" text,
  -- Name of the author of the original post; null while the post itself is not loaded. Personal data.
  "post_author_name" text,
  -- Time of publication.
  "post_created_at" timestamp with time zone,
  -- URN type of the repost.
  "repost_urn_type" text,
  -- URN value of the repost. Personal data.
  "repost_urn_value" text,
  -- Index in the answer, from 0.
  "position" bigint,
  -- URN type of the repost’s author.
  "repost_author_urn_type" text,
  -- URN value of the repost’s author. Personal data.
  "repost_author_urn_value" text,
  -- Name of the repost’s author. Personal data.
  "repost_author_name" text,
  -- Time of publication.
  "repost_created_at" timestamp with time zone,
  -- Text that the repost adds. Personal data.
  "repost_text" text,
  -- Number of comments on the post; negative if hidden, null if never reported.
  "repost_comment_count" bigint,
  -- Number of times the post was shared; negative if hidden, null if never reported.
  "repost_share_count" bigint
) as
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

-- Posts of the professional network, including reposts and the posts that they repeat, as they were: one row per post and version. A version begins when an answer shows a change. Image addresses are not included. Foreign keys by time: repost_urn_type, repost_urn_value to pronet_posts_history.
create view sluice."pronet_posts_history" (
  -- The post’s URN. Type of the URN, such as activity.
  "urn_type" text,
  -- The post’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Address of the post. Personal data.
  "url" text,
  -- Address for sharing the post. Personal data.
  "share_url" text,
  -- The network’s internal identifier of the author. Type of the URN, such as member or company.
  "author_internal_id_type" text,
  -- The network’s internal identifier of the author. Value of the URN. Personal data.
  "author_internal_id_value" text,
  -- The author’s URN. Type of the URN, such as fsd_profile or fsd_company.
  "author_urn_type" text,
  -- The author’s URN. Value of the URN. Personal data.
  "author_urn_value" text,
  -- Name of the author. Personal data.
  "author_name" text,
  -- Public handle of the author. Personal data.
  "author_alias" text,
  -- Address of the author’s profile or page. Personal data.
  "author_url" text,
  -- The line under the author’s name. Personal data.
  "author_headline" text,
  -- Time of publication.
  "created_at" timestamp with time zone,
  -- Time of publication. Number as sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- URN of the share that carries the post. Type of the URN, such as share.
  "share_urn_type" text,
  -- URN of the share that carries the post. Value of the URN. Personal data.
  "share_urn_value" text,
  -- Whether the post repeats another without text of its own.
  "is_empty_repost" boolean,
  -- The post that this one repeats. Its urn_type.
  "repost_urn_type" text,
  -- The post that this one repeats. Its urn_value. Personal data.
  "repost_urn_value" text,
  -- Address of the video. Personal data.
  "video_url" text,
  -- The text of the post. Personal data.
  "text" text,
  -- Number of comments on the post; negative if hidden, null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "comment_count" bigint,
  -- Number of times the post was shared; negative if hidden, null if never reported. At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.
  "share_count" bigint,
  -- Number of elements: reactions to the post, counted by type. Null if not reported; 0 if there are none.
  "reactions_count" bigint,
  -- Address of the event. Personal data.
  "event_url" text,
  -- Title of the event. Personal data.
  "event_title" text,
  -- Time of the event, as written. Personal data.
  "event_date" text,
  -- Number of participants of the event. Personal data.
  "event_participant_count" bigint,
  -- Address of the article. Personal data.
  "article_url" text,
  -- The article’s URN. Type of the URN, such as article. Personal data.
  "article_urn_type" text,
  -- The article’s URN. Value of the URN. Personal data.
  "article_urn_value" text,
  -- Title of the article. Personal data.
  "article_title" text,
  -- Subtitle of the article. Personal data.
  "article_subtitle" text,
  -- Summary of the article. Personal data.
  "article_description" text,
  -- The document’s URN. Type of the URN, such as document. Personal data.
  "document_urn_type" text,
  -- The document’s URN. Value of the URN. Personal data.
  "document_urn_value" text,
  -- Address of the document. Personal data.
  "document_url" text,
  -- Title of the document. Personal data.
  "document_title" text,
  -- Number of pages of the document. Personal data.
  "document_total_images_count" bigint,
  -- Number of elements: people and organizations that the post mentions. Null if not reported; 0 if there are none.
  "mentioned_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.post_urn_type, each.post_urn_value, each.changed_at) each.post_urn_type,
            each.post_urn_value,
            each.changed_at,
            each.before
           FROM ( SELECT pronet_post_changes.post_urn_type,
                    pronet_post_changes.post_urn_value,
                    pronet_post_changes.changed_at,
                    pronet_post_changes._answer_id,
                    jsonb_object_agg(pronet_post_changes.attribute, pronet_post_changes.from_value) OVER (PARTITION BY pronet_post_changes.post_urn_type, pronet_post_changes.post_urn_value ORDER BY pronet_post_changes.changed_at DESC, pronet_post_changes._answer_id DESC) AS before
                   FROM pronet_post_changes) each
          ORDER BY each.post_urn_type, each.post_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.post_urn_type AS urn_type,
    b.post_urn_value AS urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.post_urn_type, b.post_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'share_url'::text THEN b.before ->> 'share_url'::text
            ELSE t.share_url
        END AS share_url,
        CASE
            WHEN b.before ? 'author_internal_id_type'::text THEN b.before ->> 'author_internal_id_type'::text
            ELSE t.author_internal_id_type
        END AS author_internal_id_type,
        CASE
            WHEN b.before ? 'author_internal_id_value'::text THEN b.before ->> 'author_internal_id_value'::text
            ELSE t.author_internal_id_value
        END AS author_internal_id_value,
        CASE
            WHEN b.before ? 'author_urn_type'::text THEN b.before ->> 'author_urn_type'::text
            ELSE t.author_urn_type
        END AS author_urn_type,
        CASE
            WHEN b.before ? 'author_urn_value'::text THEN b.before ->> 'author_urn_value'::text
            ELSE t.author_urn_value
        END AS author_urn_value,
        CASE
            WHEN b.before ? 'author_name'::text THEN b.before ->> 'author_name'::text
            ELSE t.author_name
        END AS author_name,
        CASE
            WHEN b.before ? 'author_alias'::text THEN b.before ->> 'author_alias'::text
            ELSE t.author_alias
        END AS author_alias,
        CASE
            WHEN b.before ? 'author_url'::text THEN b.before ->> 'author_url'::text
            ELSE t.author_url
        END AS author_url,
        CASE
            WHEN b.before ? 'author_headline'::text THEN b.before ->> 'author_headline'::text
            ELSE t.author_headline
        END AS author_headline,
        CASE
            WHEN b.before ? 'created_at'::text THEN (b.before ->> 'created_at'::text)::timestamp with time zone
            ELSE t.created_at
        END AS created_at,
        CASE
            WHEN b.before ? 'created_at_epoch'::text THEN (b.before ->> 'created_at_epoch'::text)::bigint
            ELSE t.created_at_epoch
        END AS created_at_epoch,
        CASE
            WHEN b.before ? 'share_urn_type'::text THEN b.before ->> 'share_urn_type'::text
            ELSE t.share_urn_type
        END AS share_urn_type,
        CASE
            WHEN b.before ? 'share_urn_value'::text THEN b.before ->> 'share_urn_value'::text
            ELSE t.share_urn_value
        END AS share_urn_value,
        CASE
            WHEN b.before ? 'is_empty_repost'::text THEN (b.before ->> 'is_empty_repost'::text)::boolean
            ELSE t.is_empty_repost
        END AS is_empty_repost,
        CASE
            WHEN b.before ? 'repost_urn_type'::text THEN b.before ->> 'repost_urn_type'::text
            ELSE t.repost_urn_type
        END AS repost_urn_type,
        CASE
            WHEN b.before ? 'repost_urn_value'::text THEN b.before ->> 'repost_urn_value'::text
            ELSE t.repost_urn_value
        END AS repost_urn_value,
        CASE
            WHEN b.before ? 'video_url'::text THEN b.before ->> 'video_url'::text
            ELSE t.video_url
        END AS video_url,
        CASE
            WHEN b.before ? 'text'::text THEN b.before ->> 'text'::text
            ELSE t.text
        END AS text,
    ( SELECT d.comment_count
           FROM fact_pronet_post_daily d
          WHERE d.post_urn_type = b.post_urn_type AND d.post_urn_value = b.post_urn_value AND d._seen_at < b.changed_at AND d.comment_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS comment_count,
    ( SELECT d.share_count
           FROM fact_pronet_post_daily d
          WHERE d.post_urn_type = b.post_urn_type AND d.post_urn_value = b.post_urn_value AND d._seen_at < b.changed_at AND d.share_count IS NOT NULL
          ORDER BY d.date DESC
         LIMIT 1) AS share_count,
        CASE
            WHEN b.before ? 'reactions_count'::text THEN (b.before ->> 'reactions_count'::text)::bigint
            ELSE t.reactions_count
        END AS reactions_count,
        CASE
            WHEN b.before ? 'event_url'::text THEN b.before ->> 'event_url'::text
            ELSE t.event_url
        END AS event_url,
        CASE
            WHEN b.before ? 'event_title'::text THEN b.before ->> 'event_title'::text
            ELSE t.event_title
        END AS event_title,
        CASE
            WHEN b.before ? 'event_date'::text THEN b.before ->> 'event_date'::text
            ELSE t.event_date
        END AS event_date,
        CASE
            WHEN b.before ? 'event_participant_count'::text THEN (b.before ->> 'event_participant_count'::text)::bigint
            ELSE t.event_participant_count
        END AS event_participant_count,
        CASE
            WHEN b.before ? 'article_url'::text THEN b.before ->> 'article_url'::text
            ELSE t.article_url
        END AS article_url,
        CASE
            WHEN b.before ? 'article_urn_type'::text THEN b.before ->> 'article_urn_type'::text
            ELSE t.article_urn_type
        END AS article_urn_type,
        CASE
            WHEN b.before ? 'article_urn_value'::text THEN b.before ->> 'article_urn_value'::text
            ELSE t.article_urn_value
        END AS article_urn_value,
        CASE
            WHEN b.before ? 'article_title'::text THEN b.before ->> 'article_title'::text
            ELSE t.article_title
        END AS article_title,
        CASE
            WHEN b.before ? 'article_subtitle'::text THEN b.before ->> 'article_subtitle'::text
            ELSE t.article_subtitle
        END AS article_subtitle,
        CASE
            WHEN b.before ? 'article_description'::text THEN b.before ->> 'article_description'::text
            ELSE t.article_description
        END AS article_description,
        CASE
            WHEN b.before ? 'document_urn_type'::text THEN b.before ->> 'document_urn_type'::text
            ELSE t.document_urn_type
        END AS document_urn_type,
        CASE
            WHEN b.before ? 'document_urn_value'::text THEN b.before ->> 'document_urn_value'::text
            ELSE t.document_urn_value
        END AS document_urn_value,
        CASE
            WHEN b.before ? 'document_url'::text THEN b.before ->> 'document_url'::text
            ELSE t.document_url
        END AS document_url,
        CASE
            WHEN b.before ? 'document_title'::text THEN b.before ->> 'document_title'::text
            ELSE t.document_title
        END AS document_title,
        CASE
            WHEN b.before ? 'document_total_images_count'::text THEN (b.before ->> 'document_total_images_count'::text)::bigint
            ELSE t.document_total_images_count
        END AS document_total_images_count,
        CASE
            WHEN b.before ? 'mentioned_count'::text THEN (b.before ->> 'mentioned_count'::text)::bigint
            ELSE t.mentioned_count
        END AS mentioned_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_posts t ON b.post_urn_type = t.urn_type AND b.post_urn_value = t.urn_value
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.urn_type,
    t.urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.url,
    t.share_url,
    t.author_internal_id_type,
    t.author_internal_id_value,
    t.author_urn_type,
    t.author_urn_value,
    t.author_name,
    t.author_alias,
    t.author_url,
    t.author_headline,
    t.created_at,
    t.created_at_epoch,
    t.share_urn_type,
    t.share_urn_value,
    t.is_empty_repost,
    t.repost_urn_type,
    t.repost_urn_value,
    t.video_url,
    t.text,
    t.comment_count,
    t.share_count,
    t.reactions_count,
    t.event_url,
    t.event_title,
    t.event_date,
    t.event_participant_count,
    t.article_url,
    t.article_urn_type,
    t.article_urn_value,
    t.article_title,
    t.article_subtitle,
    t.article_description,
    t.document_urn_type,
    t.document_urn_value,
    t.document_url,
    t.document_title,
    t.document_total_images_count,
    t.mentioned_count,
    t.extra
   FROM pronet_posts t
     LEFT JOIN ( SELECT pronet_post_changes.post_urn_type,
            pronet_post_changes.post_urn_value,
            max(pronet_post_changes.changed_at) AS changed_at
           FROM pronet_post_changes
          GROUP BY pronet_post_changes.post_urn_type, pronet_post_changes.post_urn_value) l ON l.post_urn_type = t.urn_type AND l.post_urn_value = t.urn_value;

-- When each row of pronet_posts was last seen in an answer, and since when it is missing: one row per post.
create view sluice."pronet_posts_presence" (
  -- The post’s URN. Type of the URN, such as activity.
  "urn_type" text,
  -- The post’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'pronet.post.reposts'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'pronet.post.reposts'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.urn_type,
    t.urn_value,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at, nested.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT (COALESCE(item.is_held, false) OR COALESCE(nested.is_held, false)) AND item.gone_at > GREATEST(item.seen_at, nested.seen_at) THEN GREATEST(item.gone_at, nested.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM pronet_posts t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to(((('pronet_posts/'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8)
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to(((('pronet_posts>'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8);

-- Schools that a person lists, in the person’s order, as they were: one row per education and version. A version begins when an answer shows a change. Image addresses are not included. A row that a complete answer no longer lists has no current version. Foreign keys by time: company_urn_type, company_urn_value to pronet_companies_history; company_industry_type, company_industry_value to pronet_industries_history; company_industry_full_urn_type, company_industry_full_urn_value to pronet_industries_history.
create view sluice."pronet_user_educations_history" (
  -- URN type of the requested person.
  "user_urn_type" text,
  -- URN value of the requested person. Personal data.
  "user_urn_value" text,
  -- Position in the person’s list, from 0.
  "position" bigint,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Name of the organization.
  "company_name" text,
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "company_urn_type" text,
  -- The organization’s URN. Value of the URN.
  "company_urn_value" text,
  -- Address of the organization’s page.
  "company_url" text,
  -- Public handle in the page’s address; it can change hands, so it is not an identifier.
  "company_alias" text,
  -- The organization’s industry. Type of the URN, such as industry.
  "company_industry_type" text,
  -- The organization’s industry. Value of the URN.
  "company_industry_value" text,
  -- The industry’s URN. Type of the URN, such as industry.
  "company_industry_full_urn_type" text,
  -- The industry’s URN. Value of the URN.
  "company_industry_full_urn_value" text,
  -- Name of the industry.
  "company_industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "company_industry_full_hierarchy" text,
  -- Description of the industry.
  "company_industry_full_description" text,
  -- Size class by number of employees, as written.
  "company_employee_range" text,
  -- Degree and field of study, as written. Personal data.
  "major" text,
  -- Years attended, as written. Personal data.
  "interval" text,
  -- The person’s description of the education. Personal data.
  "description" text,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.education_user_urn_type, each.education_user_urn_value, each.education_position, each.changed_at) each.education_user_urn_type,
            each.education_user_urn_value,
            each.education_position,
            each.life,
            each.changed_at,
            each.before
           FROM ( SELECT lives.education_user_urn_type,
                    lives.education_user_urn_value,
                    lives.education_position,
                    lives.life,
                    lives.changed_at,
                    lives._answer_id,
                    jsonb_object_agg(lives.attribute, lives.from_value) OVER (PARTITION BY lives.education_user_urn_type, lives.education_user_urn_value, lives.education_position, lives.life ORDER BY lives.changed_at DESC, lives._answer_id DESC) AS before
                   FROM ( SELECT pronet_user_education_changes.education_user_urn_type,
                            pronet_user_education_changes.education_user_urn_value,
                            pronet_user_education_changes.education_position,
                            pronet_user_education_changes.attribute,
                            pronet_user_education_changes.changed_at,
                            pronet_user_education_changes.from_value,
                            pronet_user_education_changes.to_value,
                            pronet_user_education_changes._answer_id,
                            count(*) FILTER (WHERE pronet_user_education_changes.attribute = '_first_seen_at'::text AND pronet_user_education_changes.to_value IS NULL) OVER (PARTITION BY pronet_user_education_changes.education_user_urn_type, pronet_user_education_changes.education_user_urn_value, pronet_user_education_changes.education_position ORDER BY pronet_user_education_changes.changed_at DESC, pronet_user_education_changes._answer_id DESC) AS life
                           FROM pronet_user_education_changes) lives) each
          ORDER BY each.education_user_urn_type, each.education_user_urn_value, each.education_position, each.changed_at, each._answer_id
        )
 SELECT b.education_user_urn_type AS user_urn_type,
    b.education_user_urn_value AS user_urn_value,
    b.education_position AS "position",
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.education_user_urn_type, b.education_user_urn_value, b.education_position ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'company_name'::text THEN b.before ->> 'company_name'::text
            ELSE t.company_name
        END AS company_name,
        CASE
            WHEN b.before ? 'company_urn_type'::text THEN b.before ->> 'company_urn_type'::text
            ELSE t.company_urn_type
        END AS company_urn_type,
        CASE
            WHEN b.before ? 'company_urn_value'::text THEN b.before ->> 'company_urn_value'::text
            ELSE t.company_urn_value
        END AS company_urn_value,
        CASE
            WHEN b.before ? 'company_url'::text THEN b.before ->> 'company_url'::text
            ELSE t.company_url
        END AS company_url,
        CASE
            WHEN b.before ? 'company_alias'::text THEN b.before ->> 'company_alias'::text
            ELSE t.company_alias
        END AS company_alias,
        CASE
            WHEN b.before ? 'company_industry_type'::text THEN b.before ->> 'company_industry_type'::text
            ELSE t.company_industry_type
        END AS company_industry_type,
        CASE
            WHEN b.before ? 'company_industry_value'::text THEN b.before ->> 'company_industry_value'::text
            ELSE t.company_industry_value
        END AS company_industry_value,
        CASE
            WHEN b.before ? 'company_industry_full_urn_type'::text THEN b.before ->> 'company_industry_full_urn_type'::text
            ELSE t.company_industry_full_urn_type
        END AS company_industry_full_urn_type,
        CASE
            WHEN b.before ? 'company_industry_full_urn_value'::text THEN b.before ->> 'company_industry_full_urn_value'::text
            ELSE t.company_industry_full_urn_value
        END AS company_industry_full_urn_value,
        CASE
            WHEN b.before ? 'company_industry_full_name'::text THEN b.before ->> 'company_industry_full_name'::text
            ELSE t.company_industry_full_name
        END AS company_industry_full_name,
        CASE
            WHEN b.before ? 'company_industry_full_hierarchy'::text THEN b.before ->> 'company_industry_full_hierarchy'::text
            ELSE t.company_industry_full_hierarchy
        END AS company_industry_full_hierarchy,
        CASE
            WHEN b.before ? 'company_industry_full_description'::text THEN b.before ->> 'company_industry_full_description'::text
            ELSE t.company_industry_full_description
        END AS company_industry_full_description,
        CASE
            WHEN b.before ? 'company_employee_range'::text THEN b.before ->> 'company_employee_range'::text
            ELSE t.company_employee_range
        END AS company_employee_range,
        CASE
            WHEN b.before ? 'major'::text THEN b.before ->> 'major'::text
            ELSE t.major
        END AS major,
        CASE
            WHEN b.before ? 'interval'::text THEN b.before ->> 'interval'::text
            ELSE t."interval"
        END AS "interval",
        CASE
            WHEN b.before ? 'description'::text THEN b.before ->> 'description'::text
            ELSE t.description
        END AS description,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_user_educations t ON b.education_user_urn_type = t.user_urn_type AND b.education_user_urn_value = t.user_urn_value AND b.education_position = t."position" AND b.life = 0
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.user_urn_type,
    t.user_urn_value,
    t."position",
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.company_name,
    t.company_urn_type,
    t.company_urn_value,
    t.company_url,
    t.company_alias,
    t.company_industry_type,
    t.company_industry_value,
    t.company_industry_full_urn_type,
    t.company_industry_full_urn_value,
    t.company_industry_full_name,
    t.company_industry_full_hierarchy,
    t.company_industry_full_description,
    t.company_employee_range,
    t.major,
    t."interval",
    t.description,
    t.extra
   FROM pronet_user_educations t
     LEFT JOIN ( SELECT pronet_user_education_changes.education_user_urn_type,
            pronet_user_education_changes.education_user_urn_value,
            pronet_user_education_changes.education_position,
            max(pronet_user_education_changes.changed_at) AS changed_at
           FROM pronet_user_education_changes
          GROUP BY pronet_user_education_changes.education_user_urn_type, pronet_user_education_changes.education_user_urn_value, pronet_user_education_changes.education_position) l ON l.education_user_urn_type = t.user_urn_type AND l.education_user_urn_value = t.user_urn_value AND l.education_position = t."position";

-- When each row of pronet_user_educations was last seen in an answer, and since when it is missing: one row per education.
create view sluice."pronet_user_educations_presence" (
  -- URN type of the requested person.
  "user_urn_type" text,
  -- URN value of the requested person. Personal data.
  "user_urn_value" text,
  -- Position in the person’s list, from 0.
  "position" bigint,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'pronet.user.education'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'pronet.user.education'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.user_urn_type,
    t.user_urn_value,
    t."position",
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT COALESCE(item.is_held, false) AND item.gone_at > GREATEST(item.seen_at) THEN GREATEST(item.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM pronet_user_educations t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to((((((('pronet_user_educations/'::text || octet_length(t.user_urn_type)) || ':'::text) || t.user_urn_type) || octet_length(t.user_urn_value)) || ':'::text) || t.user_urn_value) || t."position"::text, 'UTF8'::name)) FROM 1 FOR 8);

-- People of the professional network with their latest school: one row per person.
create view sluice."pronet_user_overview" (
  -- The person’s URN. Type of the URN, such as fsd_profile.
  "urn_type" text,
  -- The person’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Name displayed on the profile. Personal data.
  "name" text,
  -- Public handle in the profile’s address; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- The line under the name. Personal data.
  "headline" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Whether the person states that they look for work.
  "open_to_work" boolean,
  -- Number of schools that the person lists; 0 also if they were never requested.
  "school_count" bigint,
  -- Name of the latest school: the one with the latest year, or the first listed of several.
  "school_name" text,
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "school_urn_type" text,
  -- The organization’s URN. Value of the URN.
  "school_urn_value" text,
  -- Industry of the latest school.
  "school_industry" text,
  -- Degree and field of study at the latest school, as written. Personal data.
  "school_major" text,
  -- Years at the latest school, as written. Personal data.
  "school_interval" text,
  -- Latest year in the interval of the latest school; null if unknown. Personal data.
  "school_end_year" integer,
  -- Number of loaded groups that show the person as a member.
  "group_count" bigint,
  -- Number of searches that returned the person. A search of several syncs counts once.
  "search_count" bigint,
  -- Highest detail of any observation of the person so far: reference, preview or full.
  "detail" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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
    ( SELECT count(DISTINCT h.request_key) AS count
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

-- Schools that people list, with the person and the school: one row per listed school.
create view sluice."pronet_user_school_overview" (
  -- URN type of the requested person.
  "user_urn_type" text,
  -- URN value of the requested person. Personal data.
  "user_urn_value" text,
  -- Position in the person’s list, from 0.
  "position" bigint,
  -- Name displayed on the profile. Personal data.
  "user_name" text,
  -- The line under the name. Personal data.
  "user_headline" text,
  -- Place as written on the profile. Personal data.
  "user_location" text,
  -- Whether it is the person’s latest school.
  "is_latest" boolean,
  -- The organization’s URN. Type of the URN, such as fsd_company.
  "school_urn_type" text,
  -- The organization’s URN. Value of the URN.
  "school_urn_value" text,
  -- Name of the organization.
  "school_name" text,
  -- Address of the organization’s page.
  "school_url" text,
  -- Industry of the school.
  "school_industry" text,
  -- Size class by number of employees, as written.
  "school_employee_range" text,
  -- Degree and field of study, as written. Personal data.
  "major" text,
  -- Years attended, as written. Personal data.
  "interval" text,
  -- Earliest year in the interval; null if unknown. Personal data.
  "start_year" integer,
  -- Latest year in the interval; null if unknown. Personal data.
  "end_year" integer
) as
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

-- People that searches returned, by sync: one row per search and person.
create view sluice."pronet_user_search_hit_overview" (
  -- The sync that searched.
  "sync" text,
  -- SHA-256, in hex, that identifies the search. Personal data.
  "request_key" text,
  -- Index in the answer, from 0.
  "position" bigint,
  -- Key of the returned user: urn_type in pronet_users.
  "user_urn_type" text,
  -- Key of the returned user: urn_value in pronet_users. Personal data.
  "user_urn_value" text,
  -- Name displayed on the profile. Personal data.
  "user_name" text,
  -- Public handle in the profile’s address; it can change hands, so it is not an identifier. Personal data.
  "user_alias" text,
  -- Address of the profile. Personal data.
  "user_url" text,
  -- The line under the name. Personal data.
  "user_headline" text,
  -- Place as written on the profile. Personal data.
  "user_location" text,
  -- Whether the person states that they look for work.
  "user_open_to_work" boolean
) as
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

-- People of the professional network: one row per person, from searches, authorship, mentions and memberships, as they were: one row per user and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."pronet_users_history" (
  -- The person’s URN. Type of the URN, such as fsd_profile.
  "urn_type" text,
  -- The person’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- The network’s internal identifier of the person. Type of the URN, such as member.
  "internal_id_type" text,
  -- The network’s internal identifier of the person. Value of the URN. Personal data.
  "internal_id_value" text,
  -- Name displayed on the profile. Personal data.
  "name" text,
  -- Public handle in the profile’s address; it can change hands, so it is not an identifier. Personal data.
  "alias" text,
  -- Address of the profile. Personal data.
  "url" text,
  -- The line under the name. Personal data.
  "headline" text,
  -- Place as written on the profile. Personal data.
  "location" text,
  -- Whether the person states that they look for work.
  "open_to_work" boolean,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.user_urn_type, each.user_urn_value, each.changed_at) each.user_urn_type,
            each.user_urn_value,
            each.changed_at,
            each.before
           FROM ( SELECT pronet_user_changes.user_urn_type,
                    pronet_user_changes.user_urn_value,
                    pronet_user_changes.changed_at,
                    pronet_user_changes._answer_id,
                    jsonb_object_agg(pronet_user_changes.attribute, pronet_user_changes.from_value) OVER (PARTITION BY pronet_user_changes.user_urn_type, pronet_user_changes.user_urn_value ORDER BY pronet_user_changes.changed_at DESC, pronet_user_changes._answer_id DESC) AS before
                   FROM pronet_user_changes) each
          ORDER BY each.user_urn_type, each.user_urn_value, each.changed_at, each._answer_id
        )
 SELECT b.user_urn_type AS urn_type,
    b.user_urn_value AS urn_value,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.user_urn_type, b.user_urn_value ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'internal_id_type'::text THEN b.before ->> 'internal_id_type'::text
            ELSE t.internal_id_type
        END AS internal_id_type,
        CASE
            WHEN b.before ? 'internal_id_value'::text THEN b.before ->> 'internal_id_value'::text
            ELSE t.internal_id_value
        END AS internal_id_value,
        CASE
            WHEN b.before ? 'name'::text THEN b.before ->> 'name'::text
            ELSE t.name
        END AS name,
        CASE
            WHEN b.before ? 'alias'::text THEN b.before ->> 'alias'::text
            ELSE t.alias
        END AS alias,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'headline'::text THEN b.before ->> 'headline'::text
            ELSE t.headline
        END AS headline,
        CASE
            WHEN b.before ? 'location'::text THEN b.before ->> 'location'::text
            ELSE t.location
        END AS location,
        CASE
            WHEN b.before ? 'open_to_work'::text THEN (b.before ->> 'open_to_work'::text)::boolean
            ELSE t.open_to_work
        END AS open_to_work,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN pronet_users t ON b.user_urn_type = t.urn_type AND b.user_urn_value = t.urn_value
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.urn_type,
    t.urn_value,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.internal_id_type,
    t.internal_id_value,
    t.name,
    t.alias,
    t.url,
    t.headline,
    t.location,
    t.open_to_work,
    t.extra
   FROM pronet_users t
     LEFT JOIN ( SELECT pronet_user_changes.user_urn_type,
            pronet_user_changes.user_urn_value,
            max(pronet_user_changes.changed_at) AS changed_at
           FROM pronet_user_changes
          GROUP BY pronet_user_changes.user_urn_type, pronet_user_changes.user_urn_value) l ON l.user_urn_type = t.urn_type AND l.user_urn_value = t.urn_value;

-- When each row of pronet_users was last seen in an answer, and since when it is missing: one row per user.
create view sluice."pronet_users_presence" (
  -- The person’s URN. Type of the URN, such as fsd_profile.
  "urn_type" text,
  -- The person’s URN. Value of the URN. Personal data.
  "urn_value" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.search.users'::text, 'pronet.group'::text])
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = ANY (ARRAY['pronet.post.reposts'::text, 'pronet.search.users'::text, 'pronet.group'::text])
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.urn_type,
    t.urn_value,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at, nested.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT (COALESCE(item.is_held, false) OR COALESCE(nested.is_held, false)) AND item.gone_at > GREATEST(item.seen_at, nested.seen_at) THEN GREATEST(item.gone_at, nested.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM pronet_users t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to(((('pronet_users/'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8)
     LEFT JOIN entity nested ON nested.key = SUBSTRING(sha256(convert_to(((('pronet_users>'::text || octet_length(t.urn_type)) || ':'::text) || t.urn_type) || t.urn_value, 'UTF8'::name)) FROM 1 FOR 8);

-- Items and answers that could not be loaded, without their content: one row per item or complete answer.
create view sluice."quarantined_items" (
  -- Id of the entry, for sluice quarantine show.
  "entry_id" bigint,
  -- Answer that contains it; joins paid_answers.
  "answer_id" bigint,
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- Name of the expected resource in the contract.
  "resource" text,
  -- Index in the answer, from 0; null if the complete answer is rejected.
  "position" bigint,
  -- Reason why it could not be loaded. Personal data.
  "reason" text,
  -- Creation of the entry.
  "created_at" timestamp with time zone,
  -- Time at which a later load accepted it or a later answer replaced it; null while it is open.
  "resolved_at" timestamp with time zone,
  -- Whether it is still in quarantine.
  "is_open" boolean
) as
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

-- Costs and results of runs: one row per run.
create view sluice."run_costs" (
  -- Id of the run; joins sync_runs, unless the run only looked up lost answers.
  "run_id" bigint,
  -- Name of the sync in the config. The cost of lookups of its lost answers is included.
  "sync" text,
  -- Name of the endpoint: its path with dots. Joins dim_endpoint.
  "endpoint" text,
  -- Start of the run.
  "started_at" timestamp with time zone,
  -- UTC day of started_at; joins dim_date.
  "date" date,
  -- State of the run, as in sync_runs.
  "state" text,
  -- Number of rows in the request log that certainly belong to this run.
  "requests" bigint,
  -- Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.
  "points" numeric,
  -- Points charged for failed requests.
  "failed_points" numeric,
  -- Points by the ledger: as charged by the log if known, otherwise by the price list; null until known.
  "ledger_points" numeric,
  -- Expected points of the plan, as quoted before the first request; null without a quote.
  "quoted_points" numeric,
  -- Number of items in its answers.
  "received" bigint,
  -- Number of items that created or changed rows.
  "loaded" bigint,
  -- Number of new rows in the table that the endpoint fills, without rows that were deleted later.
  "new_rows" bigint,
  -- Points for answers without anything new: all items equal their stored rows, or there are no items.
  "nothing_new_points" numeric,
  -- Points per item that created or changed a row. Each request counts by the log if it has it, otherwise by the ledger. Null without such items.
  "points_per_loaded" double precision,
  -- Points per new row, from the same source; null without new rows.
  "points_per_new_row" double precision
) as
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
    (COALESCE(l.points + u.points, l.points, u.points) / NULLIF(a.loaded, 0)::numeric)::double precision AS points_per_loaded,
    (COALESCE(l.points + u.points, l.points, u.points) / NULLIF(a.new_rows, 0)::numeric)::double precision AS points_per_new_row
   FROM runs r
     LEFT JOIN ( SELECT g.run_id,
            count(*) AS requests,
            sum(g.points) AS points,
            sum(g.points) FILTER (WHERE g.outcome = 'failed'::text) AS failed_points
           FROM logged_requests g
          WHERE g.run_id IS NOT NULL
          GROUP BY g.run_id) l ON l.run_id = r.id
     LEFT JOIN ( SELECT q.run_id,
            sum(COALESCE(q.charged, q.points)) AS points
           FROM requests q
             LEFT JOIN ( SELECT k.request_id
                   FROM request_cost_matches k
                     JOIN fact_request_costs c ON c.id = k.log_id
                  WHERE k.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])
                  GROUP BY k.request_id) i ON i.request_id = q.id
          WHERE i.request_id IS NULL
          GROUP BY q.run_id) u ON u.run_id = r.id
     LEFT JOIN ( SELECT w.run_id,
            sum(w.received)::bigint AS received,
            sum(w.loaded)::bigint AS loaded,
            sum(w.new_rows)::bigint AS new_rows,
            sum(w.points) FILTER (WHERE w.is_nothing_new) AS nothing_new_points
           FROM answer_costs w
          GROUP BY w.run_id) a ON a.run_id = r.id;

-- Tags of runs: one row per run and tag.
create view sluice."run_tags" (
  -- Id of the run; joins sync_runs and logged_requests.
  "run_id" bigint,
  -- Name of the tag in the config.
  "tag" text,
  -- Value of the tag when the run was last started.
  "value" text
) as
 SELECT r.id AS run_id,
    t.key AS tag,
    t.value
   FROM runs r
     CROSS JOIN LATERAL jsonb_each_text(r.tags) t(key, value);

-- Filers of documents: one row per document and filer.
create view sluice."sec_filing_filers" (
  -- Number of the filing; shared by all its documents.
  "accession_number" text,
  -- File name of the document within the filing.
  "file_name" text,
  -- Index of the filer in the document’s list, from 0.
  "position" bigint,
  -- Central index key of the filer.
  "cik" text,
  -- Name of the filer. Personal data.
  "display_name" text,
  -- Form type, such as 10-K.
  "filing_type" text,
  -- Day of the filing.
  "file_date" date,
  -- Last day of the reported period.
  "period_ending" date,
  -- Address of the document.
  "document_url" text
) as
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

-- Documents of company filings with their filers, places, codes and items: one row per document.
create view sluice."sec_filing_overview" (
  -- Number of the filing; shared by all its documents.
  "accession_number" text,
  -- File name of the document within the filing.
  "file_name" text,
  -- Address of the document.
  "document_url" text,
  -- Form type, such as 10-K.
  "filing_type" text,
  -- Whether the form amends an earlier filing: its type ends in /A.
  "is_amendment" boolean,
  -- Day of the filing.
  "file_date" date,
  -- Last day of the reported period.
  "period_ending" date,
  -- Days from the end of the reported period to the filing; negative if the filing came first; null if either date is unknown.
  "days_to_file" integer,
  -- Description of the document.
  "file_description" text,
  -- Number of filers in the document.
  "filer_count" bigint,
  -- Names of the filers, in the order sent, separated by semicolons. Personal data.
  "filers" text,
  -- Central index keys of the filers, in the order sent, separated by commas.
  "ciks" text,
  -- Name of the first filer; null if there is none. Personal data.
  "first_filer" text,
  -- Central index key of the first filer; null if there is none.
  "first_cik" text,
  -- Business locations of the filers, in the order sent, separated by semicolons. Personal data.
  "biz_locations" text,
  -- States of business, in the order sent, separated by commas.
  "biz_states" text,
  -- States of incorporation, in the order sent, separated by commas.
  "inc_states" text,
  -- Standard industrial classification codes, in the order sent, separated by commas.
  "sics" text,
  -- Items that the filing reports on, in the order sent, separated by commas.
  "items" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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

-- Documents of public company filings; one filing has one accession number and several documents, as they were: one row per filing and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."sec_filings_history" (
  -- Number of the filing; shared by all its documents.
  "accession_number" text,
  -- File name of the document within the filing.
  "file_name" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Address of the document.
  "document_url" text,
  -- Form type, such as 10-K.
  "filing_type" text,
  -- Day of the filing.
  "file_date" date,
  -- Last day of the reported period.
  "period_ending" date,
  -- Number of elements: central index keys of the filers, in the order of display_names but not of the other lists. Null if not reported; 0 if there are none.
  "ciks_count" bigint,
  -- Number of elements: names of the filers, in the order of ciks. Null if not reported; 0 if there are none.
  "display_names_count" bigint,
  -- Description of the document.
  "file_description" text,
  -- Number of elements: business locations of the filers. Null if not reported; 0 if there are none.
  "biz_locations_count" bigint,
  -- Number of elements: states of business. Null if not reported; 0 if there are none.
  "biz_states_count" bigint,
  -- Number of elements: states of incorporation. Null if not reported; 0 if there are none.
  "inc_states_count" bigint,
  -- Number of elements: standard industrial classification codes. Null if not reported; 0 if there are none.
  "sics_count" bigint,
  -- Number of elements: items that the filing reports on, such as 2.02. Null if not reported; 0 if there are none.
  "items_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.filing_accession_number, each.filing_file_name, each.changed_at) each.filing_accession_number,
            each.filing_file_name,
            each.changed_at,
            each.before
           FROM ( SELECT sec_filing_changes.filing_accession_number,
                    sec_filing_changes.filing_file_name,
                    sec_filing_changes.changed_at,
                    sec_filing_changes._answer_id,
                    jsonb_object_agg(sec_filing_changes.attribute, sec_filing_changes.from_value) OVER (PARTITION BY sec_filing_changes.filing_accession_number, sec_filing_changes.filing_file_name ORDER BY sec_filing_changes.changed_at DESC, sec_filing_changes._answer_id DESC) AS before
                   FROM sec_filing_changes) each
          ORDER BY each.filing_accession_number, each.filing_file_name, each.changed_at, each._answer_id
        )
 SELECT b.filing_accession_number AS accession_number,
    b.filing_file_name AS file_name,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.filing_accession_number, b.filing_file_name ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'document_url'::text THEN b.before ->> 'document_url'::text
            ELSE t.document_url
        END AS document_url,
        CASE
            WHEN b.before ? 'filing_type'::text THEN b.before ->> 'filing_type'::text
            ELSE t.filing_type
        END AS filing_type,
        CASE
            WHEN b.before ? 'file_date'::text THEN (b.before ->> 'file_date'::text)::date
            ELSE t.file_date
        END AS file_date,
        CASE
            WHEN b.before ? 'period_ending'::text THEN (b.before ->> 'period_ending'::text)::date
            ELSE t.period_ending
        END AS period_ending,
        CASE
            WHEN b.before ? 'ciks_count'::text THEN (b.before ->> 'ciks_count'::text)::bigint
            ELSE t.ciks_count
        END AS ciks_count,
        CASE
            WHEN b.before ? 'display_names_count'::text THEN (b.before ->> 'display_names_count'::text)::bigint
            ELSE t.display_names_count
        END AS display_names_count,
        CASE
            WHEN b.before ? 'file_description'::text THEN b.before ->> 'file_description'::text
            ELSE t.file_description
        END AS file_description,
        CASE
            WHEN b.before ? 'biz_locations_count'::text THEN (b.before ->> 'biz_locations_count'::text)::bigint
            ELSE t.biz_locations_count
        END AS biz_locations_count,
        CASE
            WHEN b.before ? 'biz_states_count'::text THEN (b.before ->> 'biz_states_count'::text)::bigint
            ELSE t.biz_states_count
        END AS biz_states_count,
        CASE
            WHEN b.before ? 'inc_states_count'::text THEN (b.before ->> 'inc_states_count'::text)::bigint
            ELSE t.inc_states_count
        END AS inc_states_count,
        CASE
            WHEN b.before ? 'sics_count'::text THEN (b.before ->> 'sics_count'::text)::bigint
            ELSE t.sics_count
        END AS sics_count,
        CASE
            WHEN b.before ? 'items_count'::text THEN (b.before ->> 'items_count'::text)::bigint
            ELSE t.items_count
        END AS items_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN sec_filings t ON b.filing_accession_number = t.accession_number AND b.filing_file_name = t.file_name
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.accession_number,
    t.file_name,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.document_url,
    t.filing_type,
    t.file_date,
    t.period_ending,
    t.ciks_count,
    t.display_names_count,
    t.file_description,
    t.biz_locations_count,
    t.biz_states_count,
    t.inc_states_count,
    t.sics_count,
    t.items_count,
    t.extra
   FROM sec_filings t
     LEFT JOIN ( SELECT sec_filing_changes.filing_accession_number,
            sec_filing_changes.filing_file_name,
            max(sec_filing_changes.changed_at) AS changed_at
           FROM sec_filing_changes
          GROUP BY sec_filing_changes.filing_accession_number, sec_filing_changes.filing_file_name) l ON l.filing_accession_number = t.accession_number AND l.filing_file_name = t.file_name;

-- When each row of sec_filings was last seen in an answer, and since when it is missing: one row per filing.
create view sluice."sec_filings_presence" (
  -- Number of the filing; shared by all its documents.
  "accession_number" text,
  -- File name of the document within the filing.
  "file_name" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'sec.search.companies'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'sec.search.companies'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.accession_number,
    t.file_name,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT COALESCE(item.is_held, false) AND item.gone_at > GREATEST(item.seen_at) THEN GREATEST(item.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM sec_filings t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to(((('sec_filings/'::text || octet_length(t.accession_number)) || ':'::text) || t.accession_number) || t.file_name, 'UTF8'::name)) FROM 1 FOR 8);

-- Costs and results of syncs so far, and costs of other programs: one row per sync and endpoint.
create view sluice."sync_costs" (
  -- Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.
  "sync" text,
  -- Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.
  "endpoint" text,
  -- Number of rows in the request log.
  "requests" bigint,
  -- Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.
  "points" numeric,
  -- Number of these requests that failed by their status or error, without those for unknown entities.
  "failed_requests" bigint,
  -- Points charged for failed requests.
  "failed_points" numeric,
  -- First day with a row in the log.
  "first_on" date,
  -- Last day with a row in the log.
  "last_on" date,
  -- Points by the ledger: as charged by the log if known, otherwise by the price list.
  "ledger_points" numeric,
  -- Number of stored answers.
  "answers" bigint,
  -- Points for these answers, by the log if it has their requests, otherwise by the ledger.
  "answer_points" numeric,
  -- Number of items in these answers.
  "received" bigint,
  -- Number of items that created or changed rows.
  "loaded" bigint,
  -- Number of new rows in the table that the endpoint fills, without rows that were deleted later.
  "new_rows" bigint,
  -- Points per item that created or changed a row. Each request counts by the log if it has it, otherwise by the ledger. Null without such items.
  "points_per_loaded" double precision,
  -- Points per new row, from the same source; null without new rows.
  "points_per_new_row" double precision,
  -- Number of answers without anything new.
  "nothing_new_answers" bigint,
  -- Points for answers without anything new: all items equal their stored rows, or there are no items.
  "nothing_new_points" numeric,
  -- Share of these points in answer_points, from 0 to 1; null if answer_points is 0.
  "nothing_new_share" double precision
) as
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
            sum(q.points) AS points,
            sum(COALESCE(q.charged, q.points)) FILTER (WHERE i.request_id IS NULL) AS unlogged_points
           FROM requests q
             LEFT JOIN ( SELECT k_1.request_id
                   FROM request_cost_matches k_1
                     JOIN fact_request_costs c ON c.id = k_1.log_id
                  WHERE k_1.match_kind = ANY (ARRAY['identifier'::text, 'only_candidate'::text])
                  GROUP BY k_1.request_id) i ON i.request_id = q.id
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
    (p.points / NULLIF(a.loaded, 0)::numeric)::double precision AS points_per_loaded,
    (p.points / NULLIF(a.new_rows, 0)::numeric)::double precision AS points_per_new_row,
    COALESCE(a.nothing_new_answers, 0::bigint) AS nothing_new_answers,
    COALESCE(a.nothing_new_points, 0::numeric) AS nothing_new_points,
    (a.nothing_new_points / NULLIF(a.points, 0::numeric))::double precision AS nothing_new_share
   FROM logged l
     FULL JOIN ledger k USING (sync, endpoint)
     FULL JOIN bought a USING (sync, endpoint)
     CROSS JOIN LATERAL ( SELECT COALESCE(l.points + k.unlogged_points, l.points, k.unlogged_points) AS points) p;

-- Coverage of the requested slices of each sync: one row per sync and endpoint with slices.
create view sluice."sync_coverage" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- Number of requested slices, each with its newest answer.
  "slices" bigint,
  -- Number of slices with all items.
  "complete_slices" bigint,
  -- Number of slices that may have more items than were returned.
  "lower_bound_slices" bigint,
  -- Number of slices that were split, whose last day had not ended, or that the sync no longer requests.
  "open_slices" bigint,
  -- Share of complete slices in those that are complete or lower bounds, from 0 to 1; null if there are none.
  "complete_share" double precision,
  -- Number of returned items over all these slices. An item may be in several.
  "returned" bigint,
  -- Receipt of the oldest of these answers.
  "oldest_as_of" timestamp with time zone,
  -- Receipt of the newest of these answers.
  "newest_as_of" timestamp with time zone
) as
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

-- Freshness of each sync’s rows: one row per sync.
create view sluice."sync_freshness" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- Id of the newest run. Samples and runs of given days count only for a sync without another run.
  "last_run_id" bigint,
  -- State of that run, as in sync_runs.
  "last_state" text,
  -- Exit code of that run; null while it runs.
  "last_exit_code" bigint,
  -- Start of that run.
  "last_started_at" timestamp with time zone,
  -- End of that run; null while it runs or if its process was killed.
  "last_ended_at" timestamp with time zone,
  -- Reason why that run ended early; null if it did not. Personal data.
  "last_error" text,
  -- End of the newest run that finished its plan and could read every answer: complete, or partial because of rejects. Partial runs without an answer, runs of a part of the sync, and ends in the database’s future do not count. Null if there is none.
  "refreshed_at" timestamp with time zone,
  -- End of the newest complete run, by the same rule; null if there is none.
  "completed_at" timestamp with time zone,
  -- Receipt of the newest answer, including answers of other syncs that serve this one; null without one.
  "answered_at" timestamp with time zone,
  -- Time of the last load of an answer; null if there is none.
  "loaded_at" timestamp with time zone,
  -- Hours from refreshed_at to the time of the query; null if there is no such run.
  "hours_since_refresh" double precision,
  -- Number of requests that are planned, sent, or in doubt and not answered since.
  "open_requests" bigint,
  -- Number of requests whose answer was lost in transit, and which were not answered since.
  "in_doubt_requests" bigint,
  -- Number of stored answers that are not loaded yet.
  "waiting_answers" bigint
) as
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
              WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'its process died before the run ended; the next run of its sync continues it, or ends it after 24 hours'::text
            ELSE r.error
        END AS last_error,
    t.refreshed_at,
    t.completed_at,
    GREATEST(a.answered_at, ( SELECT max(w.received_at) AS max
           FROM runs u
             JOIN requests q ON q.run_id = u.id
             JOIN answers w ON w.id = q.answer_id
          WHERE u.sync = r.sync AND q.state = 'fresh'::text AND (u.ended_at IS NULL OR a.answered_at IS NULL OR u.ended_at > (a.answered_at - '1 day'::interval)))) AS answered_at,
    ( SELECT max(w.loaded_at) AS max
           FROM answers w
          WHERE w.sync = r.sync) AS loaded_at,
    (EXTRACT(epoch FROM now() - t.refreshed_at) / 3600::numeric)::double precision AS hours_since_refresh,
    (( SELECT count(*) AS count
           FROM runs u
             JOIN requests o ON o.run_id = u.id
          WHERE u.sync = r.sync AND (u.state <> ALL (ARRAY['complete'::text, 'partial'::text, 'abandoned'::text])) AND (o.state = ANY (ARRAY['planned'::text, 'sent'::text])))) + (( SELECT count(DISTINCT o.id) AS count
           FROM lost_answers d
             JOIN requests o ON o.id = d.request_id
             JOIN runs u ON u.id = o.run_id
          WHERE d.sync = r.sync AND (u.state <> ALL (ARRAY['complete'::text, 'abandoned'::text])) AND o.state = 'in_doubt'::text AND NOT (o.state = 'in_doubt'::text AND (EXISTS ( SELECT
                   FROM answers w
                  WHERE w.request_key = o.request_key AND w.request_id > o.id))))) AS open_requests,
    ( SELECT count(DISTINCT o.id) AS count
           FROM lost_answers d
             JOIN requests o ON o.id = d.request_id
             JOIN runs u ON u.id = o.run_id
          WHERE d.sync = r.sync AND (u.state <> ALL (ARRAY['complete'::text, 'abandoned'::text])) AND o.state = 'in_doubt'::text AND NOT (o.state = 'in_doubt'::text AND (EXISTS ( SELECT
                   FROM answers w
                  WHERE w.request_key = o.request_key AND w.request_id > o.id)))) AS in_doubt_requests,
    ( SELECT count(*) AS count
           FROM answers w
          WHERE w.sync = r.sync AND w.loaded_at IS NULL) AS waiting_answers
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
          ORDER BY runs.sync, ((runs.scope = ANY (ARRAY['limited'::text, 'range'::text])) IS TRUE), runs.id DESC) r
     CROSS JOIN LATERAL ( SELECT ( SELECT e.ended_at
                   FROM ( SELECT u.id,
                            u.state,
                            u.exit_code,
                            u.stored + u.fresh AS answered,
                            u.ended_at
                           FROM runs u
                          WHERE u.sync = r.sync AND u.scope IS NULL AND (u.state = ANY (ARRAY['complete'::text, 'partial'::text])) AND u.unreadable = 0 AND u.ended_at <= (now() + '00:01:00'::interval)
                          ORDER BY u.ended_at DESC
                         OFFSET 0) e
                  WHERE e.state = 'complete'::text OR e.answered > 0 AND (e.exit_code = 0 OR e.exit_code = 4 AND (( SELECT q.id
                           FROM requests q
                          WHERE q.run_id = e.id AND q.state = 'skipped'::text AND NOT (q.attempts = 0 AND q.next IS NOT NULL)
                         LIMIT 1)) IS NULL)
                  ORDER BY e.ended_at DESC
                 LIMIT 1) AS refreshed_at,
            ( SELECT max(e.ended_at) AS max
                   FROM runs e
                  WHERE e.sync = r.sync AND e.scope IS NULL AND e.state = 'complete'::text AND e.ended_at <= (now() + '00:01:00'::interval)) AS completed_at
         OFFSET 0) t
     CROSS JOIN LATERAL ( SELECT max(w.received_at) AS answered_at
           FROM answers w
          WHERE w.sync = r.sync) a;

-- Last outcome of each input of each sync: one row per sync and request. A newer request does not replace it if it has not ended, was given up, or was left out by a sample (`--limit`). A split window has a row beside its parts if it was sent, so its items count twice in a sum of received. Reads of the request log for other syncs are not included.
create view sluice."sync_inputs" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- SHA-256 of the endpoint and the canonical body, in hex. Personal data.
  "request_key" text,
  -- Request fields from the input of the sync, as JSON; {} without for_each. Personal data.
  "input" text,
  -- Outcome: loaded, unchanged, empty, missing, quarantined, failed, skipped, or stored if the answer waits to be loaded. Without an earlier outcome: planned, sent or in_doubt if it has not ended; abandoned if it was given up.
  "outcome" text,
  -- Receipt of the answer; without one, the time at which the request ended, was sent or was planned.
  "at" timestamp with time zone,
  -- Paid answer; joins paid_answers. Null without one.
  "answer_id" bigint,
  -- Description of the error; null if there was none, or if a later attempt was answered. Personal data.
  "error" text,
  -- Next step for the user; null if there is none. Personal data.
  "next" text,
  -- Values of the input without their names, separated by commas; a URN as type:value. Personal data.
  "input_value" text,
  -- Number of items in the answer; null without one.
  "received" bigint,
  -- Run that last contained the request.
  "run_id" bigint,
  -- Canonical request body, as JSON. It distinguishes the parts of a window. Personal data.
  "question" text,
  -- Number of splits that led to this request; 0 for a request of the plan.
  "depth" bigint,
  -- request_key of the split request or the previous page that led to this request; null for a request of the plan, including a slice that a later run requested again. Personal data.
  "part_of" text,
  -- State of the newest request if it has not ended: planned, sent or in_doubt; null if it ended or was given up.
  "open_state" text
) as
 SELECT request.sync,
    request.endpoint,
    request.request_key,
    request.input::text AS input,
        CASE
            WHEN ended.state <> ALL (ARRAY['fresh'::text, 'loaded'::text]) THEN ended.state
            WHEN answer.loaded_at IS NULL THEN 'stored'::text
            WHEN answer.status = 412 THEN 'missing'::text
            WHEN answer.received = 0 THEN 'empty'::text
            WHEN answer.quarantined = answer.received THEN 'quarantined'::text
            WHEN answer.loaded = 0 AND answer.unchanged > 0 THEN 'unchanged'::text
            ELSE 'loaded'::text
        END AS outcome,
    COALESCE(answer.received_at, ended.finished_at, ended.sent_at, ended.planned_at) AS at,
    ended.answer_id,
    ended.error,
    ended.next,
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
          WHERE p.id = request.parent_id) AS part_of,
        CASE
            WHEN request.state = ANY (ARRAY['planned'::text, 'sent'::text, 'in_doubt'::text]) THEN request.state
            ELSE NULL::text
        END AS open_state
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
            requests.planned_at,
            requests.sent_at,
            requests.finished_at,
                CASE
                    WHEN requests.answer_id IS NULL OR requests.failure_class = 'unreadable'::text THEN requests.error
                    ELSE NULL::text
                END AS error,
                CASE
                    WHEN requests.answer_id IS NULL OR requests.failure_class = 'unreadable'::text THEN requests.next
                    ELSE NULL::text
                END AS next
           FROM requests
          ORDER BY requests.request_key DESC, requests.sync DESC, requests.id DESC) request
     LEFT JOIN LATERAL ( SELECT s.state,
            s.attempts,
            s.answer_id,
            s.planned_at,
            s.sent_at,
            s.finished_at,
                CASE
                    WHEN s.answer_id IS NULL OR s.failure_class = 'unreadable'::text THEN s.error
                    ELSE NULL::text
                END AS error,
                CASE
                    WHEN s.answer_id IS NULL OR s.failure_class = 'unreadable'::text THEN s.next
                    ELSE NULL::text
                END AS next
           FROM requests s
          WHERE ((request.state = ANY (ARRAY['planned'::text, 'sent'::text, 'in_doubt'::text, 'abandoned'::text])) OR request.state = 'skipped'::text AND request.attempts = 0 AND request.next IS NULL AND (EXISTS ( SELECT
                   FROM runs u
                  WHERE u.id = request.run_id AND u.scope = 'limited'::text))) AND s.request_key = request.request_key AND s.sync = request.sync AND s.id < request.id AND (s.state <> ALL (ARRAY['planned'::text, 'sent'::text, 'in_doubt'::text, 'abandoned'::text])) AND NOT (s.state = 'skipped'::text AND s.attempts = 0 AND s.next IS NULL AND (EXISTS ( SELECT
                   FROM runs u
                  WHERE u.id = s.run_id AND u.scope = 'limited'::text)))
          ORDER BY s.id DESC
         LIMIT 1) settled ON NOT (settled.state = 'skipped'::text AND settled.attempts = 0 AND settled.next IS NOT NULL)
     CROSS JOIN LATERAL ( SELECT COALESCE(settled.state, request.state) AS state,
                CASE
                    WHEN settled.state IS NULL THEN request.answer_id
                    ELSE settled.answer_id
                END AS answer_id,
                CASE
                    WHEN settled.state IS NULL THEN request.error
                    ELSE settled.error
                END AS error,
                CASE
                    WHEN settled.state IS NULL THEN request.next
                    ELSE settled.next
                END AS next,
            COALESCE(settled.planned_at, request.planned_at) AS planned_at,
                CASE
                    WHEN settled.state IS NULL THEN request.sent_at
                    ELSE settled.sent_at
                END AS sent_at,
                CASE
                    WHEN settled.state IS NULL THEN request.finished_at
                    ELSE settled.finished_at
                END AS finished_at) ended
     LEFT JOIN answers answer ON answer.id = ended.answer_id
  WHERE strpos(request.sync, ':'::text) = 0 AND NOT (request.state = 'skipped'::text AND request.attempts = 0 AND request.next IS NOT NULL);

-- Points that a max_age would have saved, had it been set from the beginning: one row per sync and age. Reads of the request log are not included.
create view sluice."sync_max_age_savings" (
  -- Name of the sync in the config. The cost of lookups of its lost answers is included.
  "sync" text,
  -- Assumed max_age in days: 1, 7 or 30.
  "max_age_days" integer,
  -- Number of paid answers.
  "answers" bigint,
  -- Points for these answers, by the log if it has their requests, otherwise by the ledger.
  "points" numeric,
  -- Number of these answers that an earlier answer of at most this age would have replaced.
  "saved_answers" bigint,
  -- Points that would have been saved, without regard to answers of other syncs.
  "saved_points" numeric,
  -- Share of saved_points in points, from 0 to 1; null if points is 0.
  "saved_share" double precision,
  -- Number of saved answers with something new, which would have been loaded later or never.
  "late_answers" bigint
) as
 WITH paid AS MATERIALIZED (
         SELECT c.answer_id,
            c.sync,
            c.endpoint,
            c.request_key,
            c.received_at,
            c.sent_at,
            c.points,
            c.is_nothing_new
           FROM answer_costs c
        ), moments AS (
         SELECT p.request_key,
            p.sync,
            p.received_at,
            count(*) AS answers,
            count(*) FILTER (WHERE NOT p.is_nothing_new) AS telling,
            sum(p.points) AS points,
            max(LEAST(p.sent_at, p.received_at)) AS sent_at,
            bool_and(u.id IS NOT NULL) AS unreadable
           FROM paid p
             LEFT JOIN answers u ON u.id = p.answer_id AND u.unreadable
          WHERE p.endpoint <> 'token.requests'::text
          GROUP BY p.request_key, p.sync, p.received_at
        ), repeated AS (
         SELECT m.sync,
            min(m.sent - m.previous_at) AS gap,
            array_agg(m.received_at ORDER BY m.received_at) AS received,
            array_agg(m.sent ORDER BY m.received_at) AS sent,
            array_agg(m.unreadable ORDER BY m.received_at) AS unreadable,
            array_agg(m.answers ORDER BY m.received_at) AS answers,
            array_agg(m.telling ORDER BY m.received_at) AS telling,
            array_agg(m.points ORDER BY m.received_at) AS points,
            sum(m.answers) AS all_answers,
            sum(m.telling) AS all_telling,
            sum(m.points) AS all_points
           FROM ( SELECT n.request_key,
                    n.sync,
                    n.received_at,
                    n.unreadable,
                    n.answers,
                    n.telling,
                    n.points,
                    max(n.sent_at) OVER w AS sent,
                    lag(n.received_at) OVER w AS previous_at,
                    lead(n.received_at) OVER w AS next_at
                   FROM moments n
                  WINDOW w AS (PARTITION BY n.request_key, n.sync ORDER BY n.received_at)) m
          WHERE m.previous_at IS NOT NULL OR m.next_at IS NOT NULL
          GROUP BY m.request_key, m.sync
        ), ages(days, age) AS (
         VALUES (1,'24:00:00'::interval), (7,'168:00:00'::interval), (30,'720:00:00'::interval)
        ), saved AS (
         SELECT d_1.days,
            r.sync,
            sum(r.all_answers - b.answers)::bigint AS answers,
            sum(r.all_points - b.points) AS points,
            sum(r.all_telling - b.telling)::bigint AS telling
           FROM repeated r
             JOIN ages d_1 ON r.gap <= d_1.age
             CROSS JOIN LATERAL ( WITH RECURSIVE bought(place) AS (
                         SELECT 1 AS "?column?"
                        UNION ALL
                         SELECT n.place
                           FROM bought o_1
                             CROSS JOIN LATERAL ( SELECT 1 +
CASE
 WHEN r.unreadable[o_1.place] THEN o_1.place
 ELSE width_bucket(r.received[o_1.place] + d_1.age, r.sent)
END AS place) n
                          WHERE n.place <= cardinality(r.sent)
                        )
                 SELECT sum(r.answers[o.place]) AS answers,
                    sum(r.points[o.place]) AS points,
                    sum(r.telling[o.place]) AS telling
                   FROM bought o) b
          GROUP BY d_1.days, r.sync
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
            count(*) AS answers,
            sum(p.points) AS points
           FROM paid p
          WHERE p.endpoint <> 'token.requests'::text
          GROUP BY p.sync) t
     CROSS JOIN ages d
     LEFT JOIN saved s ON s.sync = t.sync AND s.days = d.days;

-- Data quality of each sync, over all its answers and of its newest run, as in sync_freshness: one row per sync.
create view sluice."sync_quality" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- Number of stored answers.
  "answers" bigint,
  -- Number of items in the loaded answers: the sum of loaded, unchanged, superseded and quarantined.
  "received" bigint,
  -- Number of items that created or changed rows.
  "loaded" bigint,
  -- Number of items equal to their stored rows.
  "unchanged" bigint,
  -- Number of items that occur again later in their answer, or that a newer loaded answer replaces.
  "superseded" bigint,
  -- Number of items that could not be loaded and are in quarantine.
  "quarantined" bigint,
  -- Share of quarantined items in those received, from 0 to 1; null if none were received.
  "quarantined_share" double precision,
  -- Number of items and complete answers that are still in quarantine, with those of its reads of the log.
  "open_quarantine" bigint,
  -- Creation of the newest of its quarantine entries, also of resolved ones; null if there is none.
  "last_quarantined_at" timestamp with time zone,
  -- Number of requests of the newest run that ended without a usable answer.
  "last_run_failed" bigint,
  -- Number of requests of the newest run for an entity that the service does not know.
  "last_run_missing" bigint,
  -- Number of slices of the newest run that may have more items.
  "last_run_truncated" bigint
) as
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
          ORDER BY runs.sync, ((runs.scope = ANY (ARRAY['limited'::text, 'range'::text])) IS TRUE), runs.id DESC) n
     LEFT JOIN ( SELECT w.sync,
            count(*) AS answers,
            sum(w.received)::bigint AS received,
            sum(w.loaded)::bigint AS loaded,
            sum(w.unchanged)::bigint AS unchanged,
            sum(w.superseded)::bigint AS superseded,
            sum(w.quarantined)::bigint AS quarantined
           FROM answers w
          GROUP BY w.sync) a ON a.sync = n.sync
     LEFT JOIN ( SELECT split_part(i.sync, ':'::text, 1) AS sync,
            count(*) FILTER (WHERE i.resolved_at IS NULL) AS open_quarantine,
            max(i.created_at) AS last_quarantined_at
           FROM quarantine i
          GROUP BY (split_part(i.sync, ':'::text, 1))) q ON q.sync = n.sync;

-- Runs of syncs with state and results: one row per run.
create view sluice."sync_runs" (
  -- Id of the run; tables refer to it as _run_id.
  "run_id" bigint,
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- State of the run: running, complete, partial, out_of_points, failed, interrupted or abandoned. It is also interrupted if its process died and its lease expired.
  "state" text,
  -- Exit code of the run; null while it runs.
  "exit_code" bigint,
  -- Start of the run.
  "started_at" timestamp with time zone,
  -- End of the run; null while it runs or if its process was killed.
  "ended_at" timestamp with time zone,
  -- Seconds from start to end, including pauses of a continued run; null while it runs, or if its times come from different clocks.
  "duration_s" double precision,
  -- Number of planned requests, including those that paging and splitting added.
  "planned" bigint,
  -- Number of requests that a stored answer served without sending.
  "fresh" bigint,
  -- Number of requests sent, each counted once, even with several attempts.
  "asked" bigint,
  -- Number of stored answers.
  "stored" bigint,
  -- Number of items in the loaded answers, counted when the run ended: the sum of loaded, unchanged, superseded and quarantined.
  "received" bigint,
  -- Number of items that created or changed rows, counted when the run ended.
  "loaded" bigint,
  -- Number of items equal to their stored rows, counted when the run ended.
  "unchanged" bigint,
  -- Number of items that occur again later in their answer, or that a newer loaded answer replaces, counted when the run ended.
  "superseded" bigint,
  -- Number of items that could not be loaded and are in quarantine, counted when the run ended.
  "quarantined" bigint,
  -- Number of requests that ended without a usable answer.
  "failed" bigint,
  -- Number of requests for an entity that the service does not know.
  "missing" bigint,
  -- Number of full slices that could not be split further, so more items may exist.
  "truncated" bigint,
  -- Points spent: as charged by the service if known, otherwise by the price list.
  "points" numeric,
  -- Reason why the run ended early; null if it did not. Personal data.
  "error" text,
  -- Number of loaded items that changed existing rows, counted when the run ended; null if not counted.
  "changed" bigint,
  -- Number of requests with an unreadable answer, including those that are no longer sent.
  "unreadable" bigint,
  -- Part of the sync that the run requested: failed for what failed before, limited for a sample, range for given days; null for all of it.
  "scope" text,
  -- Tags of the sync as name=value, separated by commas; null without any. run_tags has a row for each.
  "tags" text
) as
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
              WHERE l.expires_at >= now() AND (l.holder = ANY (ARRAY[r.holder, 'run/'::text || r.id])))) THEN 'its process died before the run ended; the next run of its sync continues it, or ends it after 24 hours'::text
            ELSE error
        END AS error,
    changed,
    unreadable,
    scope,
    ( SELECT string_agg((t.key || '='::text) || t.value, ', '::text ORDER BY t.key) AS string_agg
           FROM jsonb_each_text(r.tags) t(key, value)) AS tags
   FROM runs r
  WHERE strpos(sync, ':'::text) = 0;

-- Newest answer to each requested slice of a sync, with its coverage: one row per slice. An answer 412 reads nothing and is none; sync_inputs has it.
create view sluice."sync_slices" (
  -- Id of the slice.
  "slice_id" bigint,
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- SHA-256 of the endpoint and the canonical body, in hex. Personal data.
  "request_key" text,
  -- Run that requested the slice.
  "run_id" bigint,
  -- Request fields that define the slice, as JSON. Personal data.
  "filters" text,
  -- Limit of items in the request; null if it has no limit.
  "asked" bigint,
  -- Number of returned items.
  "returned" bigint,
  -- Number of splits that led to this slice; 0 if it was not split.
  "depth" bigint,
  -- Extent: complete if the answer has all items; lower_bound if more may exist or the answer is unreadable; open if its parts were requested, its last day had not ended, or the sync no longer requests it.
  "extent" text,
  -- Reason why it is a lower bound; null if it is not.
  "reason" text,
  -- Receipt of the answer.
  "as_of" timestamp with time zone
) as
 WITH narrowing(endpoint, facets, day_from, day_to) AS (
         VALUES ('sec.search.companies'::text,ARRAY['forms'::text, 'location_codes'::text],'date_from'::text,'date_to'::text), ('pronet.search.users'::text,ARRAY['current_company'::text, 'past_company'::text, 'location'::text, 'industry'::text, 'education'::text],''::text,''::text)
        ), newest AS (
         SELECT DISTINCT ON (coverage.sync, (jsonb_hash(coverage.filters - 'date_from'::text - 'date_to'::text)), (jsonb_hash(coverage.filters)), coverage.endpoint, coverage.filters) coverage.id,
            coverage.sync,
            coverage.endpoint,
            coverage.request_key,
            coverage.run_id,
            coverage.filters,
            coverage.asked,
            coverage.returned,
            coverage.depth,
            coverage.complete,
            coverage.reason,
            coverage.as_of,
            coverage.former
           FROM coverage
          WHERE coverage.sync !~~ '%:%'::text
          ORDER BY coverage.sync, (jsonb_hash(coverage.filters - 'date_from'::text - 'date_to'::text)), (jsonb_hash(coverage.filters)), coverage.endpoint, coverage.filters, coverage.as_of DESC, coverage.asked DESC, coverage.id DESC
        ), wider AS MATERIALIZED (
         SELECT c_1.id,
            c_1.sync,
            c_1.endpoint,
            w.day_from,
            w.day_to,
                CASE
                    WHEN w.day_from = ''::text THEN ''::text
                    ELSE (c_1.filters -> w.day_from)::text
                END AS first_day,
                CASE
                    WHEN w.day_to = ''::text THEN ''::text
                    ELSE (c_1.filters -> w.day_to)::text
                END AS last_day,
            c_1.filters - w.day_from - w.day_to - (ARRAY( SELECT f.name
                   FROM unnest(n.facets) WITH ORDINALITY f(name, place)
                  WHERE ((b.left_out >> (f.place - 1)::integer) & 1) = 1)) AS question
           FROM coverage c_1
             JOIN narrowing w ON w.endpoint = c_1.endpoint
             CROSS JOIN LATERAL ( SELECT ARRAY( SELECT f.f
                           FROM unnest(w.facets) f(f)
                          WHERE c_1.filters ? f.f) AS facets) n
             CROSS JOIN LATERAL unnest(ARRAY( SELECT generate_series(0, (1 << cardinality(n.facets)) - 1) AS generate_series)) b(left_out)
          WHERE NOT c_1.complete AND c_1.reason IS NOT NULL AND c_1.sync !~~ '%:%'::text
        ), covered AS MATERIALIZED (
         SELECT w.id
           FROM wider w
          WHERE (EXISTS ( SELECT
                   FROM coverage n
                  WHERE n.sync = w.sync AND jsonb_hash(n.filters - 'date_from'::text - 'date_to'::text) = jsonb_hash(w.question - 'date_from'::text - 'date_to'::text) AND n.id > w.id AND n.endpoint = w.endpoint AND n.returned < n.asked AND NOT n.unreadable AND (n.filters - w.day_from - w.day_to) = w.question AND
                        CASE
                            WHEN w.day_from = ''::text THEN ''::text
                            ELSE (n.filters -> w.day_from)::text
                        END <= w.first_day AND
                        CASE
                            WHEN w.day_to = ''::text THEN ''::text
                            ELSE (n.filters -> w.day_to)::text
                        END >= w.last_day))
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
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN c.complete THEN 'complete'::text
                    WHEN c.reason IS NULL OR c.former THEN 'open'::text
                    WHEN (c.id IN ( SELECT covered.id
                       FROM covered)) THEN 'open'::text
                    ELSE 'lower_bound'::text
                END AS extent
         OFFSET 0) x;

-- Web pages with counts of their content: one row per requested address and set of content options.
create view sluice."web_page_overview" (
  -- SHA-256, in hex, of the requested address and the content options. Personal data.
  "page_key" text,
  -- Requested address. Personal data.
  "requested_url" text,
  -- Address of the original page; after redirects it may differ from the requested address. Personal data.
  "url" text,
  -- Host of the page’s address, in lower case. Personal data.
  "host" text,
  -- Whether the page’s address differs from the requested one.
  "is_redirected" boolean,
  -- Title of the page. Personal data.
  "title" text,
  -- Description in the page’s head. Personal data.
  "meta_description" text,
  -- Content options that differ from the service’s defaults, as JSON; {} for none. Personal data.
  "options" text,
  -- Size of the cleaned content in UTF-8, in bytes.
  "content_bytes" integer,
  -- Number of links on the page; null if not requested.
  "link_count" bigint,
  -- Number of links to the page’s own host; null if links are not requested.
  "host_link_count" bigint,
  -- Number of e-mail addresses on the page; null if not requested.
  "email_count" bigint,
  -- E-mail addresses on the page, separated by semicolons. Personal data.
  "emails" text,
  -- Number of phone numbers on the page; null if not requested.
  "phone_count" bigint,
  -- Phone numbers on the page, separated by semicolons. Personal data.
  "phones" text,
  -- Receipt of the first answer that contained it.
  "first_seen_at" timestamp with time zone,
  -- Receipt of the answer that last changed it.
  "changed_at" timestamp with time zone
) as
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
              WHERE l.page_key = p.page_key AND (lower("substring"(l.link, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'::text)) = h.host OR l.link !~ '^([a-zA-Z][a-zA-Z0-9+.-]*:|//)'::text))
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
     CROSS JOIN LATERAL ( SELECT lower("substring"(COALESCE(p.url, p.requested_url), '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)'::text)) AS host) h;

-- Web pages as parsed: one row per requested address and set of content options, as they were: one row per page and version. A version begins when an answer shows a change. Image addresses are not included.
create view sluice."web_pages_history" (
  -- SHA-256, in hex, of the requested address and the content options. Personal data.
  "page_key" text,
  -- Receipt of the answer that showed this version first.
  "valid_from" timestamp with time zone,
  -- Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.
  "valid_to" timestamp with time zone,
  -- Whether it is the current version.
  "is_current" boolean,
  -- Requested address. Personal data.
  "requested_url" text,
  -- Content options that differ from the service’s defaults.
  "options" jsonb,
  -- SHA-256, in hex, of: Content of the page after cleaning; may be empty. Personal data.
  "cleaned_html_sha256" text,
  -- Address of the original page; after redirects it may differ from the requested address. Personal data.
  "url" text,
  -- Title of the page. Personal data.
  "title" text,
  -- Description in the page’s head. Personal data.
  "meta_description" text,
  -- Further metadata, as sent. Personal data.
  "metadata" jsonb,
  -- Number of elements: addresses that the page links to. Null if not reported; 0 if there are none.
  "links_count" bigint,
  -- Number of elements: e-mail addresses on the page. Null if not reported; 0 if there are none.
  "emails_count" bigint,
  -- Number of elements: phone numbers on the page. Null if not reported; 0 if there are none.
  "phones_count" bigint,
  -- Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.
  "extra" jsonb
) as
 WITH past AS (
         SELECT DISTINCT ON (each.page_key, each.changed_at) each.page_key,
            each.changed_at,
            each.before
           FROM ( SELECT web_page_changes.page_key,
                    web_page_changes.changed_at,
                    web_page_changes._answer_id,
                    jsonb_object_agg(web_page_changes.attribute, web_page_changes.from_value) OVER (PARTITION BY web_page_changes.page_key ORDER BY web_page_changes.changed_at DESC, web_page_changes._answer_id DESC) AS before
                   FROM web_page_changes) each
          ORDER BY each.page_key, each.changed_at, each._answer_id
        )
 SELECT b.page_key,
    GREATEST(lag(b.changed_at) OVER (PARTITION BY b.page_key ORDER BY b.changed_at),
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END) AS valid_from,
    b.changed_at AS valid_to,
    false AS is_current,
        CASE
            WHEN b.before ? 'requested_url'::text THEN b.before ->> 'requested_url'::text
            ELSE t.requested_url
        END AS requested_url,
        CASE
            WHEN b.before ? 'options'::text THEN (b.before ->> 'options'::text)::jsonb
            ELSE t.options
        END AS options,
        CASE
            WHEN b.before ? 'cleaned_html'::text THEN b.before ->> 'cleaned_html'::text
            ELSE encode(sha256(convert_to(t.cleaned_html, 'UTF8'::name)), 'hex'::text)
        END AS cleaned_html_sha256,
        CASE
            WHEN b.before ? 'url'::text THEN b.before ->> 'url'::text
            ELSE t.url
        END AS url,
        CASE
            WHEN b.before ? 'title'::text THEN b.before ->> 'title'::text
            ELSE t.title
        END AS title,
        CASE
            WHEN b.before ? 'meta_description'::text THEN b.before ->> 'meta_description'::text
            ELSE t.meta_description
        END AS meta_description,
        CASE
            WHEN b.before ? 'metadata'::text THEN (b.before ->> 'metadata'::text)::jsonb
            ELSE t.metadata
        END AS metadata,
        CASE
            WHEN b.before ? 'links_count'::text THEN (b.before ->> 'links_count'::text)::bigint
            ELSE t.links_count
        END AS links_count,
        CASE
            WHEN b.before ? 'emails_count'::text THEN (b.before ->> 'emails_count'::text)::bigint
            ELSE t.emails_count
        END AS emails_count,
        CASE
            WHEN b.before ? 'phones_count'::text THEN (b.before ->> 'phones_count'::text)::bigint
            ELSE t.phones_count
        END AS phones_count,
        CASE
            WHEN b.before ? 'extra'::text THEN (b.before ->> 'extra'::text)::jsonb
            ELSE t.extra
        END AS extra
   FROM past b
     LEFT JOIN web_pages t ON b.page_key = t.page_key
  WHERE b.changed_at >
        CASE
            WHEN b.before ? '_first_seen_at'::text THEN (b.before ->> '_first_seen_at'::text)::timestamp with time zone
            ELSE t._first_seen_at
        END
UNION ALL
 SELECT t.page_key,
    GREATEST(t._first_seen_at, l.changed_at) AS valid_from,
    NULL::timestamp with time zone AS valid_to,
    true AS is_current,
    t.requested_url,
    t.options,
    encode(sha256(convert_to(t.cleaned_html, 'UTF8'::name)), 'hex'::text) AS cleaned_html_sha256,
    t.url,
    t.title,
    t.meta_description,
    t.metadata,
    t.links_count,
    t.emails_count,
    t.phones_count,
    t.extra
   FROM web_pages t
     LEFT JOIN ( SELECT web_page_changes.page_key,
            max(web_page_changes.changed_at) AS changed_at
           FROM web_page_changes
          GROUP BY web_page_changes.page_key) l ON l.page_key = t.page_key;

-- When each row of web_pages was last seen in an answer, and since when it is missing: one row per page.
create view sluice."web_pages_presence" (
  -- SHA-256, in hex, of the requested address and the content options. Personal data.
  "page_key" text,
  -- Receipt of the first answer that contained it.
  "_first_seen_at" timestamp with time zone,
  -- Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.
  "_last_seen_at" timestamp with time zone,
  -- Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.
  "_missing_since" timestamp with time zone
) as
 WITH seen AS (
         SELECT SUBSTRING(c.keys FROM 8 * i.i + 1 FOR 8) AS key,
            q.received_at AS seen_at,
            NULL::timestamp with time zone AS gone_at,
            q.was_complete AS is_held
           FROM question_contents q
             CROSS JOIN LATERAL ( SELECT q.keys || '\x'::bytea AS keys
                 OFFSET 0) c
             CROSS JOIN LATERAL generate_series(0, octet_length(c.keys) / 8 - 1) i(i)
          WHERE q.endpoint = 'webparser.parse'::text
        UNION ALL
         SELECT l.key,
            l.last_seen_at,
            l.gone_at,
            l.gone_answer_id IS NULL AND q.was_complete
           FROM left_entities l
             JOIN question_contents q ON q.request_key = l.request_key
          WHERE q.endpoint = 'webparser.parse'::text
        ), entity AS (
         SELECT s.key,
            max(s.seen_at) AS seen_at,
            max(s.gone_at) AS gone_at,
            bool_or(s.is_held) AS is_held
           FROM seen s
          GROUP BY s.key
        )
 SELECT t.page_key,
    t._first_seen_at,
    GREATEST(t._changed_at, item.seen_at) AS _last_seen_at,
        CASE
            WHEN NOT COALESCE(item.is_held, false) AND item.gone_at > GREATEST(item.seen_at) THEN GREATEST(item.gone_at)
            ELSE NULL::timestamp with time zone
        END AS _missing_since
   FROM web_pages t
     LEFT JOIN entity item ON item.key = SUBSTRING(sha256(convert_to('web_pages/'::text || t.page_key, 'UTF8'::name)) FROM 1 FOR 8);

-- Alerts and their deliveries: one row per sync and kind that was ever raised.
create table sluice_ops."alerts" (
  -- Name of the sync in the config; `(all)` for an alert about all syncs, and the limit in brackets for one about a budget.
  "sync" text not null,
  -- Kind of the alert. One of failed, partial, out_of_points, forecast, quarantine, budget, check, contract, price, access, counts.
  "kind" text not null,
  -- State of the alert. One of raised, cleared.
  "state" text not null,
  -- Time of the last change of state.
  "since" timestamp with time zone not null,
  -- Reason for the state.
  "because" text not null,
  -- Next step for the user; null if there is none.
  "next" text,
  -- Last run that showed the condition; null if none did.
  "run_id" text,
  -- Start of the last delivery by any process; other processes then wait a minute. Null before the first.
  "tried_at" timestamp with time zone,
  -- Time of the delivery to the webhook, or of the decision that none is needed; null while it is pending.
  "webhook_at" timestamp with time zone,
  -- The same for the command.
  "command_at" timestamp with time zone,
  -- Path of the config whose run last showed the condition; null before this was recorded.
  "config" text,
  constraint "alerts_pkey" primary key ("sync", "kind")
);

-- Answer store: one row per paid answer, as received. Ids increase in the order of storing.
create table sluice_ops."answers" (
  -- Id of the answer; analyst tables refer to it as _answer_id.
  "id" bigint generated always as identity not null,
  -- Request that returned the answer.
  "request_id" bigint not null,
  -- Run that sent the request.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256 of the endpoint and the canonical body, in hex.
  "request_key" text not null,
  -- Receipt of its last byte. All times of its content in other tables are this time.
  "received_at" timestamp with time zone not null,
  -- Time from sending to the last byte, in milliseconds.
  "took_ms" bigint not null,
  -- HTTP status of the answer.
  "status" bigint not null,
  -- Response headers by lower-case name, without cookies.
  "headers" jsonb not null,
  -- Body, compressed as encoding says; null if it was pruned or erased.
  "body" bytea storage external,
  -- Compression of the stored body: identity or the name of the compression.
  "encoding" text not null,
  -- SHA-256 of the body before compression, in hex; it stays after pruning.
  "sha256" text not null,
  -- Size of the body before compression, in bytes.
  "bytes" bigint not null,
  -- Limit of items in the request; null if it has no limit.
  "asked" bigint,
  -- Number of items: the sum of the next counts except changed; null until loaded.
  "received" bigint,
  -- Number of items that created or changed rows; null until loaded.
  "loaded" bigint,
  -- Number of items equal to their stored rows; null until loaded.
  "unchanged" bigint,
  -- Number of items that a later item or a newer answer replaces; null until loaded.
  "superseded" bigint,
  -- Number of items that could not be loaded; null until loaded.
  "quarantined" bigint,
  -- Last load of its rows; null while it waits.
  "loaded_at" timestamp with time zone,
  -- Deletion of its body and its headers except x-request-id, for their age; null while kept.
  "pruned_at" timestamp with time zone,
  -- Last removal of a forgotten entity from its body, which updates size and digest; null if none.
  "redacted_at" timestamp with time zone,
  -- Number of loaded items that changed existing rows; null if not counted.
  "changed" bigint,
  -- Whether the loaded answer is unreadable and completely in quarantine, so that it serves no request.
  "unreadable" boolean default false not null,
  constraint "answers_pkey" primary key ("id")
);
create index "answers_request_id_idx" on sluice_ops."answers" using btree (request_id);
create index "answers_request_key_received_at_idx" on sluice_ops."answers" using btree (request_key, received_at);
create index "answers_sync_received_at_endpoint_took_ms_idx" on sluice_ops."answers" using btree (sync, received_at, endpoint, took_ms);
create index "answers_unreadable_idx" on sluice_ops."answers" using btree (request_key, received_at) where unreadable;
create index "answers_waiting_idx" on sluice_ops."answers" using btree (id) where loaded_at IS NULL;

-- Balances by the request log, as a run with a limit in points last read them: one row per token.
create table sluice_ops."balances" (
  -- Digest of the service and the token.
  "token_digest" text not null,
  -- Points left, minus those charged for later rows without a balance.
  "points" numeric not null,
  -- Start of the logged request that reports the balance, by the clock of the service.
  "logged_at" timestamp with time zone not null,
  -- Time of the read of the log.
  "read_at" timestamp with time zone not null,
  -- Identifier of the token in the log; null until a row certainly belongs to a request of this warehouse.
  "token_id" uuid,
  constraint "balances_pkey" primary key ("token_digest")
);

-- Columns that a migration added to, or removed from, a table with rows. The next load fills them and deletes the record.
create table sluice_ops."changed_columns" (
  -- Name of the table in the analyst schema.
  "table_name" text not null,
  -- Name of the column.
  "column_name" text not null,
  constraint "changed_columns_pkey" primary key ("table_name", "column_name")
);

-- Results of checks: one row per run and check. A continued run replaces its results.
create table sluice_ops."checks" (
  -- Run after which the check ran.
  "run_id" bigint not null,
  -- Name of the check in its sync.
  "name" text not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Kind of the check. One of sql, rows, fresh, complete, nulls, cost.
  "kind" text not null,
  -- Severity of the check. One of error, warn.
  "severity" text not null,
  -- Result of the check. One of pass, fail, error, skipped.
  "status" text not null,
  -- Number that the check found; null if it found none.
  "found" numeric,
  -- Description of what is allowed.
  "allowed" text not null,
  -- Description of what was found, or the reason why the check could not run.
  "message" text not null,
  -- Time of the result.
  "at" timestamp with time zone not null,
  constraint "checks_pkey" primary key ("run_id", "name"),
  constraint "checks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
);
create index "checks_sync_name_run_id_idx" on sluice_ops."checks" using btree (sync, name, run_id);

-- Chunks of runs that several workers share: one row per chunk.
create table sluice_ops."chunks" (
  -- Id of the run.
  "run_id" bigint not null,
  -- Index of the chunk in the run, from 0.
  "number" bigint not null,
  -- State of the chunk; the chunk that ended the run is concluded. One of open, ended, concluded.
  "state" text not null,
  -- Number of requests in its initial plan.
  "requests" bigint not null,
  -- Exit code of the error that stopped it; null if none did.
  "exit_code" bigint,
  -- Error that stopped it; null if none did.
  "error" text,
  -- Next step for the user; null if there is none.
  "next" text,
  -- End of the chunk; null while it is open.
  "ended_at" timestamp with time zone,
  -- Spools of the processes that executed it: id, host and folder of each. A spool keeps answers that the database did not accept. Null if there are none.
  "spools" jsonb,
  constraint "chunks_pkey" primary key ("run_id", "number"),
  constraint "chunks_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete cascade
);

-- Coverage of requested slices: one row per answer to a slice, with whether it is complete.
create table sluice_ops."coverage" (
  -- Id of the slice.
  "id" bigint generated always as identity not null,
  -- Request for the slice.
  "request_id" bigint not null,
  -- Run that requested the slice.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256 of the endpoint and the canonical body, in hex.
  "request_key" text not null,
  -- Request fields that define the slice.
  "filters" jsonb not null,
  -- Limit of items in the request; null if it has no limit.
  "asked" bigint,
  -- Number of returned items.
  "returned" bigint not null,
  -- Number of splits that led to this slice; 0 if it was not split.
  "depth" bigint not null,
  -- Whether the answer contains all items; false if it is a lower bound.
  "complete" boolean not null,
  -- Reason why it is a lower bound; null if it is not.
  "reason" text,
  -- Receipt of the answer.
  "as_of" timestamp with time zone not null,
  -- Whether the answer was unreadable, so that the content of the slice is unknown.
  "unreadable" boolean default false not null,
  -- True if the sync, as its newest run defines it, no longer requests the slice; else null.
  "former" boolean,
  constraint "coverage_pkey" primary key ("id")
);
create index "coverage_bounds_idx" on sluice_ops."coverage" using btree (sync) where reason IS NOT NULL;
create index "coverage_question_idx" on sluice_ops."coverage" using btree (sync, jsonb_hash(filters - 'date_from'::text - 'date_to'::text), jsonb_hash(filters));
create index "coverage_request_id_idx" on sluice_ops."coverage" using btree (request_id);
create index "coverage_run_id_idx" on sluice_ops."coverage" using btree (run_id);
create index "coverage_sync_as_of_idx" on sluice_ops."coverage" using btree (sync, as_of);
create index "coverage_sync_request_key_id_idx" on sluice_ops."coverage" using btree (sync, request_key, id);
create index "coverage_unreadable_idx" on sluice_ops."coverage" using btree (request_key) where unreadable;

-- Differences between answers and the contract: one row per difference, with its count.
create table sluice_ops."drift" (
  -- Name of the resource in the contract.
  "resource" text not null,
  -- Field names joined by dots, without list positions.
  "path" text not null,
  -- Kind of difference: unknown field, missing, wrong type or other @type.
  "kind" text not null,
  -- Number of occurrences.
  "count" bigint not null,
  -- Receipt of the first answer with the difference.
  "first_seen_at" timestamp with time zone not null,
  -- Receipt of the last answer with the difference.
  "last_seen_at" timestamp with time zone not null,
  -- Example of a JSON type that was found; never a value.
  "sample_type" text not null,
  -- Number of answers with the difference; null if none was received since answers are counted.
  "answers" bigint,
  constraint "drift_pkey" primary key ("resource", "path", "kind")
);

-- Random salt of the digests of forgotten keys and names: one row, created with the first erasure.
create table sluice_ops."erasure_salts" (
  -- Always 1.
  "id" bigint not null,
  -- Salt of the digests.
  "salt" bytea not null,
  constraint "erasure_salts_pkey" primary key ("id")
);

-- Receipts of erasures, without the erased data: one row per erasure.
create table sluice_ops."erasures" (
  -- Id of the receipt.
  "id" bigint generated always as identity not null,
  -- Table of the erased row.
  "table_name" text not null,
  -- Salted digest of table and key.
  "digest" text not null,
  -- Time of the erasure.
  "erased_at" timestamp with time zone not null,
  -- Numbers of deleted or changed rows, by table.
  "row_counts" jsonb not null,
  -- Number of stored answers from which the entity was removed.
  "answers" bigint not null,
  -- Number of these answers whose complete body was erased, because it could not be read.
  "bodies" bigint not null,
  -- Number of ledger requests for the entity, which now contain a pseudonym instead.
  "requests" bigint not null,
  -- Number of spooled answers from which the entity was removed; null until that is done.
  "spooled" bigint,
  -- Whether later answers may load the entity again.
  "comes_again" boolean not null,
  constraint "erasures_pkey" primary key ("id")
);
create index "erasures_digest_idx" on sluice_ops."erasures" using btree (digest);

-- Forecasts of spending: one row per forecast, sync and day. The last forecast of a UTC day replaces earlier ones.
create table sluice_ops."forecast_days" (
  -- UTC day on which the forecast was made.
  "made_on" date not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- UTC day that the figures are for.
  "date" date not null,
  -- Points at the lower end of the range.
  "low" numeric not null,
  -- Likely points.
  "likely" numeric not null,
  -- Points at the upper end of the range.
  "high" numeric not null,
  constraint "forecast_days_pkey" primary key ("made_on", "sync", "date")
);

-- Entities that later answers must not load again, as salted digests: one row per key or name.
create table sluice_ops."forgotten" (
  -- Salted digest of a key or a name.
  "digest" text not null,
  -- Erasure to which the digest belongs.
  "erasure_id" bigint not null,
  constraint "forgotten_pkey" primary key ("digest", "erasure_id"),
  constraint "forgotten_erasure_id_fkey" foreign key ("erasure_id") references "erasures" ("id") on delete cascade
);
create index "forgotten_erasure_id_idx" on sluice_ops."forgotten" using btree (erasure_id);

-- Names of entities in answers: ids, aliases, addresses and URNs, one row per name and entity.
create table sluice_ops."identities" (
  -- Name of the resource in the contract.
  "resource" text not null,
  -- Kind of the name. One of id, alias, url, urn.
  "kind" text not null,
  -- Name as requests contain it.
  "name" text not null,
  -- Primary key of the entity: its parts as a JSON array.
  "entity" text not null,
  -- Receipt of the first answer that showed the entity with this name.
  "first_seen_at" timestamp with time zone not null,
  -- Receipt of the last answer that showed the entity with this name.
  "last_seen_at" timestamp with time zone not null,
  -- Id of that last answer.
  "answer_id" bigint not null,
  -- Whether a request by this name returned the entity; false if other answers only mention it.
  "asked" boolean not null,
  constraint "identities_pkey" primary key ("resource", "kind", "name", "entity")
);
create index "identities_resource_entity_kind_idx" on sluice_ops."identities" using btree (resource, entity, kind);

-- Leases: one row per name, with at most one holder until it expires.
create table sluice_ops."leases" (
  -- Name of the lease: what it protects.
  "name" text not null,
  -- Process that holds the lease: host, process id and a random part.
  "holder" text not null,
  -- Fencing token, which increases with each new holder. A write with an older token is refused.
  "token" bigint not null,
  -- Time at which the holder got the lease.
  "acquired_at" timestamp with time zone not null,
  -- Time until which the lease is held unless it is renewed.
  "expires_at" timestamp with time zone not null,
  constraint "leases_pkey" primary key ("name")
);

-- Entities that an answer to a question contained, and its newest answer does not: one row per question and entity.
create table sluice_ops."left_entities" (
  -- SHA-256 of the endpoint and the canonical body, in hex; names the question.
  "request_key" text not null,
  -- Hash of the entity.
  "key" bytea not null,
  -- Newest answer to the question that contained the entity.
  "last_answer_id" bigint not null,
  -- Receipt of this answer.
  "last_seen_at" timestamp with time zone not null,
  -- First complete answer to the question after it; null if there is none, so that nothing is known.
  "gone_answer_id" bigint,
  -- Receipt of this complete answer; null if there is none, or if the requested alias or URL may have moved to the entity in it.
  "gone_at" timestamp with time zone,
  constraint "left_entities_pkey" primary key ("request_key", "key")
);

-- Rate limit of requests with a token, across all processes: one row per token.
create table sluice_ops."limiter_paces" (
  -- Digest of the service and the token.
  "token_digest" text not null,
  -- Earliest start of the next request.
  "next_at" timestamp with time zone not null,
  -- Time at which a process last found too few slots; null if that never happened.
  "wanted_at" timestamp with time zone,
  -- Process that last found too few slots; null if none did.
  "wanted_by" text,
  constraint "limiter_paces_pkey" primary key ("token_digest")
);

-- Slots of the limiter for concurrent requests with a token, across all processes: one row per slot.
create table sluice_ops."limiter_slots" (
  -- Digest of the service and the token.
  "token_digest" text not null,
  -- Number of the slot, from 1.
  "number" bigint not null,
  -- Process that holds the slot, or held it last.
  "holder" text not null,
  -- Time until which the slot is taken unless it is renewed; in the past if the slot is free.
  "expires_at" timestamp with time zone not null,
  constraint "limiter_slots_pkey" primary key ("token_digest", "number")
);

-- Attempts whose answers were lost, with their outcome by the request log: one row per attempt.
create table sluice_ops."lost_answers" (
  -- Id of the request.
  "request_id" bigint not null,
  -- Number of the attempt, from 1.
  "attempt" bigint not null,
  -- Run that made the attempt.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- Time of sending.
  "sent_at" timestamp with time zone not null,
  -- Time at which the loss was noticed.
  "noticed_at" timestamp with time zone not null,
  -- Reason for the loss of the answer.
  "reason" text not null,
  -- Outcome by the log; null until it was looked up. One of paid_and_lost, not_charged, not_sent, unknown.
  "verdict" text,
  -- Row of the log that shows the attempt; null if there is none.
  "log_id" uuid,
  -- Points charged for the attempt by the log; null until known.
  "points" numeric,
  -- Time at which the outcome was found; null until then.
  "settled_at" timestamp with time zone,
  -- Number of failed invocations that the attempt counts for: 1 for the last attempt of an invocation, 3 for an answer above the size limit, otherwise 0. --refresh resets it to 0.
  "lost_invocations" bigint default 0 not null,
  constraint "lost_answers_pkey" primary key ("request_id", "attempt"),
  constraint "lost_answers_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "lost_answers_run_id_idx" on sluice_ops."lost_answers" using btree (run_id);
create index "lost_answers_sync_noticed_at_idx" on sluice_ops."lost_answers" using btree (sync, noticed_at);

-- Watermarks: how far each sync has read, one row per sync and watermark.
create table sluice_ops."marks" (
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the watermark.
  "name" text not null,
  -- Value of the watermark: a day or an instant, in the notation of the sync.
  "value" text not null,
  -- Time of the last change.
  "updated_at" timestamp with time zone not null,
  constraint "marks_pkey" primary key ("sync", "name")
);

-- Key of the hashes in the masked views: one row, written by sluice grants --without-personal.
create table sluice_ops."masking_keys" (
  -- Always 1.
  "id" bigint not null,
  -- Digest of the masking key.
  "key" bytea not null,
  constraint "masking_keys_pkey" primary key ("id")
);

-- Quarantine of items and answers that could not be loaded: one row per item or complete answer.
create table sluice_ops."quarantine" (
  -- Id of the entry.
  "id" bigint generated always as identity not null,
  -- Answer that contains it.
  "answer_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- Name of the expected resource in the contract.
  "resource" text not null,
  -- Index in the answer, from 0; null if the complete answer is rejected.
  "position" bigint,
  -- RFC 6901 pointer into the answer.
  "pointer" text not null,
  -- Reason why it could not be loaded.
  "reason" text not null,
  -- Creation of the entry.
  "created_at" timestamp with time zone not null,
  -- Time at which a later load accepted it or a later answer replaced it; null while it is open.
  "resolved_at" timestamp with time zone,
  constraint "quarantine_pkey" primary key ("id"),
  constraint "quarantine_answer_id_fkey" foreign key ("answer_id") references "answers" ("id") on delete cascade
);
create unique index "quarantine_answer_id_position_idx" on sluice_ops."quarantine" using btree (answer_id, COALESCE("position", '-1'::integer::bigint));
create index "quarantine_open_idx" on sluice_ops."quarantine" using btree (id) where resolved_at IS NULL;

-- Entities in the newest loaded answer to each question: one row per question, without those of the request log.
create table sluice_ops."question_contents" (
  -- SHA-256 of the endpoint and the canonical body, in hex; names the question.
  "request_key" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- Newest loaded and readable answer.
  "answer_id" bigint not null,
  -- Receipt of this answer.
  "received_at" timestamp with time zone not null,
  -- Whether this answer contains all items.
  "is_complete" boolean not null,
  -- Whether any answer to the question contained all items.
  "was_complete" boolean not null,
  -- Hashes of the entities in this answer, of 8 bytes each, in ascending order.
  "keys" bytea not null,
  constraint "question_contents_pkey" primary key ("request_key")
);

-- Schemas that sluice replay --rebuild created to work in: one row per rebuild that is in progress or was killed.
create table sluice_ops."rebuilds" (
  -- Random id of the rebuild, which the comment on its schema contains.
  "id" text not null,
  -- Name of the created schema.
  "schema_name" text not null,
  -- Creation of the schema.
  "started_at" timestamp with time zone not null,
  constraint "rebuilds_pkey" primary key ("id")
);

-- Matches between requests of the ledger and rows of the service’s request log: one row per match.
create table sluice_ops."request_cost_matches" (
  -- Id of the request in the ledger.
  "request_id" bigint not null,
  -- Row of the log: fact_request_costs.id.
  "log_id" uuid not null,
  -- Kind of match: the identifier that was sent, the only candidate, the order in time among equally many rows and requests, or one of several candidates. One of identifier, only_candidate, in_order, ambiguous.
  "match_kind" text not null,
  -- Time of the match.
  "matched_at" timestamp with time zone not null,
  constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
  constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "request_cost_matches_log_id_request_id_match_kind_idx" on sluice_ops."request_cost_matches" using btree (log_id, request_id, match_kind);

-- Ledger of requests: one row per request of a run, committed before the request is sent.
create table sluice_ops."requests" (
  -- Id of the request.
  "id" bigint generated always as identity not null,
  -- Run that planned the request.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256 of the endpoint and the canonical body, in hex.
  "request_key" text not null,
  -- Canonical body: with defaults and without the timeout.
  "body" jsonb not null,
  -- Body as sent; null until it is sent.
  "sent_body" jsonb,
  -- Request fields from the input of the sync; {} without for_each.
  "input" jsonb not null,
  -- Number of splits that led to this slice; 0 if it was not split.
  "depth" bigint default 0 not null,
  -- Request that led to this one by paging or splitting; null if planned.
  "parent_id" bigint,
  -- State of the request. One of planned, fresh, sent, stored, loaded, quarantined, empty, missing, failed, in_doubt, skipped, abandoned.
  "state" text not null,
  -- Number of attempts that were sent.
  "attempts" bigint default 0 not null,
  -- Points counted for its attempts: the maximum until their results are known, then their cost by the prices known at that time. The column charged has the true cost. Null if it was never sent.
  "points" numeric,
  -- Identifier that every attempt sends, to find it in the service’s log.
  "x_request_id" uuid,
  -- Time at which it entered the plan.
  "planned_at" timestamp with time zone not null,
  -- Time of its last attempt; null if it was never sent.
  "sent_at" timestamp with time zone,
  -- Time at which its state became final; null until then.
  "finished_at" timestamp with time zone,
  -- Stored answer; for a fresh request, the one that serves it; null if none.
  "answer_id" bigint,
  -- HTTP status of the last answer; null without one.
  "status" bigint,
  -- Kind of failure, for counting; null if it did not fail.
  "failure_class" text,
  -- Description of the error; null if there was none.
  "error" text,
  -- Next step for the user; null if there is none.
  "next" text,
  -- Points charged for its rows in the request log; null until known.
  "charged" numeric,
  -- Chunk of a shared run to which it belongs; null in a run of a single process.
  "chunk" bigint,
  -- Attempts that were answered with an error before the last one: sent_at, answered_at, status and x_request_id of the answer, and the charge of all attempts so far; null without any.
  "failed_attempts" jsonb,
  constraint "requests_pkey" primary key ("id"),
  constraint "requests_run_id_request_key_key" unique ("run_id", "request_key"),
  constraint "requests_parent_id_fkey" foreign key ("parent_id") references "requests" ("id") on delete set null,
  constraint "requests_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete no action
);
create index "requests_parent_id_idx" on sluice_ops."requests" using btree (parent_id);
create index "requests_request_key_sync_id_idx" on sluice_ops."requests" using btree (request_key, sync, id);
create index "requests_run_id_chunk_id_idx" on sluice_ops."requests" using btree (run_id, chunk, id) where chunk IS NOT NULL;
create index "requests_run_id_id_idx" on sluice_ops."requests" using btree (run_id, id);
create index "requests_sent_at_idx" on sluice_ops."requests" using brin (sent_at);

-- Runs of syncs: one row per run.
create table sluice_ops."runs" (
  -- Id of the run.
  "id" bigint generated always as identity not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- Digest of the settings that affect the sync’s requests. Only the same definition continues a run.
  "definition_hash" text not null,
  -- State of the run. One of running, complete, partial, out_of_points, failed, interrupted, abandoned.
  "state" text not null,
  -- Exit code of the run; null while it runs.
  "exit_code" bigint,
  -- UTC day that the plan uses as today, fixed at the start of the run.
  "today" date not null,
  -- Start of the run.
  "started_at" timestamp with time zone not null,
  -- End of the run; null while it runs or if its process was killed.
  "ended_at" timestamp with time zone,
  -- Process that executes the run: host, process id and a random part.
  "holder" text,
  -- Number of planned requests, including those that paging and splitting added.
  "planned" bigint default 0 not null,
  -- Number of requests that a stored answer served without sending.
  "fresh" bigint default 0 not null,
  -- Number of requests sent, each counted once, even with several attempts.
  "asked" bigint default 0 not null,
  -- Number of stored answers.
  "stored" bigint default 0 not null,
  -- Number of items in the loaded answers: the sum of the next counts except changed.
  "received" bigint default 0 not null,
  -- Number of items that created or changed rows.
  "loaded" bigint default 0 not null,
  -- Number of items equal to their stored rows.
  "unchanged" bigint default 0 not null,
  -- Number of items that a later item or a newer loaded answer replaces.
  "superseded" bigint default 0 not null,
  -- Number of items that could not be loaded and are in quarantine.
  "quarantined" bigint default 0 not null,
  -- Number of requests that ended without a usable answer.
  "failed" bigint default 0 not null,
  -- Number of requests for an entity that the service does not know.
  "missing" bigint default 0 not null,
  -- Number of full slices that could not be split further, so more items may exist.
  "truncated" bigint default 0 not null,
  -- Points spent: as charged by the service if known, otherwise by the price list.
  "points" numeric,
  -- Reason why the run ended early; null if it did not.
  "error" text,
  -- Quote of the plan in points, made before the first request, and how many inputs stored answers covered; null without one.
  "quote" jsonb,
  -- Number of loaded items that changed existing rows; null if not counted.
  "changed" bigint,
  -- Number of requests with an unreadable answer, including those that are no longer sent.
  "unreadable" bigint default 0 not null,
  -- Spools of the processes that executed it: id, host and folder of each. A spool keeps answers that the database did not accept. Null if there are none.
  "spools" jsonb,
  -- Part of the sync that the run requested: failed for what failed before, limited for a sample, range for given days; null for all of it.
  "scope" text,
  -- Tags of the sync when the run was last started; null without any.
  "tags" jsonb,
  constraint "runs_pkey" primary key ("id")
);
create index "runs_sync_started_at_idx" on sluice_ops."runs" using btree (sync, started_at);

-- Points that count against limits that several processes share: one row per limit.
create table sluice_ops."spending" (
  -- Name of the limit: a day or a month, with the tag of the syncs that count if there is one; or a balance without the points to keep.
  "name" text not null,
  -- Points spent or reserved.
  "points" numeric not null,
  -- Time of the last change.
  "updated_at" timestamp with time zone not null,
  constraint "spending_pkey" primary key ("name")
);
