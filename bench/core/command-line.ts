/** The words of `npm run bench`. */
import { parseArgs } from 'node:util';

export interface Wanted {
  /** Benchmarks by name; empty means all. */
  readonly names: readonly string[];
  readonly json: boolean;
  readonly scale: number;
  readonly runs: number;
  /** Write bench/RESULTS.md. */
  readonly write: boolean;
  readonly help: boolean;
}

/** Fewer say little of the spread. */
const RUNS = 5;
/** Enough to see that everything works. */
const QUICK = { scale: 0.02, runs: 1 };

const OPTIONS = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  scale: { type: 'string' },
  runs: { type: 'string' },
} as const;

/** Words that say nothing that can be done. */
export class UnusableWords extends Error {}

/** What the command line asks for. Throws UnusableWords with what is wrong. */
export function wantedBy(words: readonly string[]): Wanted {
  const { values, positionals } = parsed(words);
  return {
    names: positionals,
    json: values.json,
    scale: values.scale === undefined ? (values.quick ? QUICK.scale : 1) : positive('scale', values.scale),
    runs: values.runs === undefined ? (values.quick ? QUICK.runs : RUNS) : Math.ceil(positive('runs', values.runs)),
    write: !values['no-write'] && !values.quick,
    help: values.help,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: OPTIONS });
  } catch (cause) {
    throw new UnusableWords((cause as Error).message, { cause });
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new UnusableWords(`--${name} is ${JSON.stringify(text)}; a number above 0 is allowed`);
  return value;
}

export const USAGE = `npm run bench -- [NAME ...] [--json] [--quick] [--scale N] [--runs N] [--no-write]

  NAME        benchmarks to run; all but those run only by name when none is given
  --json      print the results as JSON on standard output; the tables go to standard error
  --quick     a smoke: a fiftieth of the size, one run, nothing written
  --scale N   sizes times N; 1 unless given
  --runs N    alternating runs; ${RUNS} unless given
  --no-write  leave bench/RESULTS.md as it is
`;
