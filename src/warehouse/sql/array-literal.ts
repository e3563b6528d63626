/** Postgres array literals: one text parameter a column, however many rows, on either driver. */

type Element = string | number | boolean | null;

/** The array literal of these elements, to be cast to an array of the column's type. */
export const arrayLiteral = (elements: readonly Element[]): string => arrayLiteralOf(elements, (it) => it);

/** The array literal of what each of these is in a column. */
export function arrayLiteralOf<T>(items: readonly T[], elementIn: (item: T) => Element): string {
  let literal = '{';
  let separator = '';
  for (const item of items) {
    literal += separator;
    literal += elementOf(elementIn(item));
    separator = ',';
  }
  return `${literal}}`;
}

const SPECIAL = /["\\]/g;

function elementOf(element: Element): string {
  if (element === null) return 'NULL';
  if (typeof element !== 'string') return String(element);
  // Hardly any text has such a letter, and a look is a tenth of the cost of a replacement.
  const isPlain = !element.includes('"') && !element.includes('\\');
  return isPlain ? `"${element}"` : `"${element.replace(SPECIAL, '\\$&')}"`;
}
