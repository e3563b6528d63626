/** Says in words why a file or folder cannot be written. */

/** The error codes of the system in words; other errors are shown by their code alone. */
const BECAUSE: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this account is used up',
};

/** True if there is no room for the content, so that the same write can succeed later. */
export const isDiskFull = (cause: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '');

/** The reason in words, with the code of the system. */
export function whyUnwritable(cause: unknown): string {
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  // For `mkdir`, this code means that a file has the name of the folder.
  const words = code === 'EEXIST' && syscall === 'mkdir' ? BECAUSE['ENOTDIR'] : BECAUSE[code];
  return words === undefined ? code : `${words} (${code})`;
}
