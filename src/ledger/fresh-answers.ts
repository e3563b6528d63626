/** What was bought and is fresh still, by the question that was asked. */
import { sql } from 'kysely';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import { latestKnown } from '../warehouse/connect/clock.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** When an answer must have been received to serve a request: not too long ago, and not in the future. */
export interface Received {
  readonly since: Date;
  readonly until: Date;
}

/** The times of answers that are at most so old. */
export const receivedWithin = (maxAgeMs: number, now: Date): Received => ({
  since: new Date(now.getTime() - maxAgeMs),
  until: latestKnown(now),
});

/** Rows a statement takes at once; more would only hold more memory. */
const CHUNK = 1000;

/**
 * By request key, the newest stored answer to each of these requests that was received within its times, over all
 * syncs. Empty and "no such entity" answers count as bought, the latter unless `withMissing` is false. There is none for
 * a request whose newest answer could not be read: an older one does not say what was asked for since.
 */
export async function freshAnswersByKey(
  ops: Ops,
  asked: readonly ({ readonly requestKey: string } & Received)[],
  { withMissing = true }: { readonly withMissing?: boolean } = {},
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let start = 0; start < asked.length; start += CHUNK) {
    const part = asked.slice(start, start + CHUNK);
    const source = sql<{ request_key: string; since: Date; until: Date }>`(select * from unnest(
      ${arrayLiteral(part.map(({ requestKey }) => requestKey))}::text[],
      ${arrayLiteral(part.map(({ since }) => since.toISOString()))}::timestamptz[],
      ${arrayLiteral(part.map(({ until }) => until.toISOString()))}::timestamptz[]) as u(request_key, since, until))`;
    const rows = await ops
      .selectFrom(source.as('t'))
      .innerJoin('answers as a', 'a.request_key', 't.request_key')
      // One whose body is gone can fill no bridge.
      .select([
        't.request_key',
        sql<string | null>`max(a.id) filter (where not a.unreadable and a.body is not null)`.as('id'),
        sql<string | null>`max(a.id) filter (where a.unreadable)`.as('unread'),
      ])
      .whereRef('a.received_at', '>=', 't.since')
      .whereRef('a.received_at', '<=', 't.until')
      .$if(!withMissing, (query) => query.where('a.status', '<>', '412'))
      .groupBy('t.request_key')
      .execute();
    for (const { request_key: key, id, unread } of rows)
      if (id !== null && BigInt(unread ?? 0) < BigInt(id)) found.set(key, id);
  }
  return found;
}
