/** How long the n-th answer takes to come, the same in every run. */

export type LatencyKind = 'fixed' | 'heavy';

export interface Latency {
  readonly kind: LatencyKind;
  readonly meanMs: number;
}

/** Of a Pareto distribution with this shape a twentieth of the calls takes half of the time. */
const SHAPE = 1.3;
/** Longer than this many means no call takes, or one draw would decide the whole run. */
const LONGEST = 12;

/** Latencies in milliseconds; those of the heavy-tailed kind are stretched so that their mean is the one asked for. */
export function latenciesOf({ kind, meanMs }: Latency, count: number): number[] {
  if (kind === 'fixed') return Array.from({ length: count }, () => meanMs);
  const drawn = Array.from({ length: count }, (_, at) => Math.min((1 - uniform(at)) ** (-1 / SHAPE), LONGEST * 4));
  const mean = drawn.reduce((sum, it) => sum + it, 0) / Math.max(1, count);
  return drawn.map((it) => Math.min((it / mean) * meanMs, LONGEST * meanMs));
}

/** The golden ratio's multiples fill 0 to 1 evenly in no order, so short samples have the same tail as long ones. */
const uniform = (at: number): number => ((at + 1) * 0.618_033_988_749_894_9) % 1;
