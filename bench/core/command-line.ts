/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Benchmarks by name; empty means all. */
  readonly names: readonly string[];
  readonly json: boolean;
  readonly scale: number;
  readonly runs: number;
  /** True if the results are written to bench/RESULTS.md. */
  readonly write: boolean;
  readonly help: boolean;
}

/** The default; fewer runs show little of the spread. */
const RUNS = 5;
/** A smoke test. */
const QUICK = { scale: 0.02, runs: 1 };

const OPTIONS = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  scale: { type: 'string' },
  runs: { type: 'string' },
} as const;

/** The command line is not valid. */
export class UsageError extends Error {}

/** The options of the command line. Throws UsageError with the reason. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parsed(args);
  return {
    names: positionals,
    json: values.json,
    scale: values.scale === undefined ? (values.quick ? QUICK.scale : 1) : positive('scale', values.scale),
    runs: values.runs === undefined ? (values.quick ? QUICK.runs : RUNS) : Math.ceil(positive('runs', values.runs)),
    write: !values['no-write'] && !values.quick,
    help: values.help,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new UsageError(`--${name} is ${JSON.stringify(text)}; a number above 0 is allowed`);
  return value;
}

export const USAGE = `npm run bench -- [NAME ...] [--json] [--quick] [--scale N] [--runs N] [--no-write]

  NAME        benchmarks to run (default: all except those that run only by name)
  --json      print the results as JSON on standard output; the tables go to standard error
  --quick     smoke test: a fiftieth of the size, one run, writes no files
  --scale N   multiply the sizes by N (default: 1)
  --runs N    alternating runs (default: ${RUNS})
  --no-write  do not write bench/RESULTS.md
`;
