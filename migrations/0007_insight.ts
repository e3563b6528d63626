/** The analysts’ layer: values by day, logs of changes, the calendar, and flat views of everything. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const UP = [
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
  `create table "fact_pronet_group_daily" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "date" date not null,
    "member_count" bigint,
    "_seen_at" timestamptz not null,
    "_answer_id" bigint not null,
    "_earlier" jsonb,
    constraint "fact_pronet_group_daily_pkey" primary key ("group_urn_type", "group_urn_value", "date"),
    constraint "fact_pronet_group_daily_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "fact_pronet_group_daily_date_idx" on "fact_pronet_group_daily" ("date")',
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
  `create table "pronet_user_changes" (
    "user_urn_type" text not null,
    "user_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_user_changes_pkey" primary key ("user_urn_type", "user_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_user_changes_user_urn_type_user_urn_value_fkey" foreign key ("user_urn_type", "user_urn_value") references "pronet_users" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_user_changes_changed_at_idx" on "pronet_user_changes" ("changed_at")',
  `create table "pronet_company_changes" (
    "company_urn_type" text not null,
    "company_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_company_changes_pkey" primary key ("company_urn_type", "company_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_company_changes_company_urn_type_company_urn_value_fkey" foreign key ("company_urn_type", "company_urn_value") references "pronet_companies" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_company_changes_changed_at_idx" on "pronet_company_changes" ("changed_at")',
  `create table "pronet_group_changes" (
    "group_urn_type" text not null,
    "group_urn_value" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "pronet_group_changes_pkey" primary key ("group_urn_type", "group_urn_value", "attribute", "changed_at", "_answer_id"),
    constraint "pronet_group_changes_group_urn_type_group_urn_value_fkey" foreign key ("group_urn_type", "group_urn_value") references "pronet_groups" ("urn_type", "urn_value") on delete cascade
  )`,
  'create index "pronet_group_changes_changed_at_idx" on "pronet_group_changes" ("changed_at")',
  `create table "microblog_user_changes" (
    "user_rest_id" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "microblog_user_changes_pkey" primary key ("user_rest_id", "attribute", "changed_at", "_answer_id"),
    constraint "microblog_user_changes_user_rest_id_fkey" foreign key ("user_rest_id") references "microblog_users" ("rest_id") on delete cascade
  )`,
  'create index "microblog_user_changes_changed_at_idx" on "microblog_user_changes" ("changed_at")',
  `create table "photoshare_user_changes" (
    "user_id" text not null,
    "attribute" text not null,
    "changed_at" timestamptz not null,
    "from_value" text,
    "to_value" text,
    "_answer_id" bigint not null,
    constraint "photoshare_user_changes_pkey" primary key ("user_id", "attribute", "changed_at", "_answer_id"),
    constraint "photoshare_user_changes_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete cascade
  )`,
  'create index "photoshare_user_changes_changed_at_idx" on "photoshare_user_changes" ("changed_at")',
  'drop view "sync_inputs"',
  `create view "dim_date" as
  select
    d as "date",
    extract(year from d)::integer as "year",
    extract(quarter from d)::integer as "quarter",
    extract(month from d)::integer as "month",
    extract(day from d)::integer as "day",
    extract(doy from d)::integer as "day_of_year",
    extract(isoyear from d)::integer as "iso_year",
    extract(week from d)::integer as "iso_week",
    extract(isodow from d)::integer as "iso_weekday",
    to_char(d::timestamp, 'FMDay') as "weekday_name",
    to_char(d::timestamp, 'Dy') as "weekday_short",
    to_char(d::timestamp, 'FMMonth') as "month_name",
    to_char(d::timestamp, 'Mon') as "month_short",
    to_char(d::timestamp, 'YYYY"-Q"Q') as "year_quarter",
    to_char(d::timestamp, 'YYYY-MM') as "year_month",
    to_char(d::timestamp, 'IYYY"-W"IW') as "iso_year_week",
    extract(isodow from d) > 5 as "is_weekend",
    extract(day from d) = 1 as "is_first_of_month",
    extract(day from d + 1) = 1 as "is_last_of_month",
    date_trunc('week', d::timestamp)::date as "first_of_week",
    date_trunc('week', d::timestamp)::date + 6 as "last_of_week",
    date_trunc('month', d::timestamp)::date as "first_of_month",
    (date_trunc('month', d::timestamp) + interval '1 month - 1 day')::date as "last_of_month",
    date_trunc('quarter', d::timestamp)::date as "first_of_quarter",
    (date_trunc('quarter', d::timestamp) + interval '3 months - 1 day')::date as "last_of_quarter",
    date_trunc('year', d::timestamp)::date as "first_of_year",
    (date_trunc('year', d::timestamp) + interval '1 year - 1 day')::date as "last_of_year",
    extract(day from date_trunc('month', d::timestamp) + interval '1 month - 1 day')::integer as "days_in_month"
  from (select date '1990-01-01' + n as d from generate_series(0, 21914) as n) as days`,
  `create view "attribute_changes" as
  select
    'pronet_users'::text as "table_name",
    c.user_urn_type || ':' || c.user_urn_value as "entity_key",
    e.name as "entity_name",
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at at time zone 'UTC')::date as "changed_on",
    c._answer_id as "answer_id"
  from "pronet_user_changes" c
  join "pronet_users" e on e.urn_type = c.user_urn_type and e.urn_value = c.user_urn_value
  union all
  select
    'pronet_companies'::text as "table_name",
    c.company_urn_type || ':' || c.company_urn_value as "entity_key",
    e.name as "entity_name",
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at at time zone 'UTC')::date as "changed_on",
    c._answer_id as "answer_id"
  from "pronet_company_changes" c
  join "pronet_companies" e on e.urn_type = c.company_urn_type and e.urn_value = c.company_urn_value
  union all
  select
    'pronet_groups'::text as "table_name",
    c.group_urn_type || ':' || c.group_urn_value as "entity_key",
    e.name as "entity_name",
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at at time zone 'UTC')::date as "changed_on",
    c._answer_id as "answer_id"
  from "pronet_group_changes" c
  join "pronet_groups" e on e.urn_type = c.group_urn_type and e.urn_value = c.group_urn_value
  union all
  select
    'microblog_users'::text as "table_name",
    c.user_rest_id as "entity_key",
    e.name as "entity_name",
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at at time zone 'UTC')::date as "changed_on",
    c._answer_id as "answer_id"
  from "microblog_user_changes" c
  join "microblog_users" e on e.rest_id = c.user_rest_id
  union all
  select
    'photoshare_users'::text as "table_name",
    c.user_id as "entity_key",
    e.name as "entity_name",
    c.attribute,
    c.from_value,
    c.to_value,
    c.changed_at,
    (c.changed_at at time zone 'UTC')::date as "changed_on",
    c._answer_id as "answer_id"
  from "photoshare_user_changes" c
  join "photoshare_users" e on e.id = c.user_id`,
  `create view "sec_filing_overview" as
  select
    f.accession_number,
    f.file_name,
    f.document_url,
    f.filing_type,
    f.filing_type like '%/A' as "is_amendment",
    f.file_date,
    f.period_ending,
    f.file_date - f.period_ending as "days_to_file",
    f.file_description,
    greatest(f.ciks_count, f.display_names_count) as "filer_count",
    (select string_agg(l.display_name, '; ' order by l.position) from "sec_filing_display_names" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.display_name <> '') as "filers",
    (select string_agg(l.cik, ', ' order by l.position) from "sec_filing_ciks" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.cik <> '') as "ciks",
    (select l.display_name from "sec_filing_display_names" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.position = 0) as "first_filer",
    (select l.cik from "sec_filing_ciks" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.position = 0) as "first_cik",
    (select string_agg(l.biz_location, '; ' order by l.position) from "sec_filing_biz_locations" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.biz_location <> '') as "biz_locations",
    (select string_agg(l.biz_state, ', ' order by l.position) from "sec_filing_biz_states" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.biz_state <> '') as "biz_states",
    (select string_agg(l.inc_state, ', ' order by l.position) from "sec_filing_inc_states" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.inc_state <> '') as "inc_states",
    (select string_agg(l.sic, ', ' order by l.position) from "sec_filing_sics" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.sic <> '') as "sics",
    (select string_agg(l.item, ', ' order by l.position) from "sec_filing_items" l
      where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.item <> '') as "items",
    f._first_seen_at as "first_seen_at",
    f._changed_at as "changed_at"
  from "sec_filings" f`,
  `create view "sec_filing_filers" as
  select
    f.accession_number,
    f.file_name,
    l.position,
    c.cik,
    n.display_name,
    f.filing_type,
    f.file_date,
    f.period_ending,
    f.document_url
  from "sec_filings" f
  cross join lateral (
    select generate_series(0, greatest(f.ciks_count, f.display_names_count) - 1) as "position"
  ) l
  left join "sec_filing_ciks" c
    on c.filing_accession_number = f.accession_number and c.filing_file_name = f.file_name and c.position = l.position
  left join "sec_filing_display_names" n
    on n.filing_accession_number = f.accession_number and n.filing_file_name = f.file_name and n.position = l.position`,
  `create view "pronet_post_overview" as
  select
    p.urn_type,
    p.urn_value,
    p.url,
    p.created_at,
    p.text,
    p.author_urn_type,
    p.author_urn_value,
    case
      when p.author_urn_type in ('fsd_company', 'company', 'school') then 'company'
      when p.author_urn_type is not null then 'user'
    end as "author_kind",
    coalesce(p.author_name, person.name, organization.name) as "author_name",
    coalesce(p.author_alias, person.alias, organization.alias) as "author_alias",
    coalesce(p.author_url, person.url, organization.url) as "author_url",
    coalesce(p.author_headline, person.headline, organization.headline) as "author_headline",
    p.repost_urn_value is not null as "is_repost",
    p.is_empty_repost,
    p.repost_urn_type,
    p.repost_urn_value,
    repeated.author_name as "repost_author_name",
    p.comment_count,
    p.share_count,
    case when p.reactions_count is not null then r."all" end as "reaction_count",
    case when p.reactions_count is not null then r."like" end as "like_count",
    case when p.reactions_count is not null then r."praise" end as "praise_count",
    case when p.reactions_count is not null then r."empathy" end as "empathy_count",
    case when p.reactions_count is not null then r."interest" end as "interest_count",
    case when p.reactions_count is not null then r."appreciation" end as "appreciation_count",
    case when p.reactions_count is not null then r."entertainment" end as "entertainment_count",
    case when p.reactions_count is not null then r."other" end as "other_reaction_count",
    (greatest(p.comment_count, 0) + greatest(p.share_count, 0) + r."all")::bigint as "engagement_count",
    p.mentioned_count as "mention_count",
    p.images_count as "image_count",
    p.video_url is not null as "has_video",
    p.article_title,
    p.article_url,
    p.document_title,
    p.event_title,
    p._detail as "detail",
    p._first_seen_at as "first_seen_at",
    p._changed_at as "changed_at"
  from "pronet_posts" p
  left join "pronet_users" person on person.urn_type = p.author_urn_type and person.urn_value = p.author_urn_value
  left join "pronet_companies" organization
    on organization.urn_type = p.author_urn_type and organization.urn_value = p.author_urn_value
  left join "pronet_posts" repeated on repeated.urn_type = p.repost_urn_type and repeated.urn_value = p.repost_urn_value
  cross join lateral (
    select
      coalesce(sum(l.count) filter (where lower(l.type) = 'like'), 0)::bigint as "like",
      coalesce(sum(l.count) filter (where lower(l.type) = 'praise'), 0)::bigint as "praise",
      coalesce(sum(l.count) filter (where lower(l.type) = 'empathy'), 0)::bigint as "empathy",
      coalesce(sum(l.count) filter (where lower(l.type) = 'interest'), 0)::bigint as "interest",
      coalesce(sum(l.count) filter (where lower(l.type) = 'appreciation'), 0)::bigint as "appreciation",
      coalesce(sum(l.count) filter (where lower(l.type) = 'entertainment'), 0)::bigint as "entertainment",
      coalesce(sum(l.count) filter (where lower(l.type) not in ('like', 'praise', 'empathy', 'interest', 'appreciation', 'entertainment') or l.type is null), 0)::bigint as "other",
      coalesce(sum(l.count), 0)::bigint as "all"
    from "pronet_post_reactions" l
    where l.post_urn_type = p.urn_type and l.post_urn_value = p.urn_value and l.count >= 0
  ) r`,
  `create view "pronet_post_repost_overview" as
  select
    b.post_urn_type,
    b.post_urn_value,
    p.author_name as "post_author_name",
    p.created_at as "post_created_at",
    b.repost_urn_type,
    b.repost_urn_value,
    b.position,
    r.author_urn_type as "repost_author_urn_type",
    r.author_urn_value as "repost_author_urn_value",
    r.author_name as "repost_author_name",
    r.created_at as "repost_created_at",
    r.text as "repost_text",
    r.comment_count as "repost_comment_count",
    r.share_count as "repost_share_count"
  from "pronet_post_reposts" b
  join "pronet_posts" r on r.urn_type = b.repost_urn_type and r.urn_value = b.repost_urn_value
  left join "pronet_posts" p on p.urn_type = b.post_urn_type and p.urn_value = b.post_urn_value`,
  `create view "pronet_post_mention_overview" as
  select
    m.post_urn_type,
    m.post_urn_value,
    m.position,
    p.created_at,
    p.author_urn_type,
    p.author_urn_value,
    p.author_name,
    m.kind,
    m.urn_type as "mentioned_urn_type",
    m.urn_value as "mentioned_urn_value",
    coalesce(m.name, person.name, organization.name) as "mentioned_name",
    coalesce(person.headline, organization.headline) as "mentioned_headline"
  from "pronet_post_mentions" m
  join "pronet_posts" p on p.urn_type = m.post_urn_type and p.urn_value = m.post_urn_value
  left join "pronet_users" person on person.urn_type = m.urn_type and person.urn_value = m.urn_value
  left join "pronet_companies" organization
    on organization.urn_type = m.urn_type and organization.urn_value = m.urn_value`,
  `create view "photoshare_post_overview" as
  select
    p.id,
    p.code,
    p.url,
    p.created_at,
    p.type,
    p.text,
    p.user_id,
    coalesce(p.user_name, u.name) as "user_name",
    coalesce(p.user_alias, u.alias) as "user_alias",
    u.follower_count as "user_follower_count",
    p.like_count,
    p.comment_count,
    p.reshare_count,
    p.view_count,
    (greatest(p.like_count, 0) + greatest(p.comment_count, 0) + greatest(p.reshare_count, 0))::bigint as "engagement_count",
    case
      when p.like_count >= 0 and p.comment_count >= 0 and u.follower_count > 0
      then (p.like_count + p.comment_count)::double precision / u.follower_count
    end as "engagement_rate",
    p.media_count,
    p.carousel_media_count,
    p.is_paid_partnership,
    p._detail as "detail",
    p._first_seen_at as "first_seen_at",
    p._changed_at as "changed_at"
  from "photoshare_posts" p
  left join "photoshare_users" u on u.id = p.user_id`,
  `create view "photoshare_user_post_overview" as
  select
    b.user_asked,
    b.post_id,
    b.position,
    coalesce(b.user_id, p.user_id) as "user_id",
    u.alias as "user_alias",
    u.name as "user_name",
    u.follower_count as "user_follower_count",
    p.url as "post_url",
    p.created_at as "post_created_at",
    p.type as "post_type",
    p.like_count as "post_like_count",
    p.comment_count as "post_comment_count",
    p.view_count as "post_view_count"
  from "photoshare_user_posts" b
  join "photoshare_posts" p on p.id = b.post_id
  left join "photoshare_users" u on u.id = coalesce(b.user_id, p.user_id)`,
  `create view "pronet_user_overview" as
  select
    u.urn_type,
    u.urn_value,
    u.name,
    u.alias,
    u.url,
    u.headline,
    u.location,
    u.open_to_work,
    (select count(*) from "pronet_user_educations" e
      where e.user_urn_type = u.urn_type and e.user_urn_value = u.urn_value) as "school_count",
    s.company_name as "school_name",
    s.company_urn_type as "school_urn_type",
    s.company_urn_value as "school_urn_value",
    s.company_industry_full_name as "school_industry",
    s.major as "school_major",
    s."interval" as "school_interval",
    s.end_year as "school_end_year",
    (select count(*) from "pronet_group_members" m
      where m.user_urn_type = u.urn_type and m.user_urn_value = u.urn_value) as "group_count",
    (select count(*) from "pronet_user_search_hits" h
      where h.user_urn_type = u.urn_type and h.user_urn_value = u.urn_value) as "search_count",
    u._detail as "detail",
    u._first_seen_at as "first_seen_at",
    u._changed_at as "changed_at"
  from "pronet_users" u
  left join lateral (
    select e.company_name, e.company_urn_type, e.company_urn_value, e.company_industry_full_name, e.major, e."interval",
      (select max(y[1]::integer) from regexp_matches(e."interval", '(?:^|[^0-9])((?:19|20)[0-9][0-9])(?![0-9])', 'g') as y) as "end_year"
    from "pronet_user_educations" e
    where e.user_urn_type = u.urn_type and e.user_urn_value = u.urn_value
    order by coalesce(e."interval" ~* 'present|current|today', false) desc,
      (select max(y[1]::integer) from regexp_matches(e."interval", '(?:^|[^0-9])((?:19|20)[0-9][0-9])(?![0-9])', 'g') as y) desc nulls last, e.position
    limit 1
  ) s on true`,
  `create view "pronet_user_school_overview" as
  select
    e.user_urn_type,
    e.user_urn_value,
    e.position,
    u.name as "user_name",
    u.headline as "user_headline",
    u.location as "user_location",
    row_number() over (
      partition by e.user_urn_type, e.user_urn_value
      order by coalesce(e."interval" ~* 'present|current|today', false) desc,
      (select max(y[1]::integer) from regexp_matches(e."interval", '(?:^|[^0-9])((?:19|20)[0-9][0-9])(?![0-9])', 'g') as y) desc nulls last, e.position
    ) = 1 as "is_latest",
    e.company_urn_type as "school_urn_type",
    e.company_urn_value as "school_urn_value",
    e.company_name as "school_name",
    coalesce(e.company_url, c.url) as "school_url",
    coalesce(e.company_industry_full_name, c.industry_full_name) as "school_industry",
    coalesce(e.company_employee_range, c.employee_range) as "school_employee_range",
    e.major,
    e."interval",
    (select min(y[1]::integer) from regexp_matches(e."interval", '(?:^|[^0-9])((?:19|20)[0-9][0-9])(?![0-9])', 'g') as y) as "start_year",
    (select max(y[1]::integer) from regexp_matches(e."interval", '(?:^|[^0-9])((?:19|20)[0-9][0-9])(?![0-9])', 'g') as y) as "end_year"
  from "pronet_user_educations" e
  left join "pronet_users" u on u.urn_type = e.user_urn_type and u.urn_value = e.user_urn_value
  left join "pronet_companies" c on c.urn_type = e.company_urn_type and c.urn_value = e.company_urn_value`,
  `create view "pronet_user_search_hit_overview" as
  select
    h.sync,
    h.request_key,
    h.position,
    h.user_urn_type,
    h.user_urn_value,
    u.name as "user_name",
    u.alias as "user_alias",
    u.url as "user_url",
    u.headline as "user_headline",
    u.location as "user_location",
    u.open_to_work as "user_open_to_work"
  from "pronet_user_search_hits" h
  join "pronet_users" u on u.urn_type = h.user_urn_type and u.urn_value = h.user_urn_value`,
  `create view "pronet_group_overview" as
  select
    g.urn_type,
    g.urn_value,
    g.name,
    g.url,
    g.description,
    g.member_count,
    g.members_count as "shown_member_count",
    case when g.members_count is not null then o.owners end as "owner_count",
    o.names as "owners",
    (select string_agg(coalesce(i.name, l.type || ':' || l.value), '; ' order by l.type, l.value)
      from "pronet_group_industries" l
      left join "pronet_industries" i on i.urn_type = l.type and i.urn_value = l.value
      where l.group_urn_type = g.urn_type and l.group_urn_value = g.urn_value) as "industries",
    g.created_at,
    g.geo_type,
    g.geo_value,
    g._first_seen_at as "first_seen_at",
    g._changed_at as "changed_at"
  from "pronet_groups" g
  cross join lateral (
    select
      count(*) as "owners",
      string_agg(coalesce(m.user_name, u.name), '; ' order by m.user_urn_type, m.user_urn_value) as "names"
    from "pronet_group_members" m
    left join "pronet_users" u on u.urn_type = m.user_urn_type and u.urn_value = m.user_urn_value
    where m.group_urn_type = g.urn_type and m.group_urn_value = g.urn_value and lower(m.role) = 'owner'
  ) o`,
  `create view "pronet_group_member_overview" as
  select
    m.group_urn_type,
    m.group_urn_value,
    g.name as "group_name",
    g.url as "group_url",
    g.member_count as "group_member_count",
    m.user_urn_type,
    m.user_urn_value,
    coalesce(m.user_name, u.name) as "user_name",
    coalesce(m.user_alias, u.alias) as "user_alias",
    coalesce(m.user_url, u.url) as "user_url",
    coalesce(m.user_headline, u.headline) as "user_headline",
    u.location as "user_location",
    m.role,
    m.joined_at
  from "pronet_group_members" m
  join "pronet_groups" g on g.urn_type = m.group_urn_type and g.urn_value = m.group_urn_value
  left join "pronet_users" u on u.urn_type = m.user_urn_type and u.urn_value = m.user_urn_value`,
  `create view "microblog_user_overview" as
  select
    u.rest_id,
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
    case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end as "followers_per_following",
    case when u.follower_count >= 0 and t.age_days >= 0 then u.follower_count::double precision / greatest(t.age_days, 1) end as "followers_per_day",
    case when u.tweet_count >= 0 and t.age_days >= 0 then u.tweet_count::double precision / greatest(t.age_days, 1) end as "tweets_per_day",
    case when u.listed_count >= 0 and u.follower_count > 0 then u.listed_count::double precision * 1000 / u.follower_count end as "listed_per_1000_followers",
    case when u.media_count >= 0 and u.tweet_count > 0 then u.media_count::double precision / u.tweet_count end as "media_share",
    (select string_agg(
        case jsonb_typeof(l.item)
          when 'string' then l.item #>> '{}'
          when 'object' then coalesce(l.item ->> 'expanded_url', l.item ->> 'url')
        end, '; ' order by l.position)
      from "microblog_user_profile_urls" l where l.user_rest_id = u.rest_id) as "profile_urls",
    u._first_seen_at as "first_seen_at",
    u._changed_at as "changed_at"
  from "microblog_users" u
  cross join lateral (
    select c.counted_at,
      case when c.counted_at >= u.created_at
        then floor(extract(epoch from c.counted_at - u.created_at) / 86400)::integer end as "age_days"
    from (select greatest(u._changed_at, (
      select d._seen_at from "fact_microblog_user_daily" d
      where d.user_rest_id = u.rest_id order by d.date desc limit 1)) as "counted_at") c
  ) t`,
  `create view "photoshare_user_overview" as
  select
    u.id,
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
    case when u.follower_count >= 0 and u.following_count > 0 then u.follower_count::double precision / u.following_count end as "followers_per_following",
    case when u.media_count >= 0 and t.age_days >= 0 then u.media_count::double precision / greatest(t.age_days, 1) end as "posts_per_day",
    p.posts as "loaded_post_count",
    p.last_at as "last_post_at",
    p.likes as "mean_like_count",
    p.comments as "mean_comment_count",
    case when u.follower_count > 0 then p.engagement / u.follower_count end as "engagement_rate",
    u._detail as "detail",
    u._first_seen_at as "first_seen_at",
    u._changed_at as "changed_at"
  from "photoshare_users" u
  cross join lateral (
    select c.counted_at,
      case when c.counted_at >= u.created_at
        then floor(extract(epoch from c.counted_at - u.created_at) / 86400)::integer end as "age_days"
    from (select greatest(u._changed_at, (
      select d._seen_at from "fact_photoshare_user_daily" d
      where d.user_id = u.id order by d.date desc limit 1)) as "counted_at") c
  ) t
  cross join lateral (
    select
      count(*) as "posts",
      max(l.created_at) as "last_at",
      (avg(l.like_count) filter (where l.like_count >= 0))::double precision as "likes",
      (avg(l.comment_count) filter (where l.comment_count >= 0))::double precision as "comments",
      (avg(l.like_count + l.comment_count) filter (where l.like_count >= 0 and l.comment_count >= 0))::double precision as "engagement"
    from "photoshare_posts" l
    where l.user_id = u.id
  ) p`,
  `create view "web_page_overview" as
  select
    p.page_key,
    p.requested_url,
    p.url,
    h.host,
    p.url <> p.requested_url as "is_redirected",
    p.title,
    p.meta_description,
    p.options::text as "options",
    octet_length(p.cleaned_html) as "content_bytes",
    p.links_count as "link_count",
    case when p.links_count is not null then (
      select count(*) from "web_page_links" l
      where l.page_key = p.page_key and (lower(substring(l.link, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)')) = h.host or l.link !~ '^[a-zA-Z][a-zA-Z0-9+.-]*:')
    ) end as "host_link_count",
    p.emails_count as "email_count",
    (select string_agg(l.email, '; ' order by l.position) from "web_page_emails" l where l.page_key = p.page_key) as "emails",
    p.phones_count as "phone_count",
    (select string_agg(l.phone, '; ' order by l.position) from "web_page_phones" l where l.page_key = p.page_key) as "phones",
    p._first_seen_at as "first_seen_at",
    p._changed_at as "changed_at"
  from "web_pages" p
  cross join lateral (select lower(substring(coalesce(p.url, p.requested_url), '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][^]]*[]]|[^/?#:]+)')) as "host") h`,
  `create view "sync_inputs" as
  select
    request.sync,
    request.endpoint,
    request.request_key,
    request.input::text as "input",
    case
      when request.state not in ('fresh', 'loaded') then request.state
      when answer.loaded_at is null then 'stored'
      when answer.status = 412 then 'missing'
      when answer.received = 0 then 'empty'
      when answer.quarantined = answer.received then 'quarantined'
      when answer.loaded = 0 and answer.unchanged > 0 then 'unchanged'
      else 'loaded'
    end as "outcome",
    coalesce(answer.received_at, request.finished_at, request.sent_at, request.planned_at) as "at",
    request.answer_id,
    request.error,
    request.next,
    (select string_agg(
        case
          when jsonb_typeof(field.value) = 'object' and field.value ? 'type' and field.value ? 'value'
          then (field.value ->> 'type') || ':' || (field.value ->> 'value')
          else field.value #>> '{}'
        end, ', ' order by field.key)
      from jsonb_each(request.input) as field) as "input_value",
    answer.received,
    request.run_id
  from (
    select distinct on (request_key, sync)
      id, sync, endpoint, request_key, run_id, state, attempts, input, answer_id, error, next, planned_at, sent_at, finished_at
    from "requests"
    order by request_key desc, sync desc, id desc
  ) as request
  left join "answers" as answer on answer.id = request.answer_id
  where strpos(request.sync, ':') = 0
    and not (request.state = 'skipped' and request.attempts = 0 and request.next is not null)`,
  `create view "sync_runs" as
  select
    r.id as "run_id",
    r.sync,
    r.endpoint,
    r.state,
    r.exit_code,
    r.started_at,
    r.ended_at,
    extract(epoch from r.ended_at - r.started_at)::double precision as "duration_s",
    r.planned,
    r.fresh,
    r.asked,
    r.stored,
    r.received,
    r.loaded,
    r.unchanged,
    r.superseded,
    r.quarantined,
    r.failed,
    r.missing,
    r.truncated,
    r.points,
    r.error
  from "runs" r
  where strpos(r.sync, ':') = 0`,
  `create view "sync_freshness" as
  select
    n.sync,
    n.endpoint,
    n.id as "last_run_id",
    n.state as "last_state",
    n.exit_code as "last_exit_code",
    n.started_at as "last_started_at",
    n.ended_at as "last_ended_at",
    n.error as "last_error",
    t.refreshed_at,
    t.completed_at,
    a.answered_at,
    a.loaded_at,
    (extract(epoch from now() - t.refreshed_at) / 3600)::double precision as "hours_since_refresh",
    coalesce(q.open_requests, 0) as "open_requests",
    coalesce(q.in_doubt_requests, 0) as "in_doubt_requests",
    coalesce(a.waiting_answers, 0) as "waiting_answers"
  from (
    select distinct on (sync) id, sync, endpoint, state, exit_code, started_at, ended_at, error
    from "runs" where strpos(sync, ':') = 0 order by sync, id desc
  ) n
  cross join lateral (
    select
      max(r.ended_at) filter (where r.state in ('complete', 'partial')) as "refreshed_at",
      max(r.ended_at) filter (where r.state = 'complete') as "completed_at"
    from "runs" r where r.sync = n.sync
  ) t
  left join (
    select
      w.sync,
      max(w.received_at) as "answered_at",
      max(w.loaded_at) as "loaded_at",
      count(*) filter (where w.loaded_at is null) as "waiting_answers"
    from "answers" w group by w.sync
  ) a on a.sync = n.sync
  left join (
    select
      o.sync,
      count(*) as "open_requests",
      count(*) filter (where o.state = 'in_doubt') as "in_doubt_requests"
    from "requests" o where o.state in ('planned', 'sent', 'in_doubt') group by o.sync
  ) q on q.sync = n.sync`,
  `create view "sync_slices" as
  with "narrowing" ("endpoint", "facets", "day_from", "day_to") as (
    values
      ('sec.search.companies', array['forms', 'location_codes'], 'date_from', 'date_to'),
      ('pronet.search.users', array['current_company', 'past_company', 'location', 'industry', 'education'], '', '')
  ),
  "slices" as (
    select
      c.id, c.request_id, c.sync, c.endpoint, c.request_key, c.run_id, c.filters, c.asked, c.returned, c.depth,
      c.complete, c.reason, c.as_of,
      w.facets,
      w.day_from <> '' as "dated",
      (c.filters -> w.day_from)::text as "first_day",
      (c.filters -> w.day_to)::text as "last_day",
      c.filters - (w.facets || w.day_from || w.day_to) as "rest"
    from "coverage" c
    left join "narrowing" w on w.endpoint = c.endpoint
    where strpos(c.sync, ':') = 0
  ),
  "newest" as (
    select distinct on (sync, endpoint, filters) * from "slices" order by sync, endpoint, filters, id desc
  )
  select
    c.id as "slice_id",
    c.sync,
    c.endpoint,
    c.request_key,
    c.run_id,
    c.filters::text as "filters",
    c.asked,
    c.returned,
    c.depth,
    x.extent,
    case when x.extent = 'lower_bound' then c.reason end as "reason",
    c.as_of
  from "newest" c
  cross join lateral (
    select case
      when c.complete then 'complete'
      when c.reason is null then 'open'
      when exists (
        select from "requests" s
        where s.sync = c.sync and s.request_key = c.request_key and s.id > c.request_id
          and s.state = 'skipped' and s.attempts = 0 and s.next is not null
      ) then 'open'
      when exists (
        select from "slices" n
        where n.id > c.id and n.sync = c.sync and n.endpoint = c.endpoint and n.returned < n.asked and n.rest = c.rest
          and (not n.dated or (n.first_day <= c.first_day and n.last_day >= c.last_day))
          and not exists (
            select from unnest(n.facets) as f
            where n.filters -> f is not null and n.filters -> f is distinct from c.filters -> f
          )
      ) then 'open'
      else 'lower_bound'
    end as "extent"
  ) x`,
  `create view "sync_coverage" as
  select
    s.sync,
    s.endpoint,
    count(*) as "slices",
    count(*) filter (where s.extent = 'complete') as "complete_slices",
    count(*) filter (where s.extent = 'lower_bound') as "lower_bound_slices",
    count(*) filter (where s.extent = 'open') as "open_slices",
    count(*) filter (where s.extent = 'complete')::double precision
      / nullif(count(*) filter (where s.extent <> 'open'), 0) as "complete_share",
    sum(s.returned)::bigint as "returned",
    min(s.as_of) as "oldest_as_of",
    max(s.as_of) as "newest_as_of"
  from "sync_slices" s
  group by s.sync, s.endpoint`,
  `create view "sync_quality" as
  select
    n.sync,
    n.endpoint,
    coalesce(a.answers, 0) as "answers",
    coalesce(a.received, 0) as "received",
    coalesce(a.loaded, 0) as "loaded",
    coalesce(a.unchanged, 0) as "unchanged",
    coalesce(a.superseded, 0) as "superseded",
    coalesce(a.quarantined, 0) as "quarantined",
    a.quarantined::double precision / nullif(a.received, 0) as "quarantined_share",
    coalesce(q.open_quarantine, 0) as "open_quarantine",
    q.last_quarantined_at,
    n.failed as "last_run_failed",
    n.missing as "last_run_missing",
    n.truncated as "last_run_truncated"
  from (
    select distinct on (sync) id, sync, endpoint, failed, missing, truncated
    from "runs" where strpos(sync, ':') = 0 order by sync, id desc
  ) n
  left join (
    select
      w.sync,
      count(*) as "answers",
      sum(w.received)::bigint as "received",
      sum(w.loaded)::bigint as "loaded",
      sum(w.unchanged)::bigint as "unchanged",
      sum(w.superseded)::bigint as "superseded",
      sum(w.quarantined)::bigint as "quarantined"
    from "answers" w group by w.sync
  ) a on a.sync = n.sync
  left join (
    select
      i.sync,
      count(*) filter (where i.resolved_at is null) as "open_quarantine",
      max(i.created_at) as "last_quarantined_at"
    from "quarantine" i group by i.sync
  ) q on q.sync = n.sync`,
  `create view "paid_answers" as
  select
    a.id as "answer_id",
    a.run_id,
    a.sync,
    a.endpoint,
    a.request_key,
    a.received_at,
    a.took_ms,
    a.status,
    a.bytes,
    a.asked,
    a.received,
    a.loaded,
    a.unchanged,
    a.superseded,
    a.quarantined,
    a.loaded_at
  from "answers" a`,
  `create view "quarantined_items" as
  select
    i.id as "entry_id",
    i.answer_id,
    i.sync,
    i.endpoint,
    i.resource,
    i.position,
    i.reason,
    i.created_at,
    i.resolved_at,
    i.resolved_at is null as "is_open"
  from "quarantine" i`,
  `create view "contract_drift" as
  select
    d.resource,
    d.path,
    d.kind,
    d.count as "seen",
    d.sample_type,
    d.first_seen_at,
    d.last_seen_at,
    (d.last_seen_at at time zone 'UTC')::date - (d.first_seen_at at time zone 'UTC')::date + 1 as "days_seen"
  from "drift" d`,
];

const DOWN = [
  'drop view "contract_drift"',
  'drop view "quarantined_items"',
  'drop view "paid_answers"',
  'drop view "sync_quality"',
  'drop view "sync_coverage"',
  'drop view "sync_slices"',
  'drop view "sync_freshness"',
  'drop view "sync_runs"',
  'drop view "sync_inputs"',
  'drop view "web_page_overview"',
  'drop view "photoshare_user_overview"',
  'drop view "microblog_user_overview"',
  'drop view "pronet_group_member_overview"',
  'drop view "pronet_group_overview"',
  'drop view "pronet_user_search_hit_overview"',
  'drop view "pronet_user_school_overview"',
  'drop view "pronet_user_overview"',
  'drop view "photoshare_user_post_overview"',
  'drop view "photoshare_post_overview"',
  'drop view "pronet_post_mention_overview"',
  'drop view "pronet_post_repost_overview"',
  'drop view "pronet_post_overview"',
  'drop view "sec_filing_filers"',
  'drop view "sec_filing_overview"',
  'drop view "attribute_changes"',
  'drop view "dim_date"',
  `create view "sync_inputs" as
  select
    request.sync,
    request.endpoint,
    request.request_key,
    request.input,
    case
      when request.state not in ('fresh', 'loaded') then request.state
      when answer.loaded_at is null then 'stored'
      when answer.status = 412 then 'missing'
      when answer.received = 0 then 'empty'
      when answer.quarantined = answer.received then 'quarantined'
      when answer.loaded = 0 and answer.unchanged > 0 then 'unchanged'
      else 'loaded'
    end as outcome,
    coalesce(answer.received_at, request.finished_at, request.sent_at, request.planned_at) as at,
    request.answer_id,
    request.error
  from (
    select distinct on (request_key, sync)
      sync, endpoint, request_key, state, input, answer_id, error, planned_at, sent_at, finished_at
    from "requests"
    order by request_key desc, sync desc, id desc
  ) as request
  left join "answers" as answer on answer.id = request.answer_id`,
  'drop table "photoshare_user_changes"',
  'drop table "microblog_user_changes"',
  'drop table "pronet_group_changes"',
  'drop table "pronet_company_changes"',
  'drop table "pronet_user_changes"',
  'drop table "fact_photoshare_post_daily"',
  'drop table "fact_photoshare_user_daily"',
  'drop table "fact_microblog_user_daily"',
  'drop table "fact_pronet_group_daily"',
  'drop table "fact_pronet_post_daily"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
