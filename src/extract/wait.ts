/** The wait before a retry. */

export interface RetryWaits {
  /** The minimum, so that requests are never repeated in a tight loop. */
  readonly minMs: number;
  /** The upper bound of the first wait; it doubles with each attempt. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** The upper bound for a `Retry-After`. */
  readonly maxRetryAfterMs: number;
}

/**
 * Full jitter: a random wait up to a bound that doubles with each attempt, so that requests which failed together do
 * not retry together.
 */
export function backoffMs(attemptNumber: number, waits: RetryWaits, random: () => number): number {
  const bound = Math.min(waits.maxMs, waits.firstMs * 2 ** Math.min(attemptNumber - 1, 32));
  return Math.max(waits.minMs, Math.round(random() * bound));
}

/** The wait that the service requested, plus up to `firstMs` of jitter. */
export function boundedRetryAfterMs(retryAfterMs: number, waits: RetryWaits, random: () => number): number {
  const requestedMs = Math.min(retryAfterMs, waits.maxRetryAfterMs);
  return Math.max(waits.minMs, Math.round(requestedMs + random() * waits.firstMs));
}

/** The wait of a `Retry-After` header, in milliseconds after `receivedAt`; undefined if it is not readable. */
export function retryAfterMs(header: string | undefined, receivedAt: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts almost any text. Both HTTP date formats in use begin with the name of a weekday.
  if (!/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined;
  const retryAt = Date.parse(text);
  return Number.isNaN(retryAt) ? undefined : Math.max(0, retryAt - receivedAt.getTime());
}
