/** Full answers that are lower bounds because requests that followed them failed or found nothing. */
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import { isSplit } from '../skip-for-split.ts';
import type { Run } from '../runs.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { UNREADABLE } from './unreadable-answers.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** Why a slice is a lower bound although its answer was followed. */
const FAILED_PART = 'as many items as requested, and a request for more of them failed';

type EndedRun = Pick<Run, 'id' | 'sync'>;

/**
 * Records which full answers of a run are lower bounds because requests for more of their items failed, and that those of
 * earlier runs are none whose input this run requested without a failure. Call it before the lower bounds are counted.
 */
export async function recordFullAnswersWithFailedParts(ops: Ops, run: EndedRun): Promise<void> {
  await recordFollowed(ops, run);
  await clearRead(ops, run);
}

/** Parts with unreadable answers have slices of their own, so they do not count again. */
async function recordFollowed(ops: Ops, { id }: EndedRun): Promise<void> {
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

/** A failed part holds the watermark, so a later run of the input requests it again, perhaps with other days around it. */
async function clearRead(ops: Ops, { id, sync }: EndedRun): Promise<void> {
  await ops
    .updateTable('coverage as c')
    .from('requests as q')
    .set({ reason: null })
    .where('c.sync', '=', sync)
    .where('c.reason', '=', FAILED_PART)
    .where('c.run_id', '<', id)
    .whereRef('q.id', '=', 'c.request_id')
    .where(hasReadInput(id))
    .execute();
}

/** A condition on a request `q` of an earlier run: this run read its input without a failure, and requested all of it. */
export function hasReadInput(runId: string): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase & { q: OpsDatabase['requests'] }, 'q'>();
  const ofInput = eb
    .selectFrom('requests as r')
    .select('r.id')
    .where('r.run_id', '=', runId)
    .whereRef('r.input', '=', 'q.input');
  const unread = ofInput.where((r) => r.or([r('r.state', 'not in', READ), isDenied()])).where(eb.not(isSplit('r')));
  // Other runs of a part of the sync may leave out requests of the input.
  const complete = eb
    .selectFrom('runs as u')
    .select('u.id')
    .where('u.id', '=', runId)
    .where((run) => run.or([run('u.scope', 'is', null), run('u.scope', '=', 'failed')]));
  return eb.and([eb.exists(complete), eb.exists(ofInput), notExists(unread)]);
}

/** States of requests whose answer is known. An unreadable answer has a slice of its own. */
const READ = ['loaded', 'empty', 'missing', 'fresh', 'quarantined'] as const;

/** A condition on a request `r`: its answer is a 412, so nothing was read. */
function isDenied(): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase & { r: OpsDatabase['requests'] }, 'r'>();
  const answer = eb.selectFrom('answers as a').select('a.id').whereRef('a.id', '=', 'r.answer_id');
  return eb.exists(answer.where('a.status', '=', '412'));
}
