/** Answers that wait for their load, written as if requests had brought them. */
import type { IngestOptions } from '../../src/flow/ingest/ingest.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { readAnswer, type StoredAnswer } from '../../src/ledger/answers.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ledgerRowsIn } from '../recovery/ledger-rows.ts';
import { select } from './rows.ts';

/** A load without a lease, whose waits take no time. */
export const options: IngestOptions = {
  purpose: { kind: 'settle' } as const,
  now: () => new Date('2026-03-06T13:00:00Z'),
  sleep: () => Promise.resolve(),
  random: () => 0,
};

/** Stored answers to an endpoint with these items, as they are in memory. */
export async function storedIn(
  warehouse: Warehouse,
  endpoint: string,
  bodies: readonly unknown[],
): Promise<StoredAnswer[]> {
  const ledger = await ledgerRowsIn(warehouse);
  const answers: StoredAnswer[] = [];
  for (const [at, items] of bodies.entries()) {
    const { id } = await ledger.send({ at: at * 1000, endpoint, state: 'stored' });
    const [row] = await select<{ answer_id: string }>(
      warehouse,
      `select answer_id from sluice_ops.requests where id = ${id}`,
    );
    const answer = await readAnswer(operationsOf(warehouse), row?.answer_id ?? '');
    if (!answer) throw new Error('the answer is not there');
    const body = Buffer.from(JSON.stringify(items));
    answers.push({ ...answer, request: { user: `user ${at}` }, damage: undefined, loaded: false, body });
  }
  return answers;
}
