/** `replay --as-of`: the tables as they were known at an earlier time, from stored answers, beside the present ones. */
import { acquireAll } from '../../control/lease/exclusive.ts';
import { UsageError } from '../../errors.ts';
import { COPY_LEASE } from '../../ledger/lease.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { loadAgain, type ReplayCounts, type ReplayEffects } from '../replay/load-again.ts';
import { listStored } from '../replay/stored-answers.ts';
import { type GoneBodies, goneBodies } from '../retention/store.ts';
import { completeAsOfSchema, createAsOfSchema, dropAsOfSchema } from './schema.ts';

/** The tables to create. */
export interface AsOfOptions {
  /** Answers received up to this instant count. */
  readonly asOf: Date;
  /** The schema to create. */
  readonly schema: string;
}

/** The counts of the answers in the new tables; `left` answers are missing if the signal ended the command. */
export interface AsOfSummary extends ReplayCounts, AsOfOptions {
  readonly left: number;
}

/**
 * Creates a schema and loads the answers that were received up to an instant into its tables. Syncs may run at the same
 * time. If the signal ends the command, nothing is left. Throws a UsageError for a name that is not free, and if bodies of
 * these answers were pruned; a HeldError while another such command or an erasure runs.
 */
export async function loadAsOf(
  warehouse: Warehouse,
  { asOf, schema }: AsOfOptions,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<AsOfSummary> {
  const ops = operationsOf(warehouse);
  await using _held = await acquireAll(warehouse, [COPY_LEASE], effects);
  let isCreated = false;
  let isComplete = false;
  try {
    const selection = { names: [], quarantined: false, until: asOf };
    const answers = await listStored(ops, selection);
    // Only now, because a retention may have removed bodies before the answers were listed.
    const gone = await goneBodies(ops, selection);
    if (gone) throw lacksRows(asOf, gone);
    await createAsOfSchema(warehouse, schema, asOf);
    isCreated = true;
    const counts = await loadAgain(warehouse, ops, answers, { ...effects, purpose: { kind: 'copy', schema } }, signal);
    const left = answers.length - counts.answers;
    if (left === 0) await completeAsOfSchema(warehouse, schema, asOf);
    isComplete = left === 0;
    return { ...counts, asOf, schema, left };
  } finally {
    // A schema that cannot be dropped now keeps its label as not complete.
    if (isCreated && !isComplete) await dropAsOfSchema(warehouse, schema).catch(() => false);
  }
}

const lacksRows = (asOf: Date, { answers, from, to }: GoneBodies): UsageError =>
  new UsageError(
    `replay: the tables as of ${asOf.toISOString()} would lack rows: the bodies of ${answers} stored answers, received from ${from} to ${to}, were pruned`,
    { next: `Choose a time before ${from}, or read the history of the tables.` },
  );
