/** Limits answers to what a model can read. */
import type { QueryResult } from '../warehouse/connect/query.ts';
import type { ToolAnswer } from './tool.ts';

/** The most rows that a call may request. */
export const MOST_ROWS = 1000;
/** Characters of all rows as JSON. Longer answers would fill the context of a model, or be refused by its client. */
const MOST_CHARACTERS = 100_000;
/** Elements of a list in a result without rows. */
const MOST_ELEMENTS = 200;

/** The first rows that fit the limits, with a note if there are more. */
export function limitRows({ columns, rows }: QueryResult, limit: number): ToolAnswer {
  let characters = 0;
  const tooLong = rows.findIndex((row) => {
    characters += JSON.stringify(row).length;
    return characters > MOST_CHARACTERS;
  });
  const shown = rows.slice(0, tooLong < 0 ? limit : Math.min(limit, tooLong));
  const note = shown.length < rows.length ? rowsNote(shown.length, limit) : undefined;
  return { result: { columns, rows: shown }, note };
}

const rowsNote = (count: number, limit: number): string =>
  count === limit
    ? `Only the first ${count} rows are here, and there are more. Aggregate, add a condition, or raise limit (at most ${MOST_ROWS}).`
    : `Only the first ${count} rows are here, because together they may have ${MOST_CHARACTERS} characters. Select fewer columns, or parts of long texts with left(column, 200).`;

/** The result with the first elements of each of its lists, with a note on those that have more. */
export function limitLists(result: object): ToolAnswer {
  const long = Object.entries(result).filter(
    (entry): entry is [string, readonly unknown[]] => Array.isArray(entry[1]) && entry[1].length > MOST_ELEMENTS,
  );
  if (long.length === 0) return { result };
  const lists = long.map(([name, { length }]) => `${name} (of ${length})`).join(', ');
  return {
    result: { ...result, ...Object.fromEntries(long.map(([name, list]) => [name, list.slice(0, MOST_ELEMENTS)])) },
    note: `Only the first ${MOST_ELEMENTS} elements are here of: ${lists}. Use query for the others.`,
  };
}
