/** Runs one statement that somebody else wrote, with no way to change anything. */
import { SluiceError, TransientError, UsageError } from '../../errors.ts';
import type { Warehouse } from './connect.ts';
import { literal, quoted } from '../sql/identifiers.ts';
import { type JsonValue, jsonValue } from '../sql/json-value.ts';
import type { RunText } from '../sql/read-only-session.ts';
import { errorCode } from '../sql/errors.ts';

export interface QueryResult {
  /** Names as they are in the rows; one that comes twice is numbered. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, JsonValue>>[];
}

export interface QueryOptions {
  /** A server stops the statement after so long; an embedded warehouse can't. Absent means no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** How statements begin that only read; the database refuses writing inside them, but not what others do outside of tables. */
export const READ_KEYWORDS: readonly string[] = ['select', 'with', 'values', 'table', 'show', 'explain'];

/**
 * The result of a reading statement. Names without a schema are looked up in the warehouse's own, then in public.
 * Throws a UsageError for what isn't one reading statement, or what the database refuses of it.
 */
export function readOnlyQuery(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions = {},
): Promise<QueryResult> {
  return asReader(warehouse, statement, options, async (run) => {
    const { fields, rows } = await run(statement);
    const columns = distinct(fields.map(({ name }) => name));
    return {
      columns,
      rows: rows.map((row) =>
        rowOf(
          columns,
          row.map((text, place) => jsonValue(text, fields[place]?.oid ?? 0)),
        ),
      ),
    };
  });
}

export interface DescribedColumn {
  /** As in the rows that the query would give. */
  readonly name: string;
  /** Number of the type, as in `type-ids.ts`. */
  readonly oid: number;
}

/**
 * The columns of a reading statement. The database prepares it and checks its rights, and reads no row. Throws as
 * `readOnlyQuery` does, with the place in the statement where the database names one.
 */
export async function describeQuery(
  warehouse: Pick<Warehouse, 'schema' | 'session' | 'isRemote'>,
  statement: string,
): Promise<readonly DescribedColumn[]> {
  const isPlain = RUN_PLAIN.includes(firstWord(statement));
  // Another process runs no cursor for this one. A comment may end the statement.
  const before = warehouse.isRemote ? 'select * from (' : 'declare sluice_describe no scroll cursor for ';
  const after = warehouse.isRemote ? '\n) as "query" limit 0' : '';
  const text = warehouse.isRemote ? withoutEnd(statement) : statement;
  try {
    return await asReader(warehouse, statement, {}, async (run) => {
      const direct = isPlain || warehouse.isRemote;
      const result = await run(isPlain ? statement : `${before}${text}${after}`);
      const { fields } = direct ? result : await run('fetch 0 from sluice_describe');
      const names = distinct(fields.map(({ name }) => name));
      return fields.map(({ oid }, place) => ({ name: names[place] ?? '', oid }));
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const place = placeIn(statement, error.cause, before.length);
    const message = inPlainWords(error.message);
    throw new UsageError(place === '' ? message : `${message.replace(/\.$/, '')}${place}.`, {
      ...(error.next !== undefined && { next: error.next }),
      cause: error.cause,
    });
  }
}

/** These have no cursor, and read no table that a plain statement would not. */
const RUN_PLAIN: readonly string[] = ['show', 'explain'];

const withoutEnd = (statement: string): string => {
  const text = statement.trimEnd();
  return text.endsWith(';') ? text.slice(0, -1) : text;
};

/** The database speaks of the cursor and of the protocol, which the writer of the statement does not know. */
function inPlainWords(message: string): string {
  if (message.includes('multiple commands')) return 'The query holds several statements; one is allowed.';
  if (message.includes('data-modifying'))
    return 'The query would change something: it has a data-modifying statement in WITH.';
  return message;
}

/** Line and column of what an error is about, in words; empty where the database names no place. */
function placeIn(statement: string, cause: unknown, offset: number): string {
  const position = Number((cause as { readonly position?: unknown } | undefined)?.position) - offset;
  if (!Number.isInteger(position) || position < 1) return '';
  const lines = Array.from(statement)
    .slice(0, position - 1)
    .join('')
    .split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1} of the query)`;
}

/** Does work that reads in a session where nothing can be changed. */
async function asReader<T>(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions,
  work: (run: RunText) => Promise<T>,
): Promise<T> {
  const word = firstWord(statement);
  if (!READ_KEYWORDS.includes(word)) {
    throw new UsageError(
      word === '' ? 'The query is empty.' : `A query that begins with ${word.toUpperCase()} is not run here.`,
      {
        next: `Begin with one of ${READ_KEYWORDS.join(', ').toUpperCase()}.`,
      },
    );
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
    throw queryTrouble(error, options);
  }
}

/** All in one statement, so that a query costs few round trips; they end with the transaction. */
function settings(schema: string, timeoutMs: number | undefined): string {
  const all = {
    search_path: `${quoted(schema)}, public`,
    // Else as the user or the address has it.
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
 * A superuser's statement is run as a role that reads every table and no file; a row says that the user is a superuser.
 * Postgres refuses `pg_read_file`, `lo_import` and the like to that role.
 */
const READ_AS_READER = `select set_config('role', 'pg_read_all_data', true)
  from pg_catalog.pg_roles where rolname = current_user and rolsuper`;

/** Names by which a statement could become the superuser again, or run text that this function does not see. */
const WAYS_BACK = /\b(?:set_config|(?:query|cursor|table|schema|database)_to_xml|ts_stat|dblink)|\bu&["']/i;

function refuseWaysBack(statement: string): void {
  const found = WAYS_BACK.exec(statement)?.[0];
  if (found === undefined) return;
  throw new UsageError(`A superuser's query may not use ${found}: it could read or write files of the server.`, {
    next: 'Connect as a role that only reads; sluice grants prints the statements that create one.',
  });
}

