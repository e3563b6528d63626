/** Views of the request log with syncs and runs: row by row, and by day. */
import {
  log_id,
  endpoint,
  plan,
  sync,
  started_on,
  run_id,
  request_id,
  points,
  requests,
  failed_requests,
  failed_points,
} from './cost-columns.ts';
import { columnFrom, bigint, jsonb, timestamp, numeric, columnsOf, text, view } from './view.ts';

/** The log rows and matches that a view of logged requests reads. */
interface LoggedSource {
  readonly log: string;
  readonly matches: string;
}

/** SQL for the token of a row of the request log. */
export const tokenOf = (row: string): string => `coalesce(${row}.token_id::text, '(not reported)')`;

/**
 * SQL condition that a match is certain by itself. For rows that were matched by their order, only the sum is certain, so
 * each of them counts as ambiguous.
 */
export const isCertainMatch = (match: string): string => `${match}.match_kind in ('identifier', 'only_candidate')`;

/** SQL for the outcome that a row of the request log shows. */
export const outcomeOf = (row: string): string => `case
        when ${row}.response_status_code between 200 and 299 then 'answered'
        when ${row}.response_status_code = 412 then 'missing'
        when ${row}.response_status_code is not null or ${row}.response_error_text <> '' then 'failed'
        when ${row}.duration is null then 'under way'
        else 'not told'
      end`;

/** SQL condition that a row with this outcome was lost if no answer is stored for it. */
export const mayBeLost = (outcome: string): string => `${outcome} not in ('failed', 'under way')`;

/** The query of logged requests, over all or a part of the log. Postgres cannot push a part into the grouped matches. */
export const loggedRequests = ({ log, matches }: LoggedSource): string => `
    select
      c.id as "log_id",
      coalesce(c.started_at, c._first_seen_at) as "started_at",
      (coalesce(c.started_at, c._first_seen_at) at time zone 'UTC')::date as "date",
      coalesce(
        q.endpoint,
        nullif(regexp_replace(
          btrim(translate(lower(regexp_replace(c.endpoint, '[?#].*$', '')), '/ ', '..'), '.'), '^(.*[.])?api[.]', ''
        ), ''),
        '(not reported)'
      ) as "endpoint",
      c.endpoint as "logged_endpoint",
      coalesce(nullif(c.plan, ''), '(not reported)') as "plan",
      case
        when q.id is not null then split_part(q.sync, ':', 1)
        when m.log_id is null then '(other programs)'
        else '(ambiguous)'
      end as "sync",
      q.run_id,
      q.id as "request_id",
      coalesce(m.match_kind, 'none') as "match",
      ${tokenOf('c')} as "token",
      c.cost,
      c.is_paid,
      (case when coalesce(c.is_paid, c.cost > 0) then coalesce(c.cost, 0) else 0 end)::numeric as "points",
      c.points_left,
      ${outcomeOf('c')} as "outcome",
      c.response_status_code as "status",
      c.response_error_text as "error",
      case when q.body ->> 'count' ~ '^[0-9]{1,15}$' then (q.body ->> 'count')::bigint end as "asked",
      c.response_count as "items",
      c.duration as "duration_s",
      case when q.id is not null then coalesce(r.tags, '{}') end as "tags"
    from ${log} c
    left join (
      select
        k.log_id,
        min(k.request_id) filter (where ${isCertainMatch('k')}) as "request_id",
        coalesce(min(k.match_kind) filter (where ${isCertainMatch('k')}), 'ambiguous') as "match_kind"
      from ${matches} k group by k.log_id
    ) m on m.log_id = c.id
    left join "requests" q on q.id = m.request_id
    left join "runs" r on r.id = q.run_id`;

