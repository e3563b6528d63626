/** Variables in scalars: `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, and `$$` for a dollar sign. */

export type TemplatePart = string | Variable;
export interface Variable {
  readonly name: string;
  /** The text used if the variable is unset or empty. It may contain variables. */
  readonly fallback?: readonly TemplatePart[];
  /** The message to report if the variable is unset or empty. */
  readonly message?: string;
}

/** The reason why a text is not a well-formed template. */
export interface Malformed {
  readonly malformed: string;
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const FORMS = 'allowed are ${VAR}, ${VAR:-default} and ${VAR:?message}; write a literal dollar sign as $$';
const UNCLOSED = `a variable is not closed by }; ${FORMS}`;

/** The parts of a scalar's text. A text without variables has one part. */
export function parseTemplate(text: string): readonly TemplatePart[] | Malformed {
  try {
    return scan(text, 0, false).parts;
  } catch (error) {
    if (error instanceof MalformedError) return { malformed: error.message };
    throw error;
  }
}

class MalformedError extends Error {}

function scan(text: string, from: number, inside: boolean): { parts: TemplatePart[]; end: number } {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = from;
  while (at < text.length) {
    if (inside && text[at] === '}') break;
    if (text.startsWith('$$', at)) {
      literal += '$';
      at += 2;
    } else if (text.startsWith('${', at)) {
      const variable = scanVariable(text, at);
      parts.push(literal, variable.part);
      literal = '';
      at = variable.end;
    } else literal += text[at++] ?? '';
  }
  if (inside && text[at] !== '}') throw new MalformedError(UNCLOSED);
  return { parts: [...parts, literal].filter((it) => it !== ''), end: at };
}

function scanVariable(text: string, start: number): { part: Variable; end: number } {
  NAME.lastIndex = start + 2;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) throw new MalformedError(`\${ is not followed by the name of a variable; ${FORMS}`);
  const after = start + 2 + name.length;
  if (text[after] === '}') return { part: { name }, end: after + 1 };
  const sign = text.slice(after, after + 2);
  if (sign === '') throw new MalformedError(UNCLOSED);
  if (sign !== ':-' && sign !== ':?')
    throw new MalformedError(`\${${name} is followed by ${JSON.stringify(sign)}; ${FORMS}`);
  const { parts, end } = scan(text, after + 2, true);
  return sign === ':-'
    ? { part: { name, fallback: parts }, end: end + 1 }
    : { part: { name, message: text.slice(after + 2, end) }, end: end + 1 };
}

/** Every variable that the parts name, including those in defaults. */
export const variablesOf = (parts: readonly TemplatePart[]): string[] =>
  parts.flatMap((it) => (typeof it === 'string' ? [] : [it.name, ...variablesOf(it.fallback ?? [])]));

export type Interpolated = { readonly text: string } | { readonly unset: Variable };

/** The text with its variables filled in, or the first variable that has no value. */
export function interpolate(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => string | undefined,
): Interpolated {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = valueOf(part.name);
    const plain = part.fallback === undefined && part.message === undefined;
    if (value !== undefined && (plain || value !== '')) text += value;
    else if (part.fallback) {
      const inner = interpolate(part.fallback, valueOf);
      if ('unset' in inner) return inner;
      text += inner.text;
    } else return { unset: part };
  }
  return { text };
}
