/**
 * One request on the wire, and all that can be known of it afterwards: what arrived, or whether it can have left.
 * It stands on undici's `dispatch`, which `request()` stands on too: only there is it told when a request leaves, so
 * that "surely not sent" is a fact and not a guess from an error's code. Like `request()`, it follows no redirect.
 */
import { type Dispatcher, errors } from 'undici';

export type WireHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CompleteExchange {
  readonly isComplete: true;
  readonly status: number;
  readonly headers: WireHeaders;
  /** As it came, in whatever content encoding. */
  readonly body: Buffer;
}

export interface LostExchange {
  readonly isComplete: false;
  /** False when not one byte of the request can have left. */
  readonly sent: boolean;
  /** Known when the answer's headers had come. */
  readonly status: number | undefined;
  readonly cause: Cause;
}

/** Why an exchange ended early: our own doing, or what the connection reported. */
export type Cause = 'deadline' | 'stopped' | 'too large' | Error;

export interface ExchangeLimits {
  /** For everything, from the wait for a connection to the last byte. */
  readonly deadlineMs: number;
  readonly maxWireBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** What came of the request; settles as soon as the deadline passes or the signal fires. Rejects on malformed options alone. */
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
      // Called with a connection at hand, in the same turn in which the request is written to it.
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
