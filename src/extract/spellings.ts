/** Finds a secret in what a service answers, however it is written there. */

/** Shorter ones are no secret worth the name, and taking them out would shred every text. */
const SHORTEST = 4;

/**
 * The text without the secret: as it is, in any case of letters, or with any of its characters escaped as JSON, URLs and
 * web pages do, once or again. It is to be taken out of an answer before anything is cut: half of it would not be known.
 */
export function removalOf(secret: string, instead: string): (text: string) => string {
  if (secret.length < SHORTEST) return (text) => text;
  const pattern = new RegExp(Array.from(secret, spellingsOf).join(''), 'gi');
  return (text) => text.replace(pattern, () => instead);
}

function spellingsOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const own = RegExp.escape(character);
  // `\/` and `\"` are of JSON too, `%252f` is of a URL within a URL.
  const escaped = /\w/.test(character) ? own : `\\\\*${own}`;
  return `(?:${escaped}|\\\\+u00${hex}|%(?:25)*${hex}|&#0*${code};|&#x0*${hex};)`;
}
