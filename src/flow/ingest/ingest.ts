/** From stored answers to committed rows: normalize, load and record, with the rows of each visible all or none. */
import { type LoadLimits, DEFAULT_LOAD_LIMITS } from '../../load/group.ts';
import { load } from '../../load/load.ts';
import type { Receipt } from '../../load/merge/receipt.ts';
import { sqlExecutorOn } from '../../load/sql/executor.ts';
import type { Batch } from '../../normalize/batch.ts';
import { readForgotten } from '../erasure/store.ts';
import { learnNames } from '../../control/freshness/identities.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { recordLoads } from '../../ledger/load-receipts.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswer, readAnswers, replaceBody, type StoredAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { errorCode } from '../../warehouse/sql/errors.ts';
import { prefetchGroups, type LingerOptions } from './prefetch.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { faultOf } from './answer-fault.ts';
import {
  areIndependent,
  type RequestIdentity,
  type ParsedAnswer,
  type AnswerParseOptions,
  parseAnswers,
  type AnswerToLoad,
  rejectedAnswer,
} from './read-answer.ts';
import { orderedParallel } from '../../async/ordered-parallel.ts';
import { isRefused, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface IngestResult {
  readonly answer: StoredAnswer;
  /** What it was loaded for: the request that it answered, or one for the same entity by another name. */
  readonly identity: RequestIdentity;
  readonly batch: Batch;
  readonly receipt: Receipt;
  /** Why it was quarantined whole, when that is the fault of this program. */
  readonly fault?: string;
}

export interface IngestOptions extends AnswerParseOptions {
  /** Checked inside the transaction, so that a holder that wakes up late is refused. */
  readonly lease?: Lease;
  /** What else commits together with the rows of these answers. */
  readonly onCommit?: (ops: Ops, results: readonly IngestResult[]) => Promise<void>;
  readonly checkpoint?: OnCheckpoint;
  /** Told of answers once their rows are committed, also when later ones fail. */
  readonly onLoaded?: (result: IngestResult) => void;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** How much may be loaded together; absent, `DEFAULT_LOAD_LIMITS`. */
  readonly limits?: LoadLimits;
  /** True of an answer that leads to more, which is planned in the order of answers; absent, none does. */
  readonly mayPlanMore?: (reading: ParsedAnswer) => boolean;
  /** How long those that were read wait for more; absent, until there are no more. */
  readonly linger?: LingerOptions;
  /** Commits so many answers by `work`, when and how it likes. */
  readonly wrapCommit?: <T>(answers: number, work: () => Promise<T>) => Promise<T>;
}

/** Loads one answer of the vault and returns what came of it, as `ingestAnswers` does. */
export async function ingestAnswer(
  warehouse: Warehouse,
  answerId: string,
  options: IngestOptions,
): Promise<IngestResult> {
  const answer = await retryTransient(() => readAnswer(operationsOf(warehouse), answerId), options);
  if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
  const [result] = await ingestAnswers(warehouse, [answer], options);
  if (!result) throw new Error(`answer ${answerId} was not loaded`);
  return result;
}

/** Loads answers as `ingestGroups` does, and returns what came of each. */
export const ingestAnswers = async (
  warehouse: Warehouse,
  answers: readonly AnswerToLoad[],
  options: IngestOptions,
): Promise<IngestResult[]> => (await Array.fromAsync(ingestGroups(warehouse, answers, options))).flat();

/**
 * Loads answers, many in a transaction, and tells in their order what came of them; the next are read meanwhile. Loads that
 * have nothing in common may be under way at once, others wait for each other. An answer that the database refuses for its
 * content, or that this program fails on, is quarantined whole, and no other with it. Other errors of the database pass
 * through; what was committed before them, or beside them, stays.
 */
export async function* ingestGroups(
  warehouse: Warehouse,
  answers: Iterable<AnswerToLoad> | AsyncIterable<AnswerToLoad>,
  options: IngestOptions,
): AsyncGenerator<readonly IngestResult[], undefined> {
  const forgotten = await retryTransient(() => readForgotten(operationsOf(warehouse)), options);
  const { limits = DEFAULT_LOAD_LIMITS, linger, wrapCommit = (_, work) => work(), mayPlanMore = () => false } = options;
  yield* orderedParallel({
    // The embedded warehouse has one connection.
    concurrency: warehouse.kind === 'embedded' ? 1 : AT_ONCE,
    // A group is as large as if it were alone: it waits for those before it, unless it is full.
    source: (idle) =>
      prefetchGroups(parseAnswers(answers, options, forgotten), limits, {
        ...linger,
        linger: () => idle().then(() => linger?.linger?.()),
      }),
    work: (group) =>
      wrapCommit(group.length, async () => {
        const loaded = await commitOrQuarantine(warehouse, group, options);
        for (const result of loaded) options.onLoaded?.(result);
        return loaded;
      }),
    isIndependent: (one, other) => ![...one, ...other].some(mayPlanMore) && areIndependent(one, other),
  });
  return undefined;
}

/** One keeps the database at work while the other is made up; more would only take processors from each other. */
const AT_ONCE = 2;

/** Commits a group; when it is refused, one answer at a time, so that only the one that is at fault is quarantined. */
async function commitOrQuarantine(
  warehouse: Warehouse,
  group: readonly ParsedAnswer[],
  options: IngestOptions,
): Promise<readonly IngestResult[]> {
  const surely = (readings: readonly ParsedAnswer[]): Promise<IngestResult[]> =>
    retryTransient(
      async (failures) => commit(warehouse, failures === 0 ? readings : await reread(warehouse, readings), options),
      options,
    );
  try {
    return await surely(group);
  } catch (error) {
    const refusal = refusalOf(error);
    const fault = refusal === undefined && options.targetSchema === undefined ? faultOf(error, 'loading') : undefined;
    const reason = refusal ?? fault;
    if (reason === undefined) throw error;
    const [only, ...others] = group;
    if (only && others.length === 0)
      return surely([{ ...only, ...rejectedAnswer(reason), ...(fault !== undefined && { fault }) }]);
    const results: IngestResult[] = [];
    for (const reading of group) results.push(...(await commitOrQuarantine(warehouse, [reading], options)));
    return results;
  }
}

/** The answers as they stand by now: a commit whose connection was lost may have loaded them. */
async function reread(warehouse: Warehouse, group: readonly ParsedAnswer[]): Promise<ParsedAnswer[]> {
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
  options: IngestOptions,
): Promise<IngestResult[]> {
  const committed = await warehouse.db.transaction().execute(async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    if (options.lease) await assertLease(ops, options.lease);
    const receipts = await load(
      sqlExecutorOn(tx),
      options.targetSchema ?? warehouse.schema,
      group.map(({ batch, answer: { id, runId, receivedAt } }) => ({
        batch,
        context: { answerId: id, runId, receivedAt },
      })),
    );
    const results = resultsOf(group, receipts);
    if (options.targetSchema !== undefined) return results;
    for (const { answer, isRedacted } of group)
      if (isRedacted) await replaceBody(ops, answer.id, answer.body, options.now());
    await recordLoads(
      ops,
      results.map((it, at) => ({ ...it, resource: resourceOf(it.answer), settles: group[at]?.settles === true })),
      options.now(),
    );
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
    return receipt ? [{ answer, identity, batch, receipt, ...(fault !== undefined && { fault }) }] : [];
  });

/** The contract's name of what an answer holds. */
export const resourceOf = (answer: Pick<StoredAnswer, 'endpoint'>): string =>
  endpointNamed(answer.endpoint)?.returns.name ?? answer.endpoint;

const refusalOf = (error: unknown): string | undefined =>
  isRefused(error) ? `the database refused its rows (${errorCode(error)}): ${error.message}` : undefined;
