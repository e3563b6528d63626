/**
 * Makes text safe for a terminal. Characters that move the cursor, set colours or change the text direction are shown
 * as symbols.
 */

/**
 * Control characters of both sets, marks that change the text direction, separators that break lines, and lone
 * surrogates.
 */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\p{Cs}]/gu;

/** The text on one line, with a symbol or code point for every character that a terminal would interpret. */
export const escapeControls = (text: string): string => text.replace(HARMFUL, shown);

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The same JSON, with the characters that a terminal would interpret escaped. Its meaning does not change. */
export const escapeJsonControls = (json: string): string =>
  json.replace(HARMFUL, (character) =>
    character === '\n' ? character : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
