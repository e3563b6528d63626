/** How many columns of a terminal a text takes, and the text cut to fit them. */

/** Made when it is needed, which it seldom is: it takes as long to make as Node takes to start. */
let segmenter: Intl.Segmenter | undefined;
const graphemesOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** Scripts whose characters take two columns, and the full-width forms of others. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{fe0f}]/u;
/** What takes no column of its own: marks that combine, and characters that only join or part others. */
const NOTHING = /^[\p{M}\p{Cf}]+$/u;
/** Every character takes one column: spares the text of most cells the slower way. */
const NARROW = /^[\x20-\x7e]*$/;

const widthOfGrapheme = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : NOTHING.test(grapheme) ? 0 : 1);

/** Columns that the text takes on a terminal. Assumed: East Asian characters of ambiguous width take one. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  return Array.from(graphemesOf(text), ({ segment }) => widthOfGrapheme(segment)).reduce((sum, it) => sum + it, 0);
}

/** The text, or its beginning and an ellipsis when it takes more columns than that. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += widthOfGrapheme(segment);
    if (used > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text with spaces up to that many columns, before it for `right`. */
export function pad(text: string, columns: number, side: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return side === 'right' ? spaces + text : text + spaces;
}
