/** Finds bought answers that are still fresh, by request key. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import { rowsFrom } from '../warehouse/sql/rows-from.ts';
import { differsFromPrevious } from '../warehouse/schema/answer-contents.ts';
import { latestKnown } from '../warehouse/connect/clock.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';
import { syncLease } from './lease.ts';
import { inBatches } from '../async/in-batches.ts';

/** The receipt times of answers that serve a request: not too long ago, and not in the future. */
export interface ReceiptRange {
  readonly since: Date;
  readonly until: Date;
  /** An answer whose request was sent before this does not serve: its last requested day had not ended. */
  readonly sentSince?: Date | undefined;
}

/** The age up to which answers serve a request. */
export interface AnswerAge {
  readonly maxAgeMs: number;
  /** The instant before which no answer counts, whatever its age. */
  readonly notBefore?: Date;
}

/** The receipt times of answers of at most this age. */
export const receivedWithin = ({ maxAgeMs, notBefore }: AnswerAge, now: Date): ReceiptRange => ({
  since: new Date(Math.max(now.getTime() - maxAgeMs, notBefore?.getTime() ?? -Infinity)),
  until: latestKnown(now),
});

/** A request, with the range of receipt times that serve it. */
export interface RequestWithin extends ReceiptRange {
  readonly requestKey: string;
}

/** Rows per statement; more would only use more memory. */
export const ROWS_PER_STATEMENT = 1000;

/** SQL condition that a request was sent after the last day that `t` asks for had ended, if that matters. */
const isSentSince = (receivedAt: RawBuilder<unknown>, tookMs: RawBuilder<unknown>) =>
  sql<boolean>`${receivedAt} - ${tookMs} * interval '1 millisecond' >= coalesce(t.sent_since, '-infinity')`;

/**
 * The answers `a` to these requests `t` within their ranges of receipt times, by request key. Each request is looked up
 * by the index: the join is behind a fence, because statistics of a growing table would make the planner read all of it.
 */
export const answersWithin = (ops: Ops, requests: readonly RequestWithin[]) =>
  ops
    .selectFrom(
      rowsFrom(requests, {
        request_key: ['text', ({ requestKey }) => requestKey],
        since: ['timestamptz', ({ since }) => since],
        until: ['timestamptz', ({ until }) => until],
        sent_since: ['timestamptz', ({ sentSince }) => sentSince ?? null],
      }).as('t'),
    )
    .innerJoinLateral(
      ops
        .selectFrom('answers')
        .select(['id', 'received_at', 'status', 'unreadable', 'body'])
        .where(sql<boolean>`request_key = t.request_key and received_at between t.since and t.until`)
        .where(isSentSince(sql`received_at`, sql`took_ms`))
        .offset(0)
        .as('a'),
      (join) => join.onTrue(),
    )
    .groupBy('t.request_key');

/**
 * A value of the answer `a` that was received last. Not of the highest id: an answer that the spool brought late is older
 * than its id. An answer without its body cannot fill a bridge, so it does not count; an unreadable one does.
 */
const newestOf = <T>(value: RawBuilder<T>) =>
  sql<T | null>`(array_agg(${value} order by a.received_at desc, a.id desc) filter (where a.unreadable or a.body is not null))[1]`;

/** SQL condition on a group of answers `a` to one request: the newest one can be read. */
const isServed = sql<boolean>`${newestOf(sql`a.unreadable`)} is false`;

/**
 * Returns the newest stored answer to each of these requests within its range of receipt times, over all syncs, by
 * request key. Empty and "no such entity" answers count as bought, the latter unless `withMissing` is false. If the
 * newest answer of a request is unreadable, it has none, since an older answer cannot replace it. With the id of an answer
 * as `horizon`, newer answers do not count.
 */
