/** The sandbox's options as people write them on a command line. */
import { UsageError } from '../errors.ts';
import { parseFaults } from './fault-text.ts';
import type { SandboxOptions } from './options.ts';
import { SIZES, type Size, type SizeName } from './world/size.ts';

export interface SandboxFlags {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly seed?: number | undefined;
  /** A name, or numbers such as `filings=1000000,people=100000`. */
  readonly size?: string | undefined;
  /** Separated by commas, or given several times. */
  readonly faults?: string | readonly string[] | undefined;
  readonly points?: number | undefined;
  readonly latencyMs?: number | undefined;
}

/** The options that the flags mean; a flag that is not given leaves its default. Throws a UsageError. */
export function optionsOfFlags({ size, faults, ...flags }: SandboxFlags): SandboxOptions {
  for (const [name, value] of Object.entries(flags)) {
    if (typeof value === 'number' && !(value >= 0)) {
      throw new UsageError(`The sandbox's ${name} is ${value}: it must be 0 or more.`);
    }
  }
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  return {
    ...given,
    ...(size !== undefined && { size: parseSize(size) }),
    ...(faults !== undefined && { faults: parseFaults(typeof faults === 'string' ? faults : faults.join(',')) }),
  };
}

/** The size that a text names: `demo`, `small`, `large`, or kinds with numbers. Throws a UsageError. */
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
  new UsageError(`${JSON.stringify(text)} is no size of the sandbox.`, {
    next: `Write ${Object.keys(SIZES).join(', ')}, or numbers such as filings=1000000,people=100000 of ${Object.keys(SIZES.demo).join(', ')}.`,
  });
