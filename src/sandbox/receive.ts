/** Reads the body of a request, up to the sandbox's size limit. */
import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 1_000_000;

/** The body as text; undefined if it is too large. Rejects if the client disconnects. */
export async function receive(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
