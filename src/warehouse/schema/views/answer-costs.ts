/** The view of costs and results of answers. */
import { literal, quoted } from '../../sql/identifiers.ts';
import { catalog } from '../../../service/catalog.ts';
import { differsFromPrevious } from '../answer-contents.ts';
import { CAME } from '../history-tables.ts';
import { rootTables } from '../tables.ts';
import { filledTables, ownSync } from './cost-columns.ts';
import { request_key } from './sync-columns.ts';
import { bigint, boolean, date, numeric, ratio, text, timestamp, view } from './view.ts';

export const loaded = bigint('Number of items that created or changed rows.');
export const new_rows = bigint(
  'Number of new rows in the table that the endpoint fills, without rows that were deleted later.',
);

/** The query for the points of the requests that the log has. */
export const LOGGED_POINTS = `select r.request_id, sum(r.points) as "points"
      from "logged_requests" r where r.request_id is not null group by r.request_id`;

/** The query for the answers that removed rows. Only rows with an owner are removed, and the log of their table says so. */
const REMOVING = rootTables
  .flatMap(({ resource, changes }) => (resource.owner && changes ? [changes.name] : []))
  .map(
    (log) =>
      `select distinct c._answer_id from ${quoted(log)} c where c.attribute = ${literal(CAME)} and c.to_value is null`,
  )
  .join(' union ');

/** The endpoints with rows that say which items each request returned. */
const LISTING = catalog.flatMap(({ name, bridge }) => (bridge ? [literal(name)] : [])).join(', ');

/**
 * The query of costs of answers, from a relation with the points of the requests that the log has. A row is new by the
 * answer whose receipt is its first observation; of answers with equal receipts, by the first.
 */
export const answerCosts = (loggedPoints: string): string => `
    with "appearances" ("endpoint", "at", "rows") as (
      ${filledTables.map(({ endpoint, table }) => `select '${endpoint}', t._first_seen_at, count(*) from "${table}" t group by 2`).join('\n      union all ')}
    )
    select
      a.id as "answer_id",
      a.request_id,
      a.run_id,
      split_part(a.sync, ':', 1) as "sync",
      a.endpoint,
      a.request_key,
      a.received_at,
      (a.received_at at time zone 'UTC')::date as "date",
      case when a.of_request = 1 then coalesce(l.points, q.charged, q.points, 0) else 0 end as "points",
      l.points is not null as "is_logged",
      coalesce(a.received, 0) as "received",
      coalesce(a.loaded, 0) as "loaded",
      coalesce(a.unchanged, 0) as "unchanged",
      case when a.of_moment = 1 then coalesce(n.rows, 0) else 0 end as "new_rows",
      a.loaded_at is not null and coalesce(a.loaded, 0) = 0 and coalesce(a.quarantined, 0) = 0 and g._answer_id is null
        and not a.has_other_rows as "is_nothing_new",
      a.previous_at,
      (extract(epoch from a.received_at - a.previous_at) / 86400)::double precision as "days_since_previous",
      a.received_at - a.took_ms * interval '1 millisecond' as "sent_at"
    from (
      select
        w.id, w.request_id, w.run_id, w.sync, w.endpoint, w.request_key, w.received_at, w.took_ms, w.received, w.loaded,
        w.unchanged, w.quarantined, w.loaded_at,
        row_number() over (partition by w.request_id order by w.id desc) as "of_request",
        row_number() over (partition by w.received_at, w.endpoint order by w.id) as "of_moment",
        lag(w.received_at) over p as "previous_at",
        coalesce(${differsFromPrevious('p')}, w.received > 0 and w.endpoint in (${LISTING}) and row_number() over p = 1, false) as "has_other_rows"
      from "answers" w
      window p as (partition by w.sync, w.request_key order by w.received_at, w.id)
    ) a
    left join "requests" q on q.id = a.request_id
    left join ${loggedPoints} l on l.request_id = a.request_id
    left join "appearances" n on n.endpoint = a.endpoint and n.at = a.received_at
    left join (${REMOVING}) g on g._answer_id = a.id`;

export const answerCostsView = view(
  'answer_costs',
  'Costs and results of paid answers: one row per answer.',
  ['answer_id'],
  {
    answer_id: bigint('Id of the answer; joins paid_answers.'),
    request_id: bigint('Request that returned the answer.'),
    run_id: bigint('Run that sent the request.'),
    sync: ownSync,
    endpoint: text('Name of the endpoint: its path with dots. Joins dim_endpoint.'),
    request_key,
    received_at: timestamp('Receipt of its last byte.'),
    date: date('UTC day of received_at; joins dim_date.'),
    points: numeric(
      'Points for its request with all attempts, by the log if it has them, otherwise by the ledger. If a request has several answers, the newest has the points.',
    ),
    is_logged: boolean('Whether the log has the request, so that the points are those that the service charged.'),
    received: bigint('Number of items in the answer.'),
    loaded,
    unchanged: bigint('Number of items equal to their stored rows.'),
    new_rows,
    is_nothing_new: boolean(
      'Whether the answer has nothing new: all items equal their stored rows, or there are none, it removed no rows, and the previous answer to the same request of the same sync has the same bytes or also no items. A first answer has something new if it has items and a table lists what each request returned.',
    ),
    previous_at: timestamp('Receipt of the previous answer to the same request of the same sync; null for the first.'),
    days_since_previous: ratio('Days since previous_at; null for the first.'),
    sent_at: timestamp('Start of the request: the receipt minus the duration.'),
  },
  answerCosts(`(${LOGGED_POINTS})`),
);
