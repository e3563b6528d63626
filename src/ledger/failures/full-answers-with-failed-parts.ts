/** Full answers that are lower bounds because requests that followed them failed or found nothing, and the end of lower bounds. */
import { type ExpressionBuilder, sql } from 'kysely';
import { isSplit } from '../requests/skip-for-split.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { boundsOfReadInputs, isDenied, isUnread, type ReadingRun } from './read-inputs.ts';
import { UNREADABLE } from './unreadable-answers.ts';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** Why a slice is a lower bound although its answer was followed. */
const FAILED_PART = 'as many items as requested, and a request for more of them failed';

/** A full answer with a failed part, of a run before. */
export interface EarlierFullAnswer {
  readonly id: string;
  readonly input: RequestBody;
  /** Its request without the count. */
  readonly filters: RequestBody;
}

/**
 * Marks full answers of a run as lower bounds if requests for more of their items failed. A lower bound of an earlier run ends
 * if this run read its input without a failure, or if its parts were read since. `withoutLeftOut` excludes answers with a
 * failed part that no run requests now. Call it before the lower bounds are counted.
 */
export async function recordFullAnswersWithFailedParts(
  ops: Ops,
  run: ReadingRun,
  withoutLeftOut: (answers: readonly EarlierFullAnswer[]) => Promise<readonly EarlierFullAnswer[]>,
): Promise<void> {
  await recordFollowed(ops, run);
  await clearRead(ops, run, withoutLeftOut);
  await clearSplit(ops, run);
}

/** Parts with unreadable answers have slices of their own, so they do not count again. */
async function recordFollowed(ops: Ops, { id }: ReadingRun): Promise<void> {
  await ops
    .withRecursive('failed(request_id)', (db) =>
      db
        .selectFrom('requests as r')
        .select('r.parent_id as request_id')
        .where('r.run_id', '=', id)
        .where((eb) =>
          eb.or([
            eb('r.state', '=', 'failed').and('r.failure_class', 'is distinct from', UNREADABLE),
            // 412: the service has just shown items of this entity, and now denies that it exists.
            eb('r.state', 'in', ['missing', 'fresh']).and(isDenied()),
          ]),
        )
        // A part of a question that was never sent belongs to the answer before it.
        .union(
          db
            .selectFrom('failed as f')
            .innerJoin('requests as p', 'p.id', 'f.request_id')
            .select('p.parent_id as request_id')
            .where(isSplit('p')),
        ),
    )
    .updateTable('coverage as c')
    .set({ reason: FAILED_PART })
    .where('c.run_id', '=', id)
    .where('c.reason', 'is', null)
    .where('c.returned', '>=', (eb) => eb.ref('c.asked'))
    .where('c.request_id', 'in', (eb) => eb.selectFrom('failed as f').select('f.request_id'))
    .execute();
}

/** The watermark lists a failed part, so later runs of the input request it again, perhaps with other days around it. */
async function clearRead(
  ops: Ops,
  run: ReadingRun,
  withoutLeftOut: (answers: readonly EarlierFullAnswer[]) => Promise<readonly EarlierFullAnswer[]>,
): Promise<void> {
  const bounds = await ops
    .selectFrom('coverage as c')
    .innerJoin('requests as q', 'q.id', 'c.request_id')
    .select(['c.id', 'c.filters', 'q.input'])
    .where('c.sync', '=', run.sync)
    .where('c.reason', '=', FAILED_PART)
    .where('c.run_id', '<', run.id)
    .execute();
  const read = await boundsOfReadInputs(
    ops,
    run,
    bounds.map(({ id }) => id),
  );
  const ended = await withoutLeftOut(bounds.filter(({ id }) => read.has(id)));
  await ops
    .updateTable('coverage')
    .set({ reason: null })
    .where('id', '=', anyBigint(ended.map(({ id }) => id)))
    .execute();
}

/** Ends the lower bounds of a sync whose question was split since, if every request below the newest split was read. */
async function clearSplit(ops: Ops, { sync, endpoint }: ReadingRun): Promise<void> {
  // Only questions with days are split before they are sent.
  if (endpointNamed(endpoint)?.paging.days === undefined) return;
  // `offset 0` is a fence: each row is looked up by its key, whatever the statistics.
  await ops
    .withRecursive('below(bound_id, request_id, unread)', (db) =>
      db
        .selectFrom('coverage as c')
        .innerJoinLateral(newestSplit, (join) => join.onTrue())
        .select(['c.id as bound_id', 's.id as request_id', sql<boolean>`false`.as('unread')])
        .where('c.sync', '=', sync)
        .where('c.reason', 'is not', null)
        .where((eb) =>
          notExists(
            eb
              .selectFrom('coverage as n')
              .select('n.id')
              .whereRef('n.sync', '=', 'c.sync')
              .whereRef('n.request_key', '=', 'c.request_key')
              .whereRef('n.id', '>', 'c.id'),
          ),
        )
        .unionAll(
          db
            .selectFrom('below as b')
            .innerJoinLateral(
              (eb) =>
                eb
                  .selectFrom('requests as r')
                  .select(['r.id', sql<boolean>`${isUnread()}`.as('unread')])
                  .whereRef('r.parent_id', '=', 'b.request_id')
                  .offset(0)
                  .as('p'),
              (join) => join.onTrue(),
            )
            .select(['b.bound_id', 'p.id as request_id', 'p.unread']),
        ),
    )
    .updateTable('coverage')
    .set({ reason: null })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('below as b')
        .select('b.bound_id')
        .groupBy('b.bound_id')
        .having(sql<boolean>`not bool_or(b.unread)`),
    )
    .execute();
}

/** The newest split of the question of a lower bound `c`. Retention deletes requests of abandoned runs, so these prove nothing. */
const newestSplit = (eb: ExpressionBuilder<OpsDatabase & { c: OpsDatabase['coverage'] }, 'c'>) =>
  eb
    .selectFrom('requests as s')
    .innerJoin('runs as u', 'u.id', 's.run_id')
    .select('s.id')
    .whereRef('s.sync', '=', 'c.sync')
    .whereRef('s.request_key', '=', 'c.request_key')
    .whereRef('s.id', '>', 'c.request_id')
    .where(isSplit('s'))
    .where('u.state', '<>', 'abandoned')
    .orderBy('s.id', 'desc')
    .limit(1)
    .as('s');
