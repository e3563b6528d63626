/** Reads an embedded warehouse that another process has, by asking that process. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { TransientError } from '../../errors.ts';
import { withShortSocketPath } from '../lock/socket-path.ts';
import type { RunText, TextResult, TextSession } from '../sql/read-only-session.ts';
import { frameOf, LONGEST_REPLY_BYTES, messagesIn, type ReadReply, VERSION } from './protocol.ts';
import { READS_SOCKET } from './server.ts';

/** A transaction at the owner's, which ends with its connection. */
export interface ReadConnection {
  readonly run: RunText;
  readonly end: () => void;
}

/** The owner may be in the midst of a large load, but not for longer than this. */
const SILENT_MS = 120_000;

/** Opens transactions of an owner; undefined when none answers in this folder. */
export async function findOwner(
  folder: string,
): Promise<((signal?: AbortSignal) => Promise<ReadConnection>) | undefined> {
  const path = join(folder, READS_SOCKET);
  try {
    (await reach(path)).destroy();
  } catch {
    return undefined;
  }
  return (signal) => openLine(path, signal);
}

/** Runs statements that others wrote, each session in a transaction of its own at the owner's. */
export const sessionAt =
  (open: (signal?: AbortSignal) => Promise<ReadConnection>): TextSession =>
  async (work, signal) => {
    signal?.throwIfAborted();
    const line = await open(signal);
    try {
      return await work(line.run);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      line.end();
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

async function openLine(path: string, signal: AbortSignal | undefined): Promise<ReadConnection> {
  const socket = await reach(path).catch((cause: unknown) => {
    throw gone(cause);
  });
  const end = (): void => {
    signal?.removeEventListener('abort', end);
    socket.destroy();
  };
  signal?.addEventListener('abort', end, { once: true });
  // Told where the reply is awaited.
  socket.on('error', () => undefined);
  socket.setTimeout(SILENT_MS, end);
  const replies = messagesIn(socket as AsyncIterable<Buffer>, LONGEST_REPLY_BYTES);
  const next = async (): Promise<ReadReply> => {
    const it = await replies.next().catch((cause: unknown) => {
      throw gone(cause);
    });
    if (it.done === true) throw gone(undefined);
    return it.value as ReadReply;
  };
  const run: RunText = async (sql, parameters = []) => {
    socket.write(frameOf({ v: VERSION, sql, parameters }));
    let fields: TextResult['fields'] = [];
    const rows: TextResult['rows'][number][] = [];
    for (;;) {
      const reply = await next();
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
      if ('fields' in reply) fields = reply.fields;
      // Not spread: a part may have more rows than a call takes arguments.
      if ('rows' in reply) for (const row of reply.rows) rows.push(row);
      if ('end' in reply) return { fields, rows };
    }
  };
  return { run, end };
}

const gone = (cause: unknown): TransientError =>
  new TransientError('The process that has the embedded warehouse ended, or stopped answering, while it was read.', {
    next: 'Run the same again.',
    cause,
  });
