/** The remaining requests of a stopped run: the next sync continues with them and makes no new plan. */
import type { SyncDefinition } from '../../config/definition.ts';
import { UNSETTLED_STATES } from '../../ledger/requests/states.ts';
import { openRuns } from '../../ledger/runs.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { PlanToAsk } from './pending.ts';
import { alsoContinued, asksForDays, planHash, type PlanOptions } from '../prepare/plan-hash.ts';
import { rereadMaxAges } from '../prepare/plan-sync.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** The remaining requests of an open run, in parts. */
export interface OpenPlan {
  /** The id of the run. */
  readonly continues: string;
  readonly parts: (ops: Ops) => AsyncGenerator<PlanToAsk>;
}

/** Returns what a continued run begins with; undefined if the next sync makes a new plan. */
export async function openPlan(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  now: Date,
): Promise<OpenPlan | undefined> {
  const wanted = {
    sync: definition.name,
    definitionHash: planHash(definition, options),
    asksForDays: asksForDays(definition),
    now,
  };
  const { last } = await openRuns(operationsOf(warehouse), wanted, alsoContinued(definition, options));
  if (!last) return undefined;
  const maxAgeOf = await rereadMaxAges(warehouse, definition, { definitionHash: last.definitionHash }, options);
  return { continues: last.id, parts: (ops) => openParts(ops, last.id, maxAgeOf, options.signal) };
}

/** Requests in a part. */
const PART = 5000;

async function* openParts(
  ops: Ops,
  runId: string,
  maxAgeOf: MaxAgeOf,
  signal: AbortSignal | undefined,
): AsyncGenerator<PlanToAsk> {
  for (const rowsAfter of [answeredRows, openRows])
    for (let after: string | undefined = '0'; after !== undefined; ) {
      signal?.throwIfAborted();
      const rows: readonly OpenRow[] = await rowsAfter(ops, runId, after);
      yield {
        tasks: rows.map((row) => ({
          requestKey: row.request_key,
          request: row.body,
          body: row.sent_body as RequestBody,
          input: row.input,
          depth: Number(row.depth),
        })),
        fresh: new Map(
          rows.flatMap((row) => (row.answer_id === null ? [] : [[row.request_key, row.answer_id] as const])),
        ),
        tried: new Set(rows.flatMap((row) => (row.attempts === '0' ? [] : [row.request_key]))),
        givenUp: new Set(),
        failing: new Map(),
        maxAgeOf,
      };
      after = rows.length < PART ? undefined : rows.at(-1)?.id;
    }
}

type OpenRow = Awaited<ReturnType<typeof openRows>>[number];

/** Requests with a stored answer that led to no others yet: loading it leads to its parts. */
const answeredRows = (ops: Ops, runId: string, after: string) =>
  rowsOf(ops, runId, after)
    .where('r.state', 'in', ['stored', 'fresh'])
    .where('r.answer_id', 'is not', null)
    .where((eb) => notExists(eb.selectFrom('requests as p').select('p.id').whereRef('p.parent_id', '=', 'r.id')))
    .execute();

const openRows = (ops: Ops, runId: string, after: string) =>
  rowsOf(ops, runId, after)
    .where('r.state', 'in', [...UNSETTLED_STATES])
    .execute();

const rowsOf = (ops: Ops, runId: string, after: string) =>
  ops
    .selectFrom('requests as r')
    .select(['r.id', 'r.request_key', 'r.body', 'r.sent_body', 'r.input', 'r.depth', 'r.attempts', 'r.answer_id'])
    .where('r.run_id', '=', runId)
    .where('r.id', '>', after)
    .orderBy('r.id')
    .limit(PART);
