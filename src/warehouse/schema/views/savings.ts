/** The view of what `max_age` can save. */
import { ownSync } from './cost-columns.ts';
import { bigint, integer, numeric, ratio, view } from './view.ts';

/**
 * The common table expressions and the query of the savings, from a relation that has the columns of answer_costs.
 *
 * A request looks its answer up when it is sent; each that finds no answer young enough is bought. So after a bought
 * answer, the next one is the first that was sent when its age had passed. Ages are in hours, because a day of the time
 * zone of a session may have one hour more or less. The answers to a question are in arrays, ordered by receipt: the next
 * bought one is found by a binary search in `sent`, the latest start so far. An unreadable answer serves no request, so
 * the one after it is bought. A question whose answers are all further apart than the age saves nothing, and is left out.
 */
export const savingsOf = (paid: string): string => `"moments" as (
      select
        p.request_key, p.sync, p.received_at,
        count(*) as "answers",
        count(*) filter (where not p.is_nothing_new) as "telling",
        sum(p.points) as "points",
        max(least(p.sent_at, p.received_at)) as "sent_at",
        bool_and(u.id is not null) as "unreadable"
      from ${paid} p left join "answers" u on u.id = p.answer_id and u.unreadable
      where p.endpoint <> 'token.requests'
      group by p.request_key, p.sync, p.received_at
    ),
    "repeated" as (
      select
        m.sync,
        min(m.sent - m.previous_at) as "gap",
        array_agg(m.received_at order by m.received_at) as "received",
        array_agg(m.sent order by m.received_at) as "sent",
        array_agg(m.unreadable order by m.received_at) as "unreadable",
        array_agg(m.answers order by m.received_at) as "answers",
        array_agg(m.telling order by m.received_at) as "telling",
        array_agg(m.points order by m.received_at) as "points",
        sum(m.answers) as "all_answers",
        sum(m.telling) as "all_telling",
        sum(m.points) as "all_points"
      from (
        select
          n.request_key, n.sync, n.received_at, n.unreadable, n.answers, n.telling, n.points,
          max(n.sent_at) over w as "sent",
          lag(n.received_at) over w as "previous_at",
          lead(n.received_at) over w as "next_at"
        from "moments" n window w as (partition by n.request_key, n.sync order by n.received_at)
      ) m
      where m.previous_at is not null or m.next_at is not null
      group by m.request_key, m.sync
    ),
    "ages" ("days", "age") as (values (1, interval '24 hours'), (7, interval '168 hours'), (30, interval '720 hours')),
    "saved" as (
      select
        d.days,
        r.sync,
        sum(r.all_answers - b.answers)::bigint as "answers",
        sum(r.all_points - b.points) as "points",
        sum(r.all_telling - b.telling)::bigint as "telling"
      from "repeated" r
      join "ages" d on r.gap <= d.age
      cross join lateral (
        with recursive "bought" ("place") as (
          select 1
          union all
          select n.place from "bought" o
          cross join lateral (
            select 1 + case when r.unreadable[o.place] then o.place else width_bucket(r.received[o.place] + d.age, r.sent) end as "place"
          ) n
          where n.place <= cardinality(r.sent)
        )
        select sum(r.answers[o.place]) as "answers", sum(r.points[o.place]) as "points", sum(r.telling[o.place]) as "telling"
        from "bought" o
      ) b
      group by d.days, r.sync
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
      select p.sync, count(*) as "answers", sum(p.points) as "points"
      from ${paid} p where p.endpoint <> 'token.requests' group by p.sync
    ) t
    cross join "ages" d
    left join "saved" s on s.sync = t.sync and s.days = d.days`;

export const maxAgeSavings = view(
  'sync_max_age_savings',
  'Points that a max_age would have saved, had it been set from the beginning: one row per sync and age. Reads of the request log are not included.',
  ['sync', 'max_age_days'],
  {
    sync: ownSync,
    max_age_days: integer('Assumed max_age in days: 1, 7 or 30.'),
    answers: bigint('Number of paid answers.'),
    points: numeric('Points for these answers, by the log if it has their requests, otherwise by the ledger.'),
    saved_answers: bigint('Number of these answers that an earlier answer of at most this age would have replaced.'),
    saved_points: numeric('Points that would have been saved, without regard to answers of other syncs.'),
    saved_share: ratio('Share of saved_points in points, from 0 to 1; null if points is 0.'),
    late_answers: bigint('Number of saved answers with something new, which would have been loaded later or never.'),
  },
  `
    with "paid" as materialized (
      select c.answer_id, c.sync, c.endpoint, c.request_key, c.received_at, c.sent_at, c.points, c.is_nothing_new from "answer_costs" c
    ),
    ${savingsOf('"paid"')}`,
);
