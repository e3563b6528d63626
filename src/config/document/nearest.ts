/** Finds the known name that a misspelled name probably means. */
import { closest, distance } from 'fastest-levenshtein';

/** No name is that long. The cost of a comparison is the product of the lengths. */
const LONGEST = 200;

/** The nearest of the names, or undefined if none is similar enough. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || name.length > LONGEST) return undefined;
  const found = closest(name.toLowerCase(), names);
  return distance(name.toLowerCase(), found) <= Math.max(2, Math.floor(found.length / 3)) ? found : undefined;
}

/** Few enough for a message. */
const MOST_NAMES = 5;

/** The names that are most similar to the name, or one of whose words is, best first. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  if (wanted === '' || wanted.length > LONGEST) return [];
  return names
    .map((known) => ({ known, difference: differenceOf(wanted, known.toLowerCase()) }))
    .filter(({ known, difference }) => difference <= 1 / 3 || distance(wanted, known.toLowerCase()) <= 2)
    .toSorted((a, b) => (a.difference === b.difference ? a.known.length - b.known.length : a.difference - b.difference))
    .slice(0, MOST_NAMES)
    .map(({ known }) => known);
}

/** Shorter texts occur in any name. */
const LEAST_PART = 3;

/** The share of characters that differ from the name, or from its nearest word; 0 if the name contains the wanted text. */
const differenceOf = (wanted: string, known: string): number =>
  wanted.length >= LEAST_PART && known.includes(wanted)
    ? 0
    : Math.min(...[known, ...known.split(/[._]/)].map((it) => distance(wanted, it) / Math.max(it.length, 1)));

/** The end of a message about an unknown name: a suggestion and the allowed names. */
export function insteadOf(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const guess = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  const allowed = names.length === 0 ? 'none is allowed here' : `allowed: ${names.join(', ')}`;
  return `${guess}${guess === '' ? ';' : ''} ${allowed}`;
}
