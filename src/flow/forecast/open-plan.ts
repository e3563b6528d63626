/** The remaining requests of a stopped run: the next sync continues with them and makes no new plan. */
import type { SyncDefinition } from '../../config/definition.ts';
import { openRuns } from '../../ledger/runs.ts';
import { operationsOf, type RequestState } from '../../warehouse/connect/operations-db.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { PlanToAsk } from './pending.ts';
import { alsoContinued, asksForDays, planHash, type PlanOptions } from '../prepare/plan-hash.ts';
import { rereadMaxAges } from '../prepare/plan-sync.ts';

/** States of requests that a continued run sends. */
const OPEN: readonly RequestState[] = ['planned', 'sent', 'in_doubt'];

/** Returns the requests that a continued run begins with; undefined if the next sync makes a new plan. */
export async function openPlan(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  now: Date,
): Promise<(PlanToAsk & { readonly continues: string }) | undefined> {
  const ops = operationsOf(warehouse);
  const wanted = {
    sync: definition.name,
    definitionHash: planHash(definition, options),
    asksForDays: asksForDays(definition),
    now,
  };
  const { last } = await openRuns(ops, wanted, alsoContinued(definition, options));
  if (!last) return undefined;
  const rows = await ops
    .selectFrom('requests as r')
    .select(['r.request_key', 'r.body', 'r.sent_body', 'r.input', 'r.depth', 'r.attempts', 'r.state', 'r.answer_id'])
    .where('r.run_id', '=', last.id)
    // Loading a stored answer leads to its parts.
    .where((eb) =>
      eb.or([
        eb('r.state', 'in', [...OPEN]),
        eb.and([
          eb('r.state', 'in', ['stored', 'fresh']),
          eb('r.answer_id', 'is not', null),
          eb.not(eb.exists(eb.selectFrom('requests as p').select('p.id').whereRef('p.parent_id', '=', 'r.id'))),
        ]),
      ]),
    )
    .orderBy('r.id')
    .execute();
  return {
    continues: last.id,
    tasks: rows.map((row) => ({
      requestKey: row.request_key,
      request: row.body,
      body: row.sent_body as RequestBody,
      input: row.input,
      depth: Number(row.depth),
    })),
    fresh: new Map(rows.flatMap((row) => (row.answer_id === null ? [] : [[row.request_key, row.answer_id] as const]))),
    tried: new Set(rows.flatMap((row) => (row.attempts === '0' ? [] : [row.request_key]))),
    givenUp: new Set(),
    failing: new Map(),
    maxAgeOf: await rereadMaxAges(warehouse, definition, { definitionHash: last.definitionHash }, options),
  };
}
