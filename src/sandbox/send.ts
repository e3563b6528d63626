/** Sends an answer, or the part of it that a fault allows. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FaultEffect } from './fault.ts';

/** An answer that is ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Resolves when the answer was handed over or its connection is closed. */
export async function send(response: ServerResponse, reply: Reply, effect: FaultEffect | undefined): Promise<void> {
  // The client has disconnected.
  if (response.destroyed || response.socket === null) return;
  const closed = once(response, 'close');
  if (effect?.kind === 'reset' && effect.stage !== 'body') {
    response.socket.resetAndDestroy();
  } else {
    response.writeHead(reply.status, { ...reply.headers, 'content-length': String(reply.body.length) });
    write(response, reply.body, effect);
  }
  await closed;
}

function write(response: ServerResponse, body: Buffer, effect: FaultEffect | undefined): void {
  if (effect?.kind === 'cut') {
    // At least one byte is missing, otherwise the answer would be complete.
    part(response, body.subarray(0, Math.min(effect.afterBytes, body.length - 1)), () =>
      response.socket?.destroySoon(),
    );
  } else if (effect?.kind === 'reset') {
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
