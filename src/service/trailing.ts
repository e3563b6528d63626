/** Trimming of ends. A regular expression takes quadratic time on long runs of the character. */

/** The text without this character at its end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
