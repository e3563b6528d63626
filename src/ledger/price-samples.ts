/**
 * What the request log and the ledger show about prices: samples to learn from, and the settled cost of a loaded
 * answer.
 */
import { type RawBuilder, sql } from 'kysely';
import type { ReturnedCount } from '../plan/pricing/price-book.ts';
import type { PriceSample } from '../plan/pricing/price-model.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { anyText } from '../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../warehouse/sql/rows-from.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { reconcileTables } from './match-log.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** Newest log rows of an endpoint that are used as samples: enough for a median, and few enough to notice a change. */
const SAMPLES = 1000;
/** Newest log rows of all endpoints that are searched, since the log has no index on the endpoint. */
const LOOKED_AT = 50_000;
/** Further samples are of the endpoint's last runs: of their first requests that were sent, and of the last answers of their syncs. */
const RUNS = 10;
const REQUESTS_EACH = 200;
/** Requests of a run, and answers of a sync, that are searched: a plan may hold a million requests that were never sent. */
const SEARCHED_EACH = 5000;

interface Row {
  readonly cost: string;
  readonly is_paid: boolean | null;
  readonly status: string | null;
  readonly returned: string | null;
  readonly asked: string | null;
  readonly is_own: boolean;
}

/**
 * Returns the newest log rows that show the price of an endpoint's calls, newest first. The matching request shows the
 * requested count; a row without a certain match counts only by its returned items.
 */
export async function readSamples(
  { db, schema, ops }: Pick<Warehouse, 'db' | 'schema' | 'ops'>,
  { name, path }: Pick<Endpoint, 'name' | 'path'>,
  sync: string,
): Promise<PriceSample[]> {
  const { log, runs, requests, answers, matches } = reconcileTables({ schema, ops });
  // Looked up by the index: with a plain join, the planner reads all requests.
  const requestOf = (id: RawBuilder<unknown>) => sql`select * from ${requests} where id = ${id} offset 0`;
  const columns = sql`id, started_at, cost, is_paid, response_status_code as status, response_count as returned`;
  const { rows } = await sql<Row>`
    with recent as (
      select ${columns} from (
        select * from ${log} where started_at is not null order by started_at desc limit ${LOOKED_AT}
      ) newest where endpoint = ${anyText(loggedAs(name, path))}
      order by started_at desc limit ${SAMPLES}
    ), last_runs as (
      select id, sync from ${runs} where endpoint = ${name} order by id desc limit ${RUNS}
    ), first_sent as (
      select q.id
      from last_runs r
      cross join lateral (
        -- For one large run, the planner would read the requests of all runs in their order; this order has one index only.
        select id from (
          select id, sent_at from ${requests} where run_id between r.id and r.id order by run_id, id limit ${SEARCHED_EACH}
        ) q where sent_at is not null limit ${REQUESTS_EACH}
      ) q
    ), last_answered as (
      select a.id
      from (select distinct sync from last_runs) s
      cross join lateral (
        select q.id from (
          select request_id from ${answers}
          where sync = s.sync and endpoint = ${name} order by received_at desc limit ${SEARCHED_EACH}
        ) n
        cross join lateral (${requestOf(sql`n.request_id`)}) q where q.charged is not null limit ${SAMPLES}
      ) a
    ), rare as (
      select f.*
      from first_sent q
      cross join lateral (select log_id from ${matches} where request_id = q.id and match_kind <> 'ambiguous' limit 1) m
      cross join lateral (select ${columns} from ${log} where id = m.log_id limit 1) f
      where (select count(*) from recent) < ${SAMPLES}
    ), ledger as (
      -- Rows that a run read only to check its points have left the log again; the ledger keeps what they charged.
      select q.id::text as id, q.sent_at as started_at, q.charged as cost, true as is_paid, a.status,
        a.received as returned, q.body ->> 'count' as asked, q.sync = ${sync} as is_own
      from (select id from first_sent union select id from last_answered) k
      cross join lateral (${requestOf(sql`k.id`)}) q
      join ${answers} a on a.id = q.answer_id
      where q.charged is not null and q.attempts = 1
        and not exists (select from ${matches} m join ${log} c on c.id = m.log_id where m.request_id = q.id)
    ), logged as (
      select s.id::text as id, s.started_at, s.cost, s.is_paid, s.status, s.returned, known.asked,
        coalesce(known.sync = ${sync}, false) as is_own
      from (select * from recent union select * from rare) s
      left join lateral (
        select q.body ->> 'count' as asked, q.sync from ${matches} m join ${requests} q on q.id = m.request_id
        where m.log_id = s.id and m.match_kind <> 'ambiguous' limit 1
      ) known on true
    )
    select * from (select * from logged union all select * from ledger) s
    where s.cost >= 0
    order by s.started_at desc, s.id desc limit ${SAMPLES}`.execute(db);
  return rows.flatMap((row) => sampleOf(row) ?? []);
}

