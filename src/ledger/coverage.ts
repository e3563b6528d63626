/** The requested slices of each question, and whether each answer was complete. */
import { type QueryCreator, type SelectQueryBuilder, sql } from 'kysely';
import type { RequestBody } from '../service/request-body.ts';
import { endpointNamed } from '../service/catalog.ts';
import { canonicalJson } from '../service/canonical-json.ts';
import { anyBigint } from '../warehouse/sql/array-literal.ts';
import { questionHash } from '../warehouse/schema/question-hash.ts';
import { insertion } from '../warehouse/sql/rows-from.ts';
import { isSync } from './log-reads.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';
import type { LowerBound } from './summary.ts';
import { notExists } from '../warehouse/sql/not-exists.ts';

export interface CoverageSlice {
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly requestKey: string;
  /** The request without its `count`. */
  readonly filters: RequestBody;
  readonly asked: number | undefined;
  readonly returned: number;
  readonly depth: number;
  /** The answer held all items that existed when it was requested. */
  readonly complete: boolean;
  /** Why more may exist than was returned, if no further request can find out. */
  readonly lowerBound: string | undefined;
  /** The answer was unreadable; `lowerBound` says why. */
  readonly unreadable: boolean;
  readonly asOf: string;
}

/** Records slices of different requests; a slice of the same request replaces its earlier record. */
export async function recordSlices(ops: Ops, slices: readonly CoverageSlice[]): Promise<void> {
  if (slices.length === 0) return;
  await ops
    .deleteFrom('coverage')
    .where('request_id', '=', anyBigint(slices.map(({ requestId }) => requestId)))
    .execute();
  const { columns, rows } = insertion(slices, {
    request_id: ['bigint', ({ requestId }) => requestId],
    run_id: ['bigint', ({ runId }) => runId],
    sync: ['text', ({ sync }) => sync],
    endpoint: ['text', ({ endpoint }) => endpoint],
    request_key: ['text', ({ requestKey }) => requestKey],
    filters: ['jsonb', ({ filters }) => filters],
    asked: ['bigint', ({ asked }) => asked ?? null],
    returned: ['bigint', ({ returned }) => returned],
    depth: ['bigint', ({ depth }) => depth],
    complete: ['boolean', ({ complete }) => complete],
    reason: ['text', ({ lowerBound }) => lowerBound ?? null],
    as_of: ['timestamptz', ({ asOf }) => asOf],
    unreadable: ['boolean', ({ unreadable }) => unreadable],
  });
  await ops.insertInto('coverage').columns(columns).expression(rows).execute();
}

/** The requested slices of an input and their results. */
export interface InputSlices {
  readonly input: RequestBody;
  /** Oldest first; `request` omits fields that do not affect the number of items. */
  readonly slices: readonly {
    readonly request: RequestBody;
    readonly returned: number;
    readonly full: boolean;
    readonly runId: string;
  }[];
}

/** Returns the newest slices of a sync that are parts of a question or were full, at most `most`, by input. */
export async function readEarlierSlices(
  ops: Ops,
  sync: string,
  endpoint: string,
  most: number,
): Promise<InputSlices[]> {
  const rows = await ops
    .selectFrom('coverage as c')
    .innerJoin('requests as r', 'r.id', 'c.request_id')
    .select(['c.filters', 'c.asked', 'c.returned', 'c.run_id', 'r.input'])
    .where('c.sync', '=', sync)
    .where('c.endpoint', '=', endpoint)
    .where((eb) => eb.or([eb('c.depth', '>', '0'), eb('c.returned', '>=', eb.ref('c.asked'))]))
    // An unreadable answer, or a missing entity, gives no information about the number of items.
    .where((eb) => eb.or([eb('c.returned', '>', '0'), eb('c.complete', '=', true)]))
    .where('c.unreadable', '=', false)
    .orderBy('c.id', 'desc')
    .limit(most)
    .execute();
  const inputs = new Map<string, { input: RequestBody; slices: InputSlices['slices'][number][] }>();
  for (const { filters, asked, returned, run_id: runId, input } of rows.toReversed()) {
    const key = canonicalJson(input);
    const found = inputs.get(key) ?? { input, slices: [] };
    inputs.set(key, found);
    const full = asked !== null && Number(returned) >= Number(asked);
    found.slices.push({ request: filters, returned: Number(returned), full, runId });
  }
  return [...inputs.values()];
}

/** Returns the first `most` slices of a run that are lower bounds. */
export async function lowerBoundsOf(ops: Ops, runId: string, most: number): Promise<LowerBound[]> {
  const rows = await ops
    .selectFrom('coverage')
    .select(['filters', 'returned', 'reason', 'unreadable'])
    .where('run_id', '=', runId)
    .where('reason', 'is not', null)
    .orderBy('id')
    .limit(most)
    .execute();
  return rows.map(({ filters, returned, reason, unreadable }) => ({
    filters,
    returned: Number(returned),
    reason: reason ?? '',
    ...(unreadable && { unreadable: true }),
  }));
}

/** A slice that is currently a lower bound. */
export interface CurrentLowerBound extends LowerBound {
  readonly sync: string;
  readonly runId: string;
  readonly input: RequestBody;
  readonly asOf: Date;
}

/**
 * Returns the slices that are currently lower bounds, of one sync or of all, newest first. A slice is one no longer if
 * a later answer covers it and was not full, or if the sync no longer requests it. The end of a run ends those whose parts
 * were read.
 */
export async function currentLowerBounds(ops: Ops, sync?: string): Promise<CurrentLowerBound[]> {
  const named = await ops
    .selectFrom('coverage')
    .select('endpoint')
    .distinct()
    .where('reason', 'is not', null)
    .$if(sync !== undefined, (all) => all.where('sync', '=', sync ?? ''))
    .execute();
  const bounds = await Promise.all(named.map(({ endpoint }) => boundsOfEndpoint(ops, endpoint, sync)));
  return bounds
    .flat()
    .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))
    .map(({ bound }) => bound);
}

