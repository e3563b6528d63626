/** From stored answers to committed rows: normalize, load and record, with the rows of each visible all or none. */
import { type Bounds, TOGETHER } from '../../load/group.ts';
import { load } from '../../load/load.ts';
import type { Receipt } from '../../load/merge/receipt.ts';
import { runOn } from '../../load/sql/executor.ts';
import type { Batch } from '../../normalize/batch.ts';
import { readForgotten } from '../erasure/store.ts';
import { learnNames } from '../../control/freshness/identities.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { recordLoads } from '../../ledger/load-receipts.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { readAnswer, readAnswers, replaceBody, type VaultAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { errorCode } from '../../warehouse/sql/errors.ts';
import { groupsAhead, type Patience } from './prefetch.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { faultOf } from './answer-fault.ts';
import {
  areApart,
  type AskedAs,
  type Reading,
  type ReadingOptions,
  readingsOf,
  type Serving,
  unread,
} from './read-answer.ts';
import { sideBySide } from '../../async/ordered-parallel.ts';
import { isRefused, steadily } from '../../warehouse/connect/retry-transient.ts';

export interface Taken {
  readonly answer: VaultAnswer;
  /** What it was loaded for: the request that it answered, or one for the same entity by another name. */
  readonly asked: AskedAs;
  readonly batch: Batch;
  readonly receipt: Receipt;
  /** Why it was quarantined whole, when that is the fault of this program. */
  readonly fault?: string;
}

export interface IntakeOptions extends ReadingOptions {
  /** Checked inside the transaction, so that a holder that wakes up late is refused. */
  readonly lease?: Lease;
  /** What else commits together with the rows of these answers. */
  readonly also?: (ops: Ops, takens: readonly Taken[]) => Promise<void>;
  readonly checkpoint?: OnCheckpoint;
  /** Told of answers once their rows are committed, also when later ones fail. */
  readonly onLoaded?: (taken: Taken) => void;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** How much may be loaded together; absent, `TOGETHER`. */
  readonly most?: Bounds;
  /** True of an answer that leads to more, which is planned in the order of answers; absent, none does. */
  readonly leads?: (reading: Reading) => boolean;
  /** How long those that were read wait for more; absent, until there are no more. */
  readonly patience?: Patience;
  /** Commits so many answers by `work`, when and how it likes. */
  readonly within?: <T>(answers: number, work: () => Promise<T>) => Promise<T>;
}

/** Loads one answer of the vault and returns what came of it, as `takeInAll` does. */
export async function takeIn(warehouse: Warehouse, answerId: string, options: IntakeOptions): Promise<Taken> {
  const answer = await steadily(() => readAnswer(operationsOf(warehouse), answerId), options);
  if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
  const [taken] = await takeInAll(warehouse, [answer], options);
  if (!taken) throw new Error(`answer ${answerId} was not loaded`);
  return taken;
}

/** Loads answers as `loadsOf` does, and returns what came of each. */
export const takeInAll = async (
  warehouse: Warehouse,
  answers: readonly Serving[],
  options: IntakeOptions,
): Promise<Taken[]> => (await Array.fromAsync(loadsOf(warehouse, answers, options))).flat();

/**
 * Loads answers, many in a transaction, and tells in their order what came of them; the next are read meanwhile. Loads that
 * have nothing in common may be under way at once, others wait for each other. An answer that the database refuses for its
 * content, or that this program fails on, is quarantined whole, and no other with it. Other errors of the database pass
 * through; what was committed before them, or beside them, stays.
 */
export async function* loadsOf(
  warehouse: Warehouse,
  answers: Iterable<Serving> | AsyncIterable<Serving>,
  options: IntakeOptions,
): AsyncGenerator<readonly Taken[], undefined> {
  const forgotten = await steadily(() => readForgotten(operationsOf(warehouse)), options);
  const { most = TOGETHER, patience, within = (_, work) => work(), leads = () => false } = options;
  yield* sideBySide({
    // The embedded warehouse has one connection.
    most: warehouse.kind === 'embedded' ? 1 : AT_ONCE,
    // A group is as large as if it were alone: it waits for those before it, unless it is full.
    source: (idle) =>
      groupsAhead(readingsOf(answers, options, forgotten), most, {
        ...patience,
        company: () => idle().then(() => patience?.company?.()),
      }),
    work: (group) =>
      within(group.length, async () => {
        const loaded = await commitSteadily(warehouse, group, options);
        for (const taken of loaded) options.onLoaded?.(taken);
        return loaded;
      }),
    isApart: (one, other) => ![...one, ...other].some(leads) && areApart(one, other),
  });
  return undefined;
}

/** One keeps the database at work while the other is made up; more would only take processors from each other. */
const AT_ONCE = 2;

/** Commits a group; when it is refused, one answer at a time, so that only the one that is at fault is quarantined. */
async function commitSteadily(
  warehouse: Warehouse,
  group: readonly Reading[],
  options: IntakeOptions,
): Promise<readonly Taken[]> {
  const surely = (readings: readonly Reading[]): Promise<Taken[]> =>
    steadily(
      async (failures) => commit(warehouse, failures === 0 ? readings : await lookedUp(warehouse, readings), options),
      options,
    );
  try {
    return await surely(group);
  } catch (error) {
    const refusal = refusalOf(error);
    const fault = refusal === undefined && options.into === undefined ? faultOf(error, 'loading') : undefined;
    const reason = refusal ?? fault;
    if (reason === undefined) throw error;
    const [only, ...others] = group;
    if (only && others.length === 0)
      return surely([{ ...only, ...unread(reason), ...(fault !== undefined && { fault }) }]);
    const takens: Taken[] = [];
    for (const reading of group) takens.push(...(await commitSteadily(warehouse, [reading], options)));
    return takens;
  }
}

/** The answers as they stand by now: a commit whose connection was lost may have loaded them. */
async function lookedUp(warehouse: Warehouse, group: readonly Reading[]): Promise<Reading[]> {
  const resting = await readAnswers(
    operationsOf(warehouse),
    group.map(({ answer }) => answer.id),
  );
  return group.map((it) => ({
    ...it,
    answer: { ...it.answer, loaded: it.answer.loaded || resting.get(it.answer.id)?.loaded === true },
  }));
}

async function commit(warehouse: Warehouse, group: readonly Reading[], options: IntakeOptions): Promise<Taken[]> {
  const committed = await warehouse.db.transaction().execute(async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    if (options.lease) await assertLease(ops, options.lease);
    const receipts = await load(
      runOn(tx),
      options.into ?? warehouse.schema,
      group.map(({ batch, answer: { id, runId, receivedAt } }) => ({
        batch,
        context: { answerId: id, runId, receivedAt },
      })),
    );
    const takens = takensOf(group, receipts);
    if (options.into !== undefined) return takens;
    for (const { answer, isRedacted } of group)
      if (isRedacted) await replaceBody(ops, answer.id, answer.body, options.now());
    await recordLoads(
      ops,
      takens.map((it, at) => ({ ...it, resource: resourceOf(it.answer), settles: group[at]?.settles === true })),
      options.now(),
    );
    await learnNames(
      ops,
      group.map(({ answer, named }) => ({ answer, entities: named })),
    );
    await options.also?.(ops, takens);
    options.checkpoint?.('before_load_commit');
    return takens;
  });
  options.checkpoint?.('after_load_commit');
  return committed;
}

const takensOf = (group: readonly Reading[], receipts: readonly Receipt[]): Taken[] =>
  group.flatMap(({ answer, asked, batch, fault }, at) => {
    const receipt = receipts[at];
    return receipt ? [{ answer, asked, batch, receipt, ...(fault !== undefined && { fault }) }] : [];
  });

/** The contract's name of what an answer holds. */
export const resourceOf = (answer: Pick<VaultAnswer, 'endpoint'>): string =>
  endpointNamed(answer.endpoint)?.returns.name ?? answer.endpoint;

const refusalOf = (error: unknown): string | undefined =>
  isRefused(error) ? `the database refused its rows (${errorCode(error)}): ${error.message}` : undefined;
