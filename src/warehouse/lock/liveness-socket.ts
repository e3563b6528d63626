/**
 * A socket in the file system on which a process listens as long as it lives. The kernel accepts connections even from
 * another container and while the process is busy. It stops when the process is killed.
 */
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { withShortSocketPath } from './socket-path.ts';

/**
 * Listens at the path and returns a function that stops and removes the socket; undefined if the file system does not
 * support sockets.
 */
export async function openLivenessSocket(path: string): Promise<(() => void) | undefined> {
  const server = createServer((socket) => socket.destroy());
  // The socket does not keep the process alive.
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

/** False if it is certain that no process listens at the path. */
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
