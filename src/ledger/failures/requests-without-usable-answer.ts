/** The requests of a run that got no usable answer. */
import { sql } from 'kysely';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { isSplit } from '../requests/skip-for-split.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** Requests in a part. */
const PART = 1000;

/**
 * Returns the requests of a run that failed, whose answer was lost or unreadable, or that were not sent because the endpoint
 * refused them, in parts. Requests with a readable answer since then are left out.
 */
export async function* requestsWithoutUsableAnswer(ops: Ops, runId: string): AsyncGenerator<readonly Task[]> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const rows = await readPart(ops, runId, after);
    if (rows.length > 0)
      yield rows.map(({ request_key: requestKey, body, sent_body: sent, input, depth }) => ({
        requestKey,
        request: body,
        body: sent as RequestBody,
        input,
        depth: Number(depth),
      }));
    after = rows.length < PART ? undefined : rows.at(-1)?.id;
  }
}

function readPart(ops: Ops, runId: string, after: string) {
  return ops
    .selectFrom('requests as r')
    .leftJoin('answers as a', 'a.id', 'r.answer_id')
    .select(['r.id', 'r.request_key', 'r.body', 'r.sent_body', 'r.input', 'r.depth'])
    .where('r.run_id', '=', runId)
    .where('r.id', '>', after)
    .where((eb) =>
      eb.or([
        eb('r.state', 'in', ['failed', 'in_doubt']),
        eb.and([eb('r.state', 'in', ['quarantined', 'fresh']), eb('a.unreadable', '=', true)]),
        eb.and([eb('r.state', '=', 'skipped'), eb.not(isSplit('r'))]),
      ]),
    )
    .where((eb) =>
      notExists(
        eb
          .selectFrom('answers as n')
          .select('n.id')
          .whereRef('n.request_key', '=', 'r.request_key')
          .where(sql<boolean>`n.received_at > coalesce(r.finished_at, r.planned_at) and not n.unreadable`),
      ),
    )
    .orderBy('r.id')
    .limit(PART)
    .execute();
}
