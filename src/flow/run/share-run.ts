/** Hands a run with chunks over to all workers: from then on the run holds the lease of its sync. */
import type { Kysely } from 'kysely';
import { type ChunkId, reopenChunks } from '../../ledger/chunks.ts';
import { handOver, holderOfRun, currentHolder } from '../../ledger/lease.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { RunContext } from './run-context.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { OperationsTables } from '../../warehouse/schema/operations.ts';
import { type RetryEffects, retryTransaction } from '../../warehouse/connect/retry-transient.ts';

/** What a worker needs to know to take part in a run. */
export interface ChunkOrder extends ChunkId {
  readonly sync: string;
  /** The token of the sync's lease, which the run holds; it fences late workers. */
  readonly token: string;
  /** Number of inputs that needed no request, for the summary of the run. */
  readonly covered: number;
  /** Requests of abandoned runs whose answers were lost, also for the summary. */
  readonly lost: readonly string[];
  /** When the invocation that shares the run started, for the points of this invocation. */
  readonly startedAt: string;
  /** The run was begun by an earlier invocation. */
  readonly continued: boolean;
}

export interface ShareOptions {
  /** Most requests of a chunk. */
  readonly chunkSize: number;
  /** Enqueues the orders for the workers, in this transaction. */
  readonly enqueue: (tx: Kysely<OperationsTables>, orders: readonly ChunkOrder[]) => Promise<void>;
}

export type SharedRun = Pick<RunContext, 'definition' | 'run' | 'lease'> &
  Pick<ChunkOrder, 'covered' | 'lost'> & { readonly startedAt: Date };

/** Enqueues a job for each chunk with open requests; false if there is none or the run has no chunks. */
export async function shareRun(
  warehouse: Warehouse,
  { definition, run, lease, covered, lost, startedAt }: SharedRun,
  sharing: ShareOptions,
  retry: RetryEffects,
): Promise<boolean> {
  const holder = holderOfRun(run.id);
  const order = {
    sync: definition.name,
    runId: run.id,
    token: lease.token,
    covered,
    lost,
    startedAt: startedAt.toISOString(),
    continued: run.continued,
  };
  return retryTransaction(
    warehouse.db,
    async (tx, failures) => {
      const ops = operationsOf({ db: tx, ops: warehouse.ops });
      // After a commit with a lost connection, the holder of the lease shows whether it succeeded.
      if (failures > 0 && (await currentHolder(ops, lease)) === holder) return true;
      const chunks = await reopenChunks(ops, run.id);
      if (chunks.length === 0) return false;
      await handOver(ops, lease, holder);
      const orders = chunks.map((chunk) => ({ ...order, chunk }));
      await sharing.enqueue(tx, orders);
      return true;
    },
    retry,
  );
}
