/** Reads what the answers so far say about the settings of syncs: inputs without an entity, large counts, shared requests. */
import { sql } from 'kysely';
import type { ReconcileDb } from '../ledger/match-log.ts';

/** Inputs of a sync that the service does not know: each of their answers was `missing`. */
export interface MissingInputs {
  readonly sync: string;
  readonly inputs: number;
  /** Some of them, most expensive first, as JSON. */
  readonly examples: readonly string[];
  readonly points: number;
}

/** What a sync's requests for a number of items returned. */
export interface ReturnedItems {
  readonly sync: string;
  readonly requested: number;
  /** The most items in one answer. */
  readonly most: number;
  readonly answers: number;
}

/** Requests that a sync bought although another sync had bought them shortly before. */
export interface SharedRequests {
  readonly sync: string;
  readonly other: string;
  readonly requests: number;
  readonly points: number;
  /** The greatest age of the other answer in days. */
  readonly days: number;
}

export interface TuningFacts {
  /** Days from the first to the last paid answer, at least 1. */
  readonly days: number;
  readonly missing: readonly MissingInputs[];
  readonly returned: readonly ReturnedItems[];
  readonly shared: readonly SharedRequests[];
}

/** Fewer answers may be missing by chance. */
const LEAST_MISSING = 3;
const MOST_EXAMPLES = 5;
/** An answer of another sync that is older is no reason for a max_age. */
const SHARED_WITHIN_DAYS = 30;

/** Returns the facts over all stored answers, without those of the request log, whose endpoint has this name. */
export async function readTuningFacts({ db, schema, ops }: ReconcileDb, logEndpoint: string): Promise<TuningFacts> {
  const [requests, answers] = [sql.id(ops, 'requests'), sql.id(ops, 'answers')];
  const costs = sql.id(schema, 'answer_costs');
  const { rows: days } = await sql<{ days: number }>`
    select greatest(1, coalesce(extract(epoch from max(received_at) - min(received_at)) / 86400, 0))::float8 as days
    from ${answers} where endpoint <> ${logEndpoint}`.execute(db);
  const { rows: missing } = await sql<MissingInputs>`
    with inputs as (
      select q.sync, q.input::text as input, sum(coalesce(q.charged, q.points, 0)) as points
      from ${requests} q join ${answers} a on a.request_id = q.id
      where strpos(q.sync, ':') = 0 and q.input <> '{}'::jsonb
      group by 1, 2 having count(*) >= ${LEAST_MISSING} and bool_and(a.status = 412)
    )
    select sync, count(*)::float8 as inputs, sum(points)::float8 as points,
      to_json((array_agg(input order by points desc, input))[1:${sql.lit(MOST_EXAMPLES)}]) as examples
    from inputs group by sync having sum(points) > 0 order by sync`.execute(db);
  const { rows: returned } = await sql<ReturnedItems>`
    select q.sync, (q.body ->> 'count')::float8 as requested, max(a.received)::float8 as most, count(*)::float8 as answers
    from ${requests} q join ${answers} a on a.request_id = q.id
    where strpos(q.sync, ':') = 0 and q.body ? 'count' and a.loaded_at is not null and a.status = 200
    group by 1, 2 order by 1, 2`.execute(db);
  const { rows: shared } = await sql<SharedRequests>`
    with bought as (
      select sync, points, received_at, lag(sync) over earlier as other, lag(received_at) over earlier as other_at
      from ${costs} where endpoint <> ${logEndpoint}
      window earlier as (partition by request_key order by received_at, answer_id)
    )
    select sync, other, count(*)::float8 as requests, sum(points)::float8 as points,
      max(extract(epoch from received_at - other_at) / 86400)::float8 as days
    from bought where other <> sync and received_at - other_at <= ${sql.lit(SHARED_WITHIN_DAYS)} * interval '24 hours'
    group by 1, 2 having sum(points) > 0 order by 1, 2`.execute(db);
  return { days: days[0]?.days ?? 1, missing, returned, shared };
}
