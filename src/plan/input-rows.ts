/** The rows of a file of inputs: CSV with a header, JSON lines, or one value a line; told by the file's extension. */
import { extname } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';

export interface InputRow {
  /** From 1, the header included. */
  readonly line: number;
  /** A mapping of columns, or the line's only value. */
  readonly value: unknown;
}

/** A file that can't be read as what its name says. */
export class InputFormatError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** The rows of a file's text; throws an InputFormatError with the line at fault. Blank lines are no rows. */
export function rowsOfText(path: string, text: string): InputRow[] {
  const plain = text.replace(/^\uFEFF/, '');
  switch (extname(path).toLowerCase()) {
    case '.csv':
      return csvRows(plain, ',');
    case '.tsv':
      return csvRows(plain, '\t');
    case '.jsonl':
    case '.ndjson':
      return lines(plain).map(({ line, value }) => ({ line, value: jsonOf(value, line) }));
    default:
      return lines(plain);
  }
}

/** True of a file whose first row names the columns of all. */
export const hasHeader = (path: string): boolean => ['.csv', '.tsv'].includes(extname(path).toLowerCase());

/** True of a file whose rows have named columns. */
export const hasColumns = (path: string): boolean =>
  hasHeader(path) || ['.jsonl', '.ndjson'].includes(extname(path).toLowerCase());

function lines(text: string): { line: number; value: string }[] {
  return text.split(/\r\n|\n|\r/).flatMap((it, at) => (it.trim() === '' ? [] : [{ line: at + 1, value: it.trim() }]));
}

/** Numbers keep their source text: an id beyond 2^53 would be rounded. */
function jsonOf(text: string, line: number): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
    ) as unknown;
  } catch (error) {
    throw new InputFormatError(
      line,
      `this line is no JSON (${(error as Error).message}); allowed is one JSON value a line`,
    );
  }
}

function csvRows(text: string, delimiter: string): InputRow[] {
  const records = recordsOf(text, delimiter);
  const header = records[0]?.cells.map((it) => it.trim());
  if (!header) return [];
  const twice = header.find((name, at) => header.indexOf(name) !== at);
  if (twice !== undefined) throw new InputFormatError(1, `the header names the column ${JSON.stringify(twice)} twice`);
  return records.slice(1).map(({ line, cells }) => {
    if (cells.length !== header.length) {
      throw new InputFormatError(line, `${cells.length} cells found; the header names ${header.length}`);
    }
    return { line, value: Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ''])) };
  });
}

function recordsOf(text: string, delimiter: string): { line: number; cells: readonly string[] }[] {
  try {
    const records = parse(text, {
      delimiter,
      info: true,
      relaxColumnCount: true,
      skipEmptyLines: true,
    }) as unknown as readonly {
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }[];
    return records.map(({ record, info }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InputFormatError(Number(error['lines'] ?? 1), `this is no CSV: ${error.message}`);
  }
}
