/** Writes rows as Parquet, one row group at a time. */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { TextResult } from '../warehouse/sql/read-only-session.ts';
import { type ParquetColumn, parquetColumn } from './parquet-columns.ts';

/**
 * Limits of a row group. It is in memory until it is complete, and an owner of an embedded warehouse waits while it is
 * compressed.
 */
const GROUP_VALUES = 2 ** 20;
const GROUP_CHARACTERS = 16 * 2 ** 20;

/** A Parquet file, compressed with Snappy. A piece is valid only until the next one is taken. */
export async function* toParquet(parts: AsyncIterable<TextResult>, table: string): AsyncGenerator<Uint8Array, void> {
  const bytes = new ByteWriter();
  let file: ParquetFile | undefined;
  for await (const { fields, rows } of parts) {
    file ??= new ParquetFile(
      bytes,
      fields.map((it) => parquetColumn(table, it)),
    );
    for (const row of rows) file.add(row);
    if (!file.isGroupFull()) continue;
    await file.endGroup();
    yield bytes.getBytes();
    bytes.index = 0;
  }
  await file?.end();
  yield bytes.getBytes();
}

class ParquetFile {
  readonly #columns: readonly ParquetColumn[];
  readonly #writer: ParquetWriter;
  #values: unknown[][] = [];
  #rows = 0;
  #characters = 0;

  constructor(writer: ByteWriter, columns: readonly ParquetColumn[]) {
    this.#columns = columns;
    this.#writer = new ParquetWriter({ writer, schema: this.#schemaOf(({ encoded }) => encoded) });
    this.#startGroup();
  }

  add(row: TextResult['rows'][number]): void {
    for (const [index, { read }] of this.#columns.entries()) {
      const text = row[index] ?? null;
      this.#values[index]?.push(text === null ? null : read(text));
      this.#characters += text?.length ?? 0;
    }
    this.#rows += 1;
  }

  isGroupFull(): boolean {
    return this.#rows * this.#columns.length >= GROUP_VALUES || this.#characters >= GROUP_CHARACTERS;
  }

  async endGroup(): Promise<void> {
    const columnData = this.#columns.map(({ element: { name }, hasStatistics: statistics }, index) => ({
      name,
      data: this.#values[index] ?? [],
      statistics,
    }));
    await this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#startGroup();
  }

  async end(): Promise<void> {
    if (this.#rows > 0) await this.endGroup();
    this.#writer.schema = this.#schemaOf(({ element }) => element);
    await this.#writer.finish();
  }

  #schemaOf(elementOf: (column: ParquetColumn) => SchemaElement): SchemaElement[] {
    return [{ name: 'schema', num_children: this.#columns.length }, ...this.#columns.map(elementOf)];
  }

  #startGroup(): void {
    this.#values = this.#columns.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
  }
}
