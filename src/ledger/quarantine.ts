/** The quarantine: items that could not be read, and why. The items themselves stay in the stored answers. */
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import { readAnswer } from './answers.ts';

type Where = Parameters<typeof operationsOf>[0];

export interface QuarantineEntry {
  readonly id: string;
  readonly answerId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly resource: string;
  /** Index in the answer, from 0; null if the complete answer is rejected. */
  readonly position: number | null;
  /** RFC 6901 pointer into the answer. */
  readonly pointer: string;
  readonly reason: string;
  readonly at: Date;
}

const COLUMNS = [
  'id',
  'answer_id',
  'sync',
  'endpoint',
  'resource',
  'position',
  'pointer',
  'reason',
  'created_at',
] as const;

const rejectedOf = (row: {
  id: string;
  answer_id: string;
  sync: string;
  endpoint: string;
  resource: string;
  position: string | null;
  pointer: string;
  reason: string;
  created_at: Date;
}): QuarantineEntry => ({
  id: row.id,
  answerId: row.answer_id,
  sync: row.sync,
  endpoint: row.endpoint,
  resource: row.resource,
  position: row.position === null ? null : Number(row.position),
  pointer: row.pointer,
  reason: row.reason,
  at: row.created_at,
});

/** Returns open entries, newest first. */
export async function listQuarantine(warehouse: Where, limit: number): Promise<QuarantineEntry[]> {
  const rows = await operationsOf(warehouse)
    .selectFrom('quarantine')
    .select([...COLUMNS])
    .where('resolved_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(rejectedOf);
}

/** Returns an entry with the body of its answer; undefined if there is no such entry. */
export async function showQuarantine(
  warehouse: Where,
  id: string,
): Promise<{ readonly entry: QuarantineEntry; readonly body: Uint8Array | undefined } | undefined> {
  const ops = operationsOf(warehouse);
  const row = await ops
    .selectFrom('quarantine')
    .select([...COLUMNS])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  return { entry: rejectedOf(row), body: (await readAnswer(ops, row.answer_id))?.body };
}
