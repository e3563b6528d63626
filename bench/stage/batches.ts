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

/** A function for each answer that parses and normalizes its bytes. */
export const normalizersOf = (workload: Workload): (() => Batch)[] =>
  Array.from({ length: workload.answers }, (_, index) => {
    const body = { ...workload.request, [workload.field]: workload.wire(workload.input(index)) };
    return normalizerOf(workload.endpoint, body, workload.items(index));
  });

/** The batch of each answer. */
export const batchesOf = (workload: Workload): Batch[] =>
  normalizersOf(workload).map((batchOfAnswer) => batchOfAnswer());

/** The batch of one answer with these items. */
export const batchOf = (endpointName: string, body: RequestBody, items: readonly unknown[]): Batch =>
  normalizerOf(endpointName, body, items)();

function normalizerOf(endpointName: string, body: RequestBody, items: readonly unknown[]): () => Batch {
  const endpoint = endpointNamed(endpointName);
  if (!endpoint) throw new Error(`no endpoint ${endpointName}`);
  const request = canonicalRequest(endpoint, body);
  const question = { sync: 'bench', requestKey: requestKeyOf(endpoint.name, request), request };
  const bytes = Buffer.from(JSON.stringify(items));
  return () => normalize(endpoint, question, bytes);
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
  for (const group of loadGroupsOf(batches, firstAnswer)) {
    const receipts = await warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), group));
    for (const receipt of receipts) for (const rows of Object.values(receipt.written)) written += rows;
  }
  return written;
}

/** The batches as answers from number `firstAnswer` on, in groups that are loaded together. */
export const loadGroupsOf = (batches: readonly Batch[], firstAnswer: number) =>
  groupsOf(loadingsOf(batches, firstAnswer), DEFAULT_LOAD_LIMITS);

function* loadingsOf(batches: readonly Batch[], firstAnswer: number) {
  for (const [at, batch] of batches.entries()) {
    const receivedAt = new Date(RECEIVED_MS + firstAnswer + at).toISOString();
    yield { batch, bytes: 0, context: { answerId: String(firstAnswer + at), runId: '1', receivedAt } };
  }
  return undefined;
}

const RECEIVED_MS = Date.UTC(2026, 0, 2);
