/**
 * One request on the wire and its result: the answer, or whether the request can have been sent. It uses undici's
 * `dispatch`, the basis of `request()`. Only `dispatch` reports when a request leaves, so "not sent" is a fact and not
 * a guess from an error code. Like `request()`, it does not follow redirects.
 */
import { type Dispatcher, errors } from 'undici';

export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CompleteExchange {
  readonly isComplete: true;
  readonly status: number;
  readonly headers: WireHeaders;
  /** As received, in its content encoding. */
  readonly body: Buffer;
}

export interface LostExchange {
  readonly isComplete: false;
  /** False if not a single byte of the request can have been sent. */
  readonly sent: boolean;
  /** Known if the answer's headers arrived. */
  readonly status: number | undefined;
  readonly cause: Cause;
}

/** The reason why an exchange ended early: a limit of this client, or an error of the connection. */
export type Cause = 'deadline' | 'stopped' | 'too large' | Error;

export interface ExchangeLimits {
  /** For the complete exchange, from waiting for a connection to the last byte. */
  readonly deadlineMs: number;
  readonly maxWireBytes: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The result of the request. Settles as soon as the deadline passes or the signal fires. Rejects only for malformed
 * options.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { deadlineMs, maxWireBytes, signal }: ExchangeLimits,
): Promise<CompleteExchange | LostExchange> {
  if (signal?.aborted) return Promise.resolve({ isComplete: false, sent: false, status: undefined, cause: 'stopped' });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status: number | undefined;
    let headers: WireHeaders = {};
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;

    const settle = (end: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      end();
    };
    const lose = (cause: Cause): void => {
      settle(() => resolve({ isComplete: false, sent: controller !== undefined, status, cause }));
      controller?.abort(new errors.RequestAbortedError());
    };
    const onAbort = (): void => lose('stopped');
    const timer = setTimeout(() => lose('deadline'), deadlineMs);
    signal?.addEventListener('abort', onAbort, { once: true });

    dispatcher.dispatch(options, {
      // Called when a connection is available, in the same tick in which the request is written to it.
      onRequestStart: (starting) => {
        if (settled) starting.abort(new errors.RequestAbortedError());
        else controller = starting;
      },
      onResponseStart: (_, statusCode, incoming) => {
        if (statusCode < 200) return;
        status = statusCode;
        headers = incoming;
      },
      onResponseData: (_, chunk) => {
        size += chunk.length;
        if (size > maxWireBytes) lose('too large');
        else if (!settled) chunks.push(chunk);
      },
      onResponseEnd: () =>
        settle(() => resolve({ isComplete: true, status: status as number, headers, body: Buffer.concat(chunks) })),
      onResponseError: (_, error) => {
        if (error instanceof errors.InvalidArgumentError) settle(() => reject(error));
        else lose(error);
      },
    });
  });
}
