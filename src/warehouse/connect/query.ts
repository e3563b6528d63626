/** Runs one read-only statement of a user. The statement cannot change anything. */
import { UsageError } from '../../errors.ts';
import type { Warehouse } from './connect.ts';
import { type JsonValue, jsonValue } from '../sql/json-value.ts';
import type { RunText, TextResult } from '../sql/read-only-session.ts';
import { asReader, firstWord, type QueryOptions } from './reader-session.ts';

export interface QueryResult {
  /** Column names as in the rows. A repeated name gets a number. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, JsonValue>>[];
}

/**
 * The result of a read-only statement. Names without a schema are looked up in the warehouse's schema, then in public.
 * Throws a UsageError if the text is not one read-only statement or the database refuses it, and a TransientError if
 * the statement was stopped or the database could not run it.
 */
export function readOnlyQuery(
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions = {},
): Promise<QueryResult> {
  return asReader(warehouse, statement, options, async (run) => {
    const { columns, rows } = partOf(await run(statement));
    // A column may be named `__proto__`, which an assignment would not add.
    const rowOf = (row: readonly JsonValue[]): Record<string, JsonValue> =>
      Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null]));
    return { columns, rows: rows.map(rowOf) };
  });
}

/** Consecutive rows of a statement, with the names of its columns. */
export interface QueryPart {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
}

export interface PartOptions extends QueryOptions {
  /** Rows after these are not read (default: all rows are). */
  readonly mostRows?: number;
  /** Gets each part, in order; the first one may have no rows. */
  readonly onPart: (part: QueryPart) => Promise<void> | void;
}

/** Rows of a part: few, because one row may contain a page of megabytes. */
const PART_ROWS = 100;

/**
 * Runs a read-only statement and passes its rows on in parts, so that a result of any size needs the memory of one part.
 * Through another process, which keeps no cursor for this one, all rows are one part. Throws the errors of `describeQuery`.
 */
export function readInParts(
  warehouse: Pick<Warehouse, 'schema' | 'session' | 'isRemote'>,
  statement: string,
  { mostRows = Infinity, onPart, ...options }: PartOptions,
): Promise<void> {
  const isPlain = RUN_PLAIN.includes(firstWord(statement));
  const isLimited = warehouse.isRemote === true && !isPlain && mostRows < Infinity;
  const before = isLimited ? SUBQUERY : isPlain || warehouse.isRemote ? '' : `declare ${PARTS} no scroll cursor for `;
  const work = async (run: RunText): Promise<void> => {
    if (before === '' || isLimited) {
      const all = partOf(
        await run(isLimited ? `${before}${withoutEnd(statement)}${SUBQUERY_END} limit ${mostRows}` : statement),
      );
      return onPart({ ...all, rows: all.rows.slice(0, mostRows) });
    }
    await run(before + statement);
    for (let left = mostRows, isFirst = true; ; isFirst = false) {
      const wanted = Math.min(PART_ROWS, left);
      const part = partOf(await run(`fetch ${wanted} from ${PARTS}`));
      if (isFirst || part.rows.length > 0) await onPart(part);
      left -= part.rows.length;
      if (part.rows.length < wanted || left === 0) return;
    }
  };
  return asReader(warehouse, statement, options, work).catch((error: unknown) => {
    throw inTermsOfStatement(error, statement, before.length);
  });
}

const PARTS = 'sluice_parts';

function partOf({ fields, rows }: TextResult): QueryPart {
  const valueOf = (text: string | null, index: number): JsonValue => jsonValue(text, fields[index]?.oid ?? 0);
  return { columns: distinct(fields.map(({ name }) => name)), rows: rows.map((row) => row.map(valueOf)) };
}

/** The number of rows of a query, which are not read. Throws the errors of `readOnlyQuery`. */
export const countRows = (
  warehouse: Pick<Warehouse, 'schema' | 'session'>,
  statement: string,
  options: QueryOptions,
): Promise<number> =>
  asReader(warehouse, statement, options, async (run) => {
    const { rows } = await run(`select count(*) from (\n${withoutEnd(statement)}${SUBQUERY_END}`);
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
export async function describeQuery(
  warehouse: Pick<Warehouse, 'schema' | 'session' | 'isRemote'>,
  statement: string,
): Promise<readonly DescribedColumn[]> {
  const isPlain = RUN_PLAIN.includes(firstWord(statement));
  // Another process does not keep a cursor for this one.
  const before = warehouse.isRemote ? SUBQUERY : 'declare sluice_describe no scroll cursor for ';
  const after = warehouse.isRemote ? `${SUBQUERY_END} limit 0` : '';
  const text = warehouse.isRemote ? withoutEnd(statement) : statement;
  try {
    return await asReader(warehouse, statement, {}, async (run) => {
      const direct = isPlain || warehouse.isRemote;
      const result = await run(isPlain ? statement : `${before}${text}${after}`);
      const { fields } = direct ? result : await run('fetch 0 from sluice_describe');
      const names = distinct(fields.map(({ name }) => name));
      return fields.map(({ oid }, index) => ({ name: names[index] ?? '', oid }));
    });
  } catch (error) {
    throw inTermsOfStatement(error, statement, before.length);
  }
}

const SUBQUERY = 'select * from (';
/** The line break is needed because the statement may end in a comment. */
const SUBQUERY_END = '\n) as "query"';

/** The error with its position in the statement, which began at `offset` in the text that the database got. */
function inTermsOfStatement(error: unknown, statement: string, offset: number): unknown {
  if (!(error instanceof UsageError)) return error;
  const position = positionIn(statement, error.cause, offset);
  const message = inPlainWords(error.message);
  return new UsageError(position === '' ? message : `${message.replace(/\.$/, '')}${position}.`, {
    ...(error.next !== undefined && { next: error.next }),
    cause: error.cause,
  });
}

/** A cursor does not accept these statements, so they run as they are. */
const RUN_PLAIN: readonly string[] = ['show', 'explain'];

const withoutEnd = (statement: string): string => {
  const text = statement.trimEnd();
  return text.endsWith(';') ? text.slice(0, -1) : text;
};

/** Rewrites messages about the cursor and the protocol, which the user did not write. */
function inPlainWords(message: string): string {
  if (message.includes('multiple commands')) return 'The query contains several statements; allowed is one.';
  if (message.includes('data-modifying'))
    return 'The query would change data: it has a data-modifying statement in WITH.';
  return message;
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

function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}
