/** Sessions for statements of users, which cannot change anything. */
import { SluiceError, TransientError, UsageError } from '../../errors.ts';
import type { Warehouse } from './connect.ts';
import { literal, quoted } from '../sql/identifiers.ts';
import type { RunText } from '../sql/read-only-session.ts';
import { errorCode } from '../sql/errors.ts';
import { isOfDatabase } from './retry-transient.ts';

export interface QueryOptions {
  /** Timeout of the statement on a server (default: none). An embedded warehouse has no timeout. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * First words of read-only statements. The database refuses writes in them, but other statements can have effects
 * outside of tables.
 */
export const READ_KEYWORDS: readonly string[] = ['select', 'with', 'values', 'table', 'show', 'explain'];

/**
 * Runs the work in a session that cannot change anything. Throws a UsageError if the statement is not read-only or the
 * database refuses it, and a TransientError if it was stopped or the database could not run it.
 */
export async function asReader<T>(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions,
  work: (run: RunText) => Promise<T>,
): Promise<T> {
  const word = firstWord(statement);
  if (!READ_KEYWORDS.includes(word)) {
    throw new UsageError(word === '' ? 'The query is empty.' : `A query must not begin with ${word.toUpperCase()}.`, {
      next: `Begin with one of ${READ_KEYWORDS.join(', ').toUpperCase()}.`,
    });
  }
  try {
    return await warehouse.session(async (run) => {
      await run(settings(warehouse.schema, options.timeoutMs));
      const { rows: demoted } = await run(READ_AS_READER);
      if (demoted.length > 0) refuseWaysBack(statement);
      return work(run);
    }, options.signal);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toQueryError(error, options);
  }
}

/** One statement that applies all settings until the end of the transaction, so that a query needs few round trips. */
function settings(schema: string, timeoutMs: number | undefined): string {
  const all = {
    search_path: `${quoted(schema)}, public`,
    // Without it, the setting of the role or the address applies.
    ...(timeoutMs !== undefined && { statement_timeout: String(timeoutMs) }),
    timezone: 'UTC',
    datestyle: 'ISO, YMD',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: '1',
  };
  return `select ${Object.entries(all)
    .map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`)
    .join(', ')}`;
}

/**
 * Runs a superuser's statement as a role that reads every table but no file. It returns a row if the user is a
 * superuser. Postgres refuses `pg_read_file`, `lo_import` and similar functions to that role.
 */
const READ_AS_READER = `select set_config('role', 'pg_read_all_data', true)
  from pg_catalog.pg_roles where rolname = current_user and rolsuper`;

/** Names that let a statement become the superuser again, or run text that this check does not see. */
const WAYS_BACK = /\b(?:set_config|(?:query|cursor|table|schema|database)_to_xml|ts_stat|dblink)|\bu&["']/i;

function refuseWaysBack(statement: string): void {
  const found = WAYS_BACK.exec(statement)?.[0];
  if (found === undefined) return;
  throw new UsageError(`A superuser's query may not use ${found}: it could read or write files of the server.`, {
    next: 'Connect as a role that only reads; sluice grants prints the statements that create one.',
  });
}

/** The first word in lower case, after spaces, comments and opening parentheses. It shows the kind of statement. */
export function firstWord(statement: string): string {
  let rest = statement;
  for (;;) {
    const next = rest.replace(/^[\s(]+/, '').replace(/^--[^\n]*(\n|$)/, '');
    const after = next.startsWith('/*') ? next.slice(commentLength(next)) : next;
    if (after === rest) return /^[a-z]+/i.exec(after)?.[0].toLowerCase() ?? after.slice(0, 1);
    rest = after;
  }
}

/** The length of a block comment. These comments nest. */
function commentLength(text: string): number {
  let depth = 0;
  for (const { 0: delimiter, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += delimiter === '/*' ? 1 : -1;
    if (depth === 0) return index + delimiter.length;
  }
  return text.length;
}

/** A code of the server. Other codes are of the connection. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

function toQueryError(error: unknown, { timeoutMs }: QueryOptions): unknown {
  if (error instanceof SluiceError) return error;
  const code = errorCode(error);
  const { message, hint } = error as { message: string; hint?: string };
  const isStatementFault = SQLSTATE.test(code ?? '') && !isOfDatabase(error);
  if (code === undefined && !isOfDatabase(error)) return error;
  if (code === '57014') {
    const how = timeoutMs === undefined ? `: ${message}` : ` after ${timeoutMs / 1000} s`;
    return new TransientError(`The query was stopped${how}.`, {
      next: 'Narrow the query, or allow more time.',
      cause: error,
    });
  }
  if (code === '25006') {
    return new UsageError(`The query would change data: ${message}.`, {
      next: 'Only read-only queries are allowed here; use another client to write.',
      cause: error,
    });
  }
  if (isStatementFault) {
    return new UsageError(`The database refuses the query: ${message}.`, {
      next: hint ?? 'Correct the query; sluice docs tables prints the tables and their columns.',
      cause: error,
    });
  }
  const detail = code === undefined ? message : `${message} (${code})`;
  return new TransientError(`The database could not run the query: ${detail}.`, {
    next: 'Try again.',
    cause: error,
  });
}
