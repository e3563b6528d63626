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
  /** Loads into another schema than the analysts'. */
  readonly into?: string;
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/** Deadlocks and serialization failures end by trying again; more often in a row is no accident. */
const MOST_TRIES = 6;
const WAIT_MS = 40;

/**
 * Loads one answer of the vault and returns what came of it. An answer that the database refuses for its content is
 * quarantined whole; other errors of the database pass through with nothing committed.
 */
export async function takeIn(warehouse: Warehouse, answerId: string, options: IntakeOptions): Promise<Taken> {
  const answer = await readAnswer(operationsOf(warehouse), answerId);
  if (!answer) throw new Error(`answer ${answerId} is not in the vault`);
  const batch = batchOf(answer, options.sync ?? answer.sync);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await commit(warehouse, answer, batch, options);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) return commit(warehouse, answer, rejectedWhole(refusal), options);
      if (!isConflict(error) || attempt >= MOST_TRIES) throw error;
      await options.sleep(WAIT_MS * 2 ** attempt * options.random());
    }
  }
}

function batchOf(answer: VaultAnswer, sync: string): Batch {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint) return rejectedWhole(`there is no endpoint ${answer.endpoint} in this version`);
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
    const resource = endpointNamed(answer.endpoint)?.returns.name ?? answer.endpoint;
    await recordLoad(ops, answer, resource, batch, receipt, options.now());
    const taken = { answer, batch, receipt };
    await options.also?.(ops, taken);
    return taken;
  });
}

const codeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error) ?? '');

/** Data exceptions, broken constraints and limits of the database are of the content: no retry mends them. */
function refusalOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^(?:21|22|23|54)/.test(code) && error instanceof Error
    ? `the database refused its rows (${code}): ${error.message}`
    : undefined;
}
