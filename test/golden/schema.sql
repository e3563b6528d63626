-- What each request to the service cost: one row for each request that the service logged.
create table sluice."fact_request_costs" (
  -- Identifier of the logged request.
  "id" uuid not null,
  -- Price of the request, in points.
  "cost" bigint,
  -- Whether the points were charged.
  "is_paid" boolean,
  -- Path of the endpoint asked.
  "endpoint" text,
  -- Plan of the token at the time.
  "plan" text,
  -- When the request started.
  "started_at" timestamp with time zone,
  -- Points left after the request.
  "points_left" bigint,
  -- Identifier of the token.
  "token_id" uuid,
  -- Time the request took, in seconds.
  "duration" double precision,
  -- HTTP status of the answer.
  "response_status_code" bigint,
  -- Error text of the answer.
  "response_error_text" text,
  -- Items in the answer.
  "response_count" bigint,
  -- Time the extraction took, in seconds.
  "response_execution_time" double precision,
  -- Request identifier that the service kept.
  "response_request_id" text,
  -- Longest time allowed for the request, in seconds.
  "timeout" bigint,
  -- Whether the token had expired.
  "is_token_expired" boolean,
  -- Whether the points had run out.
  "is_points_run_out" boolean,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "fact_request_costs_pkey" primary key ("id")
);
create index "fact_request_costs_response_request_id_idx" on sluice."fact_request_costs" using spgist (response_request_id);
create index "fact_request_costs_started_at_idx" on sluice."fact_request_costs" using btree (started_at);