export async function freshAnswersByKey(
  ops: Ops,
  asked: readonly RequestWithin[],
  { withMissing = true, horizon }: { readonly withMissing?: boolean; readonly horizon?: string | undefined } = {},
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const some of inBatches(asked, ROWS_PER_STATEMENT)) {
    const rows = await answersWithin(ops, some)
      .select(['t.request_key', newestOf(sql<string>`a.id`).as('id')])
      .$if(!withMissing, (query) => query.where('a.status', '<>', '412'))
      .$if(horizon !== undefined, (query) => query.where('a.id', '<=', horizon ?? null))
      .having(isServed)
      .execute();
    for (const { request_key: key, id } of rows) if (id !== null) found.set(key, id);
  }
  return found;
}

/**
 * Returns the history of each request of an endpoint with several readable loaded answers, by request key: answers of all
 * syncs count, because they serve all syncs. A change is an answer that changed rows, or that differs from the previous one.
 */
export async function readAnswerHistories(ops: Ops, endpoint: string) {
  const rows = await ops
    .selectFrom((from) =>
      from
        .selectFrom('answers')
        .select(['request_key', 'received_at'])
        .select(
          sql<boolean>`row_number() over w > 1 and (loaded > 0 or coalesce(${sql.raw(differsFromPrevious('w'))}, false))`.as(
            'isChange',
          ),
        )
        .modifyEnd(sql`window w as (partition by request_key order by received_at, id)`)
        .where('endpoint', '=', endpoint)
        .where('loaded_at', 'is not', null)
        .where('unreadable', '=', false)
        .as('a'),
    )
    .select(['request_key', sql<number>`count(*)::float8`.as('answers')])
    .select(sql<number>`(count(*) filter (where "isChange"))::float8`.as('changes'))
    .select((eb) => [eb.fn.min('received_at').as('firstAt'), eb.fn.max('received_at').as('lastAt')])
    .groupBy('request_key')
    .having(sql`count(*)`, '>', 1)
    .execute();
  return new Map(rows.map(({ request_key, ...history }) => [request_key, history]));
}

/** A request of a sync, with the receipt times of answers that serve it. */
export interface SendingWithin extends RequestWithin {
  readonly sync: string;
}

/** Requests `t` that are about to be sent; those without `since` are served by nothing. */
type SendingExpressions = ExpressionBuilder<
  OpsDatabase & {
    readonly t: {
      readonly request_key: string | null;
      readonly sync: string | null;
      readonly since: Date | null;
      readonly until: Date | null;
      readonly sent_since: Date | null;
      readonly sent_at: Date;
    };
  },
  't'
>;

/** Columns of requests that are about to be sent: what another sync bought or is buying of them. */
export const boughtElsewhere = (eb: SendingExpressions) =>
  [
    sql<boolean>`t.since is not null and exists ${freshAnswer(eb)}`.as('is_bought'),
    sql<boolean>`t.since is not null and exists ${sameCall(eb)}`.as('is_in_flight'),
  ] as const;

/** The answer that serves the request: the same condition as in `freshAnswersByKey`. */
const freshAnswer = (eb: SendingExpressions) =>
  eb
    .selectFrom('answers as a')
    .select(sql<string>`max(a.id)`.as('id'))
    .whereRef('a.request_key', '=', 't.request_key')
    .whereRef('a.received_at', '>=', 't.since')
    .whereRef('a.received_at', '<=', 't.until')
    .where(isSentSince(sql`a.received_at`, sql`a.took_ms`))
    .having(isServed);

/** Longest wait for a call of another sync: the default timeout of a call and its margin. */
const CALL_SECONDS = 330;

/** A call in flight of another live sync for the same request. */
const sameCall = (eb: SendingExpressions) =>
  eb
    .selectFrom('requests as o')
    .innerJoin('leases as l', (join) => join.on('l.name', '=', sql<string>`${sql.lit(syncLease(''))} || o.sync`))
    .select('o.id')
    .whereRef('o.request_key', '=', 't.request_key')
    .whereRef('o.sync', '<>', 't.sync')
    .where('o.state', '=', 'sent')
    .where('o.sent_at', '>=', sql<Date>`t.sent_at - ${sql.lit(CALL_SECONDS)} * interval '1 second'`)
    .where('l.expires_at', '>=', sql<Date>`clock_timestamp()`);
