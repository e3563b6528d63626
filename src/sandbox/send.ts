/** Sends an answer, or the part of it that a fault allows. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Trouble } from './fault.ts';

/** An answer that is ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Resolves when the answer was handed over or its connection is closed. */
export async function send(response: ServerResponse, reply: Reply, trouble: Trouble | undefined): Promise<void> {
  // The client has disconnected.
  if (response.destroyed || response.socket === null) return;
  const closed = once(response, 'close');
  if (trouble?.kind === 'reset' && trouble.stage !== 'body') {
    response.socket.resetAndDestroy();
  } else {
    response.writeHead(reply.status, { ...reply.headers, 'content-length': String(reply.body.length) });
    write(response, reply.body, trouble);
  }
  await closed;
}

function write(response: ServerResponse, body: Buffer, trouble: Trouble | undefined): void {
  if (trouble?.kind === 'cut') {
    // At least one byte is missing, otherwise the answer would be complete.
    part(response, body.subarray(0, Math.min(trouble.afterBytes, body.length - 1)), () =>
      response.socket?.destroySoon(),
    );
  } else if (trouble?.kind === 'reset') {
    const reset = (): void => void response.socket?.resetAndDestroy();
    part(response, body.subarray(0, body.length / 2), () => setTimeout(reset, READ_MS));
  } else {
    response.end(body);
  }
}

/** A reset discards data that the receiver has not read. This delay lets the client read the headers. */
const READ_MS = 25;

/** Sends the headers and a part of the body, then breaks the connection. */
function part(response: ServerResponse, bytes: Buffer, breakOff: () => void): void {
  response.flushHeaders();
  if (bytes.length === 0) setImmediate(breakOff);
  else response.write(bytes, breakOff);
}
