/** Ends of texts. A regular expression would look at each run of the character once for each of its places. */

/** The text without the occurrences of this character at its end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
