/**
 * An answer that could not be read serves no request and covers no slice. Runs, slices and inputs show it, and an input's
 * slices name the question that they are a part of.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const slices = (column: string, readable: string): string => `create or replace view "sync_slices" as
  with "narrowing" ("endpoint", "facets", "day_from", "day_to") as (
    values
      ('sec.search.companies', array['forms', 'location_codes'], 'date_from', 'date_to'),
      ('pronet.search.users', array['current_company', 'past_company', 'location', 'industry', 'education'], '', '')
  ),
  "slices" as (
    select
      c.id, c.request_id, c.sync, c.endpoint, c.request_key, c.run_id, c.filters, c.asked, c.returned, c.depth,
      c.complete, c.reason, c.as_of,${column}
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
    from "slices" where returned < asked${readable}
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

const freshness = (read: string): string => `create or replace view "sync_freshness" as
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
      max(r.ended_at) filter (where r.state in ('complete', 'partial')${read}) as "refreshed_at",
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
  ) q on q.sync = n.sync`;

const inputs = (more: string): string => `"sync_inputs" as
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
    request.run_id${more}
  from (
    select distinct on (request_key, sync)
      id, sync, endpoint, request_key, run_id, state, attempts, input, body, depth, parent_id, answer_id, error, next, planned_at, sent_at, finished_at
    from "requests"
    order by request_key desc, sync desc, id desc
  ) as request
  left join "answers" as answer on answer.id = request.answer_id
  where strpos(request.sync, ':') = 0
    and not (request.state = 'skipped' and request.attempts = 0 and request.next is not null)`;
const INPUT_SLICES = `,
    request.body::text as "question",
    request.depth,
    (select p.request_key from "requests" p where p.id = request.parent_id) as "part_of"`;

const RUN_COLUMNS = `
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
  r.error,
  r.changed`;
const RUNS = `from "runs" r where strpos(r.sync, ':') = 0`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `alter table "answers" add column "unreadable" boolean not null default false`,
    `alter table "coverage" add column "unreadable" boolean not null default false`,
    `alter table "runs" add column "unreadable" bigint not null default 0`,
    `update "answers" a set "unreadable" = true
     from "quarantine" q where q.answer_id = a.id and q."position" is null and q.resolved_at is null`,
    `update "coverage" c set "unreadable" = true, "reason" = 'its answer could not be read'
     from "requests" r join "answers" a on a.id = r.answer_id where r.id = c.request_id and a.unreadable`,
    `create index "answers_unreadable_idx" on "answers" ("request_key", "received_at") where unreadable`,
    `create index "coverage_unreadable_idx" on "coverage" ("request_key") where unreadable`,
    slices(' c.unreadable,', ' and not unreadable'),
    freshness(' and r.unreadable = 0'),
    `create or replace view ${inputs(INPUT_SLICES)}`,
    `create or replace view "sync_runs" as select ${RUN_COLUMNS}, r.unreadable ${RUNS}`,
  ])
    await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `drop view "sync_runs"`,
    `create view "sync_runs" as select ${RUN_COLUMNS} ${RUNS}`,
    `drop view "sync_inputs"`,
    `create view ${inputs('')}`,
    freshness(''),
    slices('', ''),
    `alter table "runs" drop column "unreadable"`,
    `alter table "coverage" drop column "unreadable"`,
    `alter table "answers" drop column "unreadable"`,
  ])
    await sql.raw(statement).execute(db);
}
