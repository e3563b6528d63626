/** Reads the inputs of a sync from lists, files and queries, and checks each before any request is sent. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { UsageError } from '../errors.ts';
import { ColumnError, type Input, RowError, type RowReader, rowReader } from './input-row.ts';
import { hasColumns, hasHeader, InputFormatError, type InputRow, rowsOfText } from './input-rows.ts';

export interface InputEffects {
  /** The text of a file; rejects if it cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
  /** The rows of a read-only query on the warehouse, by column. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** A limit for plans: more inputs are hard to review and need too much memory. */
const MOST_INPUTS = 1_000_000;
/** The number of problems of one source that an error lists; the rest are counted. */
const SHOWN = 20;

type InputsOf = Pick<SyncDefinition, 'name' | 'endpoint' | 'request' | 'forEach' | 'window'>;

/**
 * The inputs of a sync with their fields: one empty input without `for_each`, none if a query returns no rows. Throws a
 * UsageError that lists the rows which break the contract, with the value found and the allowed values.
 */
export async function readInputs(sync: InputsOf, effects: InputEffects): Promise<Input[]> {
  let inputs: Input[] = [{ fields: {}, maxAgeMs: undefined }];
  for (const source of sync.forEach ?? []) {
    const rows = source.from === 'list' ? listRows(source) : await rowsOf(sync, source, effects);
    if (inputs.length * rows.length > MOST_INPUTS) {
      throw new UsageError(
        `${sync.name}: for_each makes ${inputs.length * rows.length} inputs; at most ${MOST_INPUTS} are allowed`,
        { next: 'Split them into several syncs; nothing was sent.' },
      );
    }
    inputs = inputs.flatMap((input) => rows.map((row) => both(input, row)));
  }
  const reader = rowReader(sync);
  refuse(
    sync.name,
    'for_each',
    inputs.flatMap((input, at) =>
      complaint(
        () => reader.assertComplete(input.fields),
        ({ message }) => `input ${at + 1}: ${message}`,
      ),
    ),
  );
  return inputs;
}

const listRows = ({ rows, maxAgesMs }: Extract<InputSource, { from: 'list' }>): Input[] =>
  rows.map((fields, at) => ({ fields, maxAgeMs: maxAgesMs?.get(at) }));

/** For a request of both inputs, the smaller age applies. */
const both = (one: Input, other: Input): Input => ({
  fields: { ...one.fields, ...other.fields },
  maxAgeMs:
    one.maxAgeMs === undefined || other.maxAgeMs === undefined
      ? (one.maxAgeMs ?? other.maxAgeMs)
      : Math.min(one.maxAgeMs, other.maxAgeMs),
});

type Outer = Exclude<InputSource, { from: 'list' }>;

async function rowsOf(sync: InputsOf, source: Outer, effects: InputEffects): Promise<Input[]> {
  const reader = rowReader(sync);
  return source.from === 'file' ? fileRows(sync, source, reader, effects) : queryRows(sync, source, reader, effects);
}

async function fileRows(
  sync: InputsOf,
  source: Extract<Outer, { from: 'file' }>,
  reader: RowReader,
  { readFile }: InputEffects,
): Promise<Input[]> {
  const { path, where, field, column } = source;
  const next = `Fix the file or its name; nothing was sent for ${sync.name}.`;
  const fail = (message: string, cause?: unknown): UsageError =>
    new UsageError(`${sync.name}: ${message}\n  defined at ${where}`, { next, cause });
  if (!hasColumns(path) && (field === undefined || column !== undefined)) {
    throw fail(
      `${path} has no named columns; use a .csv, .tsv or .jsonl file, or write for_each: { FIELD: { file: PATH } }`,
    );
  }
  const text = await readFile(path).catch((cause: unknown) => {
    throw fail(
      `${path} can't be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}); allowed is a readable file, with a path relative to the config's folder`,
      cause,
    );
  });
  const rows = formatted(path, text, fail);
  if (rows.length === 0) throw fail(`${path} contains no inputs; write at least one, or remove the sync`);
  return readRows(
    sync.name,
    rows,
    where,
    ({ line }, error) => `${path}:${hasHeader(path) && error instanceof ColumnError ? 1 : line}`,
    (row) => (field === undefined ? reader.row(row.value) : reader.field(field, row.value, column)),
  );
}

function formatted(path: string, text: string, fail: (message: string) => UsageError): InputRow[] {
  try {
    return rowsOfText(path, text);
  } catch (error) {
    if (error instanceof InputFormatError) throw fail(`${path}:${error.line}: ${error.message}`);
    throw error;
  }
}

async function queryRows(
  sync: InputsOf,
  { sql, field, where }: Extract<Outer, { from: 'query' }>,
  reader: RowReader,
  { query }: InputEffects,
): Promise<Input[]> {
  const found = await query(sql).catch((cause: unknown) => {
    if (!(cause instanceof UsageError)) throw cause;
    const { message, next = 'Fix the query; nothing was sent.' } = cause;
    throw new UsageError(`${sync.name}: ${message}\n  defined at ${where}`, { next, cause });
  });
  const rows = found.map((value, at): InputRow => ({ line: at + 1, value }));
  return readRows(
    sync.name,
    rows,
    where,
    ({ line }, error) => (error instanceof ColumnError ? 'the query' : `row ${line} of the query`),
    (row) => (field === undefined ? reader.row(row.value) : reader.field(field, row.value, undefined)),
  );
}

function readRows(
  name: string,
  rows: readonly InputRow[],
  where: string,
  positionOf: (row: InputRow, error: RowError) => string,
  read: (row: InputRow) => Input,
): Input[] {
  const inputs: Input[] = [];
  const complaints = rows.flatMap((row) =>
    complaint(
      () => inputs.push(read(row)),
      (error) => `${positionOf(row, error)}: ${error.message}`,
    ),
  );
  refuse(name, where, complaints);
  return inputs;
}

function complaint(act: () => unknown, describe: (error: RowError) => string): string[] {
  try {
    act();
    return [];
  } catch (error) {
    if (error instanceof RowError) return [describe(error)];
    throw error;
  }
}

function refuse(name: string, where: string, complaints: readonly string[]): void {
  if (complaints.length === 0) return;
  // An error in a header occurs in each row.
  const distinct = [...new Set(complaints)];
  const more = distinct.length - SHOWN;
  const shown = [...distinct.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].map((it) => `  ${it}`);
  throw new UsageError(
    `${name}: ${complaints.length === 1 ? 'an input is' : `${complaints.length} inputs are`} refused\n${shown.join('\n')}\n  defined at ${where}`,
    {
      next: 'Fix the inputs; nothing was sent.',
    },
  );
}
