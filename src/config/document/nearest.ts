/** Finds the known name that a misspelled name probably means. */
import { closest, distance } from 'fastest-levenshtein';

/** The nearest of the names, or undefined if none is similar enough. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  // The cost of a comparison is the product of the lengths, and no name is that long.
  if (names.length === 0 || name.length > 200) return undefined;
  const found = closest(name.toLowerCase(), names);
  return distance(name.toLowerCase(), found) <= Math.max(2, Math.floor(found.length / 3)) ? found : undefined;
}

/** The end of a message about an unknown name: a suggestion and the allowed names. */
export function insteadOf(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const guess = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  const allowed = names.length === 0 ? 'none is allowed here' : `allowed: ${names.join(', ')}`;
  return `${guess}${guess === '' ? ';' : ''} ${allowed}`;
}
