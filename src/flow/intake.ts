/** From a stored answer to committed rows: normalize, load and record, with its rows visible all or none. */
import { load } from '../load/load.ts';
import type { Receipt } from '../load/receipt.ts';
import { runOn } from '../load/run.ts';
import type { Batch } from '../normalize/batch.ts';
import { normalize, rejectedWhole } from '../normalize/normalize.ts';
import { assertLease, type Lease } from '../ops/lease.ts';
import { type Ops, operationsOf } from '../ops/schema.ts';
import { recordLoad } from '../ops/record.ts';
import { readAnswer, type VaultAnswer } from '../ops/vault.ts';
import { endpointNamed } from '../service/catalog.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { errorCode } from '../warehouse/trouble.ts';
import { steadily } from './steady.ts';

export interface Taken {
  readonly answer: VaultAnswer;
  readonly batch: Batch;
  readonly receipt: Receipt;
}

export interface IntakeOptions {
  /** Whose bridges the rows are made for, when not the sync that bought the answer. */
  readonly sync?: string;
  /** Checked inside the transaction, so that a holder that wakes up late is refused. */
  readonly lease?: Lease;
  /** What else commits together with the rows. */
  readonly also?: (ops: Ops, taken: Taken) => Promise<void>;
  /** Loads into another schema than the analysts', and records nothing. */
  readonly into?: string;
  /** The load may be the answer's first, which settles its request; so what follows must be planned with it. */
  readonly settles: boolean;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/**
 * Loads one answer of the vault and returns what came of it. An answer that the database refuses for its content is
 * quarantined whole; other errors of the database pass through with nothing committed.
 */
export async function takeIn(warehouse: Warehouse, answerId: string, options: IntakeOptions): Promise<Taken> {
  return steadily(async () => {
    const answer = await readAnswer(operationsOf(warehouse), answerId);
    if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
    const batch = batchOf(answer, options.sync ?? answer.sync);
    try {
      return await commit(warehouse, answer, batch, options);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      return commit(warehouse, answer, rejectedWhole(refusal), options);
    }
  }, options);
}

function batchOf(answer: VaultAnswer, sync: string): Batch {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint) return rejectedWhole(`there is no endpoint ${answer.endpoint} in this version`);
  if (answer.damage !== undefined) return rejectedWhole(answer.damage);
  // "No such entity" is an outcome of the input: whatever its body says, it deletes nothing.
  if (answer.status === 412) return { ...rejectedWhole(''), received: 0, rejects: [] };
  return normalize(endpoint, { sync, requestKey: answer.requestKey, request: answer.request }, answer.body);
}

function commit(warehouse: Warehouse, answer: VaultAnswer, batch: Batch, options: IntakeOptions): Promise<Taken> {
  return warehouse.db.transaction().execute(async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    if (options.lease) await assertLease(ops, options.lease);
    const receipt = await load(runOn(tx), batch, {
      schema: options.into ?? warehouse.schema,
      answerId: answer.id,
      runId: answer.runId,
      receivedAt: answer.receivedAt,
    });
    const taken = { answer, batch, receipt };
    if (options.into !== undefined) return taken;
    // Loaded for another sync, it still waits for the one that asked: for its own bridge, and for what follows.
    const settles = options.settles && (options.sync ?? answer.sync) === answer.sync;
    await recordLoad(ops, answer, resourceOf(answer), batch, receipt, { at: options.now(), settles });
    await options.also?.(ops, taken);
    return taken;
  });
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
