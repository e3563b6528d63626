/** The types of a benchmark: a name, a description, and a run that returns lines with their ratios and targets. */
import type { Postgres } from '../stage/postgres.ts';

/** The options and means of every benchmark. */
export interface Setting {
  /** Alternating runs of each contestant; results are their medians. */
  readonly runs: number;
  /** 1 is the full size. */
  readonly scale: number;
  /** A folder for the files of the benchmark; it is removed afterwards. */
  readonly folder: string;
  /** The server, which starts at the first call. */
  readonly postgres: () => Promise<Postgres>;
  /** Reports the progress. */
  readonly report: (text: string) => void;
}

/** The bound that a figure has to reach. */
export interface Target {
  readonly of: 'value' | 'ratio';
  readonly at: 'least' | 'most';
  readonly bound: number;
}

/** One measured figure. */
export interface Line {
  readonly what: string;
  /** The median. */
  readonly value: number;
  readonly unit: string;
  /** Smallest and largest of the runs. */
  readonly spread?: readonly [number, number];
  /** The quotient of this figure and another; `of` says which is divided by which. */
  readonly ratio?: { readonly of: string; readonly value: number };
  readonly target?: Target | undefined;
}

/** The result of a benchmark. */
export interface Measured {
  readonly lines: readonly Line[];
  /** What a reader needs to interpret the lines: sizes, exclusions, contestants that are missing. */
  readonly notes: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  /** The subject and its baseline, in a sentence. */
  readonly about: string;
  /** True if `npm run bench` runs it only by name. */
  readonly onlyByName?: boolean;
  readonly run: (setting: Setting) => Promise<Measured>;
}

/** A size at the setting's scale, but at least `least`. */
export const scaled = ({ scale }: Pick<Setting, 'scale'>, size: number, least = 1): number =>
  Math.max(least, Math.round(size * scale));

/** True if the figure reaches its target; undefined without a target. */
export function reaches({ value, ratio, target }: Line): boolean | undefined {
  if (!target) return undefined;
  const figure = target.of === 'value' ? value : ratio?.value;
  if (figure === undefined || Number.isNaN(figure)) return false;
  return target.at === 'least' ? figure >= target.bound : figure <= target.bound;
}
