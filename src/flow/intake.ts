/** From stored answers to committed rows: normalize, load and record, with the rows of each visible all or none. */
import { setImmediate as others } from 'node:timers/promises';
import { type Bounds, TOGETHER, type Weighed } from '../load/group.ts';
import { load } from '../load/load.ts';
import type { Receipt } from '../load/receipt.ts';
import { runOn } from '../load/run.ts';
import type { Batch } from '../normalize/batch.ts';
import { namedEntities } from '../normalize/identify.ts';
import { normalize, rejectedWhole } from '../normalize/normalize.ts';
import { readForgotten } from '../ops/erasures.ts';
import { learnNames } from '../ops/identities.ts';
import { assertLease, type Lease } from '../ops/lease.ts';
import { recordLoads } from '../ops/record.ts';
import { type Ops, operationsOf } from '../ops/schema.ts';
import { readAnswer, readAnswers, replaceBody, type VaultAnswer } from '../ops/vault.ts';
import type { Asked } from '../service/asked.ts';
import { endpointNamed } from '../service/catalog.ts';
import type { Forgotten } from '../service/forgotten.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { errorCode } from '../warehouse/trouble.ts';
import { groupsAhead, type Patience } from './ahead.ts';
import type { OnCheckpoint } from './checkpoint.ts';
import { withoutForgotten } from './erasure/body.ts';
import { faultOf } from './fault.ts';
import { isRefused, steadily } from './steady.ts';

/** A request of the ledger that an answer is loaded for. */
export type AskedAs = Pick<Asked, 'requestKey' | 'request'>;

/** For whom an answer is loaded. */
export interface Served {
  /** Whose bridges the rows are made for, when not the sync that bought the answer. */
  readonly sync?: string;
  /** The request that it is loaded for, when not the one that it answered. */
  readonly asked?: AskedAs;
}

/** An answer of the vault, and for whom it is loaded when not for those that the options name. */
export interface Serving extends VaultAnswer {
  readonly serves?: Served;
}

export interface Taken {
  readonly answer: VaultAnswer;
  /** What it was loaded for: the request that it answered, or one for the same entity by another name. */
  readonly asked: AskedAs;
  readonly batch: Batch;
  readonly receipt: Receipt;
  /** Why it was quarantined whole, when that is the fault of this program. */
  readonly fault?: string;
}

export interface IntakeOptions extends Served {
  /** Checked inside the transaction, so that a holder that wakes up late is refused. */
  readonly lease?: Lease;
  /** What else commits together with the rows of these answers. */
  readonly also?: (ops: Ops, takens: readonly Taken[]) => Promise<void>;
  /** Loads into another schema than the analysts', and records nothing. */
  readonly into?: string;
  /** The loads may be their answers' first, which settles their requests; so what follows must be planned with them. */
  readonly settles: boolean;
  readonly checkpoint?: OnCheckpoint;
  /** Told of answers once their rows are committed, also when later ones fail. */
  readonly onLoaded?: (taken: Taken) => void;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** How much may be loaded together; absent, `TOGETHER`. */
  readonly most?: Bounds;
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
 * Loads answers in their order, many in a transaction, and tells after each what came of them; the next are read while
 * it is under way. An answer that the database refuses for its content, or that this program fails on, is quarantined
 * whole, and no other with it. Other errors of the database pass through; what was committed before them stays.
 */
export async function* loadsOf(
  warehouse: Warehouse,
  answers: Iterable<Serving> | AsyncIterable<Serving>,
  options: IntakeOptions,
): AsyncGenerator<readonly Taken[], undefined> {
  const forgotten = await steadily(() => readForgotten(operationsOf(warehouse)), options);
  const { most = TOGETHER, patience, within = (_, work) => work() } = options;
  for await (const group of groupsAhead(readingsOf(answers, options, forgotten), most, patience)) {
    yield await within(group.length, async () => {
      const loaded = await commitSteadily(warehouse, group, options);
      for (const taken of loaded) options.onLoaded?.(taken);
      return loaded;
    });
  }
  return undefined;
}

/** An answer that was read, ready to be loaded. */
interface Reading extends Weighed {
  readonly answer: VaultAnswer;
  readonly asked: AskedAs;
  /** The load may be the answer's first. */
  readonly settles: boolean;
  readonly fault?: string;
  /** Something forgotten was taken out of the body, which the vault must not keep either. */
  readonly isRedacted: boolean;
}

/** Reads each answer when its turn comes, and between two lets other work go on, such as the load of those before. */
async function* readingsOf(
  answers: Iterable<Serving> | AsyncIterable<Serving>,
  options: IntakeOptions,
  forgotten: Forgotten | undefined,
): AsyncGenerator<Reading, undefined> {
  const settled = recently();
  for await (const { serves = options, ...given } of answers) {
    // Given again for another request that it serves, it has had its first load by then.
    const kept = forgotten && withoutForgotten(given, forgotten);
    const clean = kept ? { ...given, body: kept } : given;
    const answer = settled.has(given.id) ? { ...clean, loaded: true } : clean;
    const { sync = answer.sync, asked = { requestKey: answer.requestKey, request: answer.request } } = serves;
    // Loaded for another sync, it still waits for the one that asked: for its own bridge, and for what follows.
    const settles = options.settles && sync === answer.sync;
    if (settles) settled.add(answer.id);
    const isRedacted = kept !== undefined;
    yield {
      answer,
      asked,
      settles,
      isRedacted,
      bytes: answer.body.byteLength,
      ...readOf(answer, { ...asked, sync }, options),
    };
    await others();
  }
  return undefined;
}

/** The last of what was added: more than are read from the vault, grouped and committed at a time. */
function recently(): Pick<Set<string>, 'add' | 'has'> {
  const kept = new Set<string>();
  return {
    has: (id) => kept.has(id),
    add: (id) => {
      const [oldest] = kept.size === RECENT ? kept : [];
      if (oldest !== undefined) kept.delete(oldest);
      return kept.add(id);
    },
  };
}

const RECENT = 10_000;

function readOf(answer: VaultAnswer, asked: Asked, { into }: IntakeOptions): Pick<Reading, 'batch' | 'fault'> {
  try {
    return { batch: batchOf(answer, asked) };
  } catch (error) {
    const fault = faultOf(error, 'reading');
    // A rebuild that can't read an answer must not take the place of tables that hold its rows.
    if (fault === undefined || into !== undefined) throw error;
    return { batch: rejectedWhole(fault), fault };
  }
}

function batchOf(answer: VaultAnswer, asked: Asked): Batch {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint) return rejectedWhole(`there is no endpoint ${answer.endpoint} in this version`);
  if (answer.damage !== undefined) return rejectedWhole(answer.damage);
  // "No such entity" is an outcome of the input: whatever its body says, it deletes nothing.
  if (answer.status === 412) return { ...rejectedWhole(''), received: 0, rejects: [] };
  // Nobody asks for parts; whoever sends one would have it taken for the whole.
  if (answer.status === 206) return rejectedWhole('the service says that this is a part of its answer (206)');
  return normalize(endpoint, asked, answer.body);
}

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
      return surely([{ ...only, batch: rejectedWhole(reason), ...(fault !== undefined && { fault }) }]);
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
      group.flatMap(({ answer, batch }) => {
        const endpoint = endpointNamed(answer.endpoint);
        // Of the name that was asked by: that another names the same entity is a conclusion, not a sighting.
        return endpoint ? [{ answer, entities: namedEntities(endpoint, answer.request, batch) }] : [];
      }),
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
