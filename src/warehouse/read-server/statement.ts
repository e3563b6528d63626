/** Runs one statement of a reader and sends its rows on in parts, so that a large result fills nobody's memory. */
import { READ_KEYWORDS, firstWord } from '../connect/query.ts';
import type { RunText, TextResult } from '../sql/read-only-session.ts';
import { errorCode } from '../sql/errors.ts';
import type { ReadError, ReadReply, ReadRequest } from './protocol.ts';

export interface StatementContext {
  readonly run: RunText;
  /** Waits while the reader is slow; throws when it is gone. */
  readonly send: (reply: ReadReply) => Promise<void>;
}

/** These tell about statements and settings, and can't be read through a cursor. */
const TELLING: readonly string[] = ['show', 'explain'];
const CURSOR = 'sluice_read';
/** Rows fetched at once: few, because one may hold a page of megabytes. */
const MOST_ROWS = 100;
const PART_BYTES = 2 ** 20;

/** Sends what a reading statement gives, or the error that it fails with; no other statement is run. */
export async function answerStatement(
  { sql, parameters }: ReadRequest,
  { run, send }: StatementContext,
): Promise<void> {
  const word = firstWord(sql);
  if (!READ_KEYWORDS.includes(word)) {
    const message = 'another process has the embedded warehouse, and runs statements of others only when they read';
    return send({ error: { message, code: READ_ONLY } });
  }
  let failure: ReadError | undefined;
  const asked = async (statement: string, given: ReadRequest['parameters'] = []): Promise<TextResult | undefined> => {
    try {
      return await run(statement, given);
    } catch (error) {
      failure = asReader(errorOf(error));
      return undefined;
    }
  };
  if (TELLING.includes(word)) {
    const told = await asked(sql, parameters);
    if (told) {
      await send({ fields: told.fields });
      await sendRows(told.rows, send);
    }
  } else if (await asked(`declare ${CURSOR} no scroll cursor for ${sql}`, parameters)) {
    let isFirst = true;
    for (;;) {
      // The first one alone: its columns are wanted soon, and its size is not known.
      const part = await asked(`fetch ${isFirst ? 1 : MOST_ROWS} from ${CURSOR}`);
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

/** What Postgres says of a statement that would write. */
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

/** Nobody who asks knows of the cursor. */
const asReader = (error: ReadError): ReadError =>
  error.code === UNSUPPORTED && error.message.includes('data-modifying')
    ? { message: 'it has a data-modifying statement in WITH', code: READ_ONLY }
    : error;

function errorOf(error: unknown): ReadError {
  const code = errorCode(error);
  const { message, hint } = error as { readonly message: string; readonly hint?: unknown };
  return { message, ...(code !== undefined && { code }), ...(typeof hint === 'string' && { hint }) };
}
