/**
 * The only HTTP client of the service: one pool for one origin, one attempt per call. Each attempt ends in an outcome;
 * other modules decide what follows.
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
  /** Path below the service's URL, with a leading slash. */
  readonly path: string;
  /** The query of a GET, otherwise the body. Fields that are undefined or null are not sent. */
  readonly body: RequestBody;
  /** Equal for all attempts of one request. */
  readonly xRequestId: string;
  /** The request's own `timeout` for the service; the contract's default is 300. */
  readonly timeoutSeconds?: number | undefined;
}

export interface Client {
  /** The outcome of one attempt. Rejects only if the call is malformed or the client is closed. */
  readonly send: (call: Call, signal?: AbortSignal) => Promise<Outcome>;
  /** Waits for running attempts, then closes all connections. */
  readonly close: () => Promise<void>;
}

export interface ClientOptions {
  /** Origin and path prefix. The token is sent to this origin only. */
  readonly url: string;
  readonly token: Secret | undefined;
  /** Maximum number of connections. With fewer connections than concurrent attempts, some attempts wait for one. */
  readonly connections: number;
  /** The largest accepted answer, decoded. */
  readonly maxBodyBytes?: number;
  readonly connectTimeoutMs?: number;
  /** The time that an attempt may take in addition to the request's own timeout. */
  readonly marginMs?: number;
  readonly now: () => Date;
}

/**
 * Bodies of 100 MB are known to load. Each call in flight may hold one, and parsing takes up to thirty times its size.
 * With a larger limit, a single answer could crash the process, and then the next process that retries it.
 */
const MAX_BODY_BYTES = 128 * 2 ** 20;
const DEFAULT_TIMEOUT_SECONDS = 300;
/** The service answers at its timeout at the latest. Round trips and large bodies take additional time. */
const MARGIN_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A client for the service at `url`. Throws a CredentialError without a usable token, and a UsageError if the URL is
 * not usable.
 */
export function openClient(options: ClientOptions): Client {
  const token = usableToken(options.token);
  const withoutToken = redactionOf([token.reveal()], String(token));
  const { origin, prefix } = addressOf(options.url);
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    // One request per connection, so that the state of the connection shows the state of the request.
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connectorWithoutInterim({
      allowH2: false,
      timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      // Set explicitly, so that no environment variable can disable it.
      rejectUnauthorized: true,
    }),
  });
  const running = new Set<Promise<Outcome>>();
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
      // An unset variable gives another address than the user expects, so the reason names it.
      if (!end.sent) return { kind: 'not_sent', reason: end.cause === 'stopped' ? reason : `${reason} (${origin})` };
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
      // A refusal may quote the token. A successful answer is paid for, so its bytes are kept exactly.
      body: isSuccess(end.status) ? body : redacted(body, withoutToken),
      receivedAt,
      tookMs: Math.max(0, receivedAt.getTime() - startedAt.getTime()),
    };
  };

  return {
    send: async (call, signal) => {
      if (closed) throw new Error('the client is closed');
      const outcome = attempt(call, signal);
      running.add(outcome);
      try {
        return await outcome;
      } finally {
        running.delete(outcome);
      }
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(running);
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
    throw new CredentialError(
      'The token for the service contains a blank or a character that is not allowed in a header.',
      {
        next,
      },
    );
  }
  return secret;
}

function addressOf(url: string): { readonly origin: string; readonly prefix: string } {
  const parsed = URL.parse(url);
  const isPlain =
    parsed &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username + parsed.password + parsed.search + parsed.hash === '';
  if (!isPlain) {
    throw new UsageError('service.url is not an http or https address without credentials, query and fragment.', {
      next: 'Write it as in https://service.example or https://service.example/prefix.',
    });
  }
  return { origin: parsed.origin, prefix: withoutTrailing(parsed.pathname, '/') };
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
      'x-request-id': call.xRequestId,
      ...(!get && { 'content-type': 'application/json' }),
    },
    body: get ? null : JSON.stringify(Object.fromEntries(fields)),
  };
}

/** Escapes all characters except letters, digits and a few marks, so that the `+` of a UTC offset is preserved. */
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
