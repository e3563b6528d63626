/**
 * A socket in the file system on which a process listens as long as it lives. The kernel answers there whoever asks,
 * also from another container, whatever the process is busy with, and stops when the process is killed.
 */
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** A socket's address takes no longer path. */
const LONGEST_PATH_BYTES = 100;

/** Listens at the path and returns what stops it and removes the path; undefined where the file system has no sockets. */
export async function giveSignOfLife(path: string): Promise<(() => void) | undefined> {
  const server = createServer((socket) => socket.destroy());
  // A process that has nothing else to do ends.
  server.unref();
  try {
    await reaching(path, async (short) => {
      server.listen(short);
      await once(server, 'listening');
    });
  } catch {
    return undefined;
  }
  return () => {
    server.close();
    rmSync(path, { force: true });
  };
}

/** False when certainly nobody listens at the path any more. */
export async function showsSignOfLife(path: string): Promise<boolean> {
  try {
    await reaching(path, async (short) => {
      const socket = connect(short);
      try {
        await once(socket, 'connect');
      } finally {
        socket.destroy();
      }
    });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ECONNREFUSED' && code !== 'ENOENT';
  }
}

/** Calls with a path that is short enough, by way of the open folder where the path itself isn't. */
async function reaching(path: string, work: (short: string) => Promise<void>): Promise<void> {
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return work(path);
  const folder = await open(dirname(path), 'r');
  try {
    await work(`/proc/self/fd/${folder.fd}/${basename(path)}`);
  } finally {
    await folder.close();
  }
}
