/** The observations of a table's entities by answers that are loaded together. */
import type { RootRow } from '../../normalize/batch.ts';
import type { RootTable } from '../../warehouse/schema/table-types.ts';
import type { SqlExecutor } from '../sql/executor.ts';

/** The rows of one answer about an entity, in order. */
export interface AnswerRows {
  /** The answer's index among those that are loaded together. */
  readonly answer: number;
  readonly rows: readonly RootRow[];
}

/** Entities by id, each with the answers that show it. */
export type ObservationsById = ReadonlyMap<string, readonly AnswerRows[]>;

/** The position of an answer in time: its receipt, and for equal receipts the order of storage. */
export interface AnswerReceived {
  readonly answerId: string;
  /** RFC 3339 with microseconds, in UTC. */
  readonly receivedAt: string;
}

/** A table with a history, on a connection, and the answers that are loaded into it. */
export interface HistoryTarget {
  readonly executor: SqlExecutor;
  readonly table: RootTable;
  readonly contexts: readonly AnswerReceived[];
}