-- Profiles that the description mentions, as sent. One row an element.
create table sluice."microblog_user_mentions" (
  -- Key of the user.
  "user_rest_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "microblog_user_mentions_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_mentions_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Categories of the professional account, as sent. One row an element.
create table sluice."microblog_user_professional_categories" (
  -- Key of the user.
  "user_rest_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "microblog_user_professional_categories_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_professional_categories_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Addresses on the profile, as sent. One row an element.
create table sluice."microblog_user_profile_urls" (
  -- Key of the user.
  "user_rest_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "microblog_user_profile_urls_pkey" primary key ("user_rest_id", "position"),
  constraint "microblog_user_profile_urls_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
);

-- Profiles of the microblogging network.
create table sluice."microblog_users" (
  -- The network’s internal identifier.
  "internal_id" text,
  -- Identifier of the profile.
  "rest_id" text not null,
  -- Name as shown.
  "name" text,
  -- Handle; changes hands, so it identifies nobody.
  "alias" text,
  -- Address of the profile.
  "url" text,
  -- What the profile says of itself.
  "description" text,
  -- Place as written on the profile.
  "location" text,
  -- Followers.
  "follower_count" bigint,
  -- Profiles followed.
  "following_count" bigint,
  -- Messages published.
  "tweet_count" bigint,
  -- Lists that hold the profile.
  "listed_count" bigint,
  -- Messages marked as favorites.
  "favorites_count" bigint,
  -- Messages with a picture or a video.
  "media_count" bigint,
  -- Address of the portrait.
  "image" text,
  -- Address of the banner.
  "banner_url" text,
  -- Whether the network vouches for the profile.
  "verified" boolean,
  -- Kind of verification, such as business.
  "verified_type" text,
  -- Whether the profile has the paid check mark.
  "is_blue_verified" boolean,
  -- When the profile was opened.
  "created_at" timestamp with time zone,
  -- When the profile was opened. As sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Identifier of the professional account.
  "professional_rest_id" text,
  -- Type of professional account, such as creator.
  "professional_professional_type" text,
  -- Number of elements: categories of the professional account, as sent. Null is not told, 0 is none.
  "professional_categories_count" bigint,
  -- Whether the identity was verified.
  "verification_info_is_identity_verified" boolean,
  -- Since when, as written.
  "verification_info_verified_since" text,
  -- Why the profile is verified, as written.
  "verification_info_reason_description" text,
  -- Number of elements: addresses on the profile, as sent. Null is not told, 0 is none.
  "profile_urls_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null is not told, 0 is none.
  "mentions_count" bigint,
  -- Day of the month.
  "birthdate_day" bigint,
  -- Month of the year.
  "birthdate_month" bigint,
  -- Year.
  "birthdate_year" bigint,
  -- Who may see day and month.
  "birthdate_visibility" text,
  -- Who may see the year.
  "birthdate_year_visibility" text,
  -- Birthdate as an epoch, as sent.
  "birthdate_timestamp" bigint,
  -- Whether the description can be translated.
  "is_profile_translatable" boolean,
  -- Whether subscriptions are hidden.
  "has_hidden_subscriptions" boolean,
  -- Whether messages can be highlighted.
  "can_highlight_tweets" boolean,
  -- Whether a premium account can be given to the profile.
  "premium_gifting_eligible" boolean,
  -- Highlighted messages.
  "highlighted_tweets_count" bigint,
  -- Seed messages.
  "user_seed_tweet_count" bigint,
  -- Creators subscribed to.
  "creator_subscriptions_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "microblog_users_pkey" primary key ("rest_id")
);
create index "microblog_users_alias_idx" on sluice."microblog_users" using spgist (alias);

-- Pictures and videos of the post, as sent. One row an element.
create table sluice."photoshare_post_media" (
  -- Key of the post.
  "post_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_post_media_pkey" primary key ("post_id", "position"),
  constraint "photoshare_post_media_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);

-- Posts of the photo-sharing network.
create table sluice."photoshare_posts" (
  -- Identifier of the post.
  "id" text not null,
  -- Short code in the post’s address; not unique over time.
  "code" text,
  -- Address of the post.
  "url" text,
  -- Address of the cover picture; signed and short-lived.
  "image" text,
  -- Caption.
  "text" text,
  -- When the post was published.
  "created_at" timestamp with time zone,
  -- When the post was published. As sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Likes; negative when hidden.
  "like_count" bigint,
  -- Comments; negative when hidden.
  "comment_count" bigint,
  -- Times the post was passed on.
  "reshare_count" bigint,
  -- Views of a video.
  "view_count" bigint,
  -- Identifier of the profile.
  "user_id" text,
  -- Name as shown.
  "user_name" text,
  -- Handle.
  "user_alias" text,
  -- Address of the profile.
  "user_url" text,
  -- Address of the portrait; signed and short-lived.
  "user_image" text,
  -- Whether the network vouches for the profile.
  "user_is_verified" boolean,
  -- Whether only approved followers see the posts.
  "user_is_private" boolean,
  -- Type of post, such as photo or video.
  "type" text,
  -- Number of elements: pictures and videos of the post, as sent. Null is not told, 0 is none.
  "media_count" bigint,
  -- Pictures and videos of a post that holds several.
  "carousel_media_count" bigint,
  -- Whether the post is marked as paid.
  "is_paid_partnership" boolean,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "photoshare_posts_pkey" primary key ("id"),
  constraint "photoshare_posts_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete set null
);
create index "photoshare_posts_code_idx" on sluice."photoshare_posts" using spgist (code);
create index "photoshare_posts_created_at_idx" on sluice."photoshare_posts" using btree (created_at);
create index "photoshare_posts_user_id_idx" on sluice."photoshare_posts" using btree (user_id);

-- Hashtags in the description, as sent. One row an element.
create table sluice."photoshare_user_hashtags" (
  -- Key of the user.
  "user_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_user_hashtags_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_hashtags_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Links on the profile, as sent. One row an element.
create table sluice."photoshare_user_links" (
  -- Key of the user.
  "user_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_user_links_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_links_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Profiles that the description mentions, as sent. One row an element.
create table sluice."photoshare_user_mentions" (
  -- Key of the user.
  "user_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_user_mentions_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_mentions_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Channels pinned to the profile, as sent. One row an element.
create table sluice."photoshare_user_pinned_channels" (
  -- Key of the user.
  "user_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_user_pinned_channels_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_pinned_channels_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Which profile, as asked, gave which post.
create table sluice."photoshare_user_posts" (
  -- The profile as it was asked for: an identifier, an alias or an address.
  "user_asked" text not null,
  -- Key of what was returned: post_id.
  "post_id" text not null,
  -- Place in the answer, from 0.
  "position" bigint,
  -- Identifier of the profile, when known.
  "user_id" text,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "photoshare_user_posts_pkey" primary key ("user_asked", "post_id"),
  constraint "photoshare_user_posts_post_id_fkey" foreign key ("post_id") references "photoshare_posts" ("id") on delete cascade
);
create index "photoshare_user_posts_post_id_idx" on sluice."photoshare_user_posts" using btree (post_id);

-- Profiles that the network suggests beside this one, as sent. One row an element.
create table sluice."photoshare_user_similar_users" (
  -- Key of the user.
  "user_id" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element as sent; the contract does not show its shape.
  "item" jsonb,
  constraint "photoshare_user_similar_users_pkey" primary key ("user_id", "position"),
  constraint "photoshare_user_similar_users_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
);

-- Profiles of the photo-sharing network: one row a profile, fed by profiles and by the posts that name them.
create table sluice."photoshare_users" (
  -- Identifier of the profile.
  "id" text not null,
  -- Handle; changes hands, so it identifies nobody.
  "alias" text,
  -- Name as shown.
  "name" text,
  -- Address of the profile.
  "url" text,
  -- Address of the portrait; signed and short-lived.
  "image" text,
  -- Followers.
  "follower_count" bigint,
  -- Profiles followed.
  "following_count" bigint,
  -- Posts published.
  "media_count" bigint,
  -- What the profile says of itself.
  "description" text,
  -- Whether only approved followers see the posts.
  "is_private" boolean,
  -- Whether the network vouches for the profile.
  "is_verified" boolean,
  -- Whether it is a business profile.
  "is_business" boolean,
  -- When the profile was opened; asked for by with_creation_date.
  "created_at" timestamp with time zone,
  -- When the profile was opened; asked for by with_creation_date. As sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- Line of business, as chosen by the profile.
  "category" text,
  -- Address that the profile points to.
  "external_url" text,
  -- Public e-mail address.
  "email" text,
  -- Public WhatsApp number.
  "whatsapp_number" text,
  -- Public phone number.
  "phone" text,
  -- Identifier of the city.
  "location_city_id" bigint,
  -- Street.
  "location_street" text,
  -- City.
  "location_city" text,
  -- Postal code.
  "location_zip" text,
  -- Latitude in degrees.
  "location_latitude" double precision,
  -- Longitude in degrees.
  "location_longitude" double precision,
  -- Number of elements: links on the profile, as sent. Null is not told, 0 is none.
  "links_count" bigint,
  -- Number of elements: profiles that the description mentions, as sent. Null is not told, 0 is none.
  "mentions_count" bigint,
  -- Number of elements: hashtags in the description, as sent. Null is not told, 0 is none.
  "hashtags_count" bigint,
  -- Number of elements: channels pinned to the profile, as sent. Null is not told, 0 is none.
  "pinned_channels_count" bigint,
  -- Number of elements: profiles that the network suggests beside this one, as sent. Null is not told, 0 is none.
  "similar_users_count" bigint,
  -- Number of elements: recent posts; asked for by with_posts. Null is not told, 0 is none.
  "posts_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "photoshare_users_pkey" primary key ("id")
);
create index "photoshare_users_alias_idx" on sluice."photoshare_users" using spgist (alias);

-- Organizations of the professional network (companies and schools): fed by educations, authorship and mentions.
create table sluice."pronet_companies" (
  -- The network’s internal identifier of the organization. The kind of thing the URN names, such as fsd_profile.
  "internal_id_type" text,
  -- The network’s internal identifier of the organization. The identifier itself.
  "internal_id_value" text,
  -- Name of the organization.
  "name" text,
  -- The organization’s URN. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text not null,
  -- The organization’s URN. The identifier itself.
  "urn_value" text not null,
  -- Address of the organization’s page.
  "url" text,
  -- Public handle in the page’s address; changes hands, so it identifies nobody.
  "alias" text,
  -- The organization’s industry. The kind of thing the URN names, such as fsd_profile.
  "industry_type" text,
  -- The organization’s industry. The identifier itself.
  "industry_value" text,
  -- The industry’s URN. The kind of thing the URN names, such as fsd_profile.
  "industry_full_urn_type" text,
  -- The industry’s URN. The identifier itself.
  "industry_full_urn_value" text,
  -- Name of the industry.
  "industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "industry_full_hierarchy" text,
  -- What the industry covers.
  "industry_full_description" text,
  -- Size class by number of employees, as written.
  "employee_range" text,
  -- Address of the logo; signed and short-lived.
  "logo_url" text,
  -- The line under the name.
  "headline" text,
  -- Address of the picture shown beside its posts; signed and short-lived.
  "image" text,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_companies_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_companies_alias_idx" on sluice."pronet_companies" using spgist (alias);

-- Industries of the group. One row an element.
create table sluice."pronet_group_industries" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- URN type of the industry.
  "type" text not null,
  -- URN value of the industry.
  "value" text not null,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  constraint "pronet_group_industries_pkey" primary key ("group_urn_type", "group_urn_value", "type", "value"),
  constraint "pronet_group_industries_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
  constraint "pronet_group_industries_type_value_fkey" foreign key ("type", "value") references "pronet_industries" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_industries_type_value_idx" on sluice."pronet_group_industries" using btree (type, value);

-- Members that the group shows. One row an element.
create table sluice."pronet_group_members" (
  -- Key of the group.
  "group_urn_type" text not null,
  -- Key of the group.
  "group_urn_value" text not null,
  -- The member’s URN. The kind of thing the URN names, such as fsd_profile.
  "user_urn_type" text not null,
  -- The member’s URN. The identifier itself.
  "user_urn_value" text not null,
  -- Name of the member.
  "user_name" text,
  -- Public handle of the member.
  "user_alias" text,
  -- Address of the member’s profile.
  "user_url" text,
  -- The line under the member’s name.
  "user_headline" text,
  -- Role in the group, such as owner.
  "role" text,
  -- When the member joined.
  "joined_at" timestamp with time zone,
  -- When the member joined. As sent, in seconds, milliseconds or microseconds since 1970.
  "joined_at_epoch" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  constraint "pronet_group_members_pkey" primary key ("group_urn_type", "group_urn_value", "user_urn_type", "user_urn_value"),
  constraint "pronet_group_members_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade,
  constraint "pronet_group_members_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_group_members_user_urn_type_user_urn_value_idx" on sluice."pronet_group_members" using btree (user_urn_type, user_urn_value);

-- Groups of the professional network.
create table sluice."pronet_groups" (
  -- The group’s URN. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text not null,
  -- The group’s URN. The identifier itself.
  "urn_value" text not null,
  -- Name of the group.
  "name" text,
  -- Address of the group.
  "url" text,
  -- Members that the group says it has.
  "member_count" bigint,
  -- Address of the group’s picture; signed and short-lived.
  "image" text,
  -- When the group was founded.
  "created_at" timestamp with time zone,
  -- When the group was founded. As sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- What the group is about.
  "description" text,
  -- Rules of the group.
  "rules" text,
  -- URN of the place that the group belongs to. The kind of thing the URN names, such as fsd_profile.
  "geo_type" text,
  -- URN of the place that the group belongs to. The identifier itself.
  "geo_value" text,
  -- Number of elements: industries of the group. Null is not told, 0 is none.
  "industries_count" bigint,
  -- Number of elements: members that the group shows. Null is not told, 0 is none.
  "members_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_groups_pkey" primary key ("urn_type", "urn_value")
);

-- Industries of the professional network’s taxonomy.
create table sluice."pronet_industries" (
  -- The industry’s URN. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text not null,
  -- The industry’s URN. The identifier itself.
  "urn_value" text not null,
  -- Name of the industry.
  "name" text,
  -- Path from the top-level industry down to this one.
  "hierarchy" text,
  -- What the industry covers.
  "description" text,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_industries_pkey" primary key ("urn_type", "urn_value")
);

-- Addresses of the cover pictures; signed and short-lived. One row an element.
create table sluice."pronet_post_document_cover_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post.
  "post_urn_value" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "cover_image" text,
  constraint "pronet_post_document_cover_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_cover_images_post_urn_type_p_8eb850d4_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Addresses of the page pictures; signed and short-lived. One row an element.
create table sluice."pronet_post_document_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post.
  "post_urn_value" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "image" text,
  constraint "pronet_post_document_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_document_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Addresses of the pictures; signed and short-lived. One row an element.
create table sluice."pronet_post_images" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post.
  "post_urn_value" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "image" text,
  constraint "pronet_post_images_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_images_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- People and organizations that the post mentions. One row an element.
create table sluice."pronet_post_mentions" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post.
  "post_urn_value" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- URN of the mentioned. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text,
  -- URN of the mentioned. The identifier itself.
  "urn_value" text,
  -- Name of the mentioned.
  "name" text,
  -- Public handle of the mentioned.
  "alias" text,
  -- Address of the profile or page of the mentioned.
  "url" text,
  -- Whether a person (user) or an organization (company) is mentioned, by the type of the URN.
  "kind" text,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  constraint "pronet_post_mentions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_mentions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Reactions to the post, counted by type. One row an element.
create table sluice."pronet_post_reactions" (
  -- Key of the post.
  "post_urn_type" text not null,
  -- Key of the post.
  "post_urn_value" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- Type of reaction, such as like.
  "type" text,
  -- Reactions of this type; negative when hidden.
  "count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  constraint "pronet_post_reactions_pkey" primary key ("post_urn_type", "post_urn_value", "position"),
  constraint "pronet_post_reactions_post_urn_type_post_urn_value_fkey" foreign key ("post_urn_type", "post_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);

-- Which post, as asked, was repeated by which.
create table sluice."pronet_post_reposts" (
  -- URN type of the post asked about.
  "post_urn_type" text not null,
  -- URN value of the post asked about.
  "post_urn_value" text not null,
  -- Key of what was returned: repost_urn_type.
  "repost_urn_type" text not null,
  -- Key of what was returned: repost_urn_value.
  "repost_urn_value" text not null,
  -- Place in the answer, from 0.
  "position" bigint,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_post_reposts_pkey" primary key ("post_urn_type", "post_urn_value", "repost_urn_type", "repost_urn_value"),
  constraint "pronet_post_reposts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_post_reposts_repost_urn_type_repost_urn_value_idx" on sluice."pronet_post_reposts" using btree (repost_urn_type, repost_urn_value);

-- Posts of the professional network, reposts and the posts they repeat alike.
create table sluice."pronet_posts" (
  -- The post’s URN. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text not null,
  -- The post’s URN. The identifier itself.
  "urn_value" text not null,
  -- Address of the post.
  "url" text,
  -- Address for sharing the post.
  "share_url" text,
  -- The network’s internal identifier of the author. The kind of thing the URN names, such as fsd_profile.
  "author_internal_id_type" text,
  -- The network’s internal identifier of the author. The identifier itself.
  "author_internal_id_value" text,
  -- The author’s URN. The kind of thing the URN names, such as fsd_profile.
  "author_urn_type" text,
  -- The author’s URN. The identifier itself.
  "author_urn_value" text,
  -- Name of the author.
  "author_name" text,
  -- Public handle of the author.
  "author_alias" text,
  -- Address of the author’s profile or page.
  "author_url" text,
  -- The line under the author’s name.
  "author_headline" text,
  -- Address of the author’s portrait; signed and short-lived.
  "author_image" text,
  -- When the post was published.
  "created_at" timestamp with time zone,
  -- When the post was published. As sent, in seconds, milliseconds or microseconds since 1970.
  "created_at_epoch" bigint,
  -- URN of the share that carries the post. The kind of thing the URN names, such as fsd_profile.
  "share_urn_type" text,
  -- URN of the share that carries the post. The identifier itself.
  "share_urn_value" text,
  -- Whether the post repeats another without a word of its own.
  "is_empty_repost" boolean,
  -- The post that this one repeats. Its urn_type.
  "repost_urn_type" text,
  -- The post that this one repeats. Its urn_value.
  "repost_urn_value" text,
  -- Number of elements: addresses of the pictures; signed and short-lived. Null is not told, 0 is none.
  "images_count" bigint,
  -- Address of the video.
  "video_url" text,
  -- The text of the post.
  "text" text,
  -- Comments on the post; null when not told, negative when hidden.
  "comment_count" bigint,
  -- Times the post was shared; null when not told, negative when hidden.
  "share_count" bigint,
  -- Number of elements: reactions to the post, counted by type. Null is not told, 0 is none.
  "reactions_count" bigint,
  -- Address of the event.
  "event_url" text,
  -- Address of the event’s picture; signed and short-lived.
  "event_image" text,
  -- Title of the event.
  "event_title" text,
  -- When the event takes place, as written.
  "event_date" text,
  -- People taking part in the event.
  "event_participant_count" bigint,
  -- Address of the article.
  "article_url" text,
  -- The article’s URN. The kind of thing the URN names, such as fsd_profile.
  "article_urn_type" text,
  -- The article’s URN. The identifier itself.
  "article_urn_value" text,
  -- Address of the article’s picture; signed and short-lived.
  "article_image" text,
  -- Title of the article.
  "article_title" text,
  -- Subtitle of the article.
  "article_subtitle" text,
  -- Summary of the article.
  "article_description" text,
  -- The document’s URN. The kind of thing the URN names, such as fsd_profile.
  "document_urn_type" text,
  -- The document’s URN. The identifier itself.
  "document_urn_value" text,
  -- Address of the document.
  "document_url" text,
  -- Title of the document.
  "document_title" text,
  -- Number of elements: addresses of the cover pictures; signed and short-lived. Null is not told, 0 is none.
  "document_cover_images_count" bigint,
  -- Number of elements: addresses of the page pictures; signed and short-lived. Null is not told, 0 is none.
  "document_images_count" bigint,
  -- Pages that the document has.
  "document_total_images_count" bigint,
  -- Number of elements: people and organizations that the post mentions. Null is not told, 0 is none.
  "mentioned_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_posts_pkey" primary key ("urn_type", "urn_value"),
  constraint "pronet_posts_repost_urn_type_repost_urn_value_fkey" foreign key ("repost_urn_type", "repost_urn_value") references "pronet_posts" ("urn_type", "urn_value") on delete set null
);
create index "pronet_posts_author_urn_value_idx" on sluice."pronet_posts" using spgist (author_urn_value);
create index "pronet_posts_created_at_idx" on sluice."pronet_posts" using btree (created_at);
create index "pronet_posts_repost_urn_type_repost_urn_value_idx" on sluice."pronet_posts" using btree (repost_urn_type, repost_urn_value);

-- Schools that a person lists, in the person’s order.
create table sluice."pronet_user_educations" (
  -- URN type of the person asked about.
  "user_urn_type" text not null,
  -- URN value of the person asked about.
  "user_urn_value" text not null,
  -- Place in the person’s list, from 0.
  "position" bigint not null,
  -- Name of the organization.
  "company_name" text,
  -- The organization’s URN. The kind of thing the URN names, such as fsd_profile.
  "company_urn_type" text,
  -- The organization’s URN. The identifier itself.
  "company_urn_value" text,
  -- Address of the organization’s page.
  "company_url" text,
  -- Public handle in the page’s address; changes hands, so it identifies nobody.
  "company_alias" text,
  -- The organization’s industry. The kind of thing the URN names, such as fsd_profile.
  "company_industry_type" text,
  -- The organization’s industry. The identifier itself.
  "company_industry_value" text,
  -- The industry’s URN. The kind of thing the URN names, such as fsd_profile.
  "company_industry_full_urn_type" text,
  -- The industry’s URN. The identifier itself.
  "company_industry_full_urn_value" text,
  -- Name of the industry.
  "company_industry_full_name" text,
  -- Path from the top-level industry down to this one.
  "company_industry_full_hierarchy" text,
  -- What the industry covers.
  "company_industry_full_description" text,
  -- Size class by number of employees, as written.
  "company_employee_range" text,
  -- Address of the logo; signed and short-lived.
  "company_logo_url" text,
  -- Degree and field of study, as written.
  "major" text,
  -- Years attended, as written.
  "interval" text,
  -- What the person says about it.
  "description" text,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_user_educations_pkey" primary key ("user_urn_type", "user_urn_value", "position"),
  constraint "pronet_user_educations_company_industry_full_urn__43e90c30_fkey" foreign key ("company_industry_full_urn_type", "company_industry_full_urn_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_industry_type_comp_baeb4832_fkey" foreign key ("company_industry_type", "company_industry_value") references "pronet_industries" ("urn_type", "urn_value") on delete set null,
  constraint "pronet_user_educations_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete set null
);
create index "pronet_user_educations_company_industry_full_urn_t_80f09323_idx" on sluice."pronet_user_educations" using btree (company_industry_full_urn_type, company_industry_full_urn_value);
create index "pronet_user_educations_company_industry_type_compa_dc52832f_idx" on sluice."pronet_user_educations" using btree (company_industry_type, company_industry_value);
create index "pronet_user_educations_company_urn_type_company_urn_value_idx" on sluice."pronet_user_educations" using btree (company_urn_type, company_urn_value);

-- Which search of which sync returned whom, and at which position.
create table sluice."pronet_user_search_hits" (
  -- The sync that searched.
  "sync" text not null,
  -- SHA-256, in hex, that identifies the search.
  "request_key" text not null,
  -- Key of what was returned: user_urn_type.
  "user_urn_type" text not null,
  -- Key of what was returned: user_urn_value.
  "user_urn_value" text not null,
  -- Place in the answer, from 0.
  "position" bigint,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  constraint "pronet_user_search_hits_pkey" primary key ("sync", "request_key", "user_urn_type", "user_urn_value"),
  constraint "pronet_user_search_hits_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
);
create index "pronet_user_search_hits_user_urn_type_user_urn_value_idx" on sluice."pronet_user_search_hits" using btree (user_urn_type, user_urn_value);

-- People of the professional network: one row a person, fed by searches, authorship, mentions and memberships.
create table sluice."pronet_users" (
  -- The network’s internal identifier of the person. The kind of thing the URN names, such as fsd_profile.
  "internal_id_type" text,
  -- The network’s internal identifier of the person. The identifier itself.
  "internal_id_value" text,
  -- The person’s URN. The kind of thing the URN names, such as fsd_profile.
  "urn_type" text not null,
  -- The person’s URN. The identifier itself.
  "urn_value" text not null,
  -- Name as shown on the profile.
  "name" text,
  -- Public handle in the profile’s address; changes hands, so it identifies nobody.
  "alias" text,
  -- Address of the profile.
  "url" text,
  -- Address of the portrait; signed and short-lived.
  "image" text,
  -- The line under the name.
  "headline" text,
  -- Place as written on the profile.
  "location" text,
  -- Whether the person says to be looking for work.
  "open_to_work" boolean,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- The most that was ever seen of it: reference, preview or full.
  "_detail" text not null,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "pronet_users_pkey" primary key ("urn_type", "urn_value")
);
create index "pronet_users_alias_idx" on sluice."pronet_users" using spgist (alias);

-- Business locations of the filers. One row an element.
create table sluice."sec_filing_biz_locations" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "biz_location" text,
  constraint "sec_filing_biz_locations_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_locations_filing_accession_number__45000e0b_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- States of business. One row an element.
create table sluice."sec_filing_biz_states" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "biz_state" text,
  constraint "sec_filing_biz_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_biz_states_filing_accession_number_fil_c874e867_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Central index keys of the filers; not parallel to the other lists but display_names. One row an element.
create table sluice."sec_filing_ciks" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "cik" text,
  constraint "sec_filing_ciks_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_ciks_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);
create index "sec_filing_ciks_cik_idx" on sluice."sec_filing_ciks" using spgist (cik);

-- Names of the filers, in the order of their keys. One row an element.
create table sluice."sec_filing_display_names" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "display_name" text,
  constraint "sec_filing_display_names_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_display_names_filing_accession_number__d6b2e6d0_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- States of incorporation. One row an element.
create table sluice."sec_filing_inc_states" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "inc_state" text,
  constraint "sec_filing_inc_states_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_inc_states_filing_accession_number_fil_7af8b6b3_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Items that the filing reports on, such as 2.02. One row an element.
create table sluice."sec_filing_items" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "item" text,
  constraint "sec_filing_items_pkey" primary key ("filing_accession_number", "filing_file_name", "position"),
  constraint "sec_filing_items_filing_accession_number_filing_file_name_fkey" foreign key ("filing_accession_number", "filing_file_name") references "sec_filings" ("accession_number", "file_name") on delete cascade
);

-- Standard industrial classification codes. One row an element.
create table sluice."sec_filing_sics" (
  -- Key of the filing.
  "filing_accession_number" text not null,
  -- Key of the filing.
  "filing_file_name" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
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
  -- Day the filing was made.
  "file_date" date,
  -- Last day of the period reported on.
  "period_ending" date,
  -- Number of elements: central index keys of the filers; not parallel to the other lists but display_names. Null is not told, 0 is none.
  "ciks_count" bigint,
  -- Number of elements: names of the filers, in the order of their keys. Null is not told, 0 is none.
  "display_names_count" bigint,
  -- What the document is.
  "file_description" text,
  -- Number of elements: business locations of the filers. Null is not told, 0 is none.
  "biz_locations_count" bigint,
  -- Number of elements: states of business. Null is not told, 0 is none.
  "biz_states_count" bigint,
  -- Number of elements: states of incorporation. Null is not told, 0 is none.
  "inc_states_count" bigint,
  -- Number of elements: standard industrial classification codes. Null is not told, 0 is none.
  "sics_count" bigint,
  -- Number of elements: items that the filing reports on, such as 2.02. Null is not told, 0 is none.
  "items_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "sec_filings_pkey" primary key ("accession_number", "file_name")
);
create index "sec_filings_file_date_idx" on sluice."sec_filings" using btree (file_date);
create index "sec_filings_filing_type_idx" on sluice."sec_filings" using spgist (filing_type);
create index "sec_filings_period_ending_idx" on sluice."sec_filings" using btree (period_ending);

-- E-mail addresses on the page. One row an element.
create table sluice."web_page_emails" (
  -- Key of the page.
  "page_key" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "email" text,
  constraint "web_page_emails_pkey" primary key ("page_key", "position"),
  constraint "web_page_emails_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Addresses that the page links to. One row an element.
create table sluice."web_page_links" (
  -- Key of the page.
  "page_key" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "link" text,
  constraint "web_page_links_pkey" primary key ("page_key", "position"),
  constraint "web_page_links_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Phone numbers on the page. One row an element.
create table sluice."web_page_phones" (
  -- Key of the page.
  "page_key" text not null,
  -- Place in the list, from 0.
  "position" bigint not null,
  -- The element.
  "phone" text,
  constraint "web_page_phones_pkey" primary key ("page_key", "position"),
  constraint "web_page_phones_page_key_fkey" foreign key ("page_key") references "web_pages" ("page_key") on delete cascade
);

-- Web pages as parsed: one row for each address and set of content options asked for.
create table sluice."web_pages" (
  -- SHA-256, in hex, of the requested address and the content options.
  "page_key" text not null,
  -- Address that was asked for.
  "requested_url" text,
  -- Content options that differ from the service’s defaults.
  "options" jsonb,
  -- Content of the page after cleaning; may be empty.
  "cleaned_html" text,
  -- Address of the original page; after redirects it may differ from the one asked for.
  "url" text,
  -- Title of the page.
  "title" text,
  -- Description in the page’s head.
  "meta_description" text,
  -- Further metadata, as sent.
  "metadata" jsonb,
  -- Number of elements: addresses that the page links to. Null is not told, 0 is none.
  "links_count" bigint,
  -- Number of elements: e-mail addresses on the page. Null is not told, 0 is none.
  "emails_count" bigint,
  -- Number of elements: phone numbers on the page. Null is not told, 0 is none.
  "phones_count" bigint,
  -- What the service sent and no column holds, in the shape it was sent; null when nothing.
  "extra" jsonb,
  -- Receipt of the first answer that held it.
  "_first_seen_at" timestamp with time zone not null,
  -- Receipt of the answer that last changed it.
  "_changed_at" timestamp with time zone not null,
  -- The run that last wrote the row.
  "_run_id" bigint not null,
  -- The paid answer that produced the row, in the operations schema.
  "_answer_id" bigint not null,
  -- Digest of the content; moves only when the content does.
  "_content_hash" text not null,
  -- Digests of the row’s parts, by which a later load tells what did not change.
  "_part_hashes" text not null,
  constraint "web_pages_pkey" primary key ("page_key")
);
create index "web_pages_requested_url_idx" on sluice."web_pages" using spgist (requested_url);

-- What each sync asked, input by input, with how it ended the last time: one row a sync and question.
create view sluice."sync_inputs" (
  -- Name of the sync in the config.
  "sync" text,
  -- Name of the endpoint: its path with dots.
  "endpoint" text,
  -- SHA-256, in hex, of the endpoint and the canonical body.
  "request_key" text,
  -- The fields that the sync’s input brought; {} without for_each.
  "input" jsonb,
  -- How it ended: loaded, unchanged, empty, missing, quarantined, failed or skipped; planned, sent, stored or in_doubt while it has not; abandoned when it was given up.
  "outcome" text,
  -- Receipt of the answer; without one, when it ended, was sent or was planned.
  "at" timestamp with time zone,
  -- The paid answer, in the operations schema; null without one.
  "answer_id" bigint,
  -- What went wrong, in words; null when nothing did.
  "error" text
) as
 SELECT request.sync,
    request.endpoint,
    request.request_key,
    request.input,
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
    request.error
   FROM ( SELECT DISTINCT ON (requests.request_key, requests.sync) requests.id,
            requests.run_id,
            requests.sync,
            requests.endpoint,
            requests.request_key,
            requests.body,
            requests.sent_body,
            requests.input,
            requests.depth,
            requests.parent_id,
            requests.state,
            requests.attempts,
            requests.points,
            requests.x_request_id,
            requests.planned_at,
            requests.sent_at,
            requests.finished_at,
            requests.answer_id,
            requests.status,
            requests.failure_class,
            requests.error,
            requests.next
           FROM requests
          ORDER BY requests.request_key DESC, requests.sync DESC, requests.id DESC) request
     LEFT JOIN answers answer ON answer.id = request.answer_id;

-- The vault: every answer that was paid for, as received. Ids rise in the order of storing.
create table sluice_ops."answers" (
  -- The answer; rows of the analyst tables name it as _answer_id.
  "id" bigint generated always as identity not null,
  -- The request that was sent for it.
  "request_id" bigint not null,
  -- The run that sent it.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256, in hex, of the endpoint and the canonical body.
  "request_key" text not null,
  -- When its last byte came in; every time kept about its content is this one.
  "received_at" timestamp with time zone not null,
  -- Milliseconds from sending to the last byte.
  "took_ms" bigint not null,
  -- HTTP status.
  "status" bigint not null,
  -- Answer headers by lower-case name, without cookies.
  "headers" jsonb not null,
  -- The body, compressed as encoding says.
  "body" bytea storage external not null,
  -- How the body is compressed here: identity or the name of the compression.
  "encoding" text not null,
  -- SHA-256, in hex, of the body before compression.
  "sha256" text not null,
  -- Size of the body before compression, in bytes.
  "bytes" bigint not null,
  -- Most items that were asked for; null when the request has no limit.
  "asked" bigint,
  -- Items in it: the sum of the next four. Null until loaded.
  "received" bigint,
  -- Items that made or changed rows.
  "loaded" bigint,
  -- Items that said what the rows already said.
  "unchanged" bigint,
  -- Items that came again later in it, or that a newer answer had already spoken for.
  "superseded" bigint,
  -- Items that could not be loaded.
  "quarantined" bigint,
  -- When its rows were last loaded; null while they wait.
  "loaded_at" timestamp with time zone,
  constraint "answers_pkey" primary key ("id")
);
create index "answers_request_id_idx" on sluice_ops."answers" using btree (request_id);
create index "answers_request_key_received_at_idx" on sluice_ops."answers" using btree (request_key, received_at);
create index "answers_waiting_idx" on sluice_ops."answers" using btree (id) where loaded_at IS NULL;

-- Each slice that was asked, with what it asked for, what came, and whether that is all there is.
create table sluice_ops."coverage" (
  -- The slice.
  "id" bigint generated always as identity not null,
  -- The request that asked it.
  "request_id" bigint not null,
  -- The run that asked it.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256, in hex, of the endpoint and the canonical body.
  "request_key" text not null,
  -- The fields that narrow the question.
  "filters" jsonb not null,
  -- Most items that were asked for; null when the request has no limit.
  "asked" bigint,
  -- Items that came.
  "returned" bigint not null,
  -- How many times the question was cut to make this slice.
  "depth" bigint not null,
  -- True when this is all there is; false when it is a lower bound.
  "complete" boolean not null,
  -- Why it is a lower bound.
  "reason" text,
  -- Receipt of the answer.
  "as_of" timestamp with time zone not null,
  constraint "coverage_pkey" primary key ("id")
);
create index "coverage_request_id_idx" on sluice_ops."coverage" using btree (request_id);
create index "coverage_run_id_idx" on sluice_ops."coverage" using btree (run_id);
create index "coverage_sync_as_of_idx" on sluice_ops."coverage" using btree (sync, as_of);
create index "coverage_sync_request_key_id_idx" on sluice_ops."coverage" using btree (sync, request_key, id);

-- Each attempt whose answer was lost, and what the request log says became of it.
create table sluice_ops."doubts" (
  -- The request.
  "request_id" bigint not null,
  -- Which attempt at it, from 1.
  "attempt" bigint not null,
  -- The run that made the attempt.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- When it was sent.
  "sent_at" timestamp with time zone not null,
  -- When its loss was noticed.
  "noticed_at" timestamp with time zone not null,
  -- How the answer was lost.
  "reason" text not null,
  -- What the log says; null until it was looked at. One of paid_and_lost, not_charged, not_sent, unknown.
  "verdict" text,
  -- The row of the log that shows the attempt.
  "log_id" uuid,
  -- What the attempt cost by the log.
  "points" numeric,
  -- When the verdict was found.
  "settled_at" timestamp with time zone,
  constraint "doubts_pkey" primary key ("request_id", "attempt"),
  constraint "doubts_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "doubts_run_id_idx" on sluice_ops."doubts" using btree (run_id);
create index "doubts_sync_noticed_at_idx" on sluice_ops."doubts" using btree (sync, noticed_at);

-- How answers differ from the contract, counted.
create table sluice_ops."drift" (
  -- The contract’s name of the thing.
  "resource" text not null,
  -- Field names joined by dots, without positions.
  "path" text not null,
  -- The difference: unknown field, missing, wrong type or other @type.
  "kind" text not null,
  -- How often it was seen.
  "count" bigint not null,
  -- Receipt of the first answer with it.
  "first_seen_at" timestamp with time zone not null,
  -- Receipt of the last answer with it.
  "last_seen_at" timestamp with time zone not null,
  -- A JSON type that was found; never a value.
  "sample_type" text not null,
  constraint "drift_pkey" primary key ("resource", "path", "kind")
);

-- How fast requests may start with one token, over every process.
create table sluice_ops."gate_paces" (
  -- Which token of which service, as a digest.
  "gate" text not null,
  -- When the next request may start.
  "next_at" timestamp with time zone not null,
  constraint "gate_paces_pkey" primary key ("gate")
);

-- Calls that may be under way at once with one token, over every process: one row a call.
create table sluice_ops."gate_slots" (
  -- Which token of which service, as a digest.
  "gate" text not null,
  -- The slot, from 1.
  "number" bigint not null,
  -- The process that has it, or had it last.
  "holder" text not null,
  -- Until when it is taken unless renewed; past when it is free.
  "expires_at" timestamp with time zone not null,
  constraint "gate_slots_pkey" primary key ("gate", "number")
);

-- Names under which answers showed one entity, and when: ids, aliases, addresses and URNs.
create table sluice_ops."identities" (
  -- The contract’s name of the thing.
  "resource" text not null,
  -- What kind of name it is. One of id, alias, url, urn.
  "kind" text not null,
  -- The name, as requests write it.
  "name" text not null,
  -- The key of the entity: the parts of its primary key as a JSON array.
  "entity" text not null,
  -- Receipt of the first answer that showed it so.
  "first_seen_at" timestamp with time zone not null,
  -- Receipt of the last answer that showed it so.
  "last_seen_at" timestamp with time zone not null,
  -- That last answer.
  "answer_id" bigint not null,
  constraint "identities_pkey" primary key ("resource", "kind", "name", "entity")
);
create index "identities_resource_entity_kind_idx" on sluice_ops."identities" using btree (resource, entity, kind);

-- Who is at work on what: at most one holder a name until it expires.
create table sluice_ops."leases" (
  -- What is held.
  "name" text not null,
  -- The process that holds it: host, process id and a random part.
  "holder" text not null,
  -- Rises with each new holder; a write with an older token is refused.
  "token" bigint not null,
  -- When the holder got it.
  "acquired_at" timestamp with time zone not null,
  -- Until when it is held unless renewed.
  "expires_at" timestamp with time zone not null,
  constraint "leases_pkey" primary key ("name")
);

-- How far each sync has read, by name of the mark.
create table sluice_ops."marks" (
  -- Name of the sync in the config.
  "sync" text not null,
  -- What the mark is about.
  "name" text not null,
  -- How far: a day or an instant, as the sync writes it.
  "value" text not null,
  -- When it moved last.
  "updated_at" timestamp with time zone not null,
  constraint "marks_pkey" primary key ("sync", "name")
);

-- What could not be understood: whole answers and single items, with the reason.
create table sluice_ops."quarantine" (
  -- The entry.
  "id" bigint generated always as identity not null,
  -- The answer that holds it.
  "answer_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- The contract’s name of the thing expected.
  "resource" text not null,
  -- Place in the answer, from 0; null when the whole answer is rejected.
  "position" bigint,
  -- RFC 6901 pointer into the answer.
  "pointer" text not null,
  -- Why it could not be loaded.
  "reason" text not null,
  -- When it was put here.
  "created_at" timestamp with time zone not null,
  -- When a later load took it; null while it is open.
  "resolved_at" timestamp with time zone,
  constraint "quarantine_pkey" primary key ("id"),
  constraint "quarantine_answer_id_fkey" foreign key ("answer_id") references "answers" ("id") on delete cascade
);
create unique index "quarantine_answer_id_position_idx" on sluice_ops."quarantine" using btree (answer_id, COALESCE("position", '-1'::integer::bigint));
create index "quarantine_open_idx" on sluice_ops."quarantine" using btree (id) where resolved_at IS NULL;

-- Which request of the ledger is which row of the service’s request log, and how sure that is.
create table sluice_ops."request_cost_matches" (
  -- The request of the ledger.
  "request_id" bigint not null,
  -- The row of the log: fact_request_costs.id.
  "log_id" uuid not null,
  -- How sure it is: by the identifier sent, by being the only candidate, or one of several candidates. One of identifier, only_candidate, ambiguous.
  "sure" text not null,
  -- When the two were brought together.
  "matched_at" timestamp with time zone not null,
  constraint "request_cost_matches_pkey" primary key ("request_id", "log_id"),
  constraint "request_cost_matches_request_id_fkey" foreign key ("request_id") references "requests" ("id") on delete cascade
);
create index "request_cost_matches_log_id_idx" on sluice_ops."request_cost_matches" using btree (log_id);

-- The ledger: every request of every run, written down before it is sent.
create table sluice_ops."requests" (
  -- The ledger’s row.
  "id" bigint generated always as identity not null,
  -- The run that planned it.
  "run_id" bigint not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- SHA-256, in hex, of the endpoint and the canonical body.
  "request_key" text not null,
  -- Canonical body: defaults filled in, without the timeout.
  "body" jsonb not null,
  -- The body as sent.
  "sent_body" jsonb,
  -- The fields that the sync’s input brought; {} without for_each.
  "input" jsonb not null,
  -- How many times the question was cut to make this slice.
  "depth" bigint default 0 not null,
  -- The request whose answer led to this one, by paging or splitting.
  "parent_id" bigint,
  -- How it stands or ended. One of planned, fresh, sent, stored, loaded, quarantined, empty, missing, failed, in_doubt, skipped, abandoned.
  "state" text not null,
  -- How many times it was sent.
  "attempts" bigint default 0 not null,
  -- Points that its attempts may have cost, by the price list; the request log has the true figure.
  "points" numeric,
  -- The id sent with every attempt, for finding the request in the service’s log.
  "x_request_id" uuid,
  -- When it entered the plan.
  "planned_at" timestamp with time zone not null,
  -- When it was last sent.
  "sent_at" timestamp with time zone,
  -- When its state became final.
  "finished_at" timestamp with time zone,
  -- The stored answer; of a fresh request, the older answer that serves it.
  "answer_id" bigint,
  -- HTTP status of the last answer.
  "status" bigint,
  -- The kind of failure, for counting.
  "failure_class" text,
  -- What went wrong, in words.
  "error" text,
  -- What to do about it.
  "next" text,
  -- Points that its rows in the request log cost; null until they are known.
  "charged" numeric,
  constraint "requests_pkey" primary key ("id"),
  constraint "requests_run_id_request_key_key" unique ("run_id", "request_key"),
  constraint "requests_parent_id_fkey" foreign key ("parent_id") references "requests" ("id") on delete set null,
  constraint "requests_run_id_fkey" foreign key ("run_id") references "runs" ("id") on delete no action
);
create index "requests_answer_id_idx" on sluice_ops."requests" using btree (answer_id);
create index "requests_parent_id_idx" on sluice_ops."requests" using btree (parent_id);
create index "requests_request_key_sync_id_idx" on sluice_ops."requests" using btree (request_key, sync, id);
create index "requests_sent_at_idx" on sluice_ops."requests" using brin (sent_at);
create index "requests_sync_state_idx" on sluice_ops."requests" using btree (sync, state);

-- One run of one sync, from its plan to its end.
create table sluice_ops."runs" (
  -- The run.
  "id" bigint generated always as identity not null,
  -- Name of the sync in the config.
  "sync" text not null,
  -- Name of the endpoint: its path with dots.
  "endpoint" text not null,
  -- Digest of what shapes the sync’s requests; only the same definition continues a run.
  "definition_hash" text not null,
  -- How it stands or ended. One of running, complete, partial, out_of_points, failed, interrupted, abandoned.
  "state" text not null,
  -- Exit code that the run’s outcome gives; null while it runs.
  "exit_code" bigint,
  -- The UTC day that the plan takes for today; frozen at the start.
  "today" date not null,
  -- When it started.
  "started_at" timestamp with time zone not null,
  -- When it ended; null while it runs or when its process was killed.
  "ended_at" timestamp with time zone,
  -- The process that runs it: host, process id and a random part.
  "holder" text,
  -- Requests in the plan, those that paging and splitting added included.
  "planned" bigint default 0 not null,
  -- Requests that a stored answer served, so that nothing was sent.
  "fresh" bigint default 0 not null,
  -- Requests sent, each counted once however often it was tried.
  "asked" bigint default 0 not null,
  -- Answers stored.
  "stored" bigint default 0 not null,
  -- Items in the loaded answers; the sum of the next four.
  "received" bigint default 0 not null,
  -- Items that made or changed rows.
  "loaded" bigint default 0 not null,
  -- Items that said what the rows already said.
  "unchanged" bigint default 0 not null,
  -- Items that came again later in their answer, or that a newer answer had already spoken for.
  "superseded" bigint default 0 not null,
  -- Items that could not be loaded and are kept in quarantine.
  "quarantined" bigint default 0 not null,
  -- Requests that ended without a usable answer.
  "failed" bigint default 0 not null,
  -- Requests whose entity the service does not know.
  "missing" bigint default 0 not null,
  -- Slices that came back full and could not be cut further, so that more may exist.
  "truncated" bigint default 0 not null,
  -- Points spent, by the service’s own count where it told one, else by the price list.
  "points" numeric,
  -- Why the run ended early.
  "error" text,
  -- What the run printed at its end.
  "summary" jsonb,
  -- What the plan was quoted at, in points, before anything was sent.
  "quote" jsonb,
  constraint "runs_pkey" primary key ("id")
);
create index "runs_sync_started_at_idx" on sluice_ops."runs" using btree (sync, started_at);

-- What counts against a limit in points that several processes share.
create table sluice_ops."spending" (
  -- The limit: a day, or a balance less what is to be kept.
  "name" text not null,
  -- Points spent or set aside.
  "points" numeric not null,
  -- When it changed last.
  "updated_at" timestamp with time zone not null,
  constraint "spending_pkey" primary key ("name")
);
