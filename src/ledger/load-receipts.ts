/**
 * Records loads in the operations schema, in the load's own transaction. The number of statements does not depend on
 * the number of answers.
 */
import { sql } from 'kysely';
import { withoutRepeats } from '../async/in-batches.ts';
import type { Receipt } from '../load/merge/receipt.ts';
import type { Batch } from '../normalize/batch.ts';
import { anyBigint, anyText } from '../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../warehouse/sql/rows-from.ts';
import type { Ops, RequestState } from '../warehouse/connect/operations-db.ts';
import { hideFromStatistics } from './planner-hints.ts';
import { closeRejects, recordRejects } from './quarantine.ts';
import { isUnreadable, UNREADABLE } from './failures/unreadable-answers.ts';
import type { StoredAnswer } from './answers.ts';

/** The load of one answer, with what the ledger records. */
export interface RecordedLoad {
  readonly answer: Pick<
    StoredAnswer,
    'id' | 'requestId' | 'sync' | 'endpoint' | 'status' | 'receivedAt' | 'loaded' | 'hasEarlyRejects'
  >;
  /** The contract's name of the resource in the answer. */
  readonly resource: string;
  readonly batch: Pick<Batch, 'drift' | 'received' | 'rejects' | 'foreign'>;
  readonly receipt: Receipt;
  /** The load may be the answer's first. */
  readonly settles: boolean;
}

/** Returns the state of a request whose answer was loaded. */
function loadedState({
  answer,
  receipt,
}: RecordedLoad): Extract<RequestState, 'loaded' | 'empty' | 'quarantined' | 'missing'> {
  if (answer.status === 412) return 'missing';
  if (receipt.received === 0) return 'empty';
  return receipt.quarantined === receipt.received ? 'quarantined' : 'loaded';
}

/**
 * Records the counts of answers, their rejected items and drift, and the states of their requests. A repeated load
 * replaces the rejected items and keeps the drift of the first load. It keeps the counts too, except for items that
 * left the quarantine. If no load could read the answer before, its counts and drift are recorded. Loads of one answer are
 * recorded in order. A load that serves another sync before the first load leaves the states of requests and the drift to
 * the first load.
 */
export async function recordLoads(ops: Ops, loads: readonly RecordedLoad[], at: Date): Promise<void> {
  const now = at.toISOString();
  const due = loads.filter(({ answer, settles }) => answer.loaded || settles);
  // An answer that served several requests is loaded for each.
  for (const each of withoutRepeats(due, ({ answer }) => answer.id)) {
    const first = each.filter(({ answer }) => !answer.loaded);
    const again = each.filter(({ answer }) => answer.loaded);
    if (first.length > 0) await recordFirst(ops, first, now);
    if (again.length > 0) await recordAgain(ops, again, now);
    await recordRejects(ops, each, now);
  }
  const early = loads.filter(({ answer, settles }) => !answer.loaded && !settles);
  for (const each of withoutRepeats(early, ({ answer }) => answer.id)) await recordEarly(ops, each, now);
}

/** The counts of a load that are kept with its answer. */
const COUNTS = ['received', 'loaded', 'changed', 'unchanged', 'superseded', 'quarantined'] as const;

/** The counts of the loads, as a relation with the id of each answer. */
const countsOf = (loads: readonly RecordedLoad[]) =>
  rowsFrom(loads, {
    id: ['bigint', ({ answer }) => answer.id],
    received: ['bigint', ({ receipt }) => receipt.received],
    loaded: ['bigint', ({ receipt }) => receipt.loaded],
    changed: ['bigint', ({ receipt }) => receipt.changed],
    unchanged: ['bigint', ({ receipt }) => receipt.unchanged],
    superseded: ['bigint', ({ receipt }) => receipt.superseded],
    quarantined: ['bigint', ({ receipt }) => receipt.quarantined],
    unreadable: ['boolean', ({ batch }) => isUnreadable(batch)],
  }).as('r');

const HAS_READ_AS_MANY = sql`(answers.received, answers.quarantined) = (r.received, r.quarantined)`;

/**
 * SQL for the counts of answers after a load `r`. If an early load has read as many items, its counts stay: it changed
 * the rows, so this load found them unchanged.
 */
