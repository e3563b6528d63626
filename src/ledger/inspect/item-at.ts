/** Finds the part of a stored answer at a JSON pointer. */
import { numberAsWritten, parseJsonText } from '../../service/read-json.ts';

/**
 * The part of the body at an RFC 6901 pointer, with numbers as raw JSON, so that they print as sent; null if there is no
 * such part. The complete text if it is not JSON.
 */
export function itemAt(body: Uint8Array, pointer: string): unknown {
  const text = new TextDecoder('utf-8').decode(body);
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>((value, step) => partOf(value, step), parsedOr(text));
}

function partOf(value: unknown, step: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return null;
  return (value as Readonly<Record<string, unknown>>)[step];
}

function parsedOr(text: string): unknown {
  try {
    return parseJsonText(text, numberAsWritten);
  } catch {
    return text;
  }
}
