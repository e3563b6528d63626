/**
 * Answers, for the process that has an embedded warehouse, those who want to read it meanwhile: on a socket in the
 * warehouse's folder that its user alone may open. The database refuses writing, by the transaction that each
 * connection is; all of them share the owner's one session, so none may hold it for long.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Warehouse } from '../connect/connect.ts';
import { withShortSocketPath } from '../lock/socket-path.ts';
import { answerStatement } from './statement.ts';
import { frameOf, LONGEST_REQUEST_BYTES, messagesIn, type ReadReply, requestOf } from './protocol.ts';

/** Name of the socket in the warehouse's folder. */
export const READS_SOCKET = 'reads.sock';
/** The socket is made in a folder of its own, where nobody can open it before its permissions are right. */
const UNFINISHED = 'reads-';

export interface ReadLimits {
  /** How long one transaction may hold the database. */
  readonly maxHeldMs: number;
  /** How long a reader may leave the owner waiting, with its next statement or for room to write. */
  readonly idleMs: number;
  /** How long readers that are under way may take when the owner ends. */
  readonly graceMs: number;
  readonly connections: number;
}

/** Who is at work waits for readers; who reads waits for others first. */
const LIMITS: ReadLimits = { maxHeldMs: 30_000, idleMs: 5_000, graceMs: 5_000, connections: 8 };

export interface ReadEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Reading beside the owner, as long as it is open. */
export interface ReadService {
  /** Lets those under way end, within limits, and takes the socket away. To be called before the warehouse is closed. */
  readonly close: () => Promise<void>;
}

/**
 * Begins to answer readers; undefined where the file system has no sockets. Only the holder of the folder's lock may
 * call it: it takes the place of a socket that a killed owner left behind.
 */
export async function serveReads(
  { session }: Pick<Warehouse, 'session'>,
  folder: string,
  { sleep }: ReadEffects,
  limits: ReadLimits = LIMITS,
): Promise<ReadService | undefined> {
  const readers = new Map<Socket, Promise<void>>();
  const server = createServer((socket) => {
    const reader = serveReader(socket, session, sleep, limits);
    readers.set(socket, reader);
    void reader.finally(() => readers.delete(socket));
  });
  server.maxConnections = limits.connections;
  // A process that has nothing else to do ends.
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
    const ended = new AbortController();
    const patience = sleep(limits.graceMs, ended.signal).catch(() => undefined);
    await Promise.race([Promise.all(readers.values()), patience]);
    ended.abort();
    for (const socket of readers.keys()) socket.destroy();
    await Promise.all(readers.values());
  };
  let closing: Promise<void> | undefined;
  return { close: () => (closing ??= close()) };
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

/** Answers one reader to the end of its connection. Rejects never: what goes wrong ends the connection. */
async function serveReader(
  socket: Socket,
  session: Session,
  sleep: ReadEffects['sleep'],
  limits: ReadLimits,
): Promise<void> {
  const ended = new AbortController();
  const stop = (message: string): void => {
    if (!socket.writableEnded) socket.end(frameOf({ error: { message, code: TOO_LONG } }));
    ended.abort();
    // Whoever does not read would keep the connection open.
    socket.destroySoon();
  };
  socket.on('error', () => ended.abort());
  socket.on('close', () => ended.abort());
  socket.on('timeout', () => socket.destroy());
  // Not while the owner is the one who is waited for.
  const patiently = async <T>(work: Promise<T>): Promise<T> => {
    socket.setTimeout(limits.idleMs);
    try {
      return await work;
    } finally {
      socket.setTimeout(0);
    }
  };
  const send = async (reply: ReadReply): Promise<void> => {
    ended.signal.throwIfAborted();
    if (!socket.write(frameOf(reply))) await patiently(once(socket, 'drain', { signal: ended.signal }));
  };
  const messages = messagesIn(socket as AsyncIterable<Buffer>, LONGEST_REQUEST_BYTES);
  try {
    // Nobody holds the database who has not said what for.
    let next = await patiently(messages.next());
    if (next.done) return;
    await session(async (run) => {
      const overdue = `the process at work gives a reader ${limits.maxHeldMs / 1000} s, and they are over`;
      void sleep(limits.maxHeldMs, ended.signal).then(
        () => stop(overdue),
        () => undefined,
      );
      await run('set transaction isolation level repeatable read');
      // After a first statement no other can make the transaction writable. Rows are wanted all, not the first ones soon.
      await run(`select set_config('cursor_tuple_fraction', '1', true)`);
      for (; !next.done; next = await patiently(messages.next())) {
        const request = requestOf(next.value);
        if (!request) return stop('the statement can’t be understood: both processes must be of one version');
        await answerStatement(request, { run, send });
      }
    });
  } catch {
    // The reader went away, or sent what is no message.
  } finally {
    ended.abort();
    socket.destroySoon();
  }
}

/** What Postgres says of a statement that it stopped. */
const TOO_LONG = '57014';
