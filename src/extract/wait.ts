/** How long to wait before a retry. */

export interface RetryWaits {
  /** Never less, so that nothing is asked in a hot loop. */
  readonly minMs: number;
  /** Upper end of the first wait; each later one may be twice as long. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** The most of a `Retry-After` that is heeded. */
  readonly maxRetryAfterMs: number;
}

/** Full jitter: anything up to a bound that doubles with each attempt, so that those who failed together don't return together. */
export function backoffMs(attemptNumber: number, waits: RetryWaits, random: () => number): number {
  const bound = Math.min(waits.maxMs, waits.firstMs * 2 ** Math.min(attemptNumber - 1, 32));
  return Math.max(waits.minMs, Math.round(random() * bound));
}

/** The wait that the service asked for, and up to `firstMs` more for the same reason. */
export function boundedRetryAfterMs(retryAfterMs: number, waits: RetryWaits, random: () => number): number {
  const asked = Math.min(retryAfterMs, waits.maxRetryAfterMs);
  return Math.max(waits.minMs, Math.round(asked + random() * waits.firstMs));
}

/** What a `Retry-After` header says, in milliseconds after `receivedAt`, or undefined when it says nothing readable. */
export function retryAfterMs(header: string | undefined, receivedAt: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse reads almost anything as a date; the two forms of HTTP that are in use begin with a day's name.
  if (!/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - receivedAt.getTime());
}
