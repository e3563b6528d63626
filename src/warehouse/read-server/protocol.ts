/**
 * The protocol between the owner of an embedded warehouse and its readers. A message is its length in bytes and then
 * JSON. A connection is one read-only transaction with sequential statements. HTTP would not save the length: its
 * requests do not share a transaction, and the limits of size and time would remain.
 */

/** One statement to run. */
export interface ReadRequest {
  /** The version of the protocol. Other versions are refused. */
  readonly v: typeof VERSION;
  readonly sql: string;
  /** The values as text, in the notation of the database. */
  readonly parameters: readonly (string | null)[];
}

/**
 * The first message of a connection says that the owner works. For a statement, first its columns follow, then its rows in any number of
 * parts, then the end; or an error.
 */
export type ReadReply =
  | { readonly ready: true }
  | { readonly fields: readonly { readonly name: string; readonly oid: number }[] }
  | { readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly end: true }
  | { readonly error: ReadError };

/** An error of the database. */
export interface ReadError {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
}

export const VERSION = 1;
/** No user writes a longer statement, and a client must not exhaust the owner's memory. */
export const LONGEST_REQUEST_BYTES = 4 * 2 ** 20;
/** A reply contains at least one row, even if its values are large. */
export const LONGEST_REPLY_BYTES = 2 ** 30;

const LENGTH_BYTES = 4;

/** The bytes of a message. */
export function frameOf(message: ReadRequest | ReadReply): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, LENGTH_BYTES);
  return frame;
}

/**
 * The messages in a stream of bytes. Throws if one is too long or not JSON. Ignores an incomplete message at the end.
 */
export async function* messagesIn(source: AsyncIterable<Buffer>, longestBytes: number): AsyncGenerator<unknown, void> {
  let parts: Buffer[] = [];
  let bufferedBytes = 0;
  let bodyBytes: number | undefined;
  for await (const chunk of source) {
    parts.push(chunk);
    bufferedBytes += chunk.length;
    while (bufferedBytes >= (bodyBytes ?? LENGTH_BYTES)) {
      const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
      const end = bodyBytes ?? LENGTH_BYTES;
      const rest = bytes.subarray(end);
      if (bodyBytes === undefined) {
        bodyBytes = bytes.readUInt32BE();
        if (bodyBytes > longestBytes)
          throw new Error(`a message of ${bodyBytes} bytes; at most ${longestBytes} are allowed`);
      } else {
        yield JSON.parse(bytes.toString('utf8', 0, end));
        bodyBytes = undefined;
      }
      parts = [rest];
      bufferedBytes = rest.length;
    }
  }
}

/** The request in a message; undefined if it is not a valid request of this version. */
export function requestOf(message: unknown): ReadRequest | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { v, sql, parameters } = message as Partial<Record<keyof ReadRequest, unknown>>;
  const isText = (it: unknown): it is string | null => it === null || typeof it === 'string';
  if (v !== VERSION || typeof sql !== 'string' || !Array.isArray(parameters) || !parameters.every(isText))
    return undefined;
  return { v, sql, parameters };
}
