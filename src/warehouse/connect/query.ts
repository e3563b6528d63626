/** Runs one read-only statement of a user. The statement cannot change anything. */
import { UsageError } from '../../errors.ts';
import type { Warehouse } from './connect.ts';
import { literal, quoted } from '../sql/identifiers.ts';
import { type JsonValue, jsonValue } from '../sql/json-value.ts';
import type { RunText, StreamText, TextResult } from '../sql/read-only-session.ts';
import { toQueryError } from './query-error.ts';
import { firstWord, withoutEnd } from './statement-text.ts';

export interface QueryResult {
  /** Column names as in the rows. A repeated name gets a number. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, JsonValue>>[];
}

export interface QueryOptions {
  /** Number of rows to read, from the first; the others are not read (default: all rows). */
  readonly mostRows?: number;
  /** Timeout of the statement on a server (default: none). An embedded warehouse has no timeout. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Converts the text of a value of this type (default: `jsonValue`). */
  readonly toValue?: typeof jsonValue;
}

/**
 * First words of read-only statements. The database refuses writes in them, but other statements can have effects
 * outside of tables.
 */
export const READ_KEYWORDS: readonly string[] = ['select', 'with', 'values', 'table', 'show', 'explain'];

type Queried = Pick<Warehouse, 'schema' | 'session' | 'isRemote'>;

/**
 * The result of a read-only statement. Names without a schema are looked up in the warehouse's schema, then in public.
 * Throws a UsageError if the text is not one read-only statement or the database refuses it, and a TransientError if
 * the statement was stopped or the database could not run it.
 */
export function readOnlyQuery(warehouse: Queried, statement: string, options: QueryOptions = {}): Promise<QueryResult> {
  return asReader(warehouse, statement, options, async (run) => {
    const { mostRows, toValue = jsonValue } = options;
    const read = mostRows === undefined ? run(statement) : firstRows(warehouse, statement, mostRows, run);
    const { fields, rows } = await read;
    const columns = distinct(fields.map(({ name }) => name));
    // A column may be named `__proto__`, which an assignment would not add.
    const rowOf = (row: readonly (string | null)[]): Record<string, JsonValue> =>
      Object.fromEntries(columns.map((name, index) => [name, toValue(row[index] ?? null, fields[index]?.oid ?? 0)]));
    return { columns, rows: rows.map(rowOf) };
  });
}

/**
 * Runs the work with functions for any number of read-only statements, which all see the same moment. They are statements of
 * this program, not of a user. Throws the errors of `readOnlyQuery`.
 */
export const readAtOneMoment = <T>(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  options: QueryOptions,
  work: (run: RunText, stream: StreamText) => Promise<T>,
): Promise<T> => inSession(warehouse, options, ({ run, stream }) => work(run, stream));

/** The number of rows of a query, which are not read. Throws the errors of `readOnlyQuery`. */
export const countRows = (
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions,
): Promise<number> =>
  asReader(warehouse, statement, options, async (run) => {
    const { rows } = await run(`select count(*) from (${withoutEnd(statement)}) as "query"`);
    return Number(rows[0]?.[0]);
  });

export interface DescribedColumn {
  /** The name as in the rows of the query. */
  readonly name: string;
  /** Number of the type, as in `type-oids.ts`. */
  readonly oid: number;
}

/**
 * The columns of a read-only statement. The database prepares the statement and checks its rights but reads no row.
 * Throws the errors of `readOnlyQuery`, with the position in the statement if the database reports one.
 */
export async function describeQuery(warehouse: Queried, statement: string): Promise<readonly DescribedColumn[]> {
  try {
    return await asReader(warehouse, statement, {}, async (run) => {
      const { fields } = await firstRows(warehouse, statement, 0, run);
      const names = distinct(fields.map(({ name }) => name));
      return fields.map(({ oid }, index) => ({ name: names[index] ?? '', oid }));
    });
  } catch (error) {
    throw inTermsOfStatement(error, statement, (warehouse.isRemote ? WRAPPED : DECLARED).length);
  }
}

/** The error with its position in the statement, which began at `offset` in the text that the database got. */
export function inTermsOfStatement(error: unknown, statement: string, offset: number): unknown {
  if (!(error instanceof UsageError)) return error;
  const position = positionIn(statement, error.cause, offset);
  const { message } = error;
  return new UsageError(position === '' ? message : `${message.replace(/\.$/, '')}${position}.`, {
    ...(error.next !== undefined && { next: error.next }),
    cause: error.cause,
  });
}

