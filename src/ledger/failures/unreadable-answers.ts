/** Unreadable answers: which requests are not sent again because of them, and what a run lacks. */
import { sql } from 'kysely';
import type { Receipt } from '../../load/merge/receipt.ts';
import type { Batch } from '../../normalize/batch.ts';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import { namesOf, rowsFrom, valuesFor } from '../../warehouse/sql/rows-from.ts';
import { answersWithin, ROWS_PER_STATEMENT, type RequestWithin } from '../fresh-answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Gap } from '../summary.ts';
import { inBatches } from '../../async/in-batches.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** How often a request is sent within `max_age` while its answers are unreadable: once, and two more times. After that, it is failing. */
export const MAX_UNREADABLE = 3;

/** The failure class of a request that is not sent because its last answers were unreadable. */
export const UNREADABLE = 'unreadable';

type ParsedBatch = Pick<Batch, 'received' | 'rejects' | 'foreign'>;

/** True if nothing of an answer could be read: it is quarantined completely, or no item belongs to the endpoint. */
export const isUnreadable = ({ received, rejects, foreign }: ParsedBatch): boolean =>
  rejects.some(({ position }) => position === undefined) || (received > 0 && foreign === received);

/** Returns why nothing of an answer could be read; undefined if something could. */
export const unreadableReason = (batch: ParsedBatch): string | undefined =>
  isUnreadable(batch) ? batch.rejects[0]?.reason : undefined;

/** Returns the newest unreadable answer to each of these requests received after an instant, by request key. */
export async function unreadableAfter(
  ops: Ops,
  asked: readonly RequestWithin[],
  instant: Date,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const since = new Date(instant.getTime() + 1);
  const within = asked.map((one) => ({ ...one, since }));
  for (const some of inBatches(within, ROWS_PER_STATEMENT)) {
    const rows = await answersWithin(ops, some)
      .select(['t.request_key', sql<string>`max(a.id)`.as('id')])
      .where('a.unreadable', '=', sql<boolean>`true`)
      .execute();
    for (const { request_key: key, id } of rows) found.set(key, id);
  }
  return found;
}

/** The reason of an unreadable answer without one. */
export const NO_REASON = 'the complete answer is quarantined';

/** Returns why answers could not be read, by id. */
export async function reasonsOf(ops: Ops, answerIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (answerIds.length === 0) return new Map();
  const rows = await ops
    .selectFrom('quarantine')
    .select(['answer_id', 'reason'])
    .distinctOn('answer_id')
    .where('answer_id', '=', anyBigint(answerIds))
    .orderBy('answer_id')
    .orderBy('position', (order) => order.asc().nullsFirst())
    .execute();
  return new Map(rows.map(({ answer_id: id, reason }) => [id, reason]));
}

/**
 * Requests of a run with unreadable answers, with those answers. The unreadable answers are an array, because a join would
 * read the requests of the runs once for each of them.
 */
function unanswered(ops: Ops, runIds: readonly string[]) {
  // Written as in the predicate of the partial index.
  const unreadable = ops.selectFrom('answers').select('id').where('unreadable', '=', sql<boolean>`true`);
  return ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .where('r.run_id', '=', anyBigint(runIds))
    .where('r.answer_id', '=', sql<string>`any(array(${unreadable}))`)
    .where('r.state', 'in', ['quarantined', 'fresh', 'failed']);
}

/** Totals of a run's unreadable answers. */
export interface UnreadableSum {
  readonly requests: number;
  /** Those of the requests that are not sent again. */
  readonly failing: number;
  /** Requested items beyond those that the run's counts already include for them. */
  readonly items: number;
}

/** Totals a run's requests with unreadable answers; each weighs as many items as it requested. */
export async function unreadableSum(ops: Ops, runId: string): Promise<UnreadableSum> {
  const weight = sql`coalesce((r.body ->> 'count')::bigint, (r.body ->> 'limit')::bigint, 1)`;
  const row = await unanswered(ops, [runId])
    .select([
      sql<string>`count(*)`.as('requests'),
      sql<string>`count(*) filter (where r.state = 'failed')`.as('failing'),
      // The run counts the items of an answer as received and rejected, and a failed request as one reject.
      sql<string>`coalesce(sum(greatest(0, ${weight} - case r.state when 'failed' then 1
        else coalesce(a.received, 1) end)), 0)`.as('items'),
    ])
    .executeTakeFirstOrThrow();
  return { requests: Number(row.requests), failing: Number(row.failing), items: Number(row.items) };
}

