/** Sends an answer, or as much of it as a fault lets through. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Trouble } from './fault.ts';

/** An answer that is ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Resolves when the answer has been handed over or its connection is gone. */
export async function send(response: ServerResponse, reply: Reply, trouble: Trouble | undefined): Promise<void> {
  // A client that gave up leaves nobody to send to.
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
    // At least one byte is missing, or nothing would be wrong.
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

/** A reset throws away what its receiver has not read: with no time to read there would be no headers to see. */
const READ_MS = 25;

/** Sends headers and some of the body, then breaks the connection. */
function part(response: ServerResponse, bytes: Buffer, breakOff: () => void): void {
  response.flushHeaders();
  if (bytes.length === 0) setImmediate(breakOff);
  else response.write(bytes, breakOff);
}
