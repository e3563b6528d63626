/** Parses JSON as `JSON.parse` does, but never takes a key for another one. */

/** The source of a number, as `JSON.parse` reports it. */
export interface NumberSource {
  readonly source?: string;
}

type Reviver = (key: string, value: unknown, context?: NumberSource) => unknown;

/** Keeps each number as raw JSON, so that it prints with the digits of the source. */
export const numberAsWritten: Reviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;

/**
 * Matches texts with an escape in a key. `JSON.parse` of Node 24 compares such a key, undecoded, with a key that an
 * earlier object had in its place, and takes the earlier one: after a key `\`, the key `"` becomes `\`
 * (https://github.com/nodejs/node/issues/63785).
 */
const HAS_ESCAPED_KEY = /\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*"\s*:/;

/** The value of a JSON text; `reviver` may replace numbers. Throws what `JSON.parse` throws. */
export function parseJsonText(text: string, reviver: Reviver | undefined): unknown {
  const value: unknown = reviver ? JSON.parse(text, reviver) : JSON.parse(text);
  if (!HAS_ESCAPED_KEY.test(text)) return value;
  return readJson(text, (source) => (reviver ? reviver('', Number(source), { source }) : Number(source)));
}

const SEPARATORS = new Set([' ', '\t', '\n', '\r', ',', ':']);
const LITERALS = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
]);

/** The value of a text that is valid JSON. `numberOf` returns the value of a number. */
function readJson(text: string, numberOf: (source: string) => unknown): unknown {
  let at = 0;
  const next = (): string | undefined => {
    while (SEPARATORS.has(text.charAt(at))) at++;
    return text[at];
  };
  const string = (): string => {
    const start = at++;
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    return JSON.parse(text.slice(start, ++at)) as string;
  };
  const value = (): unknown => {
    const first = next();
    if (first === '"') return string();
    if (first === '[') {
      const items: unknown[] = [];
      for (at++; next() !== ']'; ) items.push(value());
      at++;
      return items;
    }
    if (first === '{') {
      const entries: [key: string, value: unknown][] = [];
      for (at++; next() !== '}'; ) entries.push([string(), value()]);
      at++;
      return Object.fromEntries(entries);
    }
    const start = at;
    while (at < text.length && !SEPARATORS.has(text.charAt(at)) && text[at] !== ']' && text[at] !== '}') at++;
    const literal = text.slice(start, at);
    return LITERALS.has(literal) ? LITERALS.get(literal) : numberOf(literal);
  };
  return value();
}
