/**
 * Four views in other words, with the columns and rows that they had: over months of requests and people they took
 * hours, since their cost grew with the square of what they read.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

/** The first and the last year that an education's interval names: numbers of four digits from 1900 to 2099. */
const YEARS = `cross join lateral (
    select min(word::integer) as "first", max(word::integer) as "last"
    from string_to_table(regexp_replace(e."interval", '[^0-9]+', ' ', 'g'), ' ') as word
    where length(word) = 4 and left(word, 2) in ('19', '20')
  ) y`;

/** Of several educations the latest: one that goes on, else that with the latest year, else the one listed first. */
const LATEST = `coalesce(e."interval" ~* 'present|current|today', false) desc, y."last" desc nulls last, e.position`;

const PEOPLE = `create or replace view "pronet_user_overview" as
  select
    u.urn_type,
    u.urn_value,
    u.name,
    u.alias,
    u.url,
    u.headline,
    u.location,
    u.open_to_work,
    coalesce(s.school_count, 0) as "school_count",
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
      y."last" as "end_year", count(*) over () as "school_count"
    from "pronet_user_educations" e
    ${YEARS}
    where e.user_urn_type = u.urn_type and e.user_urn_value = u.urn_value
    order by ${LATEST}
    limit 1
  ) s on true`;

const SCHOOLS = `create or replace view "pronet_user_school_overview" as
  select
    e.user_urn_type,
    e.user_urn_value,
    e.position,
    u.name as "user_name",
    u.headline as "user_headline",
    u.location as "user_location",
    row_number() over (partition by e.user_urn_type, e.user_urn_value order by ${LATEST}) = 1 as "is_latest",
    e.company_urn_type as "school_urn_type",
    e.company_urn_value as "school_urn_value",
    e.company_name as "school_name",
    coalesce(e.company_url, c.url) as "school_url",
    coalesce(e.company_industry_full_name, c.industry_full_name) as "school_industry",
    coalesce(e.company_employee_range, c.employee_range) as "school_employee_range",
    e.major,
    e."interval",
    y."first" as "start_year",
    y."last" as "end_year"
  from "pronet_user_educations" e
  ${YEARS}
  left join "pronet_users" u on u.urn_type = e.user_urn_type and u.urn_value = e.user_urn_value
  left join "pronet_companies" c on c.urn_type = e.company_urn_type and c.urn_value = e.company_urn_value`;

// A slice is looked for among the wider questions by equality: its own without any of the facets that it names. Only the
// days are compared, and only with slices of such a question. The pattern rather than a position lets the planner count.
const SLICES = `create or replace view "sync_slices" as
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
      c.filters - w.day_from - w.day_to as "question",
      case when w.day_from = '' then '' else (c.filters -> w.day_from)::text end as "first_day",
      case when w.day_to = '' then '' else (c.filters -> w.day_to)::text end as "last_day"
    from "coverage" c
    left join "narrowing" w on w.endpoint = c.endpoint
    where c.sync not like '%:%'
  ),
  "newest" as (
    select distinct on (sync, endpoint, filters) * from "slices" order by sync, endpoint, filters, id desc
  ),
  "with_room" as (
    select sync, endpoint, question, first_day, last_day, max(id) as "id"
    from "slices" where returned < asked
    group by sync, endpoint, question, first_day, last_day
  ),
  "wider" as materialized (
    select
      c.id, c.sync, c.endpoint, c.first_day, c.last_day,
      c.question - array(select f.name from unnest(n.facets) with ordinality as f(name, place) where b.left_out >> (f.place - 1)::integer & 1 = 1) as "question"
    from "newest" c
    cross join lateral (select array(select f from unnest(c.facets) as f where c.question ? f) as "facets") n
    cross join lateral generate_series(0, (1 << cardinality(n.facets)) - 1) as b(left_out)
    where not c.complete and c.reason is not null
  ),
  "told" as (
    select distinct w.id
    from "wider" w
    join "with_room" n
      on n.sync = w.sync and n.endpoint = w.endpoint and n.question = w.question
      and n.id > w.id and n.first_day <= w.first_day and n.last_day >= w.last_day
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
  left join "told" t on t.id = c.id
  cross join lateral (
    select case
      when c.complete then 'complete'
      when c.reason is null then 'open'
      when t.id is not null then 'open'
      when exists (
        select from "requests" s
        where s.sync = c.sync and s.request_key = c.request_key and s.id > c.request_id
          and s.state = 'skipped' and s.attempts = 0 and s.next is not null
      ) then 'open'
      else 'lower_bound'
    end as "extent"
    offset 0
  ) x`;

// The next answer is the first in the order of an index that is read only as far as needed. Were the question compared
// alone, the planner would fetch and sort all its later answers each time.
const SAVINGS = `create or replace view "sync_max_age_savings" as
  with recursive "repeated" as (
    select a.sync, a.request_key, min(a.received_at) as "first_at"
    from "answers" a where a.endpoint <> 'token.requests'
    group by a.sync, a.request_key having count(*) > 1
  ),
  "ages" ("days") as (values (1), (7), (30)),
  "bought" ("days", "sync", "request_key", "at") as (
    select d.days, r.sync, r.request_key, r.first_at from "repeated" r cross join "ages" d
    union all
    select b.days, b.sync, b.request_key, n.received_at
    from "bought" b
    cross join lateral (select b.at + b.days * interval '24 hours' as "until") u
    cross join lateral (
      select a.request_key, a.received_at from "answers" a
      where (a.request_key, a.received_at) > (b.request_key, u.until)
        and (a.request_key <> b.request_key
          or (a.sync = b.sync and a.received_at - a.took_ms * interval '1 millisecond' > u.until))
      order by a.request_key, a.received_at limit 1
    ) n
    where n.request_key = b.request_key
  ),
  "paid" as (
    select
      c.sync, c.request_key, c.received_at,
      count(*) as "answers",
      count(*) filter (where not c.is_nothing_new) as "telling",
      sum(c.points) as "points"
    from "answer_costs" c where c.endpoint <> 'token.requests'
    group by c.sync, c.request_key, c.received_at
  ),
  "saved" as (
    select
      d.days,
      p.sync,
      sum(p.answers)::bigint as "answers",
      sum(p.points) as "points",
      sum(p.telling)::bigint as "telling"
    from "paid" p
    join "repeated" r on r.sync = p.sync and r.request_key = p.request_key
    cross join "ages" d
    left join "bought" b
      on b.days = d.days and b.sync = p.sync and b.request_key = p.request_key and b.at = p.received_at
    where b.days is null
    group by d.days, p.sync
  )
  select
    t.sync,
    d.days as "max_age_days",
    t.answers,
    t.points,
    coalesce(s.answers, 0) as "saved_answers",
    coalesce(s.points, 0) as "saved_points",
    (coalesce(s.points, 0) / nullif(t.points, 0))::double precision as "saved_share",
    coalesce(s.telling, 0) as "late_answers"
  from (
    select p.sync, sum(p.answers)::bigint as "answers", sum(p.points) as "points" from "paid" p group by p.sync
  ) t
  cross join "ages" d
  left join "saved" s on s.sync = t.sync and s.days = d.days`;

// Replaced rather than dropped, since rights on a view are lost with it.
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const view of [PEOPLE, SCHOOLS, SLICES, SAVINGS]) await sql.raw(view).execute(db);
}

/** Leaves the views: they tell what they told before. */
export const down = (): Promise<void> => Promise.resolve();
