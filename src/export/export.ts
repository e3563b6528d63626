/** Exports tables and views as files, or one of them as a stream of text. All rows are of one moment. */
import { join } from 'node:path';
import { TransientError, UsageError } from '../errors.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { readAtOneMoment } from '../warehouse/connect/query.ts';
import type { StreamText, TextResult } from '../warehouse/sql/read-only-session.ts';
import { replaceFiles } from './folder.ts';
import { encoderOf, type ExportFormat } from './formats.ts';
import { type ChosenTable, chosenTables, type TableChoice } from './tables.ts';

type ReadableWarehouse = Pick<Warehouse, 'schema' | 'session' | 'isRemote'>;

export interface ExportRequest extends Omit<TableChoice, 'schema'> {
  readonly format: ExportFormat;
}

export interface ExportEffects {
  readonly signal: AbortSignal;
  /** Called before each table with its position, which begins with 1. */
  readonly onTable?: (table: string, position: number, count: number) => void;
}

/** One written file. */
export interface ExportedFile {
  readonly table: string;
  /** The path below the folder as it was given. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Writes one file for each chosen table or view to the folder. The files appear together at the end. Throws a UsageError for
 * an unknown name and for a folder that cannot be written, and the errors of `readOnlyQuery`; then earlier files are unchanged.
 */
export async function exportToFolder(
  warehouse: ReadableWarehouse,
  folder: string,
  request: ExportRequest,
  { signal, onTable }: ExportEffects,
): Promise<readonly ExportedFile[]> {
  const encode = await encoderOf(request.format);
  return atOneMoment(warehouse, request, signal, (tables, stream) =>
    replaceFiles(folder, async (write) => {
      const files: ExportedFile[] = [];
      for (const { name, statement } of tables) {
        onTable?.(name, files.length + 1, tables.length);
        const file = fileOf(name, request.format);
        const rows = new CountedRows(stream(statement), signal);
        const bytes = await write(file, encode(rows, name));
        files.push({ table: name, path: join(folder, file), rows: rows.count, bytes });
      }
      return files;
    }),
  );
}

/**
 * Passes the text of the chosen tables to `write`, piece by piece, until that returns false. Throws the errors of
 * `exportToFolder`.
 */
export async function exportToStream(
  warehouse: ReadableWarehouse,
  request: ExportRequest,
  { signal }: ExportEffects,
  write: (piece: string) => Promise<boolean>,
): Promise<void> {
  const encode = await encoderOf(request.format);
  await atOneMoment(warehouse, request, signal, async (tables, stream) => {
    for (const { name, statement } of tables) {
      for await (const piece of encode(new CountedRows(stream(statement), signal), name))
        if (!(await write(String(piece)))) return;
    }
  });
}

async function atOneMoment<T>(
  warehouse: ReadableWarehouse,
  request: ExportRequest,
  signal: AbortSignal,
  work: (tables: readonly ChosenTable[], stream: StreamText) => Promise<T>,
): Promise<T> {
  try {
    return await readAtOneMoment(warehouse, { signal }, async (run, stream) =>
      work(await chosenTables(run, { ...request, schema: warehouse.schema }), stream),
    );
  } catch (error) {
    if (!(error instanceof TransientError) || warehouse.isRemote !== true) throw error;
    throw new TransientError(error.message, {
      next: 'Export fewer tables at a time, or export when the process that owns the warehouse has ended.',
      cause: error,
    });
  }
}

/** The name of the file. A table may have any name, also one that would lead out of the folder. */
function fileOf(table: string, format: ExportFormat): string {
  if (!/[/\\]/.test(table)) return `${table}.${format}`;
  throw new UsageError(`export: ${table} can’t be the name of a file.`, {
    next: 'Export a view of the table instead.',
  });
}

/** The parts of a result. It counts their rows, and ends when the signal aborts. */
class CountedRows implements AsyncIterable<TextResult> {
  readonly #parts: AsyncIterable<TextResult>;
  readonly #signal: AbortSignal;
  count = 0;

  constructor(parts: AsyncIterable<TextResult>, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TextResult, void> {
    for await (const part of this.#parts) {
      this.#signal.throwIfAborted();
      this.count += part.rows.length;
      yield part;
    }
  }
}