/** The first word in lower case, past spaces, comments and opening parentheses; it tells the kind of statement. */
export function firstWord(statement: string): string {
  let rest = statement;
  for (;;) {
    const next = rest.replace(/^[\s(]+/, '').replace(/^--[^\n]*(\n|$)/, '');
    const after = next.startsWith('/*') ? next.slice(commentLength(next)) : next;
    if (after === rest) return /^[a-z]+/i.exec(after)?.[0].toLowerCase() ?? after.slice(0, 1);
    rest = after;
  }
}

/** Comments of this kind nest. */
function commentLength(text: string): number {
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return index + mark.length;
  }
  return text.length;
}

function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}

/** Defined one by one, because a column may be named `__proto__`. */
function rowOf(columns: readonly string[], values: readonly JsonValue[]): Record<string, JsonValue> {
  const row: Record<string, JsonValue> = {};
  columns.forEach((name, place) => {
    Object.defineProperty(row, name, {
      value: values[place] ?? null,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  });
  return row;
}

function queryTrouble(error: unknown, { timeoutMs }: QueryOptions): unknown {
  if (error instanceof SluiceError) return error;
  const code = errorCode(error);
  const { message, hint } = error as { message: string; hint?: string };
  if (code === undefined) return error;
  if (code === '57014') {
    const how = timeoutMs === undefined ? `: ${message}` : ` after ${timeoutMs / 1000} s`;
    return new TransientError(`The query was stopped${how}.`, {
      next: 'Narrow it, or allow it more time.',
      cause: error,
    });
  }
  if (code === '25006') {
    return new UsageError(`The query would change something: ${message}.`, {
      next: 'Queries here only read; use another client to write.',
      cause: error,
    });
  }
  // Classes of errors that lie with the server or with others at work on it; every other lies in the statement.
  if (!/^(08|40|53|55|57|58|F0|XX)/.test(code)) {
    return new UsageError(`The database refuses the query: ${message}.`, {
      next: hint ?? 'Correct it; sluice docs tables prints the tables and their columns.',
      cause: error,
    });
  }
  return new TransientError(`The database could not run the query: ${message} (${code}).`, {
    next: 'Try again.',
    cause: error,
  });
}
