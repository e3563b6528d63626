/** The bytes of an answer without what is forgotten. */
import { decode } from '../../normalize/decode.ts';
import { type ItemRedaction, redactItems } from '../../normalize/erasure/redact-items.ts';
import { withoutEscapes } from './scrub.ts';
import { asksForForgotten } from '../../normalize/erasure/redact-request.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';

/** As much of an answer as tells what is in it. */
export type ErasableAnswer = Pick<StoredAnswer, 'sync' | 'endpoint' | 'requestKey' | 'request' | 'body' | 'damage'>;

/** What a look into a body came to. */
export type Inspection =
  | { readonly kind: 'clean' }
  | { readonly kind: 'redacted'; readonly body: Uint8Array }
  /** Nothing can be taken out of what can't be read. */
  | { readonly kind: 'unreadable' };

const CLEAN: Inspection = { kind: 'clean' };

/** The body without what is forgotten; `onFound` is told of each object that was it. */
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
    // Nested too deeply for the call stack.
    if (error instanceof RangeError) return { kind: 'unreadable' };
    throw error;
  }
}

/**
 * The body of an answer that has just come, without what is forgotten; undefined when nothing of that is in it. One
 * that can't be read is emptied if it answers a question about it, or holds one of its names.
 */
export function withoutForgotten(answer: ErasableAnswer, forgotten: Forgotten): Uint8Array | undefined {
  const look = inspectAnswer(answer, { forgotten });
  if (look.kind === 'redacted') return look.body;
  if (look.kind === 'clean') return undefined;
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint || answer.body.byteLength === 0 || answer.damage !== undefined) return undefined;
  return asksForForgotten(endpoint, answer.request, forgotten) || holdsName(answer.body, forgotten) ? EMPTY : undefined;
}

function holdsName(body: Uint8Array, { scrub }: Forgotten): boolean {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return [text, withoutEscapes(text)].some((it) => scrub(it) !== it);
}

const EMPTY = new Uint8Array();
