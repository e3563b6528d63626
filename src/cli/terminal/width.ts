/** Measures texts in columns of a terminal, and cuts and pads them. */

/** Created at the first use, because that takes as long as the start of Node, and is rarely needed. */
let segmenter: Intl.Segmenter | undefined;
const graphemesOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** Scripts whose characters take two columns, and the full-width forms of others. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{fe0f}]/u;
/** Characters without a width: combining marks, and characters that join or separate others. */
const NOTHING = /^[\p{M}\p{Cf}]+$/u;
/** Texts whose characters all take one column. Most cells match, and avoid the slower measurement. */
const NARROW = /^[\x20-\x7e]*$/;

const widthOfGrapheme = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : NOTHING.test(grapheme) ? 0 : 1);

/** The number of columns of the text. Assumed: East Asian characters of ambiguous width take one column. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  return Array.from(graphemesOf(text), ({ segment }) => widthOfGrapheme(segment)).reduce((sum, it) => sum + it, 0);
}

/** The text if it fits into the columns, otherwise its beginning and an ellipsis. */
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

/** The text, padded with spaces to the number of columns; for `right`, the spaces come first. */
export function pad(text: string, columns: number, side: 'left' | 'right'): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return side === 'right' ? spaces + text : text + spaces;
}