/** A cursor does not accept these statements, so they run as they are. */
export const RUN_PLAIN: readonly string[] = ['show', 'explain'];
const DECLARED = 'declare sluice_rows no scroll cursor for ';
const WRAPPED = 'select * from (';

/** The first rows of a statement, or with 0 only its columns. The database does not read the others. */
async function firstRows(
  { isRemote }: Pick<Warehouse, 'isRemote'>,
  statement: string,
  count: number,
  run: RunText,
): Promise<TextResult> {
  if (RUN_PLAIN.includes(firstWord(statement))) {
    const { fields, rows } = await run(statement);
    return { fields, rows: rows.slice(0, count) };
  }
  // Another process does not keep a cursor for this one.
  if (isRemote) return run(`${WRAPPED}${withoutEnd(statement)}) as "query" limit ${count}`);
  await run(`${DECLARED}${statement}`);
  return run(`fetch ${count} from sluice_rows`);
}

/** The line and column of an error as text; empty if the database reports no position. */
function positionIn(statement: string, cause: unknown, offset: number): string {
  const position = Number((cause as { readonly position?: unknown } | undefined)?.position) - offset;
  if (!Number.isInteger(position) || position < 1) return '';
  const lines = Array.from(statement)
    .slice(0, position - 1)
    .join('')
    .split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1} of the query)`;
}

/** Functions that a read-only transaction allows, although they change what other connections do. */
const ENDS_OTHERS = /\bpg_(?:terminate|cancel)_backend\b/i;

/** Runs the work for a user's statement in a session that cannot change anything. */
export async function asReader<T>(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions,
  work: (run: RunText, stream: StreamText) => Promise<T>,
): Promise<T> {
  const word = firstWord(statement);
  if (!READ_KEYWORDS.includes(word)) {
    throw new UsageError(word === '' ? 'The query is empty.' : `A query must not begin with ${word.toUpperCase()}.`, {
      next: `Begin with one of ${READ_KEYWORDS.join(', ').toUpperCase()}.`,
    });
  }
  if (statement.includes('\0'))
    throw new UsageError('The query contains a NUL character, which Postgres does not accept.', { next: 'Remove it.' });
  const ending = ENDS_OTHERS.exec(statement)?.[0];
  if (ending !== undefined)
    throw new UsageError(`A query may not use ${ending}: it ends the work of others.`, {
      next: 'Connect with another program for that.',
    });
  return inSession(warehouse, options, ({ run, stream, isDemoted }) => {
    if (isDemoted) refuseWaysBack(statement);
    return work(run, stream);
  });
}

interface ReaderSession {
  readonly run: RunText;
  readonly stream: StreamText;
  /** True if the user is a superuser, whose statements run as another role. */
  readonly isDemoted: boolean;
}

async function inSession<T>(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  options: QueryOptions,
  work: (session: ReaderSession) => Promise<T>,
): Promise<T> {
  try {
    return await warehouse.session(async (run, stream) => {
      await run(settings(warehouse.schema, options.timeoutMs));
      const { rows: demoted } = await run(READ_AS_READER);
      return work({ run, stream, isDemoted: demoted.length > 0 });
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
    // Plans for all rows of a cursor, not for the first ones.
    cursor_tuple_fraction: '1',
    // A table is read from its beginning, also while another session reads it.
    synchronize_seqscans: 'off',
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

/**
 * Names that let a statement become the superuser again, or run text that this check does not see. Postgres has no setting
 * that prevents a change of the role, so the names of its functions are listed; a test compares them with its catalog. The
 * last four are of extensions that Postgres includes.
 */
const WAYS_BACK =
  /\b(?:set_config|(?:query|cursor|table|schema|database)_to_xml|ts_(?:stat|rewrite)|dblink|crosstab|connectby|xpath_table)|\bu&["']/i;

function refuseWaysBack(statement: string): void {
  const found = WAYS_BACK.exec(statement)?.[0];
  if (found === undefined) return;
  throw new UsageError(`A superuser's query may not use ${found}: it could read or write files of the server.`, {
    next: 'Connect as a role that only reads; sluice grants prints the statements that create one.',
  });
}

/** The names of columns, each with a name of its own. */
export function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}
