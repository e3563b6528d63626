/** The service's log does not list the requests that read it, so they are not held against it either. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const daily = (which: string): string => `create or replace view "daily_reconciliation" as
  with "entries" as (
    select
      p.date, p.points, p.match, p.request_id,
      p.request_id is not null and p.points > 0 and p.place > coalesce(a.rows, 0) as "is_lost"
    from (
      select
        l.date, l.points, l.match, l.request_id,
        row_number() over (partition by l.request_id, l.points > 0 order by l.started_at desc, l.log_id) as "place"
      from "logged_requests" l
    ) p
    left join (select w.request_id, count(*) as "rows" from "answers" w group by w.request_id) a on a.request_id = p.request_id
  ),
  "logged" as (
    select
      e.date,
      count(*) as "logged",
      sum(e.points) as "logged_points",
      count(*) filter (where e.request_id is not null) as "matched",
      coalesce(sum(e.points) filter (where e.request_id is not null), 0) as "matched_points",
      count(*) filter (where e.match = 'ambiguous') as "ambiguous",
      coalesce(sum(e.points) filter (where e.match = 'ambiguous'), 0) as "ambiguous_points",
      count(*) filter (where e.match = 'none') as "others",
      coalesce(sum(e.points) filter (where e.match = 'none'), 0) as "other_points",
      count(*) filter (where e.is_lost) as "lost",
      coalesce(sum(e.points) filter (where e.is_lost), 0) as "lost_points"
    from "entries" e
    group by e.date
  ),
  "sent" as (
    select
      (q.sent_at at time zone 'UTC')::date as "date",
      count(*) as "asked",
      coalesce(sum(q.points), 0) as "ledger_points",
      count(*) filter (
        where q.answer_id is not null and not exists (select from "request_cost_matches" k where k.request_id = q.id)
      ) as "unlogged"
    from "requests" q where q.sent_at is not null and q.attempts > 0${which}
    group by 1
  )
  select
    date,
    coalesce(l.logged, 0) as "logged",
    coalesce(l.logged_points, 0) as "logged_points",
    coalesce(l.matched, 0) as "matched",
    coalesce(l.matched_points, 0) as "matched_points",
    coalesce(l.ambiguous, 0) as "ambiguous",
    coalesce(l.ambiguous_points, 0) as "ambiguous_points",
    coalesce(l.others, 0) as "others",
    coalesce(l.other_points, 0) as "other_points",
    coalesce(l.lost, 0) as "lost",
    coalesce(l.lost_points, 0) as "lost_points",
    coalesce(s.asked, 0) as "asked",
    coalesce(s.ledger_points, 0) as "ledger_points",
    coalesce(s.unlogged, 0) as "unlogged"
  from "logged" l
  full join "sent" s using (date)`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(daily(` and q.endpoint <> 'token.requests'`)).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql.raw(daily('')).execute(db);
}
