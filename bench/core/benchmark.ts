/** What a benchmark is: a name, what it compares, and a run that gives lines with their ratios and targets. */
import type { Postgres } from '../stage/postgres.ts';

/** What every benchmark is given. */
export interface Setting {
  /** Alternating runs of each contestant; medians are taken over them. */
  readonly runs: number;
  /** 1 is the full size. */
  readonly scale: number;
  /** A folder for what the benchmark writes; it is removed afterwards. */
  readonly folder: string;
  /** Starts the server the first time it is asked for. */
  readonly postgres: () => Promise<Postgres>;
  /** Tells how far it is. */
  readonly tell: (text: string) => void;
}

/** What a figure is held against. */
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
  /** Another figure divided by this one, or the other way round; `of` says which. */
  readonly ratio?: { readonly of: string; readonly value: number };
  readonly target?: Target;
}

/** What came of a benchmark. */
export interface Measured {
  readonly lines: readonly Line[];
  /** What a reader must know to judge the lines: sizes, what is left out, what could not be had. */
  readonly notes: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  /** What it measures and against what, in a sentence. */
  readonly about: string;
  /** True of one that `npm run bench` runs only by name. */
  readonly onlyByName?: boolean;
  readonly run: (setting: Setting) => Promise<Measured>;
}

/** A size at the setting's scale, never below the least that still means something. */
export const scaled = ({ scale }: Pick<Setting, 'scale'>, size: number, least = 1): number =>
  Math.max(least, Math.round(size * scale));

/** True when the figure reaches its target; undefined without one. */
export function reaches({ value, ratio, target }: Line): boolean | undefined {
  if (!target) return undefined;
  const figure = target.of === 'value' ? value : ratio?.value;
  if (figure === undefined || Number.isNaN(figure)) return false;
  return target.at === 'least' ? figure >= target.bound : figure <= target.bound;
}
