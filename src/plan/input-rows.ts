/** The rows of an input file: CSV with a header, JSON lines, or one value per line, as the file's extension says. */
import { numberAsWritten, parseJsonText } from '../service/read-json.ts';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

export interface InputRow {
  /** Counted from 1, header included. */
  readonly line: number;
  /** A mapping of columns, or the line's only value. */
  readonly value: unknown;
}

/** The file's content does not match its extension. */
export class InputFormatError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * The rows of a file's text, without blank lines, in blocks of about the size of the text's parts. Throws an
 * InputFormatError with the line number.
 */
export function rowsOfText(path: string, text: AsyncIterable<string>): AsyncGenerator<readonly InputRow[]> {
  const plain = withoutMark(text);
  switch (extname(path).toLowerCase()) {
    case '.csv':
      return csvRows(plain, ',');
    case '.tsv':
      return csvRows(plain, '\t');
    case '.jsonl':
    case '.ndjson':
      return jsonRows(plain);
    default:
      return lines(plain);
  }
}

/** True if the first row of the file names the columns. */
export const hasHeader = (path: string): boolean => ['.csv', '.tsv'].includes(extname(path).toLowerCase());

/** True if the rows of the file have named columns. */
export const hasColumns = (path: string): boolean =>
  hasHeader(path) || ['.jsonl', '.ndjson'].includes(extname(path).toLowerCase());

/** The text without its byte order mark. */
async function* withoutMark(text: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const part of text) {
    yield isFirst ? part.replace(/^\uFEFF/, '') : part;
    isFirst = false;
  }
}

interface Line extends InputRow {
  readonly value: string;
}

async function* lines(text: AsyncIterable<string>): AsyncGenerator<readonly Line[]> {
  let before = 0;
  let rest = '';
  const filled = (raw: readonly string[]): Line[] => {
    const rows = raw.flatMap((it, index) => (it.trim() === '' ? [] : [{ line: before + index + 1, value: it.trim() }]));
    before += raw.length;
    return rows;
  };
  for await (const part of text) {
    // A carriage return at the end of a part may belong to a line feed in the next.
    const raw = (rest + part).split(/\r\n|\n|\r(?!$)/);
    rest = raw.pop() ?? '';
    yield filled(raw);
  }
  yield filled(rest.split('\r'));
}

async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<readonly InputRow[]> {
  for await (const rows of lines(text)) yield rows.map(({ line, value }) => ({ line, value: jsonOf(value, line) }));
}

/** Numbers keep their source text, since an id above 2^53 would be rounded. */
function jsonOf(text: string, line: number): unknown {
  try {
    return parseJsonText(text, numberAsWritten);
  } catch (error) {
    throw new InputFormatError(
      line,
      `this line is not JSON (${(error as Error).message}); allowed is one JSON value per line`,
    );
  }
}

async function* csvRows(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<readonly InputRow[]> {
  let header: readonly string[] | undefined;
  for await (const records of recordsOf(text, delimiter)) {
    const first = header === undefined ? 1 : 0;
    header ??= headerOf(records);
    const names = header;
    yield records.slice(first).map(({ line, cells }) => {
      if (cells.length !== names.length)
        throw new InputFormatError(line, `${cells.length} cells found; the header names ${names.length}`);
      return { line, value: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])) };
    });
  }
}

function headerOf(records: readonly CsvRecord[]): readonly string[] {
  const header = records[0]?.cells.map((it) => it.trim()) ?? [];
  const twice = header.find((name, index) => header.indexOf(name) !== index);
  if (twice !== undefined) throw new InputFormatError(1, `the header names the column ${JSON.stringify(twice)} twice`);
  return header;
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Records in a block. */
const RECORDS = 1000;

async function* recordsOf(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<readonly CsvRecord[]> {
  const source = Readable.from(text);
  // Quoted cells keep their blanks. A tab that separates cells is no blank.
  const parser = parse({
    delimiter,
    recordDelimiter: ['\r\n', '\n', '\r'],
    info: true,
    relaxColumnCount: true,
    skipEmptyLines: true,
    trim: true,
  });
  source.on('error', (error) => parser.destroy(error));
  let block: CsvRecord[] = [];
  // The parser counts the lines to the end of a record, and a line break of two characters within a cell as two.
  let doubled = 0;
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<{
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }>) {
      doubled += breaksIn(record, /\r\n/g);
      if (isBlank(record)) continue;
      block.push({ line: info.lines - doubled - breaksIn(record, /\r\n|\n|\r/g), cells: record });
      if (block.length < RECORDS) continue;
      yield block;
      block = [];
    }
    if (block.length > 0) yield block;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InputFormatError(Number(error['lines'] ?? 1), `this is not CSV: ${error.message}`);
  } finally {
    source.destroy();
  }
}

const breaksIn = (cells: readonly string[], breaks: RegExp): number =>
  cells.reduce((sum, cell) => sum + (cell.match(breaks)?.length ?? 0), 0);

/** True for a line of commas alone, as spreadsheets write for a row without cells. */
const isBlank = (cells: readonly string[]): boolean => cells.length > 1 && cells.every((it) => it.trim() === '');
