/** Reads what alerts about ended runs compare: new drift, refusals, inputs without data, and what calls cost. */
import { sql } from 'kysely';
import { isNothingMissing } from '../ledger/failures/runs-to-retry.ts';
import { endpointNamed } from '../service/catalog.ts';
import { type Ops, operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { PartRuns } from './conditions.ts';

/** A difference from the contract. */
interface NewDrift {
  readonly path: string;
  readonly kind: string;
  readonly count: number;
}

/** What the service did in a run, compared with earlier runs. */
export interface RunFacts {
  readonly sync: string;
  readonly runId: string;
  /** Differences from the contract that no answer before the run had; undefined if the run got no answer. */
  readonly newDrift: readonly NewDrift[] | undefined;
  /** Requests whose last answer was 401 or 403. */
  readonly refused: number;
  /** Requests with a stored answer. */
  readonly answered: number;
  /** The same, but for a continued run only what it sent after the refusal that raised the alert. */
  readonly answeredAgain: number;
  /** Receipt of the last answer before the run; undefined without one. */
  readonly answeredBefore: Date | undefined;
  /** Inputs with an outcome, and those without data; undefined for a run that did not request all of the sync. */
  readonly inputs: InputCounts | undefined;
  /** The same of earlier runs. */
  readonly earlier: readonly InputCounts[];
}

export interface InputCounts {
  readonly inputs: number;
  /** Inputs that the service does not know, or whose answer is empty. */
  readonly without: number;
}

const IS_REFUSED = sql<boolean>`status in (401, 403)`;

/** Earlier runs that are compared. */
const MOST_RUNS = 5;

/** The facts of an ended run. */
export async function readRunFacts(
  warehouse: Pick<Warehouse, 'db' | 'ops'>,
  { sync, endpoint, runId }: { readonly sync: string; readonly endpoint: string; readonly runId: string },
): Promise<RunFacts | undefined> {
  const ops = operationsOf(warehouse);
  const run = await ops
    .selectFrom('runs')
    .select(['started_at as startedAt', sql<boolean>`scope is null and state in ('complete', 'partial')`.as('isWhole')])
    .where('id', '=', runId)
    .executeTakeFirst();
  if (!run) return undefined;
  const lastRefused = ops
    .selectFrom('requests')
    .select(({ fn }) => fn.max('sent_at').as('at'))
    .where('run_id', '=', runId)
    .where(IS_REFUSED);
  // The alert keeps its start while it stays raised.
  const refusedAt = ops
    .selectFrom('alerts')
    .select(sql<Date>`greatest(since, ${lastRefused})`.as('at'))
    .where('sync', '=', sync)
    .where('kind', '=', 'access')
    .where('run_id', '=', runId);
  const isAnswered = sql<boolean>`attempts > 0 and answer_id is not null`;
  const sent = await ops
    .selectFrom('requests')
    .select([
      sql<number>`(count(*) filter (where ${IS_REFUSED}))::float8`.as('refused'),
      sql<number>`(count(*) filter (where ${isAnswered}))::float8`.as('answered'),
      sql<number>`(count(*) filter (where ${isAnswered} and sent_at > coalesce(${refusedAt}, '-infinity')))::float8`.as(
        'answeredAgain',
      ),
    ])
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  const before = await ops
    .selectFrom('answers')
    .select(sql<Date | null>`max(received_at)`.as('at'))
    .where('sync', '=', sync)
    .where('received_at', '<', run.startedAt)
    .executeTakeFirst();
  const [inputs] = run.isWhole ? await readInputs(ops, [runId]) : [];
  return {
    sync,
    runId,
    ...sent,
    answeredBefore: before?.at ?? undefined,
    newDrift: sent.answered > 0 ? await readNewDrift(ops, endpoint, run.startedAt) : undefined,
    inputs,
    earlier: inputs ? await readInputs(ops, await earlierRuns(ops, sync, runId)) : [],
  };
}

/** Returns those of these runs that requested only a part of their sync, by id. */
export async function readPartRuns(
  warehouse: Pick<Warehouse, 'db' | 'ops'>,
  syncs: readonly { readonly runId: string | null }[],
): Promise<PartRuns> {
  const ids = syncs.flatMap(({ runId }) => runId ?? []);
  if (ids.length === 0) return new Map();
  const ops = operationsOf(warehouse);
  const rows = await ops
    .selectFrom('runs')
    .select(['id', 'sync', 'scope', 'state'])
    .where('id', 'in', ids)
    .where('scope', 'is not', null)
    .execute();
  const parts = new Map<string, 'nothing missing' | 'unknown'>();
  for (const { id, sync, scope, state } of rows) {
    const completes = scope === 'failed' && state === 'complete' && (await isNothingMissing(ops, sync));
    parts.set(id, completes ? 'nothing missing' : 'unknown');
  }
  return parts;
}

/** Differences that were first seen since the start of the run. Those of its end are among them. */
const readNewDrift = (ops: Ops, endpoint: string, since: Date): Promise<NewDrift[]> =>
  ops
    .selectFrom('drift')
    .select(['path', 'kind', sql<number>`count::float8`.as('count')])
    .where('resource', '=', endpointNamed(endpoint)?.returns.name ?? '')
    .where('first_seen_at', '>=', since)
    .orderBy('path')
    .orderBy('kind')
    .execute();

async function earlierRuns(ops: Ops, sync: string, runId: string): Promise<string[]> {
  const rows = await ops
    .selectFrom('runs')
    .select('id')
    .where('sync', '=', sync)
    .where('id', '<', runId)
    .where('scope', 'is', null)
    .where('state', 'in', ['complete', 'partial'])
    .where('asked', '>', '0')
    .orderBy('id', 'desc')
    .limit(MOST_RUNS)
    .execute();
  return rows.map(({ id }) => id);
}

async function readInputs(ops: Ops, runIds: readonly string[]): Promise<InputCounts[]> {
  if (runIds.length === 0) return [];
  // Days, pages and parts of one input are several requests.
  return ops
    .selectFrom((from) =>
      from
        .selectFrom('requests')
        .select(['run_id', sql<boolean>`bool_and(state in ('missing', 'empty'))`.as('isWithout')])
        .where('run_id', 'in', [...runIds])
        .where('state', 'in', ['loaded', 'empty', 'missing', 'quarantined', 'failed'])
        .groupBy(['run_id', 'input'])
        .as('i'),
    )
    .select([
      sql<number>`count(*)::float8`.as('inputs'),
      sql<number>`(count(*) filter (where "isWithout"))::float8`.as('without'),
    ])
    .groupBy('run_id')
    .execute();
}

/** A call whose cost the request log shows. */
export interface ChargedCall {
  /** Requested and returned items, as text: calls of the same size should cost the same. */
  readonly size: string;
  readonly points: number;
}

/** Runs and requests of each that show what calls cost. */
const PRICED_RUNS = 10;
const CALLS_EACH = 200;

/** Calls of a sync with their cost, newest first. */
export async function readChargedCalls(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  sync: string,
): Promise<readonly ChargedCall[]> {
  const { rows } = await sql<ChargedCall>`
    select coalesce(q.body ->> 'count', '-') || '/' || a.received as size, q.charged::float8 as points
    from (select id from ${sql.id(ops, 'runs')} where sync = ${sync} order by id desc limit ${PRICED_RUNS}) r
    cross join lateral (
      select id, body, charged, answer_id from ${sql.id(ops, 'requests')}
      where run_id = r.id and charged is not null and attempts = 1 order by id desc limit ${CALLS_EACH}
    ) q
    join ${sql.id(ops, 'answers')} a on a.id = q.answer_id
    where a.received > 0 order by q.id desc`.execute(db);
  return rows;
}
