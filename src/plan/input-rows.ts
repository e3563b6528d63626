/** The rows of an input file: CSV with a header, JSON lines, or one value per line, as the file's extension says. */
import { extname } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';

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

/** The rows of a file's text, without blank lines. Throws an InputFormatError with the line number. */
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

/** True if the first row of the file names the columns. */
export const hasHeader = (path: string): boolean => ['.csv', '.tsv'].includes(extname(path).toLowerCase());

/** True if the rows of the file have named columns. */
export const hasColumns = (path: string): boolean =>
  hasHeader(path) || ['.jsonl', '.ndjson'].includes(extname(path).toLowerCase());

function lines(text: string): { line: number; value: string }[] {
  return text
    .split(/\r\n|\n|\r/)
    .flatMap((raw, index) => (raw.trim() === '' ? [] : [{ line: index + 1, value: raw.trim() }]));
}

/** Numbers keep their source text, since an id above 2^53 would be rounded. */
function jsonOf(text: string, line: number): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
    ) as unknown;
  } catch (error) {
    throw new InputFormatError(
      line,
      `this line is not JSON (${(error as Error).message}); allowed is one JSON value per line`,
    );
  }
}

function csvRows(text: string, delimiter: string): InputRow[] {
  const records = recordsOf(text, delimiter);
  const header = records[0]?.cells.map((it) => it.trim());
  if (!header) return [];
  const twice = header.find((name, index) => header.indexOf(name) !== index);
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
    throw new InputFormatError(Number(error['lines'] ?? 1), `this is not CSV: ${error.message}`);
  }
}
