/** Reads JSON without the key cache of `JSON.parse`, for texts whose keys it would confuse. */

const SEPARATORS = new Set([' ', '\t', '\n', '\r', ',', ':']);
const LITERALS = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
]);

/** The value of a text that is valid JSON. `numberOf` returns the value of a number. */
export function readJson(text: string, numberOf: (source: string) => unknown): unknown {
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
