/**
 * A socket in the file system on which a process listens as long as it lives. The kernel answers there whoever asks,
 * also from another container, whatever the process is busy with, and stops when the process is killed.
 */
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { withShortSocketPath } from './socket-path.ts';

/** Listens at the path and returns what stops it and removes the path; undefined where the file system has no sockets. */
export async function openLivenessSocket(path: string): Promise<(() => void) | undefined> {
  const server = createServer((socket) => socket.destroy());
  // A process that has nothing else to do ends.
  server.unref();
  try {
    await withShortSocketPath(path, async (short) => {
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
export async function isSocketAlive(path: string): Promise<boolean> {
  try {
    await withShortSocketPath(path, async (short) => {
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