const KEPT_COUNTS = Object.fromEntries(
  COUNTS.map((name) => [
    name,
    sql<string>`case when ${HAS_READ_AS_MANY} then ${sql.ref(`answers.${name}`)} else ${sql.ref(`r.${name}`)} end`,
  ]),
);

async function recordFirst(ops: Ops, loads: readonly RecordedLoad[], now: string): Promise<void> {
  await ops
    .updateTable('answers')
    .from(countsOf(loads))
    .set((eb) => ({ ...KEPT_COUNTS, unreadable: eb.ref('r.unreadable'), loaded_at: now }))
    .whereRef('answers.id', '=', 'r.id')
    .execute();
  const states = rowsFrom(loads, {
    id: ['bigint', ({ answer }) => answer.requestId],
    state: ['text', loadedState],
  });
  await ops
    .updateTable('requests')
    .from(states.as('s'))
    .set((eb) => ({ state: eb.ref('s.state'), finished_at: now }))
    .whereRef('requests.id', '=', 's.id')
    .where((eb) => hideFromStatistics(eb('requests.state', '=', 'stored')))
    .execute();
  await recordDrift(ops, loads);
  const rejectedEarly = loads.filter(({ answer }) => answer.hasEarlyRejects);
  if (rejectedEarly.length > 0) await closeRejects(ops, rejectedEarly, now);
}

/**
 * Loads that serve other syncs before the first load of their answers, which may never come. They record the counts and
 * the rejected items: those syncs must not take an unreadable answer for a complete one.
 */
