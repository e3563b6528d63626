/** Reads the inputs of a sync from lists, files and queries, and checks each before any request is sent. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { foundIn } from '../config/check.ts';
import { treeOfValue } from '../config/document/tree.ts';
import { UsageError } from '../errors.ts';
import { INPUT_AGE } from '../config/values/input-age.ts';
import { ColumnError, type Input, RowError, type RowReader, rowReader } from './input-row.ts';
import { hasColumns, hasHeader, InputFormatError, type InputRow, rowsOfText } from './input-rows.ts';
import { inBatches } from '../async/in-batches.ts';

export interface InputEffects {
  /** The text of a file in parts; throws if it cannot be read, and an InputFormatError if it is not UTF-8. */
  readonly readFile: (path: string) => AsyncIterable<string>;
  /** The rows of a read-only query on the warehouse, by column. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** The inputs of a sync. They may be read any number of times; files are read again each time. */
export interface Inputs {
  /** False if no input sets its own `max_age`. */
  readonly maySetAges: boolean;
  /**
   * The inputs with their fields, in blocks: one empty input without `for_each`, none if a query returns no rows. Throws a
   * UsageError that lists the rows which break the contract, with the value found and the allowed values. It is thrown
   * after the last row, so that it lists all of them; no block follows the first such row.
   */
  readonly blocks: () => AsyncGenerator<readonly Input[]>;
}

/** A limit for plans: more inputs are hard to review. */
const MOST_INPUTS = 1_000_000;
/** Inputs in a block, which is as much as one statement of a plan takes. */
const BLOCK = 1000;
/** The number of problems of one source that an error lists; the rest are counted. */
const SHOWN = 20;

type InputsOf = Pick<SyncDefinition, 'name' | 'endpoint' | 'request' | 'forEach' | 'window'>;

/** Opens the inputs of a sync; runs the queries among them. Throws a UsageError for a query or a file that fails. */
export async function openInputs(sync: InputsOf, effects: InputEffects): Promise<Inputs> {
  const sources: Inputs[] = [];
  for (const source of sync.forEach ?? []) sources.push(await openSource(sync, source, effects));
  return {
    maySetAges: sources.some((source) => source.maySetAges),
    blocks: () => complete(sync, sources),
  };
}

async function openSource(sync: InputsOf, source: InputSource, effects: InputEffects): Promise<Inputs> {
  switch (source.from) {
    case 'list': {
      const { rows, maxAgesMs } = source;
      const inputs = rows.map((fields, at): Input => ({ fields, maxAgeMs: maxAgesMs?.get(at) }));
      return { maySetAges: maxAgesMs !== undefined, blocks: () => blocksOf(inputs) };
    }
    case 'file':
      return openFile(sync, source, effects);
    case 'query':
      return openQuery(sync, source, effects);
  }
}

async function* blocksOf<T>(values: readonly T[]): AsyncGenerator<readonly T[]> {
  yield* inBatches(values, BLOCK);
}

const EMPTY: Input = { fields: {}, maxAgeMs: undefined };

/** The cross product of the sources, the first slowest, with each input checked for completeness. */
async function* complete(sync: InputsOf, [first, ...others]: readonly Inputs[]): AsyncGenerator<readonly Input[]> {
  const lists: (readonly Input[])[] = [];
  for (const source of others) lists.push((await Array.fromAsync(source.blocks())).flat());
  const size = lists.reduce((product, rows) => product * rows.length, 1);
  // A product that is too large is counted and refused without being built.
  const inner = size === 0 || size > MOST_INPUTS ? [] : productOf(lists);
  const reader = rowReader(sync);
  const problems = new Problems();
  let count = 0;
  let block: Input[] = [];
  for await (const rows of first ? first.blocks() : [[EMPTY]]) {
    const before = count;
    count += rows.length * size;
    if (count > MOST_INPUTS) continue;
    for (const [rowAt, row] of rows.entries())
      for (const [at, other] of inner.entries()) {
        const input = other === EMPTY ? row : both(row, other);
        problems.catch(
          () => reader.assertComplete(input.fields),
          ({ message }) => `input ${before + rowAt * size + at + 1}: ${message}`,
        );
        block.push(input);
        if (block.length < BLOCK) continue;
        if (!problems.some) yield block;
        block = [];
      }
  }
  if (count > MOST_INPUTS) {
    throw new UsageError(`${sync.name}: for_each makes ${count} inputs; at most ${MOST_INPUTS} are allowed`, {
      next: 'Split them into several syncs; nothing was sent.',
    });
  }
  problems.refuse(sync.name, placeOf(sync));
  if (block.length > 0) yield block;
}

/** Where the config defines the inputs. */
const placeOf = ({ forEach }: InputsOf): string => forEach?.[0]?.where ?? 'for_each';

const productOf = (lists: readonly (readonly Input[])[]): readonly Input[] =>
  lists.reduce((inner, rows) => inner.flatMap((input) => rows.map((row) => both(input, row))), [EMPTY]);

/** For a request of both inputs, the smaller age applies. */
const both = (one: Input, other: Input): Input => ({
  fields: { ...one.fields, ...other.fields },
  maxAgeMs:
    one.maxAgeMs === undefined || other.maxAgeMs === undefined
      ? (one.maxAgeMs ?? other.maxAgeMs)
      : Math.min(one.maxAgeMs, other.maxAgeMs),
});

