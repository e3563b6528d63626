/** Answers that could not be read: which requests are asked no more for that, and what a run lacks because of it. */
import { sql } from 'kysely';
import type { Receipt } from '../load/merge/receipt.ts';
import type { Batch } from '../normalize/batch.ts';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import type { Received } from './fresh-answers.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';
import type { Gap } from './summary.ts';

/** A request is asked so often within `max_age` while its answers cannot be read: once, and twice more. */
export const MAX_UNREADABLE = 3;

/** The failure class of a request that is not asked because its last answers could not be read. */
export const UNREADABLE = 'unreadable';

type Judged = Pick<Batch, 'received' | 'rejects' | 'foreign'>;

/** True of an answer of which nothing could be read: it is quarantined whole, or no item is one of the endpoint. */
export const isUnreadable = ({ received, rejects, foreign }: Judged): boolean =>
  rejects.some(({ position }) => position === undefined) || (received > 0 && foreign === received);

/** The reason why nothing of an answer could be read; undefined for one of which something could. */
export const unreadableReason = (batch: Judged): string | undefined =>
  isUnreadable(batch) ? batch.rejects[0]?.reason : undefined;

/** A request that is asked no more for now. */
export interface FailingRequest {
  /** The newest of its answers. */
  readonly answerId: string;
  /** Answers within `max_age` that could not be read. */
  readonly times: number;
  readonly reason: string;
}

/** Rows a statement takes at once. */
const CHUNK = 1000;

/**
 * By request key, each of these requests that was answered `MAX_UNREADABLE` times within its times without an answer
 * that could be read. The caller leaves out what a readable answer serves.
 */
export async function failingRequests(
  ops: Ops,
  asked: readonly ({ readonly requestKey: string } & Received)[],
): Promise<Map<string, FailingRequest>> {
  const found = new Map<string, FailingRequest>();
  for (let start = 0; start < asked.length; start += CHUNK) {
    const part = asked.slice(start, start + CHUNK);
    const source = sql<{ request_key: string; since: Date; until: Date }>`(select * from unnest(
      ${arrayLiteral(part.map(({ requestKey }) => requestKey))}::text[],
      ${arrayLiteral(part.map(({ since }) => since.toISOString()))}::timestamptz[],
      ${arrayLiteral(part.map(({ until }) => until.toISOString()))}::timestamptz[]) as u(request_key, since, until))`;
    const rows = await ops
      .selectFrom(source.as('t'))
      .innerJoin('answers as a', 'a.request_key', 't.request_key')
      .select(['t.request_key', sql<string>`max(a.id)`.as('id'), sql<string>`count(*)`.as('times')])
      .whereRef('a.received_at', '>=', 't.since')
      .whereRef('a.received_at', '<=', 't.until')
      .where('a.unreadable', '=', sql<boolean>`true`)
      .groupBy('t.request_key')
      .having(sql<boolean>`count(*) >= ${MAX_UNREADABLE}`)
      .execute();
    const reasons = await reasonsOf(
      ops,
      rows.map(({ id }) => id),
    );
    for (const { request_key: key, id, times } of rows)
      found.set(key, { answerId: id, times: Number(times), reason: reasons.get(id) ?? NO_REASON });
  }
  return found;
}

const NO_REASON = 'it is quarantined whole';

async function reasonsOf(ops: Ops, answerIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (answerIds.length === 0) return new Map();
  const rows = await ops
    .selectFrom('quarantine')
    .select(['answer_id', 'reason'])
    .distinctOn('answer_id')
    .where('answer_id', '=', sql<string>`any(${arrayLiteral(answerIds)}::bigint[])`)
    .orderBy('answer_id')
    .orderBy('position', (order) => order.asc().nullsFirst())
    .execute();
  return new Map(rows.map(({ answer_id: id, reason }) => [id, reason]));
}

/** Requests of a run whose answer could not be read, with that answer. */
const unanswered = (ops: Ops, runIds: readonly string[]) =>
  ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .where('r.run_id', '=', sql<string>`any(${arrayLiteral(runIds)}::bigint[])`)
    // As the partial index has it.
    .where('a.unreadable', '=', sql<boolean>`true`)
    .where('r.state', 'in', ['quarantined', 'fresh', 'failed']);

