/** The quarantine: items that could not be read, and why. The items themselves stay in the stored answers. */
import { sql } from 'kysely';
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

const entries = (warehouse: Where) =>
  operationsOf(warehouse)
    .selectFrom('quarantine')
    .select(['id', 'answer_id as answerId', 'sync', 'endpoint', 'resource'])
    .select([sql<number | null>`position::int`.as('position'), 'pointer', 'reason', 'created_at as at']);

/** Returns open entries, newest first. */
export async function listQuarantine(warehouse: Where, limit: number): Promise<QuarantineEntry[]> {
  return entries(warehouse).where('resolved_at', 'is', null).orderBy('id', 'desc').limit(limit).execute();
}

/** Returns an entry with the body of its answer; undefined if there is no such entry. */
export async function showQuarantine(
  warehouse: Where,
  id: string,
): Promise<{ readonly entry: QuarantineEntry; readonly body: Uint8Array | undefined } | undefined> {
  const entry = await entries(warehouse).where('id', '=', id).executeTakeFirst();
  if (!entry) return undefined;
  return { entry, body: (await readAnswer(operationsOf(warehouse), entry.answerId))?.body };
}
