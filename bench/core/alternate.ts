/** Runs contestants in turn, so that a slower machine slows all of them, and computes medians. */
import type { Line } from './benchmark.ts';

/** A figure over several runs. */
export interface Figure {
  readonly median: number;
  readonly spread: readonly [number, number];
}

/**
 * The results of each contestant by name, from one run of each in every round. Each round starts with another contestant,
 * so that no contestant always runs first.
 */
export async function alternate<Name extends string, T>(
  rounds: number,
  contestants: Readonly<Record<Name, (round: number) => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(contestants) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)])
      results[name].push(await contestants[name](round));
  }
  return results;
}

/** Median, smallest and largest. */
export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median, spread: [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN] };
}

/** The line of a figure. */
export const lineOf = (
  what: string,
  unit: string,
  { median, spread }: Figure,
  more: Pick<Line, 'ratio' | 'target'> = {},
): Line => ({ what, unit, value: median, spread, ...more });
