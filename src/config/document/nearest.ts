/** The known name that a misspelled one was probably meant to be. */
import { closest, distance } from 'fastest-levenshtein';

/** The nearest of the names, or undefined when none is near enough to be meant. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  // Comparing costs the product of the lengths; no name is that long.
  if (names.length === 0 || name.length > 200) return undefined;
  const found = closest(name.toLowerCase(), names);
  return distance(name.toLowerCase(), found) <= Math.max(2, Math.floor(found.length / 3)) ? found : undefined;
}

/** Did you mean, and what is allowed, as the end of a message on an unknown name. */
export function insteadOf(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  const guess = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  const allowed = names.length === 0 ? 'none is allowed here' : `allowed: ${names.join(', ')}`;
  return `${guess}${guess === '' ? ';' : ''} ${allowed}`;
}