/** A gap with its sync. */
export interface SyncGap extends Gap {
  readonly sync: string;
}

/** Returns the first `most` requests of these runs with unreadable answers. */
export async function gapsOf(ops: Ops, runIds: readonly string[], most: number): Promise<SyncGap[]> {
  if (runIds.length === 0) return [];
  const rows = await unanswered(ops, runIds)
    .select(['r.sync', 'r.body', 'r.input', 'r.state', 'a.id'])
    .orderBy('r.id')
    .limit(most)
    .execute();
  const reasons = await reasonsOf(
    ops,
    rows.map(({ id }) => id),
  );
  return rows.map(({ sync, body, input, state, id }) => {
    const { count: _, ...filters } = body;
    const reason = reasons.get(id) ?? NO_REASON;
    return { sync, filters, input, answerId: id, reason, failing: state === 'failed' };
  });
}

/** Records the slices of requests that a run did not send because their last answers were unreadable. */
export async function recordUnsentSlices(ops: Ops, runId: string): Promise<void> {
  const columns = {
    request_id: 'r.id',
    run_id: 'r.run_id',
    sync: 'r.sync',
    endpoint: 'r.endpoint',
    request_key: 'r.request_key',
    filters: sql`r.body - 'count'`,
    asked: sql`(r.body ->> 'count')::bigint`,
    returned: sql`0`,
    depth: 'r.depth',
    complete: sql`false`,
    reason: 'r.error',
    as_of: 'a.received_at',
    unreadable: 'a.unreadable',
  };
  await ops
    .insertInto('coverage')
    .columns(namesOf(columns))
    .expression((eb) =>
      eb
        .selectFrom('requests as r')
        .innerJoin('answers as a', 'a.id', 'r.answer_id')
        .select(valuesFor(columns))
        .where('r.run_id', '=', runId)
        .where('a.unreadable', '=', sql<boolean>`true`)
        .where('r.state', '=', 'failed')
        .where((eb) => notExists(eb.selectFrom('coverage as c').select('c.id').whereRef('c.request_id', '=', 'r.id'))),
    )
    .execute();
}

/** An answer that was loaded again, with the data for the coverage. */
export interface ReparsedSlice {
  readonly answerId: string;
  readonly requestKey: string;
  readonly receipt: Pick<Receipt, 'received'>;
  /** The answer held all items that existed when it was requested. */
  readonly complete: boolean;
  /** The answer is a page of the log. Its walk ended there, so the pages after it stay unread. */
  readonly isPage: boolean;
}

const NOT_FOLLOWED = 'the pages that follow it were not read';
const NOT_SPLIT = 'as many items as requested, and its parts were not requested yet';

/** Corrects the slices of answers that were unreadable and can now be read. A full answer and a page of the log are lower bounds. */
export async function recordReadSlices(ops: Ops, read: readonly ReparsedSlice[]): Promise<void> {
  if (read.length === 0) return;
  const slices = rowsFrom(read, {
    answer_id: ['bigint', ({ answerId }) => answerId],
    request_key: ['text', ({ requestKey }) => requestKey],
    returned: ['bigint', ({ receipt }) => receipt.received],
    complete: ['boolean', ({ complete }) => complete],
    is_page: ['boolean', ({ isPage }) => isPage],
  });
  const source = ops.selectFrom(slices.as('u')).selectAll().distinctOn(['u.answer_id', 'u.request_key']);
  await ops
    .updateTable('coverage as c')
    .from(source.as('s'))
    .set((eb) => ({
      unreadable: false,
      reason: sql<
        string | null
      >`case when s.is_page then ${NOT_FOLLOWED} when s.returned >= c.asked then ${NOT_SPLIT} end`,
      returned: eb.ref('s.returned'),
      complete: eb.ref('s.complete'),
    }))
    .whereRef('c.request_key', '=', 's.request_key')
    .where('c.unreadable', '=', sql<boolean>`true`)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('requests as r')
          .select('r.id')
          .whereRef('r.id', '=', 'c.request_id')
          .whereRef('r.answer_id', '=', 's.answer_id'),
      ),
    )
    .execute();
}
