/** The rows of a user's read-only statement in parts, for results of any size. */
import type { Warehouse } from './connect.ts';
import { type JsonValue, jsonValue } from '../sql/json-value.ts';
import { CURSOR_FOR, type TextResult } from '../sql/read-only-session.ts';
import { asReader, distinct, inTermsOfStatement, type QueryOptions, RUN_PLAIN } from './query.ts';
import { firstWord } from './statement-text.ts';

/** Consecutive rows of a statement, with the names of its columns. */
export interface QueryPart {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
}

export interface PartOptions extends QueryOptions {
  /** Gets each part, in order. There is at least one, which may have no rows. */
  readonly onPart: (part: QueryPart) => Promise<void> | void;
}

/**
 * Runs a read-only statement and passes its rows on in parts, so that a result of any size needs the memory of one part.
 * Throws the errors of `describeQuery`.
 */
export function readInParts(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  { mostRows = Infinity, toValue = jsonValue, onPart, ...options }: PartOptions,
): Promise<void> {
  const isPlain = RUN_PLAIN.includes(firstWord(statement));
  return asReader(warehouse, statement, options, async (run, stream) => {
    let left = mostRows;
    for await (const part of isPlain ? [await run(statement)] : stream(statement)) {
      await onPart(partOf(part, left, toValue));
      left -= part.rows.length;
      if (left <= 0) return;
    }
  }).catch((error: unknown) => {
    throw inTermsOfStatement(error, statement, isPlain ? 0 : CURSOR_FOR.length);
  });
}

function partOf({ fields, rows }: TextResult, mostRows: number, toValue: typeof jsonValue): QueryPart {
  return {
    columns: distinct(fields.map(({ name }) => name)),
    rows: rows.slice(0, mostRows).map((row) => row.map((text, index) => toValue(text, fields[index]?.oid ?? 0))),
  };
}
