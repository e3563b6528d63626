/** Messages for an exchange without a complete answer. They are made from codes only, so they contain no secret. */
import { errors } from 'undici';
import type { Cause, LostExchange } from './exchange.ts';
import { MAX_HEADER_BYTES } from './interim.ts';

const UNOPENED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed while it was being opened',
  UND_ERR_SOCKET: 'connection closed while it was being opened',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  ENETUNREACH: 'network unreachable',
  EHOSTUNREACH: 'host unreachable',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

/** The reason for a lost exchange, in plain words; `limits` are the limits of the exchange. */
export function reasonOf(
  { sent, status, cause }: LostExchange,
  limits: { readonly deadlineMs: number; readonly maxBodyBytes: number },
): string {
  const seconds = `${limits.deadlineMs / 1000} s`;
  const answering = status !== undefined;
  if (cause === 'too large') return tooLargeReason(limits.maxBodyBytes);
  if (cause === 'stopped') {
    if (!sent) return 'stopped before it was sent';
    return answering ? 'stopped in the middle of the answer' : 'stopped while waiting for the answer';
  }
  if (!sent) return cause === 'deadline' ? `no connection within ${seconds}` : unopenedReason(codeOf(cause));
  if (cause === 'deadline' || TIMEOUTS.includes(codeOf(cause))) {
    return answering ? `the answer was not complete within ${seconds}` : `no answer within ${seconds}`;
  }
  return brokenReason(cause, answering);
}

// Undici's own timers have the same duration as the deadline, so they sometimes fire first.
const TIMEOUTS: readonly string[] = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The message for an answer above the size limit. */
export const tooLargeReason = (maxBytes: number): string =>
  `the answer is larger than ${Number((maxBytes / 2 ** 20).toPrecision(3))} MiB`;

function unopenedReason(code: string): string {
  const known = Object.hasOwn(UNOPENED, code) ? UNOPENED[code] : undefined;
  if (known !== undefined) return known;
  if (/CERT|SIGNATURE|HOSTNAME/.test(code)) return `the server's certificate is not trusted (${code})`;
  return /TLS|SSL|EPROTO/.test(code) ? `no secure connection (${code})` : `connection failed (${code})`;
}

function brokenReason(cause: Error, answering: boolean): string {
  if (cause instanceof errors.HTTPParserError) return 'the answer is not HTTP';
  const code = codeOf(cause);
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'the answer is not as long as its header says';
  if (code === HEADERS_OVERFLOW) return `the answer's headers are larger than ${MAX_HEADER_BYTES / 2 ** 10} KiB`;
  return answering
    ? `the connection was lost in the middle of the answer (${code})`
    : `the connection was lost before an answer came (${code})`;
}

const HEADERS_OVERFLOW = 'UND_ERR_HEADERS_OVERFLOW';

/** True if the answer was larger than the limit. The next attempt would have the same result. */
export const isTooLarge = ({ cause }: LostExchange): boolean =>
  cause === 'too large' || codeOf(cause) === HEADERS_OVERFLOW;

function codeOf(cause: Cause): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^\w+$/.test(code) ? code : 'no code';
}
