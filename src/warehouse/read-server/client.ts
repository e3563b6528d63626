/** Reads an embedded warehouse through the process that owns it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { TransientError } from '../../errors.ts';
import { withShortSocketPath } from '../lock/socket-path.ts';
import type { RunText, StreamText, TextResult, TextSession } from '../sql/read-only-session.ts';
import { frameOf, LONGEST_REPLY_BYTES, messagesIn, type ReadReply, VERSION } from './protocol.ts';
import { READS_SOCKET } from './server.ts';

/** A connection to the owner. It is one transaction, which ends with the connection. */
export interface ReadConnection {
  readonly run: RunText;
  readonly stream: StreamText;
  readonly end: () => void;
}

/** Timeout of a reply. The owner may be in a large load, but not for longer than this. */
const REPLY_TIMEOUT_MS = 120_000;

/**
 * A function that opens transactions at the owner of this folder; undefined if no owner answers within this time. The system
 * accepts connections also for a process that is suspended.
 */
export async function findOwner(
  folder: string,
  waitMs: number,
): Promise<((signal?: AbortSignal) => Promise<ReadConnection>) | undefined> {
  const path = join(folder, READS_SOCKET);
  try {
    const socket = await reach(path);
    const wait = setTimeout(() => socket.destroy(), waitMs);
    const first = await messagesIn(socket as AsyncIterable<Buffer>, LONGEST_REPLY_BYTES)
      .next()
      .finally(() => clearTimeout(wait));
    socket.destroy();
    if (first.done === true) return undefined;
  } catch {
    return undefined;
  }
  return (signal) => openConnection(path, signal);
}

/** Runs statements of users, each session in a separate transaction at the owner. */
export const sessionAt =
  (open: (signal?: AbortSignal) => Promise<ReadConnection>): TextSession =>
  async (work, signal) => {
    signal?.throwIfAborted();
    const connection = await open(signal);
    try {
      return await work(connection.run, connection.stream);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      connection.end();
    }
  };

function reach(path: string): Promise<Socket> {
  return withShortSocketPath(path, async (short) => {
    const socket = connect(short);
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  });
}

async function openConnection(path: string, signal: AbortSignal | undefined): Promise<ReadConnection> {
  const socket = await reach(path).catch((cause: unknown) => {
    throw gone(cause);
  });
  const end = (): void => {
    signal?.removeEventListener('abort', end);
    socket.destroy();
  };
  // The signal may have been aborted while the connection was opened, when nothing listened.
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end, { once: true });
  // The call that waits for the reply reports the error.
  socket.on('error', () => undefined);
  socket.setTimeout(REPLY_TIMEOUT_MS, end);
  const replies = messagesIn(socket as AsyncIterable<Buffer>, LONGEST_REPLY_BYTES);
  const next = async (): Promise<ReadReply> => {
    const it = await replies.next().catch((cause: unknown) => {
      throw gone(cause);
    });
    if (it.done === true) throw gone(undefined);
    return it.value as ReadReply;
  };
  async function* stream(...[sql, parameters = []]: Parameters<StreamText>): AsyncGenerator<TextResult, void> {
    socket.write(frameOf({ v: VERSION, sql, parameters }));
    let fields: TextResult['fields'] = [];
    for (;;) {
      const reply = await next();
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
      if ('ready' in reply) continue;
      if ('end' in reply) return;
      if ('fields' in reply) fields = reply.fields;
      yield { fields, rows: 'rows' in reply ? reply.rows : [] };
    }
  }
  const run: RunText = async (sql, parameters) => {
    let fields: TextResult['fields'] = [];
    const rows: TextResult['rows'][number][] = [];
    for await (const part of stream(sql, parameters)) {
      ({ fields } = part);
      // No spread, because a part may have more rows than a call can have arguments.
      for (const row of part.rows) rows.push(row);
    }
    return { fields, rows };
  };
  return { run, stream, end };
}

const gone = (cause: unknown): TransientError =>
  new TransientError('The process that owns the embedded warehouse ended or stopped answering during the query.', {
    next: 'Run the same command again.',
    cause,
  });
