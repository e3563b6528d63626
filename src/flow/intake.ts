/** From a stored answer to committed rows: normalize, load and record, with its rows visible all or none. */
import { load } from '../load/load.ts';
import type { Receipt } from '../load/receipt.ts';
import { runOn } from '../load/run.ts';
import type { Batch } from '../normalize/batch.ts';
import { namedEntities } from '../normalize/identify.ts';
import { normalize, rejectedWhole } from '../normalize/normalize.ts';
import { learnNames } from '../ops/identities.ts';
import { assertLease, type Lease } from '../ops/lease.ts';
import { type Ops, operationsOf } from '../ops/schema.ts';
import { recordLoad } from '../ops/record.ts';
import { readAnswer, type VaultAnswer } from '../ops/vault.ts';
import type { Asked } from '../service/asked.ts';
import { endpointNamed } from '../service/catalog.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { errorCode } from '../warehouse/trouble.ts';
import type { OnCheckpoint } from './checkpoint.ts';
import { faultOf } from './fault.ts';
import { steadily } from './steady.ts';

/** A request of the ledger that an answer is loaded for. */
export type AskedAs = Pick<Asked, 'requestKey' | 'request'>;

export interface Taken {
  readonly answer: VaultAnswer;
  /** What it was loaded for: the request that it answered, or one for the same entity by another name. */
  readonly asked: AskedAs;
  readonly batch: Batch;
  readonly receipt: Receipt;
  /** Why it was quarantined whole, when that is the fault of this program. */
  readonly fault?: string;
}

export interface IntakeOptions {
  /** Whose bridges the rows are made for, when not the sync that bought the answer. */
  readonly sync?: string;
  /** The request that it is loaded for, when not the one that it answered. */
  readonly asked?: AskedAs;
  /** Checked inside the transaction, so that a holder that wakes up late is refused. */
  readonly lease?: Lease;
  /** What else commits together with the rows. */
  readonly also?: (ops: Ops, taken: Taken) => Promise<void>;
  /** Loads into another schema than the analysts', and records nothing. */
  readonly into?: string;
  /** The load may be the answer's first, which settles its request; so what follows must be planned with it. */
  readonly settles: boolean;
  readonly checkpoint?: OnCheckpoint;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/**
 * Loads one answer of the vault and returns what came of it. An answer that the database refuses for its content, or
 * that this program fails on, is quarantined whole; other errors of the database pass through with nothing committed.
 */
export async function takeIn(warehouse: Warehouse, answerId: string, options: IntakeOptions): Promise<Taken> {
  return steadily(async () => {
    const answer = await readAnswer(operationsOf(warehouse), answerId);
    if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
    let during: 'reading' | 'loading' = 'reading';
    try {
      const batch = batchOf(answer, { ...(options.asked ?? askedOf(answer)), sync: options.sync ?? answer.sync });
      during = 'loading';
      return await commit(warehouse, answer, batch, options);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) return commit(warehouse, answer, rejectedWhole(refusal), options);
      const fault = faultOf(error, during);
      // A rebuild that can't read an answer must not take the place of tables that hold its rows.
      if (fault === undefined || options.into !== undefined) throw error;
      return { ...(await commit(warehouse, answer, rejectedWhole(fault), options)), fault };
    }
  }, options);
}

const askedOf = ({ requestKey, request }: VaultAnswer): AskedAs => ({ requestKey, request });

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

async function commit(warehouse: Warehouse, answer: VaultAnswer, batch: Batch, options: IntakeOptions): Promise<Taken> {
  const committed = await warehouse.db.transaction().execute(async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    if (options.lease) await assertLease(ops, options.lease);
    const receipt = await load(runOn(tx), batch, {
      schema: options.into ?? warehouse.schema,
      answerId: answer.id,
      runId: answer.runId,
      receivedAt: answer.receivedAt,
    });
    const taken = { answer, asked: options.asked ?? askedOf(answer), batch, receipt };
    if (options.into !== undefined) return taken;
    // Loaded for another sync, it still waits for the one that asked: for its own bridge, and for what follows.
    const settles = options.settles && (options.sync ?? answer.sync) === answer.sync;
    await recordLoad(ops, answer, resourceOf(answer), batch, receipt, { at: options.now(), settles });
    const endpoint = endpointNamed(answer.endpoint);
    // Of the name that was asked by: that another names the same entity is a conclusion, not a sighting.
    if (endpoint) await learnNames(ops, namedEntities(endpoint, answer.request, batch), answer);
    await options.also?.(ops, taken);
    options.checkpoint?.('before_load_commit');
    return taken;
  });
  options.checkpoint?.('after_load_commit');
  return committed;
}

/** The contract's name of what an answer holds. */
export const resourceOf = (answer: Pick<VaultAnswer, 'endpoint'>): string =>
  endpointNamed(answer.endpoint)?.returns.name ?? answer.endpoint;

/** Data exceptions, broken constraints and limits of the database are of the content: no retry mends them. */
function refusalOf(error: unknown): string | undefined {
  const code = errorCode(error);
  return code !== undefined && /^(?:21|22|23|54)[0-9A-Z]{3}$/.test(code) && error instanceof Error
    ? `the database refused its rows (${code}): ${error.message}`
    : undefined;
}
