/** Reads the inputs of a sync, from lists, files and queries, and checks each before anything is spent. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { UsageError } from '../errors.ts';
import { ColumnError, type Input, RowError, type RowReader, rowReader } from './input-row.ts';
import { hasColumns, hasHeader, InputFormatError, type InputRow, rowsOfText } from './input-rows.ts';

export interface InputEffects {
  /** The text of a file; rejects when there is none. */
  readonly readFile: (path: string) => Promise<string>;
  /** The rows of a read-only query on the warehouse, by column. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** More would not fit a plan that people read, nor most memories. */
const MOST_INPUTS = 1_000_000;
/** Problems of one source that are told; the count of the rest is. */
const SHOWN = 20;

type Asks = Pick<SyncDefinition, 'name' | 'endpoint' | 'request' | 'forEach' | 'window'>;

/**
 * The inputs of a sync with the fields that each brings: an empty one without `for_each`, none when a query gives no rows.
 * Throws a UsageError that names the rows which break the contract, with the value found and what is allowed.
 */
export async function readInputs(sync: Asks, effects: InputEffects): Promise<Input[]> {
  let inputs: Input[] = [{ fields: {}, maxAgeMs: undefined }];
  for (const source of sync.forEach ?? []) {
    const rows = source.from === 'list' ? listRows(source) : await rowsOf(sync, source, effects);
    if (inputs.length * rows.length > MOST_INPUTS) {
      throw new UsageError(
        `${sync.name}: for_each makes ${inputs.length * rows.length} inputs; at most ${MOST_INPUTS} are allowed`,
        { next: 'Divide them among several syncs; nothing was sent.' },
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

/** Of two ages the smaller holds for what is asked by both. */
const both = (one: Input, other: Input): Input => ({
  fields: { ...one.fields, ...other.fields },
  maxAgeMs:
    one.maxAgeMs === undefined || other.maxAgeMs === undefined
      ? (one.maxAgeMs ?? other.maxAgeMs)
      : Math.min(one.maxAgeMs, other.maxAgeMs),
});

type Outer = Exclude<InputSource, { from: 'list' }>;

async function rowsOf(sync: Asks, source: Outer, effects: InputEffects): Promise<Input[]> {
  const reader = rowReader(sync);
  return source.from === 'file' ? fileRows(sync, source, reader, effects) : queryRows(sync, source, reader, effects);
}

async function fileRows(
  sync: Asks,
  source: Extract<Outer, { from: 'file' }>,
  reader: RowReader,
  { readFile }: InputEffects,
): Promise<Input[]> {
  const { path, where, field, column } = source;
  const next = `Mend the file or its name; nothing was sent for ${sync.name}.`;
  const fail = (message: string, cause?: unknown): UsageError =>
    new UsageError(`${sync.name}: ${message}\n  named at ${where}`, { next, cause });
  if (!hasColumns(path) && (field === undefined || column !== undefined)) {
    throw fail(
      `${path} has no named columns; name a .csv, .tsv or .jsonl file, or write for_each: { FIELD: { file: PATH } }`,
    );
  }
  const text = await readFile(path).catch((cause: unknown) => {
    throw fail(
      `${path} can't be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown trouble'}); allowed is a file, its path taken from the config's folder`,
      cause,
    );
  });
  const rows = formatted(path, text, fail);
  if (rows.length === 0) throw fail(`${path} holds no inputs; write at least one, or remove the sync`);
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
  sync: Asks,
  { sql, field, where }: Extract<Outer, { from: 'query' }>,
  reader: RowReader,
  { query }: InputEffects,
): Promise<Input[]> {
  const found = await query(sql).catch((cause: unknown) => {
    if (!(cause instanceof UsageError)) throw cause;
    const { message, next = 'Mend the query; nothing was sent.' } = cause;
    throw new UsageError(`${sync.name}: ${message}\n  asked for at ${where}`, { next, cause });
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
  place: (row: InputRow, error: RowError) => string,
  read: (row: InputRow) => Input,
): Input[] {
  const inputs: Input[] = [];
  const complaints = rows.flatMap((row) =>
    complaint(
      () => inputs.push(read(row)),
      (error) => `${place(row, error)}: ${error.message}`,
    ),
  );
  refuse(name, where, complaints);
  return inputs;
}

function complaint(act: () => unknown, worded: (error: RowError) => string): string[] {
  try {
    act();
    return [];
  } catch (error) {
    if (error instanceof RowError) return [worded(error)];
    throw error;
  }
}

function refuse(name: string, where: string, complaints: readonly string[]): void {
  if (complaints.length === 0) return;
  // What is wrong with a header is wrong for each row.
  const told = [...new Set(complaints)];
  const more = told.length - SHOWN;
  const shown = [...told.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].map((it) => `  ${it}`);
  throw new UsageError(
    `${name}: ${complaints.length === 1 ? 'an input is' : `${complaints.length} inputs are`} refused\n${shown.join('\n')}\n  asked for at ${where}`,
    {
      next: 'Mend the inputs; nothing was sent.',
    },
  );
}
