/** Hands a run that was cut into chunks over to all workers: from then on the run holds the lease of its sync. */
import type { Kysely } from 'kysely';
import type { SyncDefinition } from '../../config/definition.ts';
import { reopenChunks } from '../../ledger/chunks.ts';
import { handOver, currentHolder, type Lease } from '../../ledger/lease.ts';
import type { Run } from '../../ledger/runs.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OperationsTables } from '../../warehouse/schema/operations.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** What a worker needs to know to take part in a run. */
export interface ChunkOrder {
  readonly sync: string;
  readonly runId: string;
  readonly chunk: number;
  /** Of the sync's lease, which the run holds: a worker that comes late is refused by it. */
  readonly token: string;
  /** Inputs that needed no question, for the summary of the run. */
  readonly covered: number;
  /** Requests of runs given up whose answers were lost, for the summary too. */
  readonly lost: readonly string[];
}

export interface ShareOptions {
  /** Most requests of a chunk. */
  readonly chunkSize: number;
  /** Enters the orders where workers find them, in this transaction. */
  readonly enqueue: (tx: Kysely<OperationsTables>, orders: readonly ChunkOrder[]) => Promise<void>;
}

/** Holds the lease of a sync whose run is shared. */
const holderOfRun = (runId: string): string => `run/${runId}`;

export interface SharedRun {
  readonly definition: Pick<SyncDefinition, 'name'>;
  readonly run: Run;
  readonly lease: Lease;
  readonly covered: number;
  readonly lost: readonly string[];
}

/** Enters a job for each chunk that has something left to ask; false when there is none, or the run was not cut. */
export async function shareRun(
  warehouse: Warehouse,
  { definition, run, lease, covered, lost }: SharedRun,
  sharing: ShareOptions,
  retry: RetryEffects,
): Promise<boolean> {
  const holder = holderOfRun(run.id);
  return retryTransient(
    (failures) =>
      warehouse.db.transaction().execute(async (tx) => {
        const ops = operationsOf({ db: tx, ops: warehouse.ops });
        // Of a commit without an answer the lease tells.
        if (failures > 0 && (await currentHolder(ops, lease)) === holder) return true;
        const chunks = await reopenChunks(ops, run.id);
        if (chunks.length === 0) return false;
        await handOver(ops, lease, holder);
        const order = { sync: definition.name, runId: run.id, token: lease.token, covered, lost };
        await sharing.enqueue(
          tx,
          chunks.map((chunk) => ({ ...order, chunk })),
        );
        return true;
      }),
    retry,
  );
}
