/** The errors of flags that exclude or need each other. */
import { UsageError } from '../errors.ts';

interface Advice {
  /** Why the flags exclude each other. */
  readonly because?: string;
  readonly next?: string;
}

/** The error of flags or names that have no effect together. */
export const flagConflict = (
  command: string,
  [flag, others]: readonly [string, string],
  { because, next = 'Leave one of them out.' }: Advice = {},
): UsageError =>
  new UsageError(
    `${command}: ${flag} cannot be combined with ${others}${because === undefined ? '' : `; ${because}`}`,
    {
      next,
    },
  );

/** The error of a flag without another that it needs. */
export const flagRequires = (command: string, flag: string, other: string, next: string): UsageError =>
  new UsageError(`${command}: ${flag} requires ${other}`, { next });
