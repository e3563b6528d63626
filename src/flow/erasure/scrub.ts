/** Removes names from running text where they are words of their own. */

import { SHORTEST_TRACE, mayBeTraceAt } from '../../service/names/traces.ts';

/**
 * A dot ends a name at the end of a sentence and before an image file extension. Anywhere else the dot is part of the
 * name.
 */
const END = String.raw`(?![\p{L}\p{N}_]|-[\p{L}\p{N}]|\.(?!(?:jpe?g|png|webp|gif|html?)\b)[\p{L}\p{N}_])`;
const BEGIN = String.raw`(?<![\p{L}\p{N}_]|[\p{L}\p{N}][-.])`;

/**
 * Returns a function that replaces each of these names with the pseudonym. It ignores names of fewer than five letters.
 */
export function scrubberOf(names: readonly string[], pseudonym: string): (text: string) => string {
  const long = names.filter((it) => Array.from(it).length >= SHORTEST_TRACE).toSorted((a, b) => b.length - a.length);
  if (long.length === 0) return (text) => text;
  const any = `(?:${long.map((it) => RegExp.escape(it)).join('|')})`;
  // In addresses of posts a title follows the author's alias after an underscore.
  const pattern = new RegExp(`${BEGIN}${any}${END}|(?<=/)${any}(?=_)`, 'gu');
  return (text) =>
    long.some((name) => text.includes(name))
      ? text.replace(pattern, (name, start: number) =>
          mayBeTraceAt(text, start, start + name.length) ? pseudonym : name,
        )
      : text;
}

/** The text with its JSON escapes decoded. */
export const withoutEscapes = (text: string): string =>
  text.replaceAll(/\\u([0-9a-fA-F]{4})|\\(["\\/bfnrt])/g, (_, hex?: string, sign?: string) =>
    hex === undefined ? (CONTROLS[sign ?? ''] ?? sign ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
