/** SQL of the sums by day over the answers. `sums.ts` has those over the log and the ledger. */
import { LOG_ENDPOINT } from '../../../service/request-log/request-log.ts';
import { filledTables } from '../views/cost-columns.ts';
import { certainRowsOf, POINTS } from '../views/logged-requests.ts';
import { AGES } from './ages.ts';
import { dayOf, type DaySums } from './periods.ts';

const ANSWER_COLUMNS = [
  'date',
  'run_id',
  'sync',
  'endpoint',
  'answers',
  'points',
  'received',
  'loaded',
  'unchanged',
  'superseded',
  'quarantined',
  'new_rows',
  'nothing_new_answers',
  'nothing_new_points',
  ...AGES.flatMap((days) => [`saved_answers_${days}d`, `saved_points_${days}d`, `late_answers_${days}d`]),
];

/**
 * Answers by day of receipt, run, sync and endpoint. A request is bought again if the last purchase of its sync was older
 * than the age when it was sent. Ages are in hours, because a day of a time zone may have one hour more or less. A row is new by the answer whose receipt is its first observation; of answers with equal receipts, by the first.
 */
export const answerSums: DaySums = {
  table: 'answer_sums',
  columns: ANSWER_COLUMNS,
  over: (periods) => `
    with "periods" as materialized (select * from ${periods} p),
    "bought" as materialized (
      select
        a.*,
        row_number() over (partition by a.endpoint, a.received_at order by a.id) as "of_moment",
        a.loaded_at is not null and coalesce(a.loaded, 0) = 0 and coalesce(a.quarantined, 0) = 0 as "is_nothing_new"
      from "periods" r cross join lateral (
        select id, request_id, run_id, sync, endpoint, request_key, received_at, received, loaded, unchanged, superseded, quarantined, loaded_at
        from "answers" w where w.received_at between r.starts_at and r.ends_at offset 0
      ) a
    ),
    "appearances" ("endpoint", "at", "rows") as (
      ${filledTables
        .map(
          ({ endpoint, table }) => `select '${endpoint}', t._first_seen_at, count(*)
      from "periods" r cross join lateral (
        select _first_seen_at from "${table}" w where w._first_seen_at between r.starts_at and r.ends_at offset 0
      ) t group by 2`,
        )
        .join('\n      union all ')}
    ),
    "purchases" as (
      select
        w.id,
        ${AGES.map(
          (days) =>
            `last_purchase(w.received_at, w.received_at - w.took_ms * interval '1 millisecond', interval '${days * 24} hours') over history <> w.received_at as "is_saved_${days}d"`,
        ).join(',\n        ')}
      from (select distinct b.sync, b.request_key from "bought" b where b.endpoint <> '${LOG_ENDPOINT}') k
      cross join lateral (
        select a.id, a.sync, a.request_key, a.received_at, a.took_ms from "answers" a
        where a.request_key = k.request_key and a.sync = k.sync offset 0
      ) w
      window history as (partition by w.sync, w.request_key order by w.received_at)
    )
    select
      ${dayOf('a.received_at')} as "date",
      a.run_id,
      a.sync,
      a.endpoint,
      count(*) as "answers",
      sum(p.points) as "points",
      sum(a.received)::bigint as "received",
      sum(a.loaded)::bigint as "loaded",
      sum(a.unchanged)::bigint as "unchanged",
      sum(a.superseded)::bigint as "superseded",
      sum(a.quarantined)::bigint as "quarantined",
      coalesce(sum(n.rows) filter (where a.of_moment = 1), 0)::bigint as "new_rows",
      count(*) filter (where a.is_nothing_new) as "nothing_new_answers",
      coalesce(sum(p.points) filter (where a.is_nothing_new), 0) as "nothing_new_points",
      ${AGES.map(
        (days) => `count(*) filter (where s.is_saved_${days}d) as "saved_answers_${days}d",
      coalesce(sum(p.points) filter (where s.is_saved_${days}d), 0) as "saved_points_${days}d",
      count(*) filter (where s.is_saved_${days}d and not a.is_nothing_new) as "late_answers_${days}d"`,
      ).join(',\n      ')}
    from "bought" a
    left join lateral (select s.charged, s.points from "requests" s where s.id = a.request_id offset 0) q on true
    cross join lateral (
      select case
        when exists (select from "answers" n where n.request_id = a.request_id and n.id > a.id) then 0
        else coalesce((select sum(${POINTS}) from ${certainRowsOf('a.request_id')} c), q.charged, q.points, 0)
      end as "points"
      offset 0
    ) p
    left join "appearances" n on n.endpoint = a.endpoint and n.at = a.received_at
    left join "purchases" s on s.id = a.id
    group by 1, a.run_id, a.sync, a.endpoint`,
};
