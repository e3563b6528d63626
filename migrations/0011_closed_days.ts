/** Tables for the sums of closed days, and indexes that find the rows of a day. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

const UP = [
  `create table "closed_days" (
    "day" date not null,
    "formula" text not null,
    constraint "closed_days_pkey" primary key ("day")
  )`,
  `create table "changed_days" (
    "id" bigint generated always as identity not null,
    "day" date not null,
    constraint "changed_days_pkey" primary key ("id")
  )`,
  'create index "changed_days_day_idx" on "changed_days" ("day")',
  `create table "log_sums" (
    "id" bigint generated always as identity not null,
    "date" date not null,
    "endpoint" text not null,
    "plan" text not null,
    "sync" text not null,
    "run_id" bigint,
    "token" text not null,
    "requests" bigint not null,
    "points" numeric not null,
    "list_points" numeric not null,
    "failed_requests" bigint not null,
    "failed_points" numeric not null,
    "missing_requests" bigint not null,
    "missing_points" numeric not null,
    "open_requests" bigint not null,
    "items" numeric not null,
    "lost_requests" bigint not null,
    "lost_points" numeric not null,
    "failure_ids" uuid[],
    "first_at" timestamptz not null,
    "last_at" timestamptz not null,
    "points_left" bigint,
    "told_at" timestamptz,
    "told_by" uuid,
    constraint "log_sums_pkey" primary key ("id")
  )`,
  'create index "log_sums_date_idx" on "log_sums" ("date")',
  `create table "request_sums" (
    "id" bigint generated always as identity not null,
    "date" date not null,
    "sent_on" date,
    "sync" text not null,
    "endpoint" text not null,
    "is_sent" boolean not null,
    "requests" bigint not null,
    "points" numeric,
    "verified_requests" bigint not null,
    "verified_points" numeric not null,
    "unverified_requests" bigint not null,
    "unverified_points" numeric not null,
    "unlogged" bigint not null,
    "unlogged_first_at" timestamptz,
    "unlogged_last_at" timestamptz,
    constraint "request_sums_pkey" primary key ("id")
  )`,
  'create index "request_sums_date_idx" on "request_sums" ("date")',
  `create table "answer_sums" (
    "id" bigint generated always as identity not null,
    "date" date not null,
    "run_id" bigint not null,
    "sync" text not null,
    "endpoint" text not null,
    "answers" bigint not null,
    "points" numeric not null,
    "received" bigint,
    "loaded" bigint,
    "unchanged" bigint,
    "superseded" bigint,
    "quarantined" bigint,
    "new_rows" bigint not null,
    "nothing_new_answers" bigint not null,
    "nothing_new_points" numeric not null,
    "saved_answers_1d" bigint not null,
    "saved_points_1d" numeric not null,
    "late_answers_1d" bigint not null,
    "saved_answers_7d" bigint not null,
    "saved_points_7d" numeric not null,
    "late_answers_7d" bigint not null,
    "saved_answers_30d" bigint not null,
    "saved_points_30d" numeric not null,
    "late_answers_30d" bigint not null,
    constraint "answer_sums_pkey" primary key ("id")
  )`,
  'create index "answer_sums_date_idx" on "answer_sums" ("date")',
  `create table "row_sums" (
    "id" bigint generated always as identity not null,
    "date" date not null,
    "table_name" text not null,
    "rows" bigint not null,
    constraint "row_sums_pkey" primary key ("id")
  )`,
  'create index "row_sums_date_idx" on "row_sums" ("date")',
  'create index "requests_planned_at_idx" on "requests" using brin ("planned_at")',
  'create index "answers_received_at_idx" on "answers" using brin ("received_at")',
  'create index "fact_request_costs__first_seen_at_idx" on "fact_request_costs" using brin ("_first_seen_at")',
  'create index "web_pages__first_seen_at_idx" on "web_pages" using brin ("_first_seen_at")',
  'create index "sec_filings__first_seen_at_idx" on "sec_filings" using brin ("_first_seen_at")',
  'create index "pronet_users__first_seen_at_idx" on "pronet_users" using brin ("_first_seen_at")',
  'create index "pronet_industries__first_seen_at_idx" on "pronet_industries" using brin ("_first_seen_at")',
  'create index "pronet_companies__first_seen_at_idx" on "pronet_companies" using brin ("_first_seen_at")',
  'create index "pronet_posts__first_seen_at_idx" on "pronet_posts" using brin ("_first_seen_at")',
  'create index "pronet_user_educations__first_seen_at_idx" on "pronet_user_educations" using brin ("_first_seen_at")',
  'create index "pronet_groups__first_seen_at_idx" on "pronet_groups" using brin ("_first_seen_at")',
  'create index "microblog_users__first_seen_at_idx" on "microblog_users" using brin ("_first_seen_at")',
  'create index "photoshare_users__first_seen_at_idx" on "photoshare_users" using brin ("_first_seen_at")',
  'create index "photoshare_posts__first_seen_at_idx" on "photoshare_posts" using brin ("_first_seen_at")',
  `create function "next_purchase"(last timestamptz, received_at timestamptz, sent_at timestamptz, age interval)
    returns timestamptz language plpgsql immutable parallel safe as $function$
    begin
      return case when last is null or (received_at > last + age and sent_at > last + age) then received_at else last end;
    end
    $function$`,
  'create aggregate "last_purchase"(timestamptz, timestamptz, interval) (sfunc = next_purchase, stype = timestamptz, parallel = safe)',
];

const DOWN = [
  'drop aggregate "last_purchase"(timestamptz, timestamptz, interval)',
  'drop function "next_purchase"',
  'drop index "requests_planned_at_idx"',
  'drop index "answers_received_at_idx"',
  'drop index "fact_request_costs__first_seen_at_idx"',
  'drop index "web_pages__first_seen_at_idx"',
  'drop index "sec_filings__first_seen_at_idx"',
  'drop index "pronet_users__first_seen_at_idx"',
  'drop index "pronet_industries__first_seen_at_idx"',
  'drop index "pronet_companies__first_seen_at_idx"',
  'drop index "pronet_posts__first_seen_at_idx"',
  'drop index "pronet_user_educations__first_seen_at_idx"',
  'drop index "pronet_groups__first_seen_at_idx"',
  'drop index "microblog_users__first_seen_at_idx"',
  'drop index "photoshare_users__first_seen_at_idx"',
  'drop index "photoshare_posts__first_seen_at_idx"',
  'drop table "row_sums", "answer_sums", "request_sums", "log_sums", "changed_days", "closed_days"',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of UP) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of DOWN) await sql.raw(statement).execute(db);
}
