/** Parses world sizes from the command line. */
import { UsageError } from '../errors.ts';
import { SIZES, type Size, type SizeName } from './world/size.ts';

/**
 * The size of a text: `demo`, `small`, `large`, or numbers such as `filings=1000000,people=100000`; omitted numbers are
 * those of the demo. Throws a UsageError.
 */
export function parseSize(text: string): SizeName | Partial<Size> {
  const written = text.trim();
  if (Object.hasOwn(SIZES, written)) return written as SizeName;
  const kinds = written.split(',').map((part) => {
    const [, kind, many] = /^\s*([A-Za-z]+)\s*=\s*([\d_]+)\s*$/.exec(part) ?? [];
    if (kind === undefined || many === undefined) throw wrongSize(text);
    return [kind, Number(many.replaceAll('_', ''))] as const;
  });
  return Object.fromEntries(kinds);
}

const wrongSize = (text: string): UsageError =>
  new UsageError(`${JSON.stringify(text)} is not a size of the sandbox.`, {
    next: `Write ${Object.keys(SIZES).join(', ')}, or numbers such as filings=1000000,people=100000 of ${Object.keys(SIZES.demo).join(', ')}.`,
  });
