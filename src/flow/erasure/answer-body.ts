/** The bytes of an answer without what is forgotten. */
import { decode } from '../../normalize/decode.ts';
import { type Redaction, redactItems } from '../../normalize/erasure/redact-items.ts';
import { withoutEscapes } from './scrub.ts';
import { asksFor } from '../../normalize/erasure/redact-request.ts';
import type { VaultAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';

/** As much of an answer as tells what is in it. */
export type Told = Pick<VaultAnswer, 'sync' | 'endpoint' | 'requestKey' | 'request' | 'body' | 'damage'>;

/** What a look into a body came to. */
export type Look =
  | { readonly kind: 'clean' }
  | { readonly kind: 'redacted'; readonly body: Uint8Array }
  /** Nothing can be taken out of what can't be read. */
  | { readonly kind: 'unreadable' };

const CLEAN: Look = { kind: 'clean' };

/** The body without what is forgotten; `onFound` is told of each object that was it. */
export function lookInto(answer: Told, redaction: Redaction): Look {
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
    // Nested too deeply for the call stack.
    if (error instanceof RangeError) return { kind: 'unreadable' };
    throw error;
  }
}

/**
 * The body of an answer that has just come, without what is forgotten; undefined when nothing of that is in it. One
 * that can't be read is emptied if it answers a question about it, or holds one of its names.
 */
export function withoutForgotten(answer: Told, forgotten: Forgotten): Uint8Array | undefined {
  const look = lookInto(answer, { forgotten });
  if (look.kind === 'redacted') return look.body;
  if (look.kind === 'clean') return undefined;
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint || answer.body.byteLength === 0 || answer.damage !== undefined) return undefined;
  return asksFor(endpoint, answer.request, forgotten) || holdsName(answer.body, forgotten) ? EMPTY : undefined;
}

function holdsName(body: Uint8Array, { scrub }: Forgotten): boolean {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return [text, withoutEscapes(text)].some((it) => scrub(it) !== it);
}

const EMPTY = new Uint8Array();
