/** What a load leaves in the operations schema, in the load's own transaction. */
import { sql } from 'kysely';
import type { Receipt } from '../load/receipt.ts';
import type { Batch } from '../normalize/batch.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import type { Ops, RequestState } from './schema.ts';
import type { VaultAnswer } from './vault.ts';

/** The state of a request whose answer was loaded. */
function loadedState(
  answer: VaultAnswer,
  receipt: Receipt,
): Extract<RequestState, 'loaded' | 'empty' | 'quarantined' | 'missing'> {
  if (answer.status === 412) return 'missing';
  if (receipt.received === 0) return 'empty';
  return receipt.quarantined === receipt.received ? 'quarantined' : 'loaded';
}

/**
 * Records the counts of an answer, its rejected items, the drift that it showed and the state of its request; `settles`
 * says whether this load may be the first. A load again replaces the rejects and leaves the drift of the first time, and
 * the counts but for items that left the quarantine.
 */
export async function recordLoad(
  ops: Ops,
  answer: VaultAnswer,
  resource: string,
  batch: Batch,
  receipt: Receipt,
  { at, settles }: { readonly at: Date; readonly settles: boolean },
): Promise<void> {
  if (!answer.loaded && !settles) return;
  const now = at.toISOString();
  if (answer.loaded) await recordReread(ops, answer, receipt);
  else {
    await ops
      .updateTable('answers')
      .set({
        received: String(receipt.received),
        loaded: String(receipt.loaded),
        unchanged: String(receipt.unchanged),
        superseded: String(receipt.superseded),
        quarantined: String(receipt.quarantined),
        loaded_at: now,
      })
      .where('id', '=', answer.id)
      .execute();
    await ops
      .updateTable('requests')
      .set({ state: loadedState(answer, receipt), finished_at: now })
      .where('id', '=', answer.requestId)
      .where('state', '=', 'stored')
      .execute();
    await recordDrift(ops, batch, answer.receivedAt);
  }
  await recordRejects(ops, answer, resource, batch, now);
}

/** Items that can be read after all count as loaded, and their request is no longer one that brought nothing. */
async function recordReread(ops: Ops, answer: VaultAnswer, receipt: Receipt): Promise<void> {
  const { received, quarantined } = receipt;
  const other = await ops
    .updateTable('answers')
    .set({
      received: String(received),
      quarantined: String(quarantined),
      loaded: sql`${received - quarantined}::bigint - unchanged - superseded`,
    })
    .where('id', '=', answer.id)
    .where((eb) => eb.or([eb('received', '<>', String(received)), eb('quarantined', '<>', String(quarantined))]))
    .where(sql<boolean>`${received - quarantined}::bigint >= unchanged + superseded`)
    .returning('id')
    .executeTakeFirst();
  if (other)
    await ops
      .updateTable('requests')
      .set({ state: loadedState(answer, receipt) })
      .where('answer_id', '=', answer.id)
      .where('state', '=', 'quarantined')
      .execute();
}

/** Opens an entry for each rejected item, and closes those of items that an earlier load rejected and this one did not. */
async function recordRejects(
  ops: Ops,
  answer: VaultAnswer,
  resource: string,
  { rejects }: Pick<Batch, 'rejects'>,
  now: string,
): Promise<void> {
  if (answer.loaded) {
    const still = arrayLiteral(rejects.map(({ position }) => position ?? -1));
    await ops
      .updateTable('quarantine')
      .set({
        resolved_at: sql`case when resolved_at is null then ${now}::timestamptz end`,
      })
      .where('answer_id', '=', answer.id)
      .where(sql<boolean>`(coalesce(position, -1) = any(${still}::bigint[])) = (resolved_at is not null)`)
      .execute();
  }
  if (rejects.length === 0) return;
  const source = sql<{ position: string | null; pointer: string; reason: string }>`(select * from unnest(
    ${arrayLiteral(rejects.map(({ position }) => position ?? null))}::bigint[],
    ${arrayLiteral(rejects.map(({ pointer }) => pointer))}::text[],
    ${arrayLiteral(rejects.map(({ reason }) => reason))}::text[]) as u(position, pointer, reason))`;
  await ops
    .insertInto('quarantine')
    .columns(['answer_id', 'sync', 'endpoint', 'resource', 'position', 'pointer', 'reason', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom(source.as('r'))
        .select([
          sql<string>`${answer.id}::bigint`.as('answer_id'),
          sql<string>`${answer.sync}::text`.as('sync'),
          sql<string>`${answer.endpoint}::text`.as('endpoint'),
          sql<string>`${resource}::text`.as('resource'),
          'r.position',
          'r.pointer',
          'r.reason',
          sql<Date>`${now}::timestamptz`.as('created_at'),
        ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function recordDrift(ops: Ops, { drift }: Batch, at: string): Promise<void> {
  if (drift.length === 0) return;
  const inOrder = drift.toSorted((a, b) =>
    `${a.resource}\0${a.path}\0${a.kind}` < `${b.resource}\0${b.path}\0${b.kind}` ? -1 : 1,
  );
  const source = sql<{
    resource: string;
    path: string;
    kind: string;
    count: string;
    sample_type: string;
  }>`(select * from unnest(
    ${arrayLiteral(inOrder.map(({ resource }) => resource))}::text[],
    ${arrayLiteral(inOrder.map(({ path }) => path))}::text[],
    ${arrayLiteral(inOrder.map(({ kind }) => kind))}::text[],
    ${arrayLiteral(inOrder.map(({ count }) => count))}::bigint[],
    ${arrayLiteral(inOrder.map(({ sampleType }) => sampleType))}::text[]) as u(resource, path, kind, count, sample_type))`;
  await ops
    .insertInto('drift')
    .columns(['resource', 'path', 'kind', 'count', 'first_seen_at', 'last_seen_at', 'sample_type'])
    .expression((eb) =>
      eb
        .selectFrom(source.as('t'))
        .select([
          't.resource',
          't.path',
          't.kind',
          't.count',
          sql<Date>`${at}::timestamptz`.as('first_seen_at'),
          sql<Date>`${at}::timestamptz`.as('last_seen_at'),
          't.sample_type',
        ]),
    )
    .onConflict((conflict) =>
      conflict.columns(['resource', 'path', 'kind']).doUpdateSet({
        count: sql`drift.count + excluded.count`,
        first_seen_at: sql`least(drift.first_seen_at, excluded.first_seen_at)`,
        last_seen_at: sql`greatest(drift.last_seen_at, excluded.last_seen_at)`,
        sample_type: sql`excluded.sample_type`,
      }),
    )
    .execute();
}
