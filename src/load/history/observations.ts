/** What answers that are loaded together show of a table's entities. */
import type { RootRow } from '../../normalize/batch.ts';

/** The rows by which one answer shows an entity, in the order seen. */
export interface AnswerRows {
  /** The answer's place among those that are loaded together. */
  readonly answer: number;
  readonly rows: readonly RootRow[];
}

/** Entities by id, each with the answers that show it. */
export type ObservationsById = ReadonlyMap<string, readonly AnswerRows[]>;

/** What tells an answer's place in time: its receipt, and of several received at one instant the order of storing. */
export interface AnswerReceived {
  readonly answerId: string;
  /** RFC 3339 with microseconds, in UTC. */
  readonly receivedAt: string;
}

/** Below zero when the first was received before the second. */
export function byReceipt(a: AnswerReceived, b: AnswerReceived): number {
  if (a.receivedAt !== b.receivedAt) return a.receivedAt < b.receivedAt ? -1 : 1;
  return Number(BigInt(a.answerId) - BigInt(b.answerId));
}
