/** Removes a forgotten entity from the bytes of an answer. */
import { decode } from '../../normalize/decode.ts';
import { type ItemRedaction, redactItems } from '../../normalize/erasure/redact-items.ts';
import { cleanText, mappedFields } from '../../normalize/erasure/clean.ts';
import { withoutEscapes } from './scrub.ts';
import { asksForForgotten } from '../../normalize/erasure/redact-request.ts';
import { EMPTY_BODY, type StoredAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';

/** The fields of an answer that are needed to read its items. */
export type ErasableAnswer = Pick<StoredAnswer, 'sync' | 'endpoint' | 'requestKey' | 'request' | 'body' | 'damage'>;

/** The result of inspecting a body. */
export type Inspection =
  | { readonly kind: 'clean' }
  | { readonly kind: 'redacted'; readonly body: Uint8Array }
  /** Nothing can be removed from a body that cannot be read. */
  | { readonly kind: 'unreadable' };

const CLEAN: Inspection = { kind: 'clean' };

/** Returns the body without the forgotten entity, and calls `onFound` with each object that is the entity. */
export function inspectAnswer(answer: ErasableAnswer, redaction: ItemRedaction): Inspection {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint || answer.damage !== undefined) return { kind: 'unreadable' };
  const decoded = decode(answer.body);
  if (decoded.kind === 'unreadable') return decoded;
  const { sync, requestKey, request } = answer;
  try {
    const kept = redactItems(endpoint, { sync, requestKey, request }, decoded.items, redaction);
    if (kept === decoded.items) return CLEAN;
    return { kind: 'redacted', body: Buffer.from(JSON.stringify(decoded.lone ? kept[0] : kept)) };
  } catch (error) {
    // The JSON is nested too deeply for the call stack.
    if (error instanceof RangeError) return { kind: 'unreadable' };
    throw error;
  }
}

/**
 * Returns the body of a new answer without the forgotten entity; undefined if the body does not contain it. An
 * unreadable body is emptied if the request is about the entity or the body contains one of its names.
 */
export function withoutForgotten(answer: ErasableAnswer, forgotten: Forgotten): Uint8Array | undefined {
  const look = inspectAnswer(answer, { forgotten });
  if (look.kind === 'redacted') return look.body;
  if (look.kind === 'clean') return undefined;
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint || answer.body.byteLength === 0 || answer.damage !== undefined) return undefined;
  return asksForForgotten(endpoint, answer.request, forgotten) || holdsName(answer.body, forgotten)
    ? EMPTY_BODY
    : undefined;
}

/** The headers of an answer without the entity's names, or the same object if they have none. */
export const headersWithout = (
  headers: Readonly<Record<string, string>>,
  forgotten: Forgotten,
): Readonly<Record<string, string>> =>
  mappedFields(headers, (name, value) => [name, cleanText(String(value), { forgotten })]) as Record<string, string>;

/** True if a body contains a name of the entity, as it is or with JSON escapes. */
export const holdsName = (body: Uint8Array, { scrub }: Forgotten): boolean =>
  textsOf(body).some((text) => scrub(text) !== text);

/** The text of a body, as it is and without JSON escapes. */
export function textsOf(body: Uint8Array): readonly string[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return [text, withoutEscapes(text)];
}
