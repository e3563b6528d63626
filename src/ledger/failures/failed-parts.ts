/** Slices of a run that are lower bounds, also because requests that followed their answers failed. */
import { isSplit } from '../skip-for-split.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { UNREADABLE } from './unreadable-answers.ts';

/** Why a slice is a lower bound although its answer was followed. */
export const FAILED_PART = 'as many items as requested, and a request for more of them failed';

/**
 * Returns a query of the slices of a run that are lower bounds, as `c`. Parts with unreadable answers have slices of their
 * own, so they do not count again.
 */
export const lowerBoundSlices = (ops: Ops, runId: string) =>
  ops
    .withRecursive('failed(request_id)', (db) =>
      db
        .selectFrom('requests as r')
        .select('r.parent_id as request_id')
        .where('r.run_id', '=', runId)
        .where('r.state', '=', 'failed')
        .where('r.failure_class', 'is distinct from', UNREADABLE)
        // A part of a question that was never sent belongs to the answer before it.
        .union(
          db
            .selectFrom('failed as f')
            .innerJoin('requests as p', 'p.id', 'f.request_id')
            .select('p.parent_id as request_id')
            .where(isSplit('p')),
        ),
    )
    .selectFrom('coverage as c')
    .where('c.run_id', '=', runId)
    .where((eb) =>
      eb.or([
        eb('c.reason', 'is not', null),
        eb.and([
          eb('c.returned', '>=', eb.ref('c.asked')),
          eb('c.request_id', 'in', eb.selectFrom('failed as f').select('f.request_id')),
        ]),
      ]),
    );
