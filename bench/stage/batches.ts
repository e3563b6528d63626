/** Batches of a workload's answers, and a load of them without the service, the ledger and the answer store. */
import { Secret } from '../../src/config/values/secret.ts';
import { DEFAULT_LOAD_LIMITS } from '../../src/load/group.ts';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import { normalize } from '../../src/normalize/normalize.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import { canonicalRequest, requestKeyOf } from '../../src/service/request-key.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { groupsOf } from '../../test/support/groups-of.ts';
import type { Workload } from './workload.ts';

/** The schema of the analyst tables. */
export const SCHEMA = 'sluice';

/** The batch of each answer. */
export function batchesOf(workload: Workload): Batch[] {
  return Array.from({ length: workload.answers }, (_, index) => {
    const body = { ...workload.request, [workload.field]: workload.wire(workload.input(index)) };
    return batchOf(workload.endpoint, body, workload.items(index));
  });
}

/** The batch of one answer with these items. */
export function batchOf(endpointName: string, body: RequestBody, items: readonly unknown[]): Batch {
  const endpoint = endpointNamed(endpointName);
  if (!endpoint) throw new Error(`no endpoint ${endpointName}`);
  const request = canonicalRequest(endpoint, body);
  const question = { sync: 'bench', requestKey: requestKeyOf(endpoint.name, request), request };
  return normalize(endpoint, question, Buffer.from(JSON.stringify(items)));
}

/** The open warehouse, with its schema. */
export async function warehouseAt(url: string): Promise<Warehouse> {
  const effects = {
    now: () => new Date(),
    sleep: (): Promise<void> => Promise.reject(new Error('a benchmark does not wait for a lock or a connection')),
  };
  const warehouse = await openWarehouse({ url: new Secret(url), schema: SCHEMA }, effects);
  await ensureSchema(warehouse);
  return warehouse;
}

/** Loads the batches as answers with ids from `firstAnswer`, many in a transaction; returns the number of rows written. */
export async function loadAll(warehouse: Warehouse, batches: readonly Batch[], firstAnswer: number): Promise<number> {
  let written = 0;
  for (const group of groupsOf(loadingsOf(batches, firstAnswer), DEFAULT_LOAD_LIMITS)) {
    const receipts = await warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx), warehouse.schema, group));
    for (const receipt of receipts) for (const rows of Object.values(receipt.written)) written += rows;
  }
  return written;
}

function* loadingsOf(batches: readonly Batch[], firstAnswer: number) {
  for (const [at, batch] of batches.entries()) {
    const receivedAt = new Date(RECEIVED_MS + firstAnswer + at).toISOString();
    yield { batch, bytes: 0, context: { answerId: String(firstAnswer + at), runId: '1', receivedAt } };
  }
  return undefined;
}

const RECEIVED_MS = Date.UTC(2026, 0, 2);
