/** Runs one statement of a reader and sends its rows in parts, so that a large result does not exhaust memory. */
import { READ_KEYWORDS, RUN_PLAIN } from '../connect/query.ts';
import { firstWord } from '../connect/statement-text.ts';
import { type RunText, streamOf, type TextResult } from '../sql/read-only-session.ts';
import type { ReadError, ReadReply, ReadRequest } from './protocol.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

export interface StatementContext {
  readonly run: RunText;
  /** Sends a message. Waits for a slow reader; throws if the reader disconnected. */
  readonly send: (reply: ReadReply) => Promise<void>;
}

const PART_BYTES = 2 ** 20;

/** Sends the result of a read-only statement or its error. It refuses any other statement. */
export async function answerStatement(
  { sql, parameters }: ReadRequest,
  { run, send }: StatementContext,
): Promise<void> {
  const word = firstWord(sql);
  if (!READ_KEYWORDS.includes(word)) {
    const message =
      'another process owns the embedded warehouse, and it runs only read-only statements for other processes';
    return send({ error: { message, code: SQL_STATE.readOnlyTransaction } });
  }
  const parts = RUN_PLAIN.includes(word) ? inOnePart(run(sql, parameters)) : streamOf(run)(sql, parameters);
  const iterator = parts[Symbol.asyncIterator]();
  for (let isFirst = true; ; isFirst = false) {
    let part: IteratorResult<TextResult, unknown>;
    try {
      part = await iterator.next();
    } catch (error) {
      return send({ error: withoutCursor(errorOf(error)) });
    }
    if (part.done) return send({ end: true });
    if (isFirst) await send({ fields: part.value.fields });
    await sendRows(part.value.rows, send);
  }
}

async function* inOnePart(result: Promise<TextResult>): AsyncGenerator<TextResult, void> {
  yield await result;
}

async function sendRows(rows: TextResult['rows'], send: StatementContext['send']): Promise<void> {
  let part: TextResult['rows'][number][] = [];
  let bytes = 0;
  for (const row of rows) {
    part.push(row);
    bytes += row.reduce((sum, it) => sum + (it?.length ?? 0), 0);
    if (bytes < PART_BYTES) continue;
    await send({ rows: part });
    part = [];
    bytes = 0;
  }
  if (part.length > 0) await send({ rows: part });
}

/** Rewrites the message about the cursor, which the reader did not write. */
const withoutCursor = (error: ReadError): ReadError =>
  error.code === SQL_STATE.featureNotSupported && error.message.includes('data-modifying')
    ? { message: 'it has a data-modifying statement in WITH', code: SQL_STATE.readOnlyTransaction }
    : error;

function errorOf(error: unknown): ReadError {
  const code = errorCode(error);
  const { message, hint } = error as { readonly message: string; readonly hint?: unknown };
  return { message, ...(code !== undefined && { code }), ...(typeof hint === 'string' && { hint }) };
}
