/** What the service says about a failure, made fit to be shown in a terminal, a log or a table. */
import { withoutTerminalSequences } from '../redaction/terminal.ts';

const MAX_CHARACTERS = 300;
/** An error's text is short; a page sent in its place is not worth reading whole. */
const MAX_READ_BYTES = 65_536;

/**
 * The text of an error answer on one line of at most 300 printable characters: its `detail` (or `message`, `error`),
 * else its `x-error` header, else its body; empty when it has none or is a web page.
 */
export function serviceText(body: Uint8Array, headers: Readonly<Record<string, string>>): string {
  return printable(messageOf(body) || (headers['x-error'] ?? '') || bareText(body));
}

/** All that an error answer says of its cause, for reading by a program: the message and the `x-error` header. */
export function statedCause(body: Uint8Array, headers: Readonly<Record<string, string>>): string {
  const message = messageOf(body) || (parsed(body) === undefined ? bareText(body) : '');
  return printable(`${headers['x-error'] ?? ''} ${message}`);
}

/** The text on one line, without anything that a terminal acts upon or that hides what it says. */
export function printable(text: string): string {
  const line = withoutTerminalSequences(text.slice(0, MAX_READ_BYTES))
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    // Format characters turn the direction of a line or take no room; lone surrogates and the like are no text.
    .replace(/\p{C}+/gu, '')
    .trim();
  const characters = Array.from(line);
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…` : line;
}

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body.subarray(0, MAX_READ_BYTES)).trim();

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(body));
  } catch {
    return undefined;
  }
}

/** A web page, an empty list and `null` tell a reader nothing. */
function bareText(body: Uint8Array): string {
  const text = textOf(body);
  return text.startsWith('<') || ['null', '[]', '{}', '""'].includes(text) ? '' : text;
}

const messageOf = (body: Uint8Array): string => wordsOf(parsed(body), 0);

/** Assumed: `detail` as seen (a text, or a list of `{loc, msg}`), `message` and `error` as is usual elsewhere. */
function wordsOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object' || depth > 3) return '';
  if (Array.isArray(value)) {
    return value
      .map((inner) => wordsOf(inner, depth + 1))
      .filter((words) => words !== '')
      .join('; ');
  }
  const { detail, message, msg, error, loc } = value as Readonly<Record<string, unknown>>;
  const words = [detail, message, msg, error].map((inner) => wordsOf(inner, depth + 1)).find((it) => it !== '') ?? '';
  return Array.isArray(loc) && words !== '' ? `${loc.map(String).join('.')}: ${words}` : words;
}