/** What the unreadable answers of a run come to. */
export interface UnreadableSum {
  readonly requests: number;
  /** Of these, the requests that are asked no more. */
  readonly failing: number;
  /** Items that they asked for, beyond those that the counts of the run hold for them. */
  readonly items: number;
}

/** Sums up the requests of a run whose answer could not be read; each weighs as many items as it asked for. */
export async function unreadableSum(ops: Ops, runId: string): Promise<UnreadableSum> {
  const weight = sql`coalesce((r.body ->> 'count')::bigint, (r.body ->> 'limit')::bigint, 1)`;
  const row = await unanswered(ops, [runId])
    .select([
      sql<string>`count(*)`.as('requests'),
      sql<string>`count(*) filter (where r.state = 'failed')`.as('failing'),
      // The items of an answer are received and rejected, a request that failed is one reject; another run counts the rest.
      sql<string>`coalesce(sum(greatest(0, ${weight} - case r.state when 'fresh' then 0 when 'failed' then 1
        else coalesce(a.received, 1) end)), 0)`.as('items'),
    ])
    .executeTakeFirstOrThrow();
  return { requests: Number(row.requests), failing: Number(row.failing), items: Number(row.items) };
}

/** A gap with the sync that has it. */
export interface SyncGap extends Gap {
  readonly sync: string;
}

/** The requests of these runs whose answer could not be read, the first so many. */
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

/** Records the slices of requests that a run did not ask because their last answers could not be read. */
export async function recordFailingSlices(ops: Ops, runId: string): Promise<void> {
  await ops
    .insertInto('coverage')
    .columns([
      'request_id',
      'run_id',
      'sync',
      'endpoint',
      'request_key',
      'filters',
      'asked',
      'returned',
      'depth',
      'complete',
      'reason',
      'as_of',
      'unreadable',
    ])
    .expression((eb) =>
      eb
        .selectFrom('requests as r')
        .innerJoin('answers as a', 'a.id', 'r.answer_id')
        .select([
          'r.id',
          'r.run_id',
          'r.sync',
          'r.endpoint',
          'r.request_key',
          sql<string>`r.body - 'count'`.as('filters'),
          sql<string | null>`(r.body ->> 'count')::bigint`.as('asked'),
          sql<string>`0`.as('returned'),
          'r.depth',
          sql<boolean>`false`.as('complete'),
          'r.error',
          'a.received_at',
          'a.unreadable',
        ])
        .where('r.run_id', '=', runId)
        .where('a.unreadable', '=', sql<boolean>`true`)
        .where('r.state', '=', 'failed')
        .where((not) =>
          not.not(not.exists(not.selectFrom('coverage as c').select('c.id').whereRef('c.request_id', '=', 'r.id'))),
        ),
    )
    .execute();
}

/** An answer that was loaded again, as the coverage needs it. */
export interface ReparsedSlice {
  readonly answerId: string;
  readonly requestKey: string;
  readonly receipt: Pick<Receipt, 'received'>;
  /** It holds all there was when it was asked. */
  readonly complete: boolean;
}

/** Corrects the slices of answers that could not be read at first and now can. */
export async function recordReadSlices(ops: Ops, read: readonly ReparsedSlice[]): Promise<void> {
  if (read.length === 0) return;
  const source = sql<{ answer_id: string; request_key: string; returned: string; complete: boolean }>`(
    select distinct on (answer_id, request_key) * from unnest(
      ${arrayLiteral(read.map(({ answerId }) => answerId))}::bigint[],
      ${arrayLiteral(read.map(({ requestKey }) => requestKey))}::text[],
      ${arrayLiteral(read.map(({ receipt }) => receipt.received))}::bigint[],
      ${arrayLiteral(read.map(({ complete }) => complete))}::boolean[]) as u(answer_id, request_key, returned, complete))`;
  await ops
    .updateTable('coverage as c')
    .from(source.as('s'))
    .set((eb) => ({
      unreadable: false,
      reason: null,
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

/** Removes the slices that earlier walks of a sync could not read; call it once a later walk has read them all. */
export async function removeReadPages(ops: Ops, sync: string, beforeRun: string): Promise<void> {
  await ops
    .deleteFrom('coverage')
    .where('sync', '=', sync)
    .where('run_id', '<', beforeRun)
    .where('unreadable', '=', sql<boolean>`true`)
    .execute();
}
