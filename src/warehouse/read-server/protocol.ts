/**
 * What the owner of an embedded warehouse and those who read beside it say to each other: JSON, each message after its
 * length in bytes. A connection is one transaction that only reads; its statements come one after the other.
 */

/** One statement to be run. */
export interface ReadRequest {
  /** The version of these messages; another one is refused. */
  readonly v: typeof VERSION;
  readonly sql: string;
  /** As text, as the database takes them. */
  readonly parameters: readonly (string | null)[];
}

/** What comes back for a statement: its columns, its rows in any number of parts, and the end; or an error instead. */
export type ReadReply =
  | { readonly fields: readonly { readonly name: string; readonly oid: number }[] }
  | { readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly end: true }
  | { readonly error: ReadError };

/** An error as the database words it. */
export interface ReadError {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
}

export const VERSION = 1;
/** A statement that is longer was not written by a person, and one client may not fill the owner's memory. */
export const LONGEST_REQUEST_BYTES = 4 * 2 ** 20;
/** A reply holds at least one row, however large its values are. */
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

/** The messages in a stream of bytes. Throws when one is longer than allowed or no JSON; what is cut off at the end is left out. */
export async function* messagesIn(source: AsyncIterable<Buffer>, longestBytes: number): AsyncGenerator<unknown, void> {
  let parts: Buffer[] = [];
  let held = 0;
  let due: number | undefined;
  for await (const chunk of source) {
    parts.push(chunk);
    held += chunk.length;
    while (held >= (due ?? LENGTH_BYTES)) {
      const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
      const end = due ?? LENGTH_BYTES;
      const rest = bytes.subarray(end);
      if (due === undefined) {
        due = bytes.readUInt32BE();
        if (due > longestBytes) throw new Error(`a message of ${due} bytes; at most ${longestBytes} are allowed`);
      } else {
        yield JSON.parse(bytes.toString('utf8', 0, end));
        due = undefined;
      }
      parts = [rest];
      held = rest.length;
    }
  }
}

/** The statement that a message asks for; undefined when it asks for none that is understood here. */
export function requestOf(message: unknown): ReadRequest | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { v, sql, parameters } = message as Partial<Record<keyof ReadRequest, unknown>>;
  const isText = (it: unknown): it is string | null => it === null || typeof it === 'string';
  if (v !== VERSION || typeof sql !== 'string' || !Array.isArray(parameters) || !parameters.every(isText))
    return undefined;
  return { v, sql, parameters };
}
