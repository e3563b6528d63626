/**
 * Serves readers in the process that owns an embedded warehouse, on a socket in the warehouse's folder that only the
 * owner's user may open. Each connection is a read-only transaction, so the database refuses writes. All connections
 * share the one session of the database, so each has a time limit.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { memoize } from '../../async/memoize.ts';
import { withTimeout } from '../../async/with-timeout.ts';
import type { Warehouse } from '../connect/connect.ts';
import { withShortSocketPath } from '../lock/socket-path.ts';
import { answerStatement } from './statement.ts';
import { frameOf, LONGEST_REQUEST_BYTES, messagesIn, type ReadReply, requestOf } from './protocol.ts';
import { SQL_STATE } from '../sql/sql-states.ts';

/** Name of the socket in the warehouse's folder. */
export const READS_SOCKET = 'reads.sock';
/**
 * Prefix of a temporary folder for the new socket, so that no other user can open it before its permissions are set.
 */
const UNFINISHED = 'reads-';

export interface ReadLimits {
  /** Time limit of one transaction. */
  readonly maxHeldMs: number;
  /** Time limit for a reader to send its next statement or to read a reply. */
  readonly idleMs: number;
  /** Time limit for active readers when the owner ends. */
  readonly graceMs: number;
  readonly connections: number;
}

/** Readers share the session with the owner's work, so these limits bound how long they delay it. */
const LIMITS: ReadLimits = { maxHeldMs: 30_000, idleMs: 5_000, graceMs: 5_000, connections: 8 };

export interface ReadEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The running service for readers. */
export interface ReadService {
  /** Removes the socket and waits for active readers within the limits. Call it before the warehouse is closed. */
  readonly close: () => Promise<void>;
}

/**
 * Starts to serve readers; undefined if the file system does not support sockets. The caller must hold the folder's
 * lock, because the new socket replaces that of a killed owner.
 */
export async function serveReads(
  { session }: Pick<Warehouse, 'session'>,
  folder: string,
  { sleep }: ReadEffects,
  limits: ReadLimits = LIMITS,
): Promise<ReadService | undefined> {
  const readers = new Map<Socket, Promise<void>>();
  // A client may end its side after its last statement; the replies still reach it.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const reader = serveReader(socket, session, sleep, limits);
    readers.set(socket, reader);
    void reader.finally(() => readers.delete(socket));
  });
  server.maxConnections = limits.connections;
  // The server does not keep the process alive.
  server.unref();
  try {
    await listen(server, folder);
  } catch {
    server.close();
    return undefined;
  }
  const close = async (): Promise<void> => {
    await rm(join(folder, READS_SOCKET), { force: true });
    server.close();
    await withTimeout(Promise.all(readers.values()), limits.graceMs, sleep);
    for (const socket of readers.keys()) socket.destroy();
    await Promise.all(readers.values());
  };
  return { close: memoize(close) };
}

async function listen(server: Server, folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  const unfinished = await mkdtemp(join(folder, UNFINISHED));
  try {
    const made = join(unfinished, 's');
    await withShortSocketPath(made, async (short) => {
      server.listen(short);
      await once(server, 'listening');
    });
    await chmod(made, 0o600);
    await rename(made, join(folder, READS_SOCKET));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

type Session = Warehouse['session'];

/** Serves one reader until its connection ends. It never rejects, because every error ends the connection. */
async function serveReader(
  socket: Socket,
  session: Session,
  sleep: ReadEffects['sleep'],
  limits: ReadLimits,
): Promise<void> {
  const ended = new AbortController();
  const stop = (message: string): void => {
    if (!socket.writableEnded) socket.end(frameOf({ error: { message, code: SQL_STATE.queryCanceled } }));
    ended.abort();
    // A reader that does not read the reply would keep the connection open.
    socket.destroySoon();
  };
  socket.on('error', () => ended.abort());
  socket.on('close', () => ended.abort());
  socket.on('timeout', () => socket.destroy());
  // The idle timeout applies only while the owner waits for the reader.
  const withIdleTimeout = async <T>(work: Promise<T>): Promise<T> => {
    socket.setTimeout(limits.idleMs);
    try {
      return await work;
    } finally {
      socket.setTimeout(0);
    }
  };
  const send = async (reply: ReadReply): Promise<void> => {
    ended.signal.throwIfAborted();
    if (!socket.write(frameOf(reply))) await withIdleTimeout(once(socket, 'drain', { signal: ended.signal }));
  };
  const messages = messagesIn(socket as AsyncIterable<Buffer>, LONGEST_REQUEST_BYTES);
  try {
    await send({ ready: true });
    // The transaction begins after the first statement arrives, so that an idle connection does not block the database.
    let next = await withIdleTimeout(messages.next());
    if (next.done) return;
    await session(async (run) => {
      const overdue = `the process that owns the warehouse allows a reader ${limits.maxHeldMs / 1000} s, and they are over`;
      void sleep(limits.maxHeldMs, ended.signal).then(
        () => stop(overdue),
        () => undefined,
      );
      // After its first statement, a transaction cannot become writable any more. The setting optimizes for all rows instead
      // of the first ones.
      await run(`select set_config('cursor_tuple_fraction', '1', true)`);
      for (; !next.done; next = await withIdleTimeout(messages.next())) {
        const request = requestOf(next.value);
        if (!request) return stop('the statement is not valid: both processes must run the same version of Sluice');
        await answerStatement(request, { run, send });
      }
    }, ended.signal);
  } catch {
    // The reader disconnected, or sent an invalid message.
  } finally {
    ended.abort();
    socket.destroySoon();
  }
}