export const requestCostViews = [
  view(
    'logged_requests',
    'Request log of the service with sync, run and request: one row per logged request. Sums over it equal sums over fact_request_costs.',
    ['log_id'],
    {
      log_id,
      started_at: timestamp('Start of the request; if the log has no start, the time at which its row was first read.'),
      date: started_on,
      endpoint,
      logged_endpoint: text('Endpoint as written in the log.'),
      plan,
      sync,
      run_id,
      request_id,
      match: text(
        'Kind of match with a request: identifier, only_candidate, ambiguous (one of several candidates, or matched by time order alone) or none (not in this ledger).',
      ),
      token: text('Identifier of the token; `(not reported)` if the log has none.'),
      ...columnsOf('fact_request_costs', 'cost', 'is_paid'),
      points: numeric('Points charged: the cost if the row is marked as paid, or has no mark but a cost; otherwise 0.'),
      points_left: columnFrom('fact_request_costs', 'points_left'),
      outcome: text(
        'Outcome: `answered` (status 2xx), `missing` (412: no such entity), `failed` (another status, or an error), `under way` (not ended yet) or `not told` (unknown).',
      ),
      status: columnFrom('fact_request_costs', 'response_status_code'),
      error: columnFrom('fact_request_costs', 'response_error_text'),
      asked: bigint('Limit of items in the request; null if it has no limit or the request is not certain.'),
      items: columnFrom('fact_request_costs', 'response_count'),
      duration_s: columnFrom('fact_request_costs', 'duration'),
      tags: jsonb(
        'Tags of the sync when the run was last started, such as {"team": "growth"}; empty if it has none, null if the request is not certain.',
      ),
    },
    // A row without a start counts on the day of its first observation, so that sums by day are sums of all rows.
    loggedRequests({ log: '"fact_request_costs"', matches: '"request_cost_matches"' }),
  ),
  view(
    'daily_costs',
    'Points by day, endpoint, plan and sync over the complete request log: one row per combination.',
    ['date', 'endpoint', 'plan', 'sync'],
    {
      date: started_on,
      endpoint,
      plan,
      sync,
      requests,
      points,
      list_points: numeric('Cost of all these requests by the log in points, charged or not.'),
      failed_requests,
      failed_points,
      missing_requests: bigint('Number of these requests for an entity that the service does not know.'),
      missing_points: numeric('Points charged for requests for unknown entities.'),
      open_requests: bigint('Number of these requests that had not ended when the log was read.'),
      items: numeric('Number of items in the answers, by the log.'),
    },
    `
    select
      l.date,
      l.endpoint,
      l.plan,
      l.sync,
      count(*) as "requests",
      sum(l.points) as "points",
      coalesce(sum(l.cost), 0) as "list_points",
      count(*) filter (where l.outcome = 'failed') as "failed_requests",
      coalesce(sum(l.points) filter (where l.outcome = 'failed'), 0) as "failed_points",
      count(*) filter (where l.outcome = 'missing') as "missing_requests",
      coalesce(sum(l.points) filter (where l.outcome = 'missing'), 0) as "missing_points",
      count(*) filter (where l.outcome = 'under way') as "open_requests",
      coalesce(sum(l.items), 0) as "items"
    from "logged_requests" l
    group by l.date, l.endpoint, l.plan, l.sync`,
  ),
  view(
    'run_tags',
    'Tags of runs: one row per run and tag.',
    ['run_id', 'tag'],
    {
      run_id: bigint('Id of the run; joins sync_runs and logged_requests.'),
      tag: text('Name of the tag in the config.'),
      value: text('Value of the tag when the run was last started.'),
    },
    `select r.id as "run_id", t.key as "tag", t.value from "runs" r cross join lateral jsonb_each_text(r.tags) t`,
  ),
  view(
    'daily_tag_costs',
    'Points by day and tag over the complete request log: one row per day, tag, value, sync and endpoint. A request counts once for each tag of its run, so add up the rows of one tag only.',
    ['date', 'tag', 'value', 'sync', 'endpoint'],
    {
      date: started_on,
      tag: text('Name of the tag in the config.'),
      value: text('Value of the tag when the run was last started.'),
      sync,
      endpoint,
      requests,
      points,
      failed_requests,
      failed_points,
    },
    `
    select
      l.date,
      t.tag,
      t.value,
      l.sync,
      l.endpoint,
      count(*) as "requests",
      sum(l.points) as "points",
      count(*) filter (where l.outcome = 'failed') as "failed_requests",
      coalesce(sum(l.points) filter (where l.outcome = 'failed'), 0) as "failed_points"
    from "logged_requests" l join "run_tags" t on t.run_id = l.run_id
    group by l.date, t.tag, t.value, l.sync, l.endpoint`,
  ),
];
