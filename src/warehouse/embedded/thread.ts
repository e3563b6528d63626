/**
 * Starts the embedded database in a thread of its own, so that the process handles signals and answers of the service
 * while the database works. The threads exchange messages of the wire protocol, whose buffers are moved, not copied.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

export interface OpenOptions {
  /** The folder of the database, or `memory://`. */
  readonly dataDir: string;
  /** A temporary folder in which the database is created before it is renamed; absent if it exists. */
  readonly createIn?: string | undefined;
  /** True if the write-ahead log must stay short. */
  readonly isLogShort?: boolean;
}

export type ThreadRequest = Uint8Array<ArrayBuffer> | 'close';
export type ThreadReply =
  | { readonly kind: 'open' | 'closed' }
  | { readonly kind: 'reply'; readonly part: Uint8Array; readonly isEnd: boolean }
  | { readonly kind: 'failed'; readonly message?: string; readonly errno?: number };

/** A database of one session that speaks the wire protocol. */
export interface EmbeddedDatabase {
  /**
   * Sends frontend messages and passes on the replies as they come. It takes over the buffer of the messages. A call
   * waits for the ones before it. Rejects if the database cannot be used any more.
   */
  exchange(messages: Uint8Array<ArrayBuffer>, onReply: (bytes: Uint8Array) => void): Promise<void>;
  /**
   * Gives the running exchange this many more milliseconds. Then it rejects, and the database is opened again in a new
   * thread, which keeps all that was committed. Does nothing if no exchange runs, or for a database in memory.
   */
  limitRunning(ms: number): void;
  /** Milliseconds since the running exchange began, on a monotonic clock; undefined if there is none. */
  busyMs(): number | undefined;
  /** Ends the database immediately, and fails the running exchange and all later ones with this error. */
  fail(error: Error): void;
  /** Fires when the database cannot be used any more, with the error as its reason. */
  readonly failed: AbortSignal;
  /** Closes the database. One that is still busy is ended like by a kill, which loses nothing that was committed. */
  close(): Promise<void>;
  /** Ends the database without a write, if it still runs. */
  end(): Promise<void>;
}

/** The reason why a database cannot be opened or used any more. */
export class ThreadError extends Error {
  readonly errno: number | undefined;

  constructor(message: string, errno?: number) {
    super(message);
    this.errno = errno;
  }
}

export interface ThreadEffects {
  /** The error for statements of a database that ended because of this reason. */
  readonly failure: (reason: ThreadError) => Error;
}

/** Opens a database in a new thread. Throws a ThreadError if it cannot be opened. */
export async function openThread(options: OpenOptions, { failure }: ThreadEffects): Promise<EmbeddedDatabase> {
  const thread = new DatabaseThread(options, failure);
  await thread.opened;
  return thread;
}

/** The thread's file: a neighbour of this one in the sources and of the chunk that contains this one in the bundle. */
const FILE = new URL(
  import.meta.url.endsWith('.ts') ? './database-thread.ts' : './database-thread.js',
  import.meta.url,
);

/**
 * Imports the thread's file with the compile cache of the process, which a thread must enable for itself. Without it, a
 * start takes 0.1 s more processor time, because the thread loads the code that strips types.
 */
const START = `const { workerData: { file, cache } } = require('node:worker_threads');
if (cache) require('node:module').enableCompileCache(cache);
import(file);`;

/** What the thread gets at its start. */
export interface ThreadData {
  readonly options: OpenOptions;
  readonly file: string;
  readonly cache: string | undefined;
}

interface Pending {
  readonly sinceMs: number;
  readonly onReply: (bytes: Uint8Array) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

class DatabaseThread implements EmbeddedDatabase {
  readonly opened: Promise<void>;
  readonly #options: OpenOptions;
  readonly #failure: (reason: ThreadError) => Error;
  #worker: Worker;
  #isOpen = false;
  #isReopening = false;
  #pending: Pending | undefined;
  #last: Promise<void> = Promise.resolve();
  #error: Error | undefined;
  readonly #failed = new AbortController();

  constructor(options: OpenOptions, failure: (reason: ThreadError) => Error) {
    this.#options = options;
    this.#failure = failure;
    this.#worker = this.#startWorker(options);
    this.opened = this.#request();
  }

  #startWorker(options: OpenOptions): Worker {
    // Options of the program's own start, such as a test runner's hooks, are not for the thread.
    const cache = getCompileCacheDir();
    const workerData: ThreadData = {
      options,
      file: FILE.href,
      cache: cache === undefined ? undefined : dirname(cache),
    };
    const worker = new Worker(START, { eval: true, workerData, execArgv: [], name: 'embedded warehouse' });
    worker.on('message', (reply: ThreadReply) => this.#onReply(reply));
    worker.on('error', (error: Error) => this.#onReply({ kind: 'failed', message: error.message }));
    worker.on('exit', () => this.#onReply({ kind: 'failed', message: 'its thread ended' }));
    return worker;
  }

  async exchange(messages: Uint8Array<ArrayBuffer>, onReply: (bytes: Uint8Array) => void): Promise<void> {
    const turn = this.#last.then(() => {
      const done = this.#request(onReply);
      if (this.#pending) this.#worker.postMessage(messages satisfies ThreadRequest, [messages.buffer]);
      return done;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  limitRunning(ms: number): void {
    const running = this.#pending;
    if (!running || this.#options.dataDir.startsWith('memory:')) return;
    setTimeout(() => {
      if (this.#pending !== running) return;
      this.#reopenWithout(running).catch((error: unknown) => this.fail(error as Error));
    }, ms).unref();
  }

  async #reopenWithout(running: Pending): Promise<void> {
    this.#isReopening = true;
    await this.#worker.terminate();
    this.#isReopening = false;
    // The database was closed or failed meanwhile, which also rejected the exchange.
    if (this.#error) return;
    this.#worker = this.#startWorker({ ...this.#options, createIn: undefined });
    await this.#request().catch(() => undefined);
    running.reject(new ThreadError('the statement took too long'));
  }

  busyMs(): number | undefined {
    return this.#pending && performance.now() - this.#pending.sinceMs;
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#failed.abort(this.#error);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(this.#error);
    void this.#worker.terminate();
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  async close(): Promise<void> {
    if (!this.#pending && !this.#error) {
      const closed = this.#request();
      this.#worker.postMessage('close' satisfies ThreadRequest, []);
      await closed.catch(() => undefined);
    }
    await this.end();
  }

  async end(): Promise<void> {
    this.fail(new ThreadError('the database is closed'));
    await this.#worker.terminate();
  }

  /** Waits for the reply to a request. The process stays alive meanwhile, but not for an idle database. */
  #request(onReply: (bytes: Uint8Array) => void = () => undefined): Promise<void> {
    if (this.#error) return Promise.reject(this.#error);
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#pending = { sinceMs: performance.now(), onReply, resolve, reject };
    });
  }

  #onReply(reply: ThreadReply): void {
    if (this.#isReopening) return;
    if (reply.kind === 'failed') {
      const reason = new ThreadError(reply.message ?? '', reply.errno);
      this.fail(this.#isOpen ? this.#failure(reason) : reason);
      return;
    }
    this.#isOpen = true;
    const pending = this.#pending;
    if (reply.kind === 'reply') {
      pending?.onReply(reply.part);
      if (!reply.isEnd) return;
    }
    this.#pending = undefined;
    this.#worker.unref();
    pending?.resolve();
  }
}
