/**
 * Turns stored answers into committed rows: normalize, load and record. The rows of one answer become visible together.
 */
import { type LoadLimits, DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import { load } from '../../load/load.ts';
import type { Receipt } from '../../load/merge/receipt.ts';
import { sqlExecutorOn } from '../../load/sql/executor.ts';
import type { Batch } from '../../normalize/batch.ts';
import type { Effects } from '../effects.ts';
import { cleanHeaders } from '../erasure/late-answer.ts';
import { readForgotten } from '../erasure/store.ts';
import { fillColumnsOnce } from '../fill/fill-columns.ts';
import { learnNames } from '../../control/freshness/identities.ts';
import { assertLeases, type Lease } from '../../ledger/lease.ts';
import { recordPresence } from '../../ledger/presence/record-presence.ts';
import { recordLoads } from '../../ledger/load-receipts.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswer, readAnswers, replaceBody, type StoredAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { inLongTransaction } from '../../warehouse/connect/long-work.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { faultOf } from './answer-fault.ts';
import { LoadPipeline } from './load-pipeline.ts';
import {
  areIndependent,
  type RequestIdentity,
  type ParsedAnswer,
  parseAnswers,
  type AnswerToLoad,
  type LoadPurpose,
  type LoadTarget,
  rejectedAnswer,
} from './read-answer.ts';
import { isRefused, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { SQL_STATE, errorCode } from '../../warehouse/sql/sql-states.ts';

export interface IngestResult {
  readonly answer: StoredAnswer;
  /**
   * The request that the answer was loaded for: the one that it answered, or one for the same entity by another name.
   */
  readonly identity: RequestIdentity;
  readonly batch: Batch;
  readonly receipt: Receipt;
  /** Why the complete answer was quarantined, if a bug of this program is the reason. */
  readonly fault?: string | undefined;
}

export interface IngestOptions extends Omit<Effects, 'newId'> {
  readonly purpose: LoadPurpose;
  /** Checked inside the transaction, so that a holder that wakes up late is refused; absent, the work needs no lease. */
  readonly leases?: readonly Lease[];
  /** More work that commits in the same transaction as the rows of these answers. */
  readonly onCommit?: (ops: Ops, results: readonly IngestResult[]) => Promise<void>;
  readonly checkpoint?: OnCheckpoint | undefined;
  /** Called with each result once its rows are committed, also if later answers fail. */
  readonly onLoaded?: (result: IngestResult) => void;
  /** Limits of one load; absent, `DEFAULT_LOAD_LIMITS`. */
  readonly limits?: LoadLimits;
  /** True if an answer can lead to more requests, which are planned in the order of answers; absent, none does. */
  readonly mayPlanMore?: (reading: ParsedAnswer) => boolean;
  /** False while the source has no further answer for now, so that nothing waits for one; absent, it has until it ends. */
  readonly hasMore?: () => boolean;
  /** Waits before a group is committed that the source leaves incomplete. */
  readonly pause?: () => Promise<void>;
  /** Ends the fill of new columns; then nothing is loaded. */
  readonly fillSignal?: AbortSignal;
  /** Wraps the commit of a number of answers; may delay it. */
  readonly wrapCommit?: (<T>(answers: number, work: () => Promise<T>) => Promise<T>) | undefined;
}

/**
 * Loads one stored answer and returns the result, as `ingestAnswers` does. Throws an Error if the answer does not
 * exist.
 */
export async function ingestAnswer(
  warehouse: Warehouse,
  answerId: string,
  options: IngestOptions,
  target?: LoadTarget,
): Promise<IngestResult> {
  const answer = await retryTransient(() => readAnswer(operationsOf(warehouse), answerId), options);
  if (!answer) throw new Error(`answer ${answerId} is not stored`);
  const [result] = await ingestAnswers(warehouse, [{ ...answer, target }], options);
  if (!result) throw new Error(`answer ${answerId} was not loaded`);
  return result;
}

/** Loads answers as `ingestGroups` does, and returns their results. */
export async function ingestAnswers(
  warehouse: Warehouse,
  answers: readonly AnswerToLoad[],
  options: IngestOptions,
): Promise<IngestResult[]> {
  const all: IngestResult[] = [];
  await ingestGroups(warehouse, answers, options, (results) => all.push(...results));
  return all;
}

/**
 * Loads answers, many in a transaction, and reports the results of each transaction in order. It reads the next answers
 * during a load. Two loads run concurrently if they have no rows in common; other loads wait for each other. If the database
 * refuses an answer for its content, or a bug prevents it, that answer alone is quarantined completely. Other database
 * errors are thrown; transactions that committed before them stay.
 */
export async function ingestGroups(
  warehouse: Warehouse,
  answers: Iterable<AnswerToLoad> | AsyncIterable<AnswerToLoad>,
  options: IngestOptions,
  report: (results: readonly IngestResult[]) => void,
): Promise<void> {
  const { wrapCommit = (_, work) => work(), mayPlanMore = () => false, hasMore = () => true } = options;
  // Otherwise every row would differ from its digests, which do not cover new columns.
  if (options.purpose.kind !== 'copy' && !(await fillColumnsOnce(warehouse, options, options.fillSignal))) return;
  const forgotten = await retryTransient(() => readForgotten(operationsOf(warehouse)), options);
  const pipeline = new LoadPipeline<ParsedAnswer, readonly IngestResult[]>({
    limits: options.limits ?? DEFAULT_LOAD_LIMITS,
    // The embedded warehouse has one connection.
    concurrency: warehouse.kind === 'embedded' ? 1 : AT_ONCE,
    isIndependent: (one, other) => ![...one, ...other].some(mayPlanMore) && areIndependent(one, other),
    commit: (group) => wrapCommit(group.length, () => commitOrQuarantine(warehouse, group, { ...options, forgotten })),
    report,
    pause: options.pause,
  });
  try {
    for await (const answer of parseAnswers(answers, options.purpose, forgotten)) {
      await pipeline.add(answer);
      if (!hasMore()) pipeline.flush();
    }
  } finally {
    await pipeline.end();
  }
}

/** What a commit needs beside the options. */
interface CommitOptions extends IngestOptions {
  /** The entities that must not return. */
  readonly forgotten: Forgotten | undefined;
}

/** One load keeps the database busy while the other is prepared. More loads would only compete for processors. */
const AT_ONCE = 2;

/**
 * Codes of rows that exist already, and of references to rows that do not. Another transaction may have written or deleted
 * such a row at the same moment, and then a second attempt succeeds.
 */
const CAUSED_BY_OTHER_ROWS: ReadonlySet<string> = new Set([SQL_STATE.foreignKeyViolation, SQL_STATE.uniqueViolation]);

/**
 * Commits a group. If the database refuses it, commits one answer at a time, so that only the faulty one is
 * quarantined. An answer that is refused because of other rows is tried once more before.
 */
async function commitOrQuarantine(
  warehouse: Warehouse,
  group: readonly ParsedAnswer[],
  options: CommitOptions,
  isRepeated = false,
): Promise<readonly IngestResult[]> {
  const commitWithRetries = (answers: readonly ParsedAnswer[]): Promise<IngestResult[]> =>
    retryTransient(
      async (failures) =>
        commit(warehouse, failures === 0 ? answers : await withLoadedFlags(warehouse, answers), options),
      options,
    );
  // Outside of the `try`: an error of the callback says nothing about answers, whose rows are committed.
  const reported = (results: IngestResult[]): IngestResult[] => {
    for (const result of results) options.onLoaded?.(result);
    return results;
  };
  let committed: IngestResult[];
  try {
    committed = await commitWithRetries(group);
  } catch (error) {
    const refusal = refusalOf(error);
    const fault = refusal === undefined && options.purpose.kind !== 'copy' ? faultOf(error, 'loading') : undefined;
    const reason = refusal ?? fault;
    if (reason === undefined) throw error;
    const [only, ...others] = group;
    if (only && others.length === 0) {
      if (!isRepeated && CAUSED_BY_OTHER_ROWS.has(errorCode(error) ?? ''))
        return commitOrQuarantine(warehouse, group, options, true);
      return reported(await commitWithRetries([{ ...only, ...rejectedAnswer(reason), fault }]));
    }
    const results: IngestResult[] = [];
    for (const answer of group) results.push(...(await commitOrQuarantine(warehouse, [answer], options)));
    return results;
  }
  return reported(committed);
}

/** Reads again whether the answers are loaded, since a commit with a lost connection may have succeeded. */
async function withLoadedFlags(warehouse: Warehouse, group: readonly ParsedAnswer[]): Promise<ParsedAnswer[]> {
  const stored = await readAnswers(
    operationsOf(warehouse),
    group.map(({ answer }) => answer.id),
  );
  return group.map((it) => ({
    ...it,
    answer: { ...it.answer, loaded: it.answer.loaded || stored.get(it.answer.id)?.loaded === true },
  }));
}

async function commit(
  warehouse: Warehouse,
  group: readonly ParsedAnswer[],
  options: CommitOptions,
): Promise<IngestResult[]> {
  const { purpose } = options;
  const committed = await inLongTransaction(warehouse, async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    if (options.leases) await assertLeases(ops, options.leases);
    const executor = sqlExecutorOn(tx, purpose.kind === 'copy' ? purpose.schema : warehouse.schema);
    const receipts = await load(
      executor,
      group.map(({ batch, answer: { id, runId, receivedAt }, isSetReplaced }) => ({
        batch,
        context: { answerId: id, runId, receivedAt, isSetReplaced },
      })),
    );
    const results = resultsOf(group, receipts);
    if (purpose.kind === 'copy') return results;
    for (const { answer, isRedacted } of group)
      if (isRedacted) await replaceBody(ops, answer.id, answer.body, options.now());
    const ids = group.map(({ answer }) => answer.id);
    if (options.forgotten) await cleanHeaders(ops, ids, options.forgotten);
    await recordLoads(
      ops,
      results.map((it, at) => ({ ...it, resource: resourceOf(it.answer), settles: group[at]?.settles === true })),
      options.now(),
    );
    await recordPresence(executor, warehouse.ops, group);
    await learnNames(
      ops,
      group.map(({ answer, named }) => ({ answer, entities: named })),
    );
    await options.onCommit?.(ops, results);
    options.checkpoint?.('before_load_commit');
    return results;
  });
  options.checkpoint?.('after_load_commit');
  return committed;
}

const resultsOf = (group: readonly ParsedAnswer[], receipts: readonly Receipt[]): IngestResult[] =>
  group.flatMap(({ answer, identity, batch, fault }, at) => {
    const receipt = receipts[at];
    return receipt ? [{ answer, identity, batch, receipt, fault }] : [];
  });

/** The contract's name of the resource in an answer. */
export const resourceOf = (answer: Pick<StoredAnswer, 'endpoint'>): string =>
  endpointNamed(answer.endpoint)?.returns.name ?? answer.endpoint;

const refusalOf = (error: unknown): string | undefined =>
  isRefused(error) ? `the database refused its rows (${errorCode(error)}): ${error.message}` : undefined;
