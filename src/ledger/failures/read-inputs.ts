/** Shows which inputs runs have read completely, so that earlier lower bounds of these inputs end. */
import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely';
import { isSplit } from '../requests/skip-for-split.ts';
import type { Run } from '../runs.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { runsToRetry } from './runs-to-retry.ts';
import { UNREADABLE } from './unreadable-answers.ts';
import { anyBigint, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

export type ReadingRun = Pick<Run, 'id' | 'sync' | 'endpoint'>;

/**
 * Returns which of these slices of earlier runs have an input that the run requested completely and read without a failure. A
 * run of failed requests counts together with the run of all inputs before it: what neither of them read is missing.
 */
export async function boundsOfReadInputs(
  ops: Ops,
  { id, sync, endpoint }: ReadingRun,
  boundIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const runs = boundIds.length === 0 ? [] : (await runsToRetry(ops, sync)).map((run) => run.id);
  // Other runs of a part of the sync may leave out requests of the input.
  if (!runs.includes(id)) return new Set();
  const rows = await ops
    .with('inputs', (db) =>
      db
        .selectFrom('requests as r')
        .select(inputKey('r.input', endpoint).as('key'))
        .where('r.run_id', '=', anyBigint(runs))
        .groupBy('key')
        .having((eb) => {
          const again = eb
            .selectFrom('requests as n')
            .select('n.id')
            .whereRef('n.request_key', '=', 'r.request_key')
            .whereRef('n.sync', '=', 'r.sync')
            .whereRef('n.id', '>', 'r.id')
            .where('n.run_id', '=', anyBigint(runs));
          return sql<boolean>`bool_or(r.run_id = ${id}::bigint) and not bool_or(${isUnread()} and ${notExists(again)})`;
        }),
    )
    .selectFrom('coverage as c')
    .innerJoin('requests as q', 'q.id', 'c.request_id')
    .innerJoin('inputs as i', (join) => join.on('i.key', '=', inputKey('q.input', endpoint)))
    .select('c.id')
    .where('c.id', '=', anyBigint(boundIds))
    .where('c.endpoint', '=', endpoint)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** SQL for an input without what its watermark ignores: the count, the timeout, and the order of lists without one. */
function inputKey(input: string, endpoint: string) {
  const sets = endpointNamed(endpoint)?.sets ?? [];
  const fields = sql<RequestBody>`jsonb_strip_nulls(${sql.ref(input)} - 'count' - 'timeout')`;
  const sorted = sets.reduce((key, field) => {
    const values = sql`jsonb_path_query(${sql.ref(input)}, ${sql.lit(`$."${field}"[*]`)})`;
    const list = sql`(select coalesce(jsonb_agg(distinct v), '[]') from ${values} as v)`;
    return sql`jsonb_set(${key}, array[${sql.lit(field)}], ${list}, false)`;
  }, fields);
  return sql<RequestBody>`case when ${sql.ref(input)} ?| ${sql.lit(arrayLiteral(sets))} then ${sorted} else ${fields} end`;
}

/** Requests in a part. */
const PART = 1000;

/** The inputs that a run did not read completely, in parts; an input with several such requests comes for each of them. */
export async function* unreadInputs(ops: Ops, runId: string): AsyncGenerator<readonly RequestBody[]> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const rows: readonly { id: string; input: RequestBody }[] = await ops
      .selectFrom('requests as r')
      .select(['r.id', 'r.input'])
      .where('r.run_id', '=', runId)
      .where('r.id', '>', after)
      .where(isUnread())
      .orderBy('r.id')
      .limit(PART)
      .execute();
    if (rows.length > 0) yield rows.map(({ input }) => input);
    after = rows.length < PART ? undefined : rows.at(-1)?.id;
  }
}

/** A condition on a request `r`: nothing was read for it, and it was not split. An unreadable answer has a slice of its own. */
export function isUnread(): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase & { r: OpsDatabase['requests'] }, 'r'>();
  return eb.and([
    eb.or([
      eb('r.state', 'not in', ['loaded', 'empty', 'fresh', 'quarantined']),
      eb('r.state', '=', 'fresh').and(isDenied()),
    ]),
    eb.not(isSplit('r')),
    eb.not(eb('r.state', '=', 'failed').and('r.failure_class', 'is not distinct from', UNREADABLE)),
  ]);
}

/** A condition on a request `r`: its answer is a 412, so nothing was read. */
export function isDenied(): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase & { r: OpsDatabase['requests'] }, 'r'>();
  const answer = eb.selectFrom('answers as a').select('a.id').whereRef('a.id', '=', 'r.answer_id');
  return eb.exists(answer.where('a.status', '=', '412'));
}
