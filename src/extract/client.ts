/**
 * The one place that speaks to the service: one pool for its one origin, one attempt a call. An attempt always ends,
 * and ends in an outcome; what to do about it is decided elsewhere.
 */
import { isUtf8 } from 'node:buffer';
import { Pool } from 'undici';
import about from '../../package.json' with { type: 'json' };
import type { Secret } from '../config/values/secret.ts';
import { CredentialError, UsageError } from '../errors.ts';
import { type Redaction, redactionOf } from '../redaction/redaction.ts';
import type { RequestBody } from '../service/request-body.ts';
import { withoutTrailing } from '../service/trailing.ts';
import { ACCEPTED_ENCODINGS, decode } from './decode.ts';
import { exchange, type WireHeaders } from './exchange.ts';
import { connectorWithoutInterim, MAX_HEADER_BYTES } from './interim.ts';
import { isTooLarge, reasonOf, tooLargeReason } from './lost.ts';
import type { Outcome } from './outcome.ts';

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Below the service's url, with a leading slash. */
  readonly path: string;
  /** Of a GET: the query. Fields that are undefined or null are not sent. */
  readonly body: RequestBody;
  /** The same for every attempt at one request. */
  readonly requestId: string;
  /** How long the service may take by the request's own `timeout`; the contract's default is 300. */
  readonly timeoutSeconds?: number;
}

export interface Client {
  /** What came of one attempt. Rejects only when the call itself is malformed or the client is closed. */
  readonly send: (call: Call, signal?: AbortSignal) => Promise<Outcome>;
  /** Waits for the attempts under way, then closes every connection. */
  readonly close: () => Promise<void>;
}

export interface ClientOptions {
  /** Origin and path prefix. The token goes to this origin and nowhere else. */
  readonly url: string;
  readonly token: Secret | undefined;
  /** Most connections; no fewer than the attempts that the caller lets run at once, or the rest wait for one. */
  readonly connections: number;
  /** Largest answer that is taken, decoded. */
  readonly maxBodyBytes?: number;
  readonly connectTimeoutMs?: number;
  /** What an attempt may take beyond the request's own timeout. */
  readonly marginMs?: number;
  readonly now: () => Date;
}

/**
 * Bodies of 100 MB are known to load. Each call in flight may hold one, and reading one takes up to thirty times its size,
 * so a larger limit would let a single answer end the process, and the next one that tries it again.
 */
const MAX_BODY_BYTES = 128 * 2 ** 20;
const DEFAULT_TIMEOUT_SECONDS = 300;
/** The service answers at its timeout at the latest; the way there and back, and a large body, take some more. */
const MARGIN_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** A client for the service at `url`. Throws a CredentialError without a usable token, a UsageError for an unusable url. */
export function openClient(options: ClientOptions): Client {
  const token = usableToken(options.token);
  const withoutToken = redactionOf([token.reveal()], String(token));
  const { origin, prefix } = addressOf(options.url);
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    // One request a connection: what is known of a connection's end is then known of the request.
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connectorWithoutInterim({
      allowH2: false,
      timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      // Said aloud, so that no variable of the environment turns it off.
      rejectUnauthorized: true,
    }),
  });
  const underWay = new Set<Promise<Outcome>>();
  let closed = false;

  const attempt = async (call: Call, signal: AbortSignal | undefined): Promise<Outcome> => {
    const deadlineMs = (call.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000 + (options.marginMs ?? MARGIN_MS);
    const startedAt = options.now();
    const end = await exchange(
      pool,
      { ...wireOf(call, prefix, token), headersTimeout: deadlineMs, bodyTimeout: deadlineMs },
      { deadlineMs, maxWireBytes: maxBodyBytes, signal },
    );
    if (!end.isComplete) {
      const reason = reasonOf(end, { deadlineMs, maxBodyBytes });
      if (!end.sent) return { kind: 'not_sent', reason };
      return lost(reason, end.status, isTooLarge(end));
    }
    const receivedAt = options.now();
    const headers = plainHeaders(end.headers, withoutToken);
    const body = await decode(end.body, headers['content-encoding'] ?? '', maxBodyBytes);
    if (body === 'too large') return lost(tooLargeReason(maxBodyBytes), end.status, true);
    return {
      kind: 'answered',
      status: end.status,
      headers,
      // A refusal may quote the token it refuses; what was paid for is kept to the byte.
      body: isSuccess(end.status) ? body : redacted(body, withoutToken),
      receivedAt,
      tookMs: Math.max(0, receivedAt.getTime() - startedAt.getTime()),
    };
  };

  return {
    send: async (call, signal) => {
      if (closed) throw new Error('the client is closed');
      const outcome = attempt(call, signal);
      underWay.add(outcome);
      try {
        return await outcome;
      } finally {
        underWay.delete(outcome);
      }
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(underWay);
      await pool.destroy();
    },
  };
}

const lost = (reason: string, status: number | undefined, tooLarge: boolean): Outcome => ({
  kind: 'unknown',
  reason,
  ...(status !== undefined && { status }),
  ...(tooLarge && { tooLarge }),
});

function redacted(body: Buffer, redaction: Redaction): Buffer {
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  return Buffer.from(redaction(body.toString(encoding)), encoding);
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function usableToken(secret: Secret | undefined): Secret {
  const next =
    'Set SLUICE_SERVICE_TOKEN, or the variable that service.token in the config names, to the API token of the account.';
  if (!secret || secret.reveal() === '') throw new CredentialError('There is no token for the service.', { next });
  if (!/^[\x21-\x7e]+$/.test(secret.reveal())) {
    throw new CredentialError('The token for the service holds a blank or a character that no header can carry.', {
      next,
    });
  }
  return secret;
}

function addressOf(url: string): { readonly origin: string; readonly prefix: string } {
  const it = URL.parse(url);
  const plain = it && /^https?:$/.test(it.protocol) && it.username + it.password + it.search + it.hash === '';
  if (!plain) {
    throw new UsageError('service.url is not an http or https address without credentials, query and fragment.', {
      next: 'Write it as in https://service.example or https://service.example/prefix.',
    });
  }
  return { origin: it.origin, prefix: withoutTrailing(it.pathname, '/') };
}

function wireOf(call: Call, prefix: string, token: Secret) {
  const fields = Object.entries(call.body).filter(([, value]) => value !== undefined && value !== null);
  const get = call.method === 'GET';
  const query = get && fields.length > 0 ? `?${fields.map(pair).join('&')}` : '';
  return {
    method: call.method,
    path: prefix + call.path + query,
    headers: {
      'access-token': token.reveal(),
      accept: 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': `sluice/${about.version}`,
      'x-request-id': call.requestId,
      ...(!get && { 'content-type': 'application/json' }),
    },
    body: get ? null : JSON.stringify(Object.fromEntries(fields)),
  };
}

/** Everything but letters, digits and a few marks is escaped, so that the `+` of an offset from UTC stays one. */
const pair = ([name, value]: readonly [string, unknown]): string =>
  `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`;

function plainHeaders(headers: WireHeaders, withoutToken: Redaction): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && !/^set-cookie2?$/.test(name))
      .map(([name, value]) => [
        withoutToken(name),
        withoutToken(typeof value === 'string' ? value : (value ?? []).join(', ')),
      ]),
  );
}
