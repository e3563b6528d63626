/** The formats of exported tables. */
import type { TextResult } from '../warehouse/sql/read-only-session.ts';

/**
 * Turns the parts of a result into the bytes or the text of a file, piece by piece. A piece must be written before the next one
 * is taken. Errors name the table. A result without rows gives a valid file with its columns.
 */
export type Encode = (parts: AsyncIterable<TextResult>, table: string) => AsyncIterable<string | Uint8Array>;

export const FORMATS = ['parquet', 'csv', 'jsonl'] as const;
/** The name of a format, which is also the ending of its files. */
export type ExportFormat = (typeof FORMATS)[number];

/** The function that writes the format. Modules of other formats are not loaded. */
export async function encoderOf(format: ExportFormat): Promise<Encode> {
  if (format === 'parquet') return (await import('./parquet.ts')).toParquet;
  const { toCsv, toJsonLines } = await import('./text-rows.ts');
  return format === 'csv' ? toCsv : toJsonLines;
}
