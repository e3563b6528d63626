/** Runs one statement of a reader and sends its rows in parts, so that a large result does not exhaust memory. */
import { READ_KEYWORDS, firstWord } from '../connect/reader-session.ts';
import type { RunText, TextResult } from '../sql/read-only-session.ts';
import { errorCode } from '../sql/errors.ts';
import type { ReadError, ReadReply, ReadRequest } from './protocol.ts';

export interface StatementContext {
  readonly run: RunText;
  /** Sends a message. Waits for a slow reader; throws if the reader disconnected. */
  readonly send: (reply: ReadReply) => Promise<void>;
}

/** Statements that a cursor does not accept. */
const WITHOUT_CURSOR: readonly string[] = ['show', 'explain'];
const CURSOR = 'sluice_read';
/** Rows per fetch: few, because one row may contain a page of megabytes. */
const MOST_ROWS = 100;
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
    return send({ error: { message, code: READ_ONLY } });
  }
  let failure: ReadError | undefined;
  const tryRun = async (statement: string, values: ReadRequest['parameters'] = []): Promise<TextResult | undefined> => {
    try {
      return await run(statement, values);
    } catch (error) {
      failure = withoutCursor(errorOf(error));
      return undefined;
    }
  };
  if (WITHOUT_CURSOR.includes(word)) {
    const result = await tryRun(sql, parameters);
    if (result) {
      await send({ fields: result.fields });
      await sendRows(result.rows, send);
    }
  } else if (await tryRun(`declare ${CURSOR} no scroll cursor for ${sql}`, parameters)) {
    let isFirst = true;
    for (;;) {
      // The first fetch has one row, to get the columns soon. The size of the rows is unknown.
      const part = await tryRun(`fetch ${isFirst ? 1 : MOST_ROWS} from ${CURSOR}`);
      if (!part) break;
      if (isFirst) await send({ fields: part.fields });
      await sendRows(part.rows, send);
      if (part.rows.length === 0) break;
      isFirst = false;
    }
    if (!failure) await run(`close ${CURSOR}`);
  }
  await send(failure ? { error: failure } : { end: true });
}

/** The code of Postgres for a statement that would write. */
const READ_ONLY = '25006';
const UNSUPPORTED = '0A000';

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
  error.code === UNSUPPORTED && error.message.includes('data-modifying')
    ? { message: 'it has a data-modifying statement in WITH', code: READ_ONLY }
    : error;

function errorOf(error: unknown): ReadError {
  const code = errorCode(error);
  const { message, hint } = error as { readonly message: string; readonly hint?: unknown };
  return { message, ...(code !== undefined && { code }), ...(typeof hint === 'string' && { hint }) };
}
