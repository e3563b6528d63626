/** Judges the number of items of a run by fixed bounds and by the median of earlier runs. Pure. */
import type { CheckRule } from '../../config/checks.ts';

/** What a check found. */
export interface Finding {
  readonly isPassed: boolean;
  /** In the unit of the check; null if there is no number. */
  readonly found: number | null;
  readonly allowed: string;
  readonly message: string;
}

/** With fewer earlier runs, their median says too little. */
const FEWEST_RUNS = 3;

/** A share as a percentage. */
export const percent = (part: number): string => `${Math.round(part * 10_000) / 100}%`;

/** Judges the items of a run. `earlier` has those of earlier complete runs. */
export function judgeRows(
  { min, max, drop }: Omit<Extract<CheckRule, { kind: 'rows' }>, 'kind'>,
  received: number,
  earlier: readonly number[],
): Finding {
  const isCompared = drop !== undefined && earlier.length >= FEWEST_RUNS;
  const median = medianOf(earlier);
  const least = isCompared ? median * (1 - drop) : 0;
  const runs = earlier.length === 1 ? '1 earlier complete run' : `${earlier.length} earlier complete runs`;
  const allowed = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(drop === undefined ? [] : [`at most ${percent(drop)} below the median of earlier complete runs`]),
  ];
  const history = isCompared
    ? ` (median ${median} of ${runs})`
    : drop === undefined
      ? ''
      : ` (not compared with ${runs}; ${FEWEST_RUNS} are needed)`;
  return {
    isPassed: received >= Math.max(min ?? 0, least) && received <= (max ?? Infinity),
    found: received,
    allowed: allowed.join(', '),
    message: `${received === 1 ? '1 item' : `${received} items`}${history}`,
  };
}

function medianOf(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
