/** Errors for a folder of an embedded warehouse that is gone or cannot be written. */
import { TransientError } from '../../errors.ts';

/** The error for a folder that was deleted or replaced. */
export const gone = (folder: string): TransientError =>
  new TransientError(`The folder of the embedded warehouse was deleted or replaced while it was in use: ${folder}`, {
    next: 'Restore the folder from a copy, or try again to start with an empty warehouse.',
  });

/** The error for a folder that cannot be written now. */
export function unusable(folder: string, error: unknown): TransientError {
  if (error instanceof TransientError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return gone(folder);
  return new TransientError(`The folder of the embedded warehouse can’t be written: ${folder} (${message})`, {
    next: 'Make the folder and its disk writable, then try again.',
    cause: message,
  });
}
