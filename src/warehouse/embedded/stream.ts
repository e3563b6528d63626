/** A connection of the server driver to an embedded database, in place of a socket. */
import { Duplex } from 'node:stream';
import type { EmbeddedDatabase } from './thread.ts';

/** The replies to a startup message: the login is accepted, and the session is ready. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
/** The type of the driver's last message. The session stays open for the next connection. */
const TERMINATE = 0x58;

/** The parts in a buffer of their own, which can be moved to another thread. */
function joined(parts: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const it of parts) {
    all.set(it, at);
    at += it.length;
  }
  return all;
}

/** Opens a connection. Only one may be open at a time, because the database has one session. */
export class DatabaseStream extends Duplex {
  readonly #database: Pick<EmbeddedDatabase, 'exchange'>;
  readonly #reset: () => Promise<void>;
  #isStarted = false;

  /** `reset` brings the session to its first state before the connection uses it. */
  constructor(database: Pick<EmbeddedDatabase, 'exchange'>, reset: () => Promise<void>) {
    super();
    this.#database = database;
    this.#reset = reset;
  }

  /** The driver calls it like that of a socket. */
  connect(): void {
    this.#reset().then(
      () => this.emit('connect'),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  setNoDelay(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#send([chunk], done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  #send(parts: readonly Buffer[], done: (error?: Error) => void): void {
    if (!this.#isStarted) {
      // The session is the one that the database has from its start, so a startup message changes nothing.
      this.#isStarted = true;
      this.push(READY);
      done();
    } else if (parts[0]?.[0] === TERMINATE) {
      this.push(null);
      done();
    } else {
      this.#database.exchange(joined(parts), (bytes) => this.push(bytes)).then(() => done(), done);
    }
  }
}
