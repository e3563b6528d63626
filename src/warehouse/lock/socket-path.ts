/** Sockets in the file system at paths that may be longer than a socket's address takes. */
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** A socket's address takes no longer path. */
const LONGEST_PATH_BYTES = 100;

/** Calls with a path that is short enough, by way of the open folder where the path itself isn't. */
export async function withShortSocketPath<T>(path: string, work: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return work(path);
  const folder = await open(dirname(path), 'r');
  try {
    return await work(`/proc/self/fd/${folder.fd}/${basename(path)}`);
  } finally {
    await folder.close();
  }
}
