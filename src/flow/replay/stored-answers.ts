/** The stored answers that a replay loads, read page by page. */
import { sql } from 'kysely';
import { type BatchLimits, endOfBatch } from '../../async/in-batches.ts';
import { readAnswers } from '../../ledger/answers.ts';
import { deletedLogReads } from '../../ledger/log-reads.ts';
import { DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { AnswerToLoad, LoadPurpose, LoadTarget } from '../ingest/read-answer.ts';
import { openReplacedSetCheck } from '../ingest/replaced-sets.ts';

/** Which answers are replayed. */
export interface AnswerSelection {
  /** Syncs whose answers are loaded again; empty means all. */
  readonly names: readonly string[];
  /** Only answers with something in quarantine. */
  readonly quarantined: boolean;
  /** Only answers that were received, for requests that were planned, up to this time. */
  readonly until?: Date | undefined;
}

/** A stored answer, for one sync and one request that it served. */
export interface AnswerToReplay extends LoadTarget {
  readonly answerId: string;
  /** Length of its body. */
  readonly bytes: number;
  readonly sync: string;
}

/** Answers that are read and loaded at a time: as many as a group holds, and fewer of large ones, to bound memory. */
const PAGE: BatchLimits<AnswerToReplay> = {
  maxItems: 500,
  maxWeight: DEFAULT_LOAD_LIMITS.bytes,
  weightOf: ({ bytes }) => bytes,
};

export interface ReadStoredOptions extends RetryEffects {
  readonly purpose: LoadPurpose;
}

/** Reads the bodies of the answers, a page at a time; leaves out what was pruned since they were listed. */
export async function* readStored(
  ops: Ops,
  listed: readonly AnswerToReplay[],
  options: ReadStoredOptions,
  signal: AbortSignal,
): AsyncGenerator<AnswerToLoad> {
  // Newer answers may have changed the analyst tables.
  const checkReplaced = options.purpose.kind === 'copy' ? undefined : openReplacedSetCheck(ops, options);
  let end = 0;
  for (let start = 0; start < listed.length; start = end) {
    if (signal.aborted) return;
    end = endOfBatch(listed, PAGE, start);
    const page = listed.slice(start, end);
    const ids = [...new Set(page.map(({ answerId }) => answerId))];
    const answers = await retryTransient(() => readAnswers(ops, ids), options);
    const read = page.flatMap(({ answerId, ...target }): AnswerToLoad[] => {
      const answer = answers.get(answerId);
      return answer ? [{ ...answer, target }] : [];
    });
    for (const answer of checkReplaced ? await checkReplaced(read) : read) {
      if (signal.aborted) return;
      yield answer;
    }
  }
}

/**
 * Pairs of a request and an answer to load for it: the one that serves it, and an earlier one of two calls in flight at
 * once. An answer that the spool brought too late has a higher id and was never loaded.
 */
const loadedFor = (ops: Ops) =>
  ops
    .selectFrom('requests')
    .select(['id as requestId', 'answer_id as answerId'])
    .where('answer_id', 'is not', null)
    .$narrowType<{ answerId: string }>()
    .unionAll(
      ops
        .selectFrom('answers as o')
        .innerJoin('requests as q', 'q.id', 'o.request_id')
        .select(['q.id as requestId', 'o.id as answerId'])
        .whereRef('o.id', '<', 'q.answer_id')
        .where('o.loaded_at', 'is not', null),
    );

/** Lists each answer once for every sync and request that it served, by id: its rows in bridge tables name them all. */
export async function listStored(ops: Ops, selection: AnswerSelection): Promise<AnswerToReplay[]> {
  let query = ops
    .selectFrom(loadedFor(ops).as('s'))
    .innerJoin('requests as r', 'r.id', 's.requestId')
    .innerJoin('answers as a', 'a.id', 's.answerId')
    .where('a.body', 'is not', null)
    // A replay would bring back rows that the reads deleted on purpose.
    .where('a.run_id', 'not in', deletedLogReads(ops, selection.until))
    .select(['a.id as answerId', 'a.bytes', 'r.sync', 'r.request_key'])
    .select(sql<RequestBody | null>`case when r.request_key <> a.request_key then r.body end`.as('request'))
    .distinctOn(['a.id', 'r.sync', 'r.request_key'])
    .orderBy('a.id')
    .orderBy('r.sync')
    .orderBy('r.request_key');
  if (selection.names.length > 0) query = query.where('r.sync', 'in', [...selection.names]);
  if (selection.quarantined)
    query = query.where(
      'a.id',
      'in',
      ops.selectFrom('quarantine').select('answer_id').where('resolved_at', 'is', null),
    );
  const { until } = selection;
  if (until)
    query = query
      .where('a.received_at', '<=', until)
      .where('r.planned_at', '<=', until)
      // An answer that came to serve a planned request later.
      .where((eb) => eb.or([eb('r.state', '<>', 'fresh'), eb('r.finished_at', '<=', until)]));
  const rows = await query.execute();
  return rows.map(({ answerId, bytes, sync, request_key: requestKey, request }) => ({
    answerId,
    bytes: Number(bytes),
    sync,
    ...(request && { identity: { requestKey, request } }),
  }));
}
