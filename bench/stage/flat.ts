/**
 * Items as flat rows, for peers that cannot read nested ones: a stream for the items and one for each of their lists, whose
 * rows have the item's key and the position. These peers do not have to normalize.
 */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Workload } from './workload.ts';

type Value = string | number | boolean | null;
type FlatRow = Readonly<Record<string, Value>>;

/** The rows of one table. */
export interface Stream {
  readonly name: string;
  readonly key: readonly string[];
  readonly rows: FlatRow[];
  /** The JSON type of each column over all rows. */
  readonly columns: Map<string, 'string' | 'integer' | 'number' | 'boolean'>;
}

/** Receives a row of the stream with this name and key. */
export type PutRow = (name: string, key: readonly string[], row: FlatRow) => void;

/** All answers of a workload as streams. A later row with the same key replaces an earlier one. */
export function streamsOf(workload: Workload): Stream[] {
  const streams = new Map<string, Stream & { readonly seen: Map<string, FlatRow> }>();
  const put: PutRow = (name, key, row) => {
    const stream = streams.get(name) ?? { name, key, rows: [], columns: new Map(), seen: new Map() };
    streams.set(name, stream);
    stream.seen.set(JSON.stringify(key.map((it) => row[it])), row);
    for (const [column, value] of Object.entries(row)) note(stream, column, value);
  };
  for (let index = 0; index < workload.answers; index += 1) flattenItems(workload, workload.items(index), put);
  return [...streams.values()].map(({ seen, ...stream }) => ({ ...stream, rows: [...seen.values()] }));
}

/** Passes the rows of the items and of all their lists to `put`. */
export function flattenItems(
  { name, key }: Pick<Workload, 'name' | 'key'>,
  items: readonly unknown[],
  put: PutRow,
): void {
  for (const item of items) flatten({ name, key, parent: {} }, item, put);
}

interface ListContext extends Pick<Stream, 'name' | 'key'> {
  /** The columns that identify the owner of the row. */
  readonly parent: FlatRow;
}

function flatten({ name, key, parent }: ListContext, value: unknown, put: PutRow): void {
  const row: Record<string, Value> = { ...parent };
  const lists: [string, readonly unknown[]][] = [];
  fill(row, lists, '', isObject(value) ? value : { value });
  put(name, key, row);
  // Elements may have fields of the same names as the key.
  const own = Object.fromEntries(key.map((it) => [`of_${it}`, row[it] ?? null]));
  const keyOfElements = [...Object.keys(own), 'of_position'];
  for (const [path, list] of lists)
    list.forEach((element, at) =>
      flatten({ name: `${name}_${path}`, key: keyOfElements, parent: { ...own, of_position: at } }, element, put),
    );
}

function fill(
  row: Record<string, Value>,
  lists: [string, readonly unknown[]][],
  prefix: string,
  value: Readonly<Record<string, unknown>>,
): void {
  for (const [field, inner] of Object.entries(value)) {
    if (field === '@type') continue;
    const name = prefix + field;
    if (Array.isArray(inner)) lists.push([name, inner]);
    else if (isObject(inner)) fill(row, lists, `${name}_`, inner);
    else row[name] = inner as Value;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function note({ columns }: Stream, column: string, value: Value): void {
  const known = columns.get(column);
  if (value === null) {
    if (known === undefined) columns.set(column, 'string');
    return;
  }
  const kind = typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
  // A column that has only nulls so far is text until a value shows its type.
  if (known === undefined || known === 'string' || (known === 'integer' && kind === 'number'))
    columns.set(column, kind as 'string' | 'integer' | 'number' | 'boolean');
}

/** Writes lines into a file. */
export const writeLines = (path: string, lines: Iterable<string>): Promise<void> =>
  pipeline(lines, withEnds, createWriteStream(path));

async function* withEnds(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
