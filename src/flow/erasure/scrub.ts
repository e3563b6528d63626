/** Takes names out of running text, where they stand as words of their own. */

/** Shorter texts are words of many languages and parts of many numbers. */
export const SHORTEST = 5;

/** A dot ends a name at the end of a sentence and before the ending of a picture's file, and is inside it anywhere else. */
const END = String.raw`(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|\.(?!(?:jpe?g|png|webp|gif|html?)\b)[\p{L}\p{N}_])`;
const BEGIN = String.raw`(?<![\p{L}\p{N}_]|[\p{L}\p{N}][-.])`;

/** A function that puts the pseudonym in the place of each of these names; names of fewer than five letters are left. */
export function scrubberOf(names: readonly string[], pseudonym: string): (text: string) => string {
  const long = names.filter((it) => Array.from(it).length >= SHORTEST).toSorted((a, b) => b.length - a.length);
  if (long.length === 0) return (text) => text;
  const pattern = new RegExp(`${BEGIN}(?:${long.map((it) => RegExp.escape(it)).join('|')})${END}`, 'gu');
  return (text) => (long.some((name) => text.includes(name)) ? text.replace(pattern, () => pseudonym) : text);
}
