/** Makes text harmless to a terminal: what would move the cursor, colour the screen or turn the line round is shown instead. */

/**
 * Control characters of both sets, the marks that reverse the direction of writing, the separators that break lines, and
 * halves of characters.
 */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\p{Cs}]/gu;

/** The text on one line, every character that a terminal would obey written as a picture or a code point. */
export const escapeControls = (text: string): string => text.replace(HARMFUL, shown);

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The same JSON, with the characters that a terminal would obey escaped; its meaning does not change. */
export const escapeJsonControls = (json: string): string =>
  json.replace(HARMFUL, (character) =>
    character === '\n' ? character : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
