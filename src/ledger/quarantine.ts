/** The quarantine: items that could not be read, and why. The items themselves stay in the stored answers. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Batch } from '../normalize/batch.ts';
import { anyBigint, anyText } from '../warehouse/sql/array-literal.ts';
import { insertion, rowsFrom } from '../warehouse/sql/rows-from.ts';
import { type Ops, type OpsDatabase, operationsOf } from '../warehouse/connect/operations-db.ts';
import { readAnswer, type StoredAnswer } from './answers.ts';
import { syncInRow } from './log-reads.ts';

type Where = Parameters<typeof operationsOf>[0];

export interface QuarantineEntry {
  readonly id: string;
  readonly answerId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly resource: string;
  /** Index in the answer, from 0; null if the complete answer is rejected. */
  readonly position: number | null;
  /** RFC 6901 pointer into the answer. */
  readonly pointer: string;
  readonly reason: string;
  readonly at: Date;
}

const entries = (warehouse: Where) =>
  operationsOf(warehouse)
    .selectFrom('quarantine')
    .select(['id', 'answer_id as answerId', 'sync', 'endpoint', 'resource'])
    .select([sql<number | null>`position::int`.as('position'), 'pointer', 'reason', 'created_at as at']);

/** Which open entries to list: those of a sync and its reads of the log, and those with a smaller id (default: all). */
export interface QuarantineFilter {
  readonly sync?: string | undefined;
  readonly before?: string | undefined;
}

/** Returns open entries, newest first. */
export async function listQuarantine(
  warehouse: Where,
  limit: number,
  { sync, before }: QuarantineFilter = {},
): Promise<QuarantineEntry[]> {
  return entries(warehouse)
    .where('resolved_at', 'is', null)
    .$if(sync !== undefined, (all) => all.where(syncInRow('sync'), '=', sync ?? ''))
    .$if(before !== undefined, (all) => all.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns an entry with its answer, without the answer if its body was removed; undefined if there is no such entry. */
export async function showQuarantine(
  warehouse: Where,
  id: string,
): Promise<{ readonly entry: QuarantineEntry; readonly answer: StoredAnswer | undefined } | undefined> {
  const entry = await entries(warehouse).where('id', '=', id).executeTakeFirst();
  if (!entry) return undefined;
  return { entry, answer: await readAnswer(operationsOf(warehouse), entry.answerId) };
}

/**
 * SQL condition that a later loaded answer to the same request replaced an entry. A readable one replaces an unreadable
 * answer; only a complete one without rejects replaces an item, because others may leave it out.
 */
const isReplaced = (eb: ExpressionBuilder<OpsDatabase, 'quarantine'>): Expression<SqlBool> =>
  eb.exists(
    eb
      .selectFrom('answers as o')
      .innerJoin('answers as n', 'n.request_key', 'o.request_key')
      .select('n.id')
      .whereRef('o.id', '=', 'quarantine.answer_id')
      // Answers from the spool have higher ids than answers that were received later.
      .where(sql<boolean>`(n.received_at, n.id) > (o.received_at, o.id)`)
      .where('n.loaded_at', 'is not', null)
      // The body of an answer of status 412 is not read.
      .where('n.status', '<>', '412')
      .where('n.unreadable', '=', false)
      .where(
        sql<boolean>`(quarantine.position is null or n.quarantined = 0 and (n.asked is null or n.received < n.asked))`,
      ),
  );

/** Resolves the open entries of these syncs that a later answer replaced. */
export async function resolveReplaced(ops: Ops, syncs: readonly string[], at: Date): Promise<void> {
  await ops
    .updateTable('quarantine')
    .set({ resolved_at: at.toISOString() })
    .where('resolved_at', 'is', null)
    .where('sync', '=', anyText(syncs))
    .where(isReplaced)
    .execute();
}

/** A load of one answer, with the items that it could not read. */
interface RejectingLoad {
  readonly answer: Pick<StoredAnswer, 'id' | 'sync' | 'endpoint'>;
  /** The contract's name of the resource in the answer. */
  readonly resource: string;
  readonly batch: Pick<Batch, 'rejects'>;
}

const rejectsOf = (loads: readonly RejectingLoad[]) =>
  loads.flatMap((load) => load.batch.rejects.map((reject) => ({ ...load, ...reject })));

/**
 * Resolves the entries of items that an earlier load rejected and this one did not. Reopens the others, unless a later answer
 * replaced them.
 */
export async function closeRejects(ops: Ops, loads: readonly RejectingLoad[], now: string): Promise<void> {
  const still = rowsFrom(rejectsOf(loads), {
    answer_id: ['bigint', ({ answer }) => answer.id],
    position: ['bigint', ({ position }) => position ?? -1],
  });
  await ops
    .updateTable('quarantine')
    .set({ resolved_at: sql`case when resolved_at is null then ${now}::timestamptz end` })
    .where('answer_id', '=', anyBigint(loads.map(({ answer }) => answer.id)))
    .where(
      sql<boolean>`((answer_id, coalesce(position, -1)) in (select answer_id, position from ${still} as s)) = (resolved_at is not null)`,
    )
    .where((eb) => eb.or([eb('resolved_at', 'is', null), eb.not(isReplaced(eb))]))
    .execute();
}

/** Opens an entry for each rejected item. */
export async function recordRejects(ops: Ops, loads: readonly RejectingLoad[], now: string): Promise<void> {
  const rejects = rejectsOf(loads);
  if (rejects.length === 0) return;
  const { columns, rows } = insertion(rejects, {
    answer_id: ['bigint', ({ answer }) => answer.id],
    sync: ['text', ({ answer }) => answer.sync],
    endpoint: ['text', ({ answer }) => answer.endpoint],
    resource: ['text', ({ resource }) => resource],
    position: ['bigint', ({ position }) => position ?? null],
    pointer: ['text', ({ pointer }) => pointer],
    reason: ['text', ({ reason }) => reason],
    created_at: ['timestamptz', () => now],
  });
  await ops
    .insertInto('quarantine')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
