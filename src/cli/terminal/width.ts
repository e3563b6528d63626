/** Measures, cuts and pads texts to columns of a terminal. East Asian characters of ambiguous width take one column. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** Loaded for the first text that is not ASCII, because its expressions take as long to build as the start of Node. */
let anyWidth: ((text: string) => number) | undefined;

/** The number of columns that the text takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  anyWidth ??= (require('string-width') as { readonly default: (text: string) => number }).default;
  return anyWidth(text);
}

/** Created at the first use, because that takes as long as the start of Node, and is rarely needed. */
let segmenter: Intl.Segmenter | undefined;
const graphemesOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** The text if it fits into the columns, otherwise its beginning and an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += widthOf(segment);
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
