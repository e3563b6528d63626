/** Makes sockets work at paths that are longer than the address of a socket allows. */
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** Limit of the path in a socket's address. */
const LONGEST_PATH_BYTES = 100;

/** The result of the work with a short path. A path that is too long is replaced by one through the open folder. */
export async function withShortSocketPath<T>(path: string, work: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return work(path);
  await using folder = await open(dirname(path), 'r');
  return await work(`/proc/self/fd/${folder.fd}/${basename(path)}`);
}
