/** Builds Postgres array literals: one text parameter per column for any number of rows, with either driver. */
import { sql } from 'kysely';

type Element = string | number | boolean | null;

/** The array literal of these elements. The statement casts it to an array of the column's type. */
export const arrayLiteral = (elements: readonly Element[]): string => arrayLiteralOf(elements, (it) => it);

/** SQL for comparisons such as `column = any(...)`: one of these values. */
export const anyBigint = (values: readonly Element[]) => sql<string>`any(${arrayLiteral(values)}::bigint[])`;
export const anyText = (values: readonly Element[]) => sql<string>`any(${arrayLiteral(values)}::text[])`;

/** The array literal of one element for each item. */
export function arrayLiteralOf<T>(items: readonly T[], elementIn: (item: T, index: number) => Element): string {
  let literal = '{';
  let separator = '';
  for (const [index, item] of items.entries()) {
    literal += separator;
    literal += elementOf(elementIn(item, index));
    separator = ',';
  }
  return `${literal}}`;
}

const SPECIAL = /["\\]/g;

function elementOf(element: Element): string {
  if (element === null) return 'NULL';
  if (typeof element !== 'string') return String(element);
  // Few texts contain these characters, and the test costs a tenth of a replacement.
  const isPlain = !element.includes('"') && !element.includes('\\');
  return isPlain ? `"${element}"` : `"${element.replace(SPECIAL, '\\$&')}"`;
}