async function recordEarly(ops: Ops, loads: readonly RecordedLoad[], now: string): Promise<void> {
  // Lock rows in one global order to avoid deadlocks.
  const waiting = await ops
    .selectFrom('answers')
    .select('id')
    .where('id', '=', anyBigint(loads.map(({ answer }) => answer.id)))
    .where('loaded_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
  const ids = new Set(waiting.map(({ id }) => id));
  const due = loads.filter(({ answer }) => ids.has(answer.id));
  if (due.length > 0)
    await ops
      .updateTable('answers')
      .from(countsOf(due))
      .set({ ...KEPT_COUNTS, unreadable: sql<boolean>`answers.unreadable or r.unreadable` })
      .whereRef('answers.id', '=', 'r.id')
      .execute();
  await recordReadable(ops, loads);
  await closeRejects(ops, loads, now);
  await recordRejects(ops, due, now);
}

/** Items that can be read now count as loaded, and their request is no longer quarantined. */
async function recordAgain(ops: Ops, loads: readonly RecordedLoad[], now: string): Promise<void> {
  const due = await ops
    .selectFrom('answers as a')
    .innerJoin(countsOf(loads), 'r.id', 'a.id')
    .select('a.id')
    .where(sql<boolean>`(a.received, a.quarantined) <> (r.received, r.quarantined)`)
    .where(sql<boolean>`r.received - r.quarantined >= a.unchanged + a.superseded`)
    // Lock rows in one global order to avoid deadlocks.
    .orderBy('a.id')
    .forUpdate('a')
    .execute();
  if (due.length > 0) {
    const ids = new Set(due.map(({ id }) => id));
    await recount(
      ops,
      loads.filter(({ answer }) => ids.has(answer.id)),
    );
  }
  const cleared = await recordReadable(ops, loads);
  // The first load, which records the drift, could not read these answers.
  await recordDrift(
    ops,
    loads.filter(({ answer }) => cleared.has(answer.id)),
  );
  await closeRejects(ops, loads, now);
}

/**
 * An answer that can be read now serves its requests again, including those that failed because of it. Returns the ids of
 * the answers that could not be read before.
 */
async function recordReadable(ops: Ops, loads: readonly RecordedLoad[]): Promise<ReadonlySet<string>> {
  const readable = loads.filter(({ batch }) => !isUnreadable(batch)).map(({ answer }) => answer.id);
  if (readable.length === 0) return new Set();
  const cleared = await ops
    .updateTable('answers')
    .set({ unreadable: false })
    .where('id', '=', anyBigint(readable))
    .where('unreadable', '=', true)
    .returning(['id', 'request_key'])
    .execute();
  const ids = new Set(cleared.map(({ id }) => id));
  if (ids.size === 0) return ids;
  await ops
    .updateTable('requests')
    .set({ state: 'fresh', failure_class: null, error: null, next: null })
    .where('request_key', '=', anyText(cleared.map((it) => it.request_key)))
    .where('answer_id', '=', anyBigint([...ids]))
    .where('state', '=', 'failed')
    .where('failure_class', '=', UNREADABLE)
    .execute();
  return ids;
}

/** True if no load has read an item, so that the counts of this load are those of the first. */
const HAS_READ_NONE = sql`answers.loaded + answers.unchanged + answers.superseded = 0`;

/** SQL for a count after a load `r`, if an earlier load has read an item. */
const RECOUNTED: Readonly<Record<(typeof COUNTS)[number], ReturnType<typeof sql>>> = {
  received: sql`r.received`,
  loaded: sql`r.received - r.quarantined - answers.unchanged - answers.superseded`,
  changed: sql`answers.changed`,
  unchanged: sql`answers.unchanged`,
  superseded: sql`answers.superseded`,
  quarantined: sql`r.quarantined`,
};

/** Replaces the counts of answers whose rows are locked. */
async function recount(ops: Ops, loads: readonly RecordedLoad[]): Promise<void> {
  await ops
    .updateTable('answers')
    .from(countsOf(loads))
    .set(
      Object.fromEntries(
        COUNTS.map((name) => [
          name,
          sql<string>`case when ${HAS_READ_NONE} then ${sql.ref(`r.${name}`)} else ${RECOUNTED[name]} end`,
        ]),
      ),
    )
    .whereRef('answers.id', '=', 'r.id')
    .execute();
  const states = rowsFrom(loads, {
    id: ['bigint', ({ answer }) => answer.id],
    request_id: ['bigint', ({ answer }) => answer.requestId],
    state: ['text', loadedState],
  });
  await ops
    .updateTable('requests')
    .from(states.as('r'))
    .set((eb) => ({ state: eb.ref('r.state') }))
    .whereRef('requests.id', '=', 'r.request_id')
    .whereRef('requests.answer_id', '=', 'r.id')
    .where((eb) => hideFromStatistics(eb('requests.state', '=', 'quarantined')))
    .execute();
}

/** The least number of answers that the times allow, where they were not counted. */
const LEAST_ANSWERS = sql`case when drift.first_seen_at < drift.last_seen_at then 2 else 1 end`;

async function recordDrift(ops: Ops, loads: readonly RecordedLoad[]): Promise<void> {
  const drift = loads.flatMap(({ batch, answer }) => batch.drift.map((it) => ({ ...it, at: answer.receivedAt })));
  if (drift.length === 0) return;
  const source = rowsFrom(drift, {
    resource: ['text', ({ resource }) => resource],
    path: ['text', ({ path }) => path],
    kind: ['text', ({ kind }) => kind],
    count: ['bigint', ({ count }) => count],
    seen_at: ['timestamptz', ({ at }) => at],
    sample_type: ['text', ({ sampleType }) => sampleType],
    position: ['int', (_, index) => index],
  });
  await ops
    .insertInto('drift')
    .columns(['resource', 'path', 'kind', 'count', 'first_seen_at', 'last_seen_at', 'sample_type', 'answers'])
    .expression(
      // Lock rows in one global order to avoid deadlocks.
      sql`select resource, path, kind, sum(count), min(seen_at), max(seen_at), (array_agg(sample_type order by position desc))[1], count(*)
        from ${source} as u group by resource, path, kind order by resource, path, kind`,
    )
    .onConflict((conflict) =>
      conflict.columns(['resource', 'path', 'kind']).doUpdateSet({
        count: sql`drift.count + excluded.count`,
        first_seen_at: sql`least(drift.first_seen_at, excluded.first_seen_at)`,
        last_seen_at: sql`greatest(drift.last_seen_at, excluded.last_seen_at)`,
        sample_type: sql`excluded.sample_type`,
        // An answer has one row for each difference.
        answers: sql`coalesce(drift.answers, ${LEAST_ANSWERS}) + excluded.answers`,
      }),
    )
    .execute();
}
