/** The service's message about a failure, made safe for terminals, logs and tables. */
import { withoutTerminalSequences } from '../redaction/terminal.ts';

const MAX_CHARACTERS = 300;
/** Error texts are short, and the rest of a long page is not worth reading. */
const MAX_READ_BYTES = 65_536;

/**
 * The text of an error answer on one line of at most 300 printable characters: its `detail` (or `message`, `error`),
 * else its `x-error` header, else its body. Empty if there is no text or the body is a web page.
 */
export function serviceText(body: Uint8Array, headers: Readonly<Record<string, string>>): string {
  return printable(messageOf(body) || (headers['x-error'] ?? '') || bareText(body));
}

/** All that an error answer contains about its cause, for programs: the message and the `x-error` header. */
export function statedCause(body: Uint8Array, headers: Readonly<Record<string, string>>): string {
  const message = messageOf(body) || (parsed(body) === undefined ? bareText(body) : '');
  return printable(`${headers['x-error'] ?? ''} ${message}`);
}

/** The text on one line, without terminal sequences and without characters that hide text. */
export function printable(text: string): string {
  const line = withoutTerminalSequences(text.slice(0, MAX_READ_BYTES))
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    // Format characters change the text direction or are invisible. Lone surrogates and the like are not text.
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

/** Empty for a web page, an empty list and `null`, which say nothing about the failure. */
function bareText(body: Uint8Array): string {
  const text = textOf(body);
  return text.startsWith('<') || ['null', '[]', '{}', '""'].includes(text) ? '' : text;
}

const messageOf = (body: Uint8Array): string => wordsOf(parsed(body), 0);

/**
 * Assumed: `detail` as observed (a text, or a list of `{loc, msg}`), and `message` and `error` as other services use
 * them.
 */
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
