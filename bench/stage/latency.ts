/** The latency of the n-th answer, the same in every run. */

export type LatencyKind = 'fixed' | 'heavy';

export interface Latency {
  readonly kind: LatencyKind;
  readonly meanMs: number;
}

/** In a Pareto distribution with this shape, a twentieth of the calls takes half of the time. */
const SHAPE = 1.3;
/** No call takes longer than this many means; otherwise one draw would decide the duration of a run. */
const LONGEST = 12;

/** Latencies in milliseconds. Those of the heavy-tailed kind are scaled to the requested mean. */
export function latenciesOf({ kind, meanMs }: Latency, count: number): number[] {
  if (kind === 'fixed') return Array.from({ length: count }, () => meanMs);
  const drawn = Array.from({ length: count }, (_, at) => Math.min((1 - uniform(at)) ** (-1 / SHAPE), LONGEST * 4));
  const mean = drawn.reduce((sum, it) => sum + it, 0) / Math.max(1, count);
  return drawn.map((it) => Math.min((it / mean) * meanMs, LONGEST * meanMs));
}

/** Multiples of the golden ratio cover 0 to 1 evenly and unordered, so short samples have the same tail as long ones. */
const uniform = (at: number): number => ((at + 1) * 0.618_033_988_749_894_9) % 1;
