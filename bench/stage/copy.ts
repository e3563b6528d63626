/** `COPY` in both directions through the driver, as psql does it: text on the wire that is not parsed. */
import type { Client, Connection, Submittable } from 'pg';

/** Methods of the driver's connection that its types do not declare. */
interface CopyConnection extends Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Large chunks need fewer turns of the event loop. */
const CHUNK_BYTES = 1 << 20;

/** Sends rows in the text format of COPY; `target` is the table with its columns. */
export function copyInto(client: Client, target: string, text: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    submit(client, `copy ${target} from stdin`, resolve, reject, {
      handleCopyInResponse: (connection: CopyConnection) => {
        for (let at = 0; at < text.byteLength; at += CHUNK_BYTES)
          connection.sendCopyFromChunk(text.subarray(at, at + CHUNK_BYTES));
        connection.endCopyFrom();
      },
    });
  });
}

/** The rows of a query in the text format of COPY. */
export function copyOf(client: Client, query: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    submit(client, `copy (${query}) to stdout`, () => resolve(Buffer.concat(chunks)), reject, {
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => chunks.push(Buffer.from(chunk)),
    });
  });
}

/** Submits a query object. The driver calls these methods of it for the messages of the server. */
function submit(
  client: Client,
  text: string,
  resolve: () => void,
  reject: (error: Error) => void,
  more: Readonly<Record<string, unknown>>,
): void {
  let failure: Error | undefined;
  const ignore = (): void => undefined;
  const query = {
    submit: (connection: Connection) => (connection as CopyConnection).query(text),
    handleError: (error: Error) => {
      failure = error;
    },
    handleCommandComplete: ignore,
    handleCopyInResponse: ignore,
    handleCopyData: ignore,
    handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
    ...more,
  };
  client.query(query as unknown as Submittable);
}
