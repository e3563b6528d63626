/** Requests that no run sends again because their answers were unreadable too often; outputs list them as failing. */
import { sql } from 'kysely';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { type AnswerAge, ROWS_PER_STATEMENT } from '../fresh-answers.ts';
import { MAX_UNREADABLE, NO_REASON, reasonsOf } from './unreadable-answers.ts';
import { inBatches } from '../../async/in-batches.ts';

/** A request that is not sent. */
export interface RepeatedlyUnreadable {
  /** The newest of its answers. */
  readonly answerId: string;
  /** Number of unreadable answers since the last one that could be read. */
  readonly times: number;
  readonly reason: string;
}

/** A request whose unreadable answers count. */
export interface CountedRequest {
  readonly requestKey: string;
  readonly age: AnswerAge;
  /** The last receipt time that counts. */
  readonly until: Date;
}

/**
 * Returns, by request key, those of these requests that had `MAX_UNREADABLE` unreadable answers within `max_age`, and
 * since then no answer that could be read. Such a request stays unsent when these answers are older than that.
 * The caller excludes requests that a readable answer serves.
 */
export async function repeatedlyUnreadable(
  ops: Ops,
  asked: readonly CountedRequest[],
): Promise<Map<string, RepeatedlyUnreadable>> {
  const found = new Map<string, RepeatedlyUnreadable>();
  for (const some of inBatches(asked, ROWS_PER_STATEMENT)) {
    const rows = await rowsOf(ops, some).execute();
    const reasons = await reasonsOf(
      ops,
      rows.map(({ id }) => id),
    );
    for (const { request_key: key, id, times } of rows)
      found.set(key, { answerId: id, times: Number(times), reason: reasons.get(id) ?? NO_REASON });
  }
  return found;
}

/** Those among these requests, with the number of answers and the newest. The fences keep the lookups by the indexes, as in `answersWithin`. */
const rowsOf = (ops: Ops, asked: readonly CountedRequest[]) =>
  ops
    .selectFrom(
      rowsFrom(asked, {
        request_key: ['text', ({ requestKey }) => requestKey],
        max_age_ms: ['numeric', ({ age }) => age.maxAgeMs],
        since: ['timestamptz', ({ age }) => age.notBefore ?? null],
        until: ['timestamptz', ({ until }) => until],
      }).as('t'),
    )
    .innerJoinLateral(
      ops
        .selectFrom('answers')
        .select(['id', 'received_at'])
        .select(
          sql<Date | null>`lag(received_at, ${sql.lit(MAX_UNREADABLE - 1)}) over (order by received_at, id)`.as(
            'first',
          ),
        )
        .where(sql<boolean>`request_key = t.request_key and unreadable`)
        .where(sql<boolean>`received_at between coalesce(t.since, '-infinity') and t.until`)
        .offset(0)
        .as('a'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      ops
        .selectFrom('answers')
        .select(['id', 'received_at'])
        .where(sql<boolean>`request_key = t.request_key and received_at <= t.until and not unreadable`)
        .orderBy('received_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .as('r'),
      (join) => join.onTrue(),
    )
    .select(['t.request_key', sql<string>`count(*)`.as('times')])
    .select(sql<string>`(array_agg(a.id order by a.received_at desc, a.id desc))[1]`.as('id'))
    .where(sql<boolean>`r.id is null or (a.received_at, a.id) > (r.received_at, r.id)`)
    .groupBy('t.request_key')
    .having(sql<boolean>`bool_or(extract(epoch from a.received_at - a.first) * 1000 <= t.max_age_ms)`);

/** The error of such a request in the ledger; null for other requests. */
export const errorOf = (failing: RepeatedlyUnreadable | undefined): string | null =>
  failing === undefined ? null : `its last ${failing.times} answers could not be read: ${failing.reason}`;

/** What sends such a request again. */
export const nextStepOf = (sync: string): string =>
  `Only sluice sync --refresh ${sync}, or sluice sync --failed ${sync}, sends it again.`;