async function openFile(
  sync: InputsOf,
  source: Extract<InputSource, { from: 'file' }>,
  { readFile }: InputEffects,
): Promise<Inputs> {
  const { path, where, field, column } = source;
  const next = `Fix the file or its name; nothing was sent for ${sync.name}.`;
  const fail = (message: string, cause?: unknown): UsageError =>
    new UsageError(`${sync.name}: ${message}\n  defined at ${where}`, { next, cause });
  if (/\.json$/i.test(path))
    throw fail(
      `${path} may be one JSON document; allowed is a .jsonl file with one JSON value per line, a .csv or a .tsv file, or text`,
    );
  if (!hasColumns(path) && (field === undefined || column !== undefined)) {
    throw fail(
      `${path} has no named columns; use a .csv, .tsv or .jsonl file, or write for_each: { FIELD: { file: PATH } }`,
    );
  }
  async function* text(): AsyncGenerator<string> {
    try {
      yield* source.read?.() ?? readFile(path);
    } catch (cause) {
      if (cause instanceof InputFormatError) throw cause;
      throw fail(
        `${path} can't be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}); allowed is a readable file, with a path relative to the folder of the config file that names it`,
        cause,
      );
    }
  }
  async function* rows(): AsyncGenerator<readonly InputRow[]> {
    try {
      yield* rowsOfText(path, text());
    } catch (error) {
      if (error instanceof InputFormatError) throw fail(`${path}:${error.line}: ${error.message}`);
      throw error;
    }
  }
  const first = await firstOf(rows());
  if (!first) throw fail(`${path} contains no inputs; write at least one, or remove the sync`);
  if (hasHeader(path) && field !== undefined && column === undefined) {
    const problem = headerProblem(path, field, first, rowReader(sync));
    if (problem !== undefined) throw fail(`${path}:1: ${problem}`);
  }
  return {
    // Every row of a file with a header has the same columns.
    maySetAges: hasHeader(path) ? hasAge(first) : hasColumns(path),
    blocks: () =>
      readRows(
        sync,
        source,
        rows(),
        ({ line }, error) => `${path}:${hasHeader(path) && error instanceof ColumnError ? 1 : line}`,
      ),
  };
}

async function firstOf<T>(blocks: AsyncIterable<readonly T[]>): Promise<T | undefined> {
  for await (const [first] of blocks) if (first !== undefined) return first;
  return undefined;
}

const hasAge = ({ value }: InputRow): boolean => Object.hasOwn(value as object, INPUT_AGE);

/** What shows that the first line of a file does not name its only column; undefined if it may name it. */
function headerProblem(path: string, field: string, { value }: InputRow, reader: RowReader): string | undefined {
  const [name, ...others] = Object.keys(value as object).filter((it) => it !== INPUT_AGE);
  if (name === undefined || others.length > 0) return undefined;
  const [otherSeparators, separators] = path.toLowerCase().endsWith('.tsv') ? [/[;,]/, 'tabs'] : [/[;\t]/, 'commas'];
  const found = foundIn(treeOfValue(name));
  if (otherSeparators.test(name))
    return `the header is ${found}, a single column; separate cells with ${separators}, or set column`;
  return reader.isValue(field, name)
    ? `the first line is ${found}, a value of ${field}; allowed is the name of the column`
    : undefined;
}

async function openQuery(
  sync: InputsOf,
  source: Extract<InputSource, { from: 'query' }>,
  { query }: InputEffects,
): Promise<Inputs> {
  const found = await query(source.sql).catch((cause: unknown) => {
    if (!(cause instanceof UsageError)) throw cause;
    const { message, next = 'Fix the query; nothing was sent.' } = cause;
    throw new UsageError(`${sync.name}: ${message}\n  defined at ${source.where}`, { next, cause });
  });
  const rows = found.map((value, at): InputRow => ({ line: at + 1, value }));
  return {
    maySetAges: rows.slice(0, 1).some(hasAge),
    blocks: () =>
      readRows(sync, source, blocksOf(rows), ({ line }, error) =>
        error instanceof ColumnError ? 'the query' : `row ${line} of the query`,
      ),
  };
}

async function* readRows(
  sync: InputsOf,
  source: Exclude<InputSource, { from: 'list' }>,
  rows: AsyncIterable<readonly InputRow[]>,
  positionOf: (row: InputRow, error: RowError) => string,
): AsyncGenerator<readonly Input[]> {
  const { field, where } = source;
  const column = source.from === 'file' ? source.column : undefined;
  const reader = rowReader(sync);
  const problems = new Problems();
  for await (const block of rows) {
    const inputs: Input[] = [];
    for (const row of block)
      problems.catch(
        () => inputs.push(field === undefined ? reader.row(row.value) : reader.field(field, row.value, column)),
        (error) => `${positionOf(row, error)}: ${error.message}`,
      );
    if (!problems.some) yield inputs;
  }
  problems.refuse(sync.name, where);
}

/** The rows that break the contract. */
class Problems {
  #count = 0;
  /** An error in a header occurs in each row. */
  readonly #distinct = new Set<string>();

  get some(): boolean {
    return this.#count > 0;
  }

  catch(act: () => unknown, describe: (error: RowError) => string): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      this.#count += 1;
      this.#distinct.add(describe(error));
    }
  }

  /** Throws a UsageError if there are problems. */
  refuse(name: string, where: string): void {
    if (!this.some) return;
    const distinct = [...this.#distinct];
    const more = distinct.length - SHOWN;
    const shown = [...distinct.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].map((it) => `  ${it}`);
    throw new UsageError(
      `${name}: ${this.#count === 1 ? 'an input is' : `${this.#count} inputs are`} refused\n${shown.join('\n')}\n  defined at ${where}`,
      {
        next: 'Fix the inputs; nothing was sent.',
      },
    );
  }
}
