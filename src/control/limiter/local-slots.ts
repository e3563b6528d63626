/** The token's limiter if one process alone has the warehouse: slots and start times without rows. */
import { START_AHEAD_MS, farthestMs, type LimiterBounds, type SlotSource, startsWithin } from './slot-source.ts';

/** Creates slots and start times for this process alone. */
export function openLocalSlots(bounds: LimiterBounds, now: () => Date): SlotSource {
  const { inFlight, intervalMs } = bounds;
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    take: async (most, except) => {
      const nowMs = now().getTime();
      const aheadMs = nextMs < nowMs + farthestMs(bounds) ? Math.max(0, nextMs - nowMs) : 0;
      const free = Array.from({ length: inFlight }, (_, index) => index + 1).filter((it) => !except.includes(it));
      const numbers = free.slice(0, Math.min(most, startsWithin(aheadMs, intervalMs)));
      nextMs = nowMs + aheadMs + numbers.length * intervalMs;
      return { numbers, firstMs: aheadMs, isWanted: false, closedMs: Math.max(0, aheadMs - START_AHEAD_MS) };
    },
    sharing: undefined,
  };
}
