/**
 * Identifies an entity by a hash of 8 bytes, which the program computes for an answer, and the database for a row. A
 * hash is no key: of 10 million entities, two share one with a probability of 3 in a million.
 */
import { hash } from 'node:crypto';
import { literal, quoted } from '../sql/identifiers.ts';
import type { RootTable } from './table-types.ts';

/** Whether an answer contains the entity as an item, or inside another entity. */
export type Place = 'item' | 'nested';

const SEPARATORS: Readonly<Record<Place, string>> = { item: '/', nested: '>' };

/** Bytes of a hash. */
export const HASH_BYTES = 8;

/** SQL for the hashes that a value contains one after the other, as a query with one column. */
export const hashesIn = (value: string): string =>
  `select substring(${value} from ${HASH_BYTES} * i + 1 for ${HASH_BYTES}) from generate_series(0, octet_length(${value}) / ${HASH_BYTES} - 1) as i`;

/** The hash of an entity in hex, from the id of its row. */
export const hashOfEntity = (table: Pick<RootTable, 'name' | 'key'>, place: Place, id: string): string =>
  hash('sha256', entityText(table, place, id), 'hex').slice(0, 2 * HASH_BYTES);

/** The text of an entity. Each part of a key except the last is preceded by its length. */
function entityText({ name, key }: Pick<RootTable, 'name' | 'key'>, place: Place, id: string): string {
  let text = name + SEPARATORS[place];
  let start = 0;
  for (let index = 1; index < key.length; index += 1) {
    const end = id.indexOf('\0', start);
    const part = id.slice(start, end);
    text += `${Buffer.byteLength(part)}:${part}`;
    start = end + 1;
  }
  return text + id.slice(start);
}

/** SQL for the hash of an entity; `columnOf` returns the SQL of a key column. */
export function entityHashSql(
  { name, key }: Pick<RootTable, 'name' | 'key'>,
  place: Place,
  columnOf: (name: string) => string = (column) => `t.${quoted(column)}`,
): string {
  const parts = key.flatMap((column, index) => {
    const text = `${columnOf(column)}::text`;
    return index < key.length - 1 ? [`octet_length(${text})`, `':'`, text] : [text];
  });
  const text = [literal(name + SEPARATORS[place]), ...parts].join(' || ');
  return `substring(sha256(convert_to(${text}, 'UTF8')) from 1 for ${HASH_BYTES})`;
}