/** A question that contains the slice of a lower bound. */
interface Wider {
  readonly id: string;
  readonly sync: string;
  readonly question: RequestBody;
  readonly first_day: string;
  readonly last_day: string;
}

/** True if two slices or questions are the same but for their days, or have the same hash. */
const isSameQuestion = (one: string, other: string) =>
  sql<boolean>`${sql.raw(questionHash(one))} = ${sql.raw(questionHash(other))}`;

async function boundsOfEndpoint(
  ops: Ops,
  endpoint: string,
  sync: string | undefined,
): Promise<{ readonly id: string; readonly bound: CurrentLowerBound }[]> {
  const { facets } = narrowingOf(endpoint);
  const rows = await ops
    .with(
      (cte) => cte('bounds').materialized(),
      (db) => newestBounds(db, endpoint, sync),
    )
    // Materialized, so that one join compares the questions; comparing each pair would take quadratic time.
    .with(
      (cte) => cte('wider').materialized(),
      () => sql<Wider>`(
      select c.id, c.sync, c.first_day, c.last_day, c.question - p.left_out as question
      from bounds c cross join ${partsOf(facets)} as p(left_out) where c.question ?& p.left_out)`,
    )
    .with(
      (cte) => cte('covered').materialized(),
      (db) => coveredBounds(db.selectFrom('wider as w').innerJoin('coverage as n', 'n.sync', 'w.sync'), endpoint),
    )
    .selectFrom('bounds as c')
    .leftJoin('requests as r', 'r.id', 'c.request_id')
    .select(['c.id', 'c.sync', 'c.run_id', 'c.filters', 'c.returned', 'c.reason', 'c.as_of', 'c.unreadable', 'r.input'])
    .where(sql<boolean>`not exists (select from covered t where t.id = c.id)`)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    bound: {
      sync: row.sync,
      runId: row.run_id,
      filters: row.filters,
      returned: Number(row.returned),
      reason: row.reason ?? '',
      ...(row.unreadable && { unreadable: true }),
      input: row.input ?? {},
      asOf: row.as_of,
    },
  }));
}

/**
 * The slices that are lower bounds by their newest answer, with their question. Only slices that ever were lower bounds
 * are read; later answers to them are looked up by hash.
 */
function newestBounds(db: QueryCreator<OpsDatabase>, endpoint: string, sync: string | undefined) {
  const { question, firstDay, lastDay } = partsOfQuestion('c', endpoint);
  return db
    .selectFrom('coverage as c')
    .selectAll()
    .select([question.as('question'), firstDay.as('first_day'), lastDay.as('last_day')])
    .where('c.endpoint', '=', endpoint)
    .where('c.reason', 'is not', null)
    .where('c.former', 'is', null)
    .where(isSync)
    .$if(sync !== undefined, (all) => all.where('c.sync', '=', sync ?? ''))
    .where((eb) =>
      notExists(
        eb
          .selectFrom('coverage as n')
          .select('n.id')
          .whereRef('n.sync', '=', 'c.sync')
          .where(isSameQuestion('n.filters', 'c.filters'))
          .where(sql<boolean>`jsonb_hash(n.filters) = jsonb_hash(c.filters)`)
          .whereRef('n.filters', '=', 'c.filters')
          .whereRef('n.endpoint', '=', 'c.endpoint')
          .whereRef('n.id', '>', 'c.id'),
      ),
    );
}

/** The bounds that a later slice with room covers, among pairs of wider questions and slices of the same sync. */
function coveredBounds<DB extends { w: Wider; n: OpsDatabase['coverage'] }>(
  pairs: SelectQueryBuilder<DB, 'w' | 'n', unknown>,
  endpoint: string,
) {
  const { question, firstDay, lastDay } = partsOfQuestion('n', endpoint);
  return pairs
    .select(sql<string>`w.id`.as('id'))
    .distinct()
    .where(isSameQuestion('n.filters', 'w.question'))
    .where(sql<boolean>`n.id > w.id and n.endpoint = ${endpoint} and n.returned < n.asked and not n.unreadable`)
    .where(sql<boolean>`${question} = w.question and ${firstDay} <= w.first_day and ${lastDay} >= w.last_day`);
}

/** SQL for the question of a slice without its days, and for its days; empty texts if the endpoint has none. */
function partsOfQuestion(slice: string, endpoint: string) {
  const { from, to } = narrowingOf(endpoint);
  const filters = sql.ref(`${slice}.filters`);
  const day = (name: string | undefined) =>
    name === undefined ? sql<string>`''` : sql<string>`(${filters} -> ${sql.lit(name)})::text`;
  return {
    question: sql<RequestBody>`${filters} - ${sql.lit(from ?? '')} - ${sql.lit(to ?? '')}`,
    firstDay: day(from),
    lastDay: day(to),
  };
}

/** The fields that narrow a question of an endpoint: its facets and its days. */
function narrowingOf(endpoint: string) {
  const { paging, facets = [] } = endpointNamed(endpoint) ?? {};
  return { facets, from: paging?.days?.from, to: paging?.days?.to };
}

/** SQL rows for each subset of these facets. A question without them is wider, or the same. */
function partsOf(facets: readonly string[]) {
  const parts = facets.reduce<readonly (readonly string[])[]>(
    (all, it) => [...all, ...all.map((part) => [...part, it])],
    [[]],
  );
  return sql`(values ${sql.join(parts.map((part) => sql`(array[${sql.join(part.map((it) => sql.lit(it)))}]::text[])`))})`;
}