/** Assumed: the log names an endpoint by its path as in the contract; other spellings are accepted too. */
const loggedAs = (name: string, path: string): string[] => [
  ...new Set([path, path.slice(1), path.replace(/^\/api/, ''), path.replace(/^\/api\//, ''), name]),
];

/** Undefined for a row that shows no price: incomplete, failed without a charge, or free of charge. */
function sampleOf({ cost, is_paid: isPaid, status, returned, asked, is_own: isOwn }: Row): PriceSample | undefined {
  const outcome = outcomeOf(status === null ? undefined : Number(status));
  if (outcome === undefined || (outcome === 'failed' && isPaid !== true)) return undefined;
  // Assumed: an uncharged row with a price is charged later. A price of 0 needs no charge.
  if (isPaid !== true && Number(cost) > 0 && outcome === 'answered') return undefined;
  return {
    asked: count(asked),
    returned: count(returned),
    outcome,
    points: isPaid === true ? Number(cost) : 0,
    isOwn,
  };
}

function outcomeOf(status: number | undefined): PriceSample['outcome'] | undefined {
  if (status === undefined) return undefined;
  if (status >= 200 && status < 300) return 'answered';
  return status === 412 ? 'missing' : 'failed';
}

const count = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** Newest answers of the sync from which the usual number of items is learned. */
const ANSWERS = 200;

/** Returns how many items a sync's last answers had: to parts of full answers, or to the other requests. */
export async function readReturned(ops: Ops, sync: string, of: 'parts' | 'others'): Promise<ReturnedCount[]> {
  const newest = ops
    .selectFrom('coverage')
    .select(['asked', 'returned'])
    .where('sync', '=', sync)
    .where('asked', 'is not', null)
    .where('depth', of === 'parts' ? '>' : '=', '0')
    .orderBy('as_of', 'desc')
    .limit(ANSWERS);
  return ops
    .selectFrom(newest.as('n'))
    .select([sql<number>`n.asked::float8`.as('asked'), sql<number>`n.returned::float8`.as('returned')])
    .select(sql<number>`count(*)::float8`.as('times'))
    .groupBy(['n.asked', 'n.returned'])
    .execute();
}

/** The cost of an attempt, and the points reserved for it. */
export interface SettledPoints {
  readonly requestId: string;
  readonly points: number;
  readonly reserved: number;
}

/**
 * Replaces the reserved points of requests with their cost. For a request with one attempt, that is its total cost,
 * whatever the price was when it was sent.
 */
export async function settlePoints(ops: Ops, settled: readonly SettledPoints[]): Promise<void> {
  if (settled.length === 0) return;
  const attempts = rowsFrom(settled, {
    id: ['bigint', ({ requestId }) => requestId],
    points: ['numeric', ({ points }) => points],
    reserved: ['numeric', ({ reserved }) => reserved],
  });
  const source = ops
    .selectFrom(attempts.as('u'))
    .select(({ fn }) => ['u.id', fn.sum('u.points').as('points'), fn.sum('u.reserved').as('reserved')])
    .groupBy('u.id');
  const costs = sql<string>`case when requests.attempts <= 1 then coalesce(requests.charged, t.points)
    else greatest(coalesce(requests.points, 0) + t.points - t.reserved, 0) end`;
  await ops
    .updateTable('requests')
    .from(source.as('t'))
    .set({ points: costs })
    .whereRef('requests.id', '=', 't.id')
    // Skips rows that already hold the cost, such as a single attempt at an unchanged price.
    .where(sql<boolean>`requests.points is distinct from ${costs}`)
    .execute();
}
