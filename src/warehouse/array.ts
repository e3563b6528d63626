/** Postgres array literals: one text parameter a column, however many rows, on either driver. */

type Element = string | number | boolean | null;

/** The array literal of these elements, to be cast to an array of the column's type. */
export function arrayLiteral(elements: readonly Element[]): string {
  return `{${elements.map(elementOf).join(',')}}`;
}

const SPECIAL = /["\\]/g;

function elementOf(element: Element): string {
  if (element === null) return 'NULL';
  return typeof element === 'string' ? `"${element.replace(SPECIAL, '\\$&')}"` : String(element);
}
