/** Normalizes and loads stored answers again, without a request to the service. */
import { sql } from 'kysely';
import { EXIT, UsageError } from '../../errors.ts';
import { type HeldLease, acquireAll, assertNoOtherRuns } from '../../control/lease/exclusive.ts';
import { ingestGroups, resourceOf, type IngestResult } from '../ingest/ingest.ts';
import { reparsedSlices } from '../ingest/read-slices.ts';
import { lockTables, mergeRebuilt } from '../rebuild/merge.ts';
import { LOCK_WITHIN_MS, patiently } from '../rebuild/patiently.ts';
import { createRebuildSchema, type RebuildSchema, removeLeftRebuilds, removeRebuildSchema } from '../rebuild/schema.ts';
import type { LoadTarget, AnswerToLoad } from '../ingest/read-answer.ts';
import { toUserError, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { assertLease, assertNoRebuild, REBUILD_LEASE, syncLease } from '../../ledger/lease.ts';
import { DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import { goneBodies, type GoneBodies } from '../retention/store.ts';
import { recordLoads } from '../../ledger/load-receipts.ts';
import { recordReadSlices } from '../../ledger/unreadable-answers.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswers } from '../../ledger/answers.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { assertTablesPresent } from '../../warehouse/migrate/assert-schema.ts';

export interface ReplayOptions {
  /** Syncs whose answers are loaded again; empty means all. */
  readonly names: readonly string[];
  /** Fill new tables from all stored answers, and then make the present tables equal to them in one transaction. */
  readonly rebuild: boolean;
  /** Only answers with quarantined items. */
  readonly quarantined: boolean;
}

export interface ReplayEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onProgress: (done: number, total: number) => void;
}

/** Items obey `received = loaded + unchanged + superseded + quarantined`. */
export interface ReplaySummary {
  readonly exitCode: number;
  readonly answers: number;
  readonly received: number;
  readonly loaded: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  /** Rows written, by table. */
  readonly written: Readonly<Record<string, number>>;
  /** Answers left when the signal ended the replay; their rows are unchanged. */
  readonly left: number;
  /** Answers that cannot be loaded again because their bodies were removed; null if there are none. */
  readonly gone: GoneBodies | null;
  readonly tookMs: number;
}

/**
 * Loads stored answers again in the order of their ids. In place, unchanged rows are not written; a rebuild becomes
 * visible all at once. An answer that waits for its first load still waits afterwards, because only its sync plans the
 * follow-up requests. Throws a HeldError while a run of one of the syncs is running; a rebuild excludes runs of every
 * sync.
 */
export async function replayAnswers(
  warehouse: Warehouse,
  options: ReplayOptions,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<ReplaySummary> {
  return loadAgain(warehouse, options, effects, signal).catch((error: unknown) => {
    throw toUserError(error);
  });
}

async function loadAgain(
  warehouse: Warehouse,
  options: ReplayOptions,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<ReplaySummary> {
  const startedAt = effects.now();
  if (options.rebuild && (options.names.length > 0 || options.quarantined))
    throw new UsageError('A rebuild fills all tables from all answers; a part of them would leave out the rest.');
  const ops = operationsOf(warehouse);
  const syncs = [...new Set((await answersOf(ops, options)).map(({ sync }) => sync))].toSorted();
  const held = await acquireAll(
    warehouse,
    options.rebuild ? [REBUILD_LEASE, ...syncs.map(syncLease)] : syncs.map(syncLease),
    effects,
  );
  const sums = { answers: 0, received: 0, loaded: 0, unchanged: 0, superseded: 0, quarantined: 0 };
  const written: Record<string, number> = {};
  let area: RebuildSchema | undefined;
  const rejecting: IngestResult[] = [];
  let due: Awaited<ReturnType<typeof answersOf>> = [];
  let gone: GoneBodies | null = null;
  try {
    if (options.rebuild) await assertNoOtherRuns(warehouse, ops, held);
    else if (warehouse.kind === 'postgres') await assertNoRebuild(ops);
    // Read again under the leases, since a run may have ended in the meantime.
    due = await answersOf(ops, options);
    gone = await goneBodies(ops, options);
    if (options.rebuild && gone) refuseLoss(gone);
    const rejected = options.rebuild ? await answersWithRejects(ops) : new Set();
    if (options.rebuild) {
      await assertTablesPresent(warehouse);
      await removeLeftRebuilds(warehouse);
      area = await createRebuildSchema(warehouse, effects.newId(), effects.now());
    }
    const how = {
      ...effects,
      settles: false,
      // Slices that can be read now are no longer gaps.
      onCommit: (inside: Ops, results: readonly IngestResult[]) => recordReadSlices(inside, reparsedSlices(results)),
      ...(area && { targetSchema: area.name }),
    };
    for await (const results of ingestGroups(warehouse, answersIn(ops, due, effects, signal), how)) {
      for (const { answer, identity, batch, receipt } of results) {
        if (options.rebuild && (batch.rejects.length > 0 || rejected.has(answer.id)))
          rejecting.push({
            answer: { ...answer, body: NOTHING },
            identity,
            batch: { ...batch, items: [], roots: new Map() },
            receipt,
          });
        sums.answers += 1;
        for (const name of ['received', 'loaded', 'unchanged', 'superseded', 'quarantined'] as const)
          sums[name] += receipt[name];
        for (const [table, rows] of Object.entries(receipt.written)) written[table] = (written[table] ?? 0) + rows;
      }
      effects.onProgress(sums.answers, due.length);
      if (signal.aborted) break;
    }
    if (area && sums.answers === due.length) await putInPlace(warehouse, area.name, held, rejecting, effects);
  } finally {
    // If the schema cannot be removed now, the next rebuild removes it.
    if (area) await removeRebuildSchema(warehouse, area).catch(() => false);
    for (const it of held) await it.keepAlive.end();
  }
  // A rebuild that was interrupted has changed nothing.
  const left = options.rebuild && sums.answers < due.length ? due.length : due.length - sums.answers;
  return {
    exitCode: left > 0 ? EXIT.transient : EXIT.complete,
    ...sums,
    written,
    left,
    gone,
    tookMs: effects.now().getTime() - startedAt.getTime(),
  };
}

interface Due extends LoadTarget {
  readonly answerId: string;
  /** Length of its body. */
  readonly bytes: number;
  readonly sync: string;
}

/** Answers per page: as many as fill a load, with a limit on bytes to bound memory. */
const PAGE = { answers: 500, bytes: DEFAULT_LOAD_LIMITS.bytes };

/** Splits the answers, in order, into pages of bounded size; a larger answer is a page of its own. */
function* pagesOf(due: readonly Due[]): Generator<Due[]> {
  let page: Due[] = [];
  let bytes = 0;
  for (const it of due) {
    if (page.length === PAGE.answers || (page.length > 0 && bytes + it.bytes > PAGE.bytes)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(it);
    bytes += it.bytes;
  }
  if (page.length > 0) yield page;
}

/** Reads the due answers a page at a time; answers pruned in the meantime are skipped. */
async function* answersIn(
  ops: Ops,
  due: readonly Due[],
  effects: ReplayEffects,
  signal: AbortSignal,
): AsyncGenerator<AnswerToLoad> {
  for (const page of pagesOf(due)) {
    if (signal.aborted) return;
    const ids = [...new Set(page.map(({ answerId }) => answerId))];
    const answers = await retryTransient(() => readAnswers(ops, ids), effects);
    for (const { answerId, ...target } of page) {
      const answer = answers.get(answerId);
      if (answer) yield { ...answer, target };
    }
  }
}

/** Throws a UsageError, since rows of pruned bodies would be missing in the new tables. */
function refuseLoss({ answers, from, to }: GoneBodies): never {
  throw new UsageError(
    `A rebuild would lose rows: the bodies of ${answers} stored answers, received from ${from} to ${to}, were pruned.`,
    { next: 'Run sluice replay without --rebuild: it loads what is there again and leaves other rows as they are.' },
  );
}

/** Returns each answer once for every sync and request that it served, since each has its own bridge rows. */
async function answersOf(ops: Ops, options: ReplayOptions): Promise<Due[]> {
  let query = ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .where('a.body', 'is not', null)
    .select(['a.id as answerId', 'a.bytes', 'r.sync', 'r.request_key'])
    .select(sql<RequestBody | null>`case when r.request_key <> a.request_key then r.body end`.as('request'))
    .distinctOn(['a.id', 'r.sync', 'r.request_key'])
    .orderBy('a.id')
    .orderBy('r.sync')
    .orderBy('r.request_key');
  if (options.names.length > 0) query = query.where('r.sync', 'in', [...options.names]);
  if (options.quarantined)
    query = query.where(
      'a.id',
      'in',
      ops.selectFrom('quarantine').select('answer_id').where('resolved_at', 'is', null),
    );
  const rows = await query.execute();
  return rows.map(({ answerId, bytes, sync, request_key: requestKey, request }) => ({
    answerId,
    bytes: Number(bytes),
    sync,
    ...(request && { identity: { requestKey, request } }),
  }));
}

const NOTHING = new Uint8Array();

const answersWithRejects = async (ops: Ops): Promise<ReadonlySet<unknown>> =>
  new Set((await ops.selectFrom('quarantine').select('answer_id').distinct().execute()).map((it) => it.answer_id));

/** Makes the tables equal to the new rows and records unreadable items, in one transaction. */
async function putInPlace(
  warehouse: Warehouse,
  from: string,
  held: readonly HeldLease[],
  rejecting: readonly IngestResult[],
  { now, sleep }: Pick<ReplayEffects, 'now' | 'sleep'>,
): Promise<void> {
  const merge = (): Promise<void> =>
    warehouse.db.transaction().execute(async (tx) => {
      const ops = operationsOf({ db: tx, ops: warehouse.ops });
      await sql`select set_config('lock_timeout', ${String(LOCK_WITHIN_MS)}, true)`.execute(tx);
      await lockTables(tx, warehouse.schema);
      for (const { lease } of held) await assertLease(ops, lease);
      const loads = rejecting.map((it) => ({ ...it, resource: resourceOf(it.answer), settles: false }));
      await recordLoads(ops, loads, now());
      await recordReadSlices(ops, reparsedSlices(rejecting));
      await mergeRebuilt(tx, warehouse, from);
    });
  await patiently('The rebuild', merge, sleep);
}
