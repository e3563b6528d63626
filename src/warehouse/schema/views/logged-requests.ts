/** SQL that joins rows of the request log with the requests of the ledger. */

/** The log rows that a query of logged requests reads, and a relation of the matches; absent, those of each row are read by index. */
interface LoggedSource {
  readonly log: string;
  readonly matches?: string;
}

/** SQL for the token of a row of the request log. */
export const tokenOf = (row: string): string => `coalesce(${row}.token_id::text, '(not told)')`;

/** SQL for the points charged for the log row `c`. */
export const POINTS = `(case when coalesce(c.is_paid, c.cost > 0) then coalesce(c.cost, 0) else 0 end)::numeric`;

/** SQL for the start of the log row `c`. A row without a start counts from its first observation. */
export const STARTED = `coalesce(c.started_at, c._first_seen_at)`;

const REQUEST_ID = `min(k.request_id) filter (where k.match_kind <> 'ambiguous') as "request_id"`;
const MATCH_KIND = `coalesce(min(k.match_kind) filter (where k.match_kind <> 'ambiguous'), 'ambiguous')`;

/** Reads the matches and the request of each row by index, for a part of the log. The planner cannot estimate how small it is. */
const JOINED_EACH = `
    cross join lateral (
      select ${REQUEST_ID}, case when count(*) > 0 then ${MATCH_KIND} end as "match_kind"
      from "request_cost_matches" k where k.log_id = c.id
    ) m
    left join lateral (select * from "requests" s where s.id = m.request_id offset 0) q on true`;

/** Postgres cannot push a condition on the log into the grouped matches. */
const joinedAll = (matches: string): string => `
    left join (
      select k.log_id, ${REQUEST_ID}, ${MATCH_KIND} as "match_kind"
      from ${matches} k group by k.log_id
    ) m on m.log_id = c.id
    left join "requests" q on q.id = m.request_id`;

/** The query of logged requests, over all or a part of the log. */
export const loggedRequests = ({ log, matches }: LoggedSource): string => `
    select
      c.id as "log_id",
      ${STARTED} as "started_at",
      (${STARTED} at time zone 'UTC')::date as "date",
      coalesce(
        q.endpoint,
        nullif(regexp_replace(
          btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$', '')), '/ ', '..'), '.'), '^(.*[.])?api[.]', ''
        ), ''),
        '(not told)'
      ) as "endpoint",
      c.endpoint as "logged_endpoint",
      coalesce(nullif(c.plan, ''), '(not told)') as "plan",
      case
        when q.id is not null then split_part(q.sync, ':', 1)
        when m.match_kind is null then '(other programs)'
        else '(ambiguous)'
      end as "sync",
      q.run_id,
      q.id as "request_id",
      coalesce(m.match_kind, 'none') as "match",
      ${tokenOf('c')} as "token",
      c.cost,
      c.is_paid,
      ${POINTS} as "points",
      c.points_left,
      case
        when c.response_status_code between 200 and 299 then 'answered'
        when c.response_status_code = 412 then 'missing'
        when c.response_status_code is not null or c.response_error_text <> '' then 'failed'
        when c.duration is null then 'under way'
        else 'not told'
      end as "outcome",
      c.response_status_code as "status",
      c.response_error_text as "error",
      case when q.body ->> 'count' ~ '^[0-9]{1,15}$' then (q.body ->> 'count')::bigint end as "asked",
      c.response_count as "items",
      c.duration as "duration_s"
    from ${log} c${matches === undefined ? JOINED_EACH : joinedAll(matches)}`;

/** SQL for the log rows that certainly belong to a request. A row that matches several belongs to the first. */
export const certainRowsOf = (requestId: string): string => `(
        select f.* from "request_cost_matches" k join "fact_request_costs" f on f.id = k.log_id
        where k.request_id = ${requestId} and k.match_kind <> 'ambiguous' and not exists (
          select from "request_cost_matches" e
          where e.log_id = k.log_id and e.match_kind <> 'ambiguous' and e.request_id < k.request_id
        )
      )`;
